import Testing

@testable import BelfryCommands
@testable import BelfryTerminal

/// The keys that a screen ignores, because the user may type them for another program or for the alarm before.
@Suite struct KeyPauseTests {
  /// Returns the times of the keys that count, with a read every 100 ms.
  private func counted(_ pause: inout KeyPause, keys: [Int64], until end: Int64) -> [Int64] {
    stride(from: Int64(0), through: end, by: 100).filter { now in
      pause.admits(hasInput: keys.contains(now), at: now) && keys.contains(now)
    }
  }

  /// Returns true if the keys of a read count.
  private func read(_ pause: inout KeyPause, hasInput: Bool, at now: Int64) -> Bool {
    pause.admits(hasInput: hasInput, at: now)
  }

  @Test("Keys of a text that is being typed do not count, only those after a pause")
  func typing() {
    var pause = KeyPause(at: 0)
    let text = Array(stride(from: Int64(100), through: 6000, by: 200))
    #expect(counted(&pause, keys: text + [7900, 8200, 8300], until: 9000).isEmpty)
    #expect(!pause.isOver)
    pause = KeyPause(at: 0)
    #expect(counted(&pause, keys: text + [8300, 8400], until: 9000) == [8300, 8400])
  }

  @Test("Keys do not count while the screen may be hidden, nor shortly after")
  func hidden() {
    var pause = KeyPause(at: 0, hidden: 4000)
    #expect(counted(&pause, keys: [1000, 3500, 5500], until: 7000).isEmpty)
    pause = KeyPause(at: 0, hidden: 4000)
    #expect(counted(&pause, keys: [1000, 6100], until: 7000) == [6100])
  }

  @Test("A key shortly after the change of the alarm does not count")
  func change() {
    var pause = KeyPause(at: 0)
    #expect(counted(&pause, keys: [900, 4000], until: 5000) == [4000])
  }

  @Test("A key that is held does not count until it was released")
  func held() {
    var pause = KeyPause(at: 0)
    let repeats = Array(stride(from: Int64(0), through: 20_000, by: 100))
    #expect(counted(&pause, keys: repeats, until: 20_000).isEmpty)
  }

  @Test("Keys that were typed during a delay of the process do not count")
  func delay() {
    var pause = KeyPause(at: 0)
    #expect(!read(&pause, hasInput: false, at: 100))
    #expect(!read(&pause, hasInput: true, at: 9000))
    #expect(!read(&pause, hasInput: false, at: 10_900))
    #expect(!pause.isOver)
    #expect(!read(&pause, hasInput: false, at: 11_000))
    #expect(pause.isOver)
  }

  @Test("The firing screen shows its keys only while they count")
  func shownKeys() {
    var screen = FiringScreen(title: "Rent", badge: "weekly", time: "09:00", subtitle: "Mon")
    screen.keysCount = false
    let paused = screen.render(Size(80, 24)).lines.joined()
    #expect(paused.contains("Rent") && paused.contains("after a pause"))
    #expect(!paused.contains("[d]") && !paused.contains("[q]"))
    screen.keysCount = true
    #expect(screen.render(Size(80, 24)).lines.joined().contains("[d] done"))
  }

  @Test("The firing screen names the other alarms that ring")
  func others() {
    var screen = FiringScreen(title: "Rent", badge: "weekly", time: "09:00", subtitle: "Mon")
    #expect(!screen.render(Size(80, 24)).lines.joined().contains("Also ringing"))
    screen.others = ["Tea", "Milk"]
    for rows in [10, 24] {
      let text = screen.render(Size(80, rows)).lines.joined()
      #expect(text.contains("Also ringing: Tea, Milk"), "\(text)")
    }
  }

  @Test("On a screen that a person opened, keys count at once")
  func expected() {
    var pause = KeyPause(at: 0, isNeeded: false)
    #expect(pause.isOver)
    #expect(read(&pause, hasInput: true, at: 0))
  }
}
