import Testing

@testable import BelfryCommands
@testable import BelfryTerminal

/// Stopping by holding a key for three seconds.
@Suite struct HoldTests {
  /// Simulates key repeats of a keyboard: the first after 500 ms, then one every 33 ms.
  private func press(_ hold: inout Hold, from start: Int64, for length: Int64) -> Int64 {
    hold.press(at: start)
    var now = start + 500
    while now <= start + length {
      hold.press(at: now)
      now += 33
    }
    return start + length
  }

  @Test func threeSecondsOfRepeatsAreAHold() {
    var hold = Hold(seesReleases: false)
    let end = press(&hold, from: 1000, for: 2900)
    #expect(!hold.isComplete)
    #expect(abs(hold.progress(at: end) - 2900.0 / 3000) < 0.001)
    hold.press(at: end + 110)
    #expect(hold.isComplete)
  }

  @Test func releasingTheKeyResetsTheProgress() {
    var hold = Hold(seesReleases: false)
    let end = press(&hold, from: 0, for: 2500)
    #expect(hold.progress(at: end) > 0.8)
    hold.advance(to: end + 400)
    #expect(hold.progress(at: end + 400) == 0)
    // The progress starts again at zero.
    _ = press(&hold, from: end + 500, for: 2000)
    #expect(!hold.isComplete)
  }

  @Test func aTapIsNotAHold() {
    var hold = Hold(seesReleases: false)
    hold.press(at: 0)
    hold.advance(to: 700)
    #expect(hold.progress(at: 700) > 0)
    hold.advance(to: 900)
    #expect(hold.progress(at: 900) == 0)
    // Two taps three seconds apart are two taps.
    hold.press(at: 3000)
    #expect(!hold.isComplete)
  }

  @Test func onlyAReleaseEventEndsTheHoldWhereTheTerminalReportsReleases() {
    var hold = Hold(seesReleases: true)
    hold.press(at: 0)
    hold.advance(to: 2999)
    #expect(!hold.isComplete)
    hold.release()
    hold.advance(to: 5000)
    #expect(!hold.isComplete)
    #expect(hold.progress(at: 5000) == 0)
    hold.press(at: 6000)
    hold.advance(to: 9000)
    #expect(hold.isComplete)
  }
}
