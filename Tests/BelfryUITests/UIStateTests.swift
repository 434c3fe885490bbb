import BelfryCore
import Testing

@testable import BelfryUI

@Suite struct UIStateTests {
  @Test("Keys move the selection, which stays on its alarm when the list changes")
  func selection() {
    var ui = UIFixture()
    #expect(ui.selected == "Alarm 0")
    ui.press("j", "down", "j", "k")
    #expect(ui.selected == "Alarm 2")
    ui.alarms.remove(at: 0)
    ui.send(.changed)
    #expect(ui.selected == "Alarm 2")
    // Another device deletes it: the next one takes its place.
    ui.alarms.removeAll { $0.title == "Alarm 2" }
    ui.send(.changed)
    #expect(ui.selected == "Alarm 3")
    ui.press("G")
    #expect(ui.selected == "Alarm 11")
    ui.press("g")
    #expect(ui.selected == "Alarm 1")
    ui.alarms = []
    ui.send(.changed)
    #expect(ui.selected == nil)
    ui.press("d", "j", "enter", "x")
    #expect(ui.asked.isEmpty)
    #expect(ui.lines.contains { $0.contains("No alarm matches.") })
  }

  @Test("Answers are for the selected alarm, or for all that are marked")
  func answers() {
    var ui = UIFixture()
    let ids = ui.alarms.map(\.id)
    ui.press("j", "d")
    #expect(ui.asked == [.answer(.done, [ids[1]])])
    ui.asked = []
    ui.press("space", "space", "S")
    #expect(ui.asked == [.answer(.skip, [ids[1], ids[2]])])
    ui.asked = []
    ui.send(.ended(.init(lines: ["Skipped: 2 alarms."])))
    #expect(ui.state.list.marked.isEmpty)
    #expect(ui.lines[22] == " Skipped: 2 alarms.")
    ui.press("v")
    #expect(ui.state.list.marked.count == 12)
    ui.press("esc")
    #expect(ui.state.list.marked.isEmpty)
  }

  @Test("Deleting asks first, and only y deletes")
  func deletion() {
    var ui = UIFixture()
    ui.press("x")
    #expect(ui.lines[22] == " Delete Alarm 0 on all devices? y/n")
    ui.press("n", "x", "esc", "x", "enter")
    #expect(ui.asked.isEmpty)
    ui.press("x", "y")
    #expect(ui.asked == [.run(["delete", ui.alarms[0].id.text, "--yes"])])
  }

  @Test("A filter shows what matches while it is typed, and esc ends it")
  func filter() {
    var ui = UIFixture()
    ui.press("/")
    ui.type("Alarm 1")
    #expect(ui.state.list.content.rows.count == 4)
    ui.press("enter")
    #expect(ui.lines[22] == " filter: Alarm 1")
    ui.press("esc")
    #expect(ui.state.list.content.rows.count == 13)
    ui.press("/")
    ui.type("zzz")
    ui.press("esc")
    #expect(ui.state.list.filter.isEmpty)
    // A list that was read for an older filter is left out.
    ui.press("/")
    ui.type("Alarm 11")
    ui.send(.list(ui.content(""), filter: ""))
    #expect(ui.state.list.content.rows.count == 2)
  }

  @Test("A new alarm is typed as a phrase, whose meaning is shown")
  func add() {
    var ui = UIFixture()
    ui.press("a")
    ui.type("Rent every month on the 1st")
    #expect(ui.lines.contains(" means Rent every month on the 1st"))
    ui.send(.input(.paste(" at 9am\nx")))
    ui.press("backspace", "backspace", "enter")
    #expect(ui.asked == [.run(["add", "Rent", "every", "month", "on", "the", "1st", "at", "9am"])])
    ui.press("a", "esc")
    #expect(ui.asked.count == 1)
  }

  @Test("The command line completes, runs commands, and shows long output until it is closed")
  func commandLine() {
    var ui = UIFixture()
    ui.press(":")
    ui.type("d")
    #expect(ui.lines.contains(" done  dismiss"))
    ui.type("one \"Alarm 1\" --note 'it is'")
    ui.press("enter")
    #expect(ui.asked == [.run(["done", "Alarm 1", "--note", "it is"])])
    ui.send(.ended(.init(title: "log", lines: (0..<50).map { "entry \($0)" })))
    #expect(ui.lines[1] == " entry 0")
    ui.press("G")
    #expect(ui.lines[21].contains("entry 49"))
    ui.press("q")
    #expect(ui.lines[1].contains("Tomorrow (12)"))
    ui.asked = []
    ui.press(":")
    ui.type("q")
    ui.press("enter")
    #expect(ui.asked == [.quit])
    #expect(
      ShellWords.split(#"note rent "it's \"due\"" don't"#) == [
        "note", "rent", #"it's "due""#, "don't",
      ])
  }

  @Test("The help lists the keys of the place, filtered while one types, and performs the only one")
  func help() {
    var ui = UIFixture()
    ui.press("?")
    #expect(ui.lines[1].contains("Mark as done"))
    ui.type("record")
    #expect(ui.lines[1].contains("Edit the record in $EDITOR"))
    ui.press("enter")
    #expect(ui.asked == [.editFile(ui.alarms[0].id)])
    ui.press("2", "?")
    #expect(!ui.lines.contains { $0.contains("Mark as done") })
    #expect(ui.lines.contains { $0.contains("Show the next month") })
  }

  @Test("Pages are shown by numbers, tab and mouse, and the month moves")
  func pages() {
    var ui = UIFixture()
    ui.press("2", "right", "right", "h")
    #expect(ui.lines[1] == " Month 1, line 0")
    ui.press("tab", "pagedown")
    #expect(ui.state.tab == .history && ui.lines[1] == " History 1, line 20")
    ui.press("G")
    #expect(ui.lines[21] == " History 1, line 59")
    ui.send(.input(.click(column: 1, row: 0)))
    #expect(ui.state.tab == .alarms)
    ui.send(.input(.click(column: 10, row: 5)))
    #expect(ui.selected == "Alarm 3")
    ui.send(.input(.wheel(1, column: 10, row: 5)))
    #expect(ui.selected == "Alarm 6")
    ui.send(.input(.click(column: 10, row: 8)))
    #expect(ui.state.showsDetails && ui.lines[1] == " Alarm 6")
    ui.press("j", "esc")
    #expect(!ui.state.showsDetails && ui.selected == "Alarm 6")
  }

  @Test("Lines of a page that can be opened are selected, and stay so when the page grows")
  func openable() {
    var ui = UIFixture()
    func lines(_ numbers: [Int]) -> [PageLine] {
      [PageLine("Today")] + numbers.map { PageLine("commit \($0)", command: ["git", "\($0)"]) }
    }
    ui.press("3")
    ui.send(.page(.history, lines(Array((1...40).reversed()))))
    ui.press("j", "j", "enter")
    #expect(ui.asked == [.run(["git", "38"])])
    ui.send(.page(.history, lines(Array((1...42).reversed()))))
    ui.asked = []
    ui.press("enter")
    #expect(ui.asked == [.run(["git", "38"])])
    ui.press("G", "enter")
    #expect(ui.asked.last == .run(["git", "1"]))
    #expect(ui.lines[21] == " commit 1")
    ui.press("g")
    #expect(ui.lines[1] == " Today")
    ui.send(.input(.click(column: 3, row: 4)))
    ui.send(.input(.click(column: 3, row: 4)))
    #expect(ui.asked.last == .run(["git", "40"]))
    ui.send(.page(.history, [PageLine("nothing")]))
    ui.press("enter", "j")
    #expect(ui.asked.count == 3)
  }

  @Test("What rings opens its own screen, also to be stopped by a held key")
  func ringing() {
    var ui = UIFixture()
    ui.alarms[4] = UIFixture.row(4, state: .ringing)
    ui.send(.changed)
    ui.press("g", "enter")
    #expect(ui.asked == [.runOnTerminal(["ring", ui.alarms[4].id.text])])
    ui.asked = []
    ui.press("s")
    #expect(ui.asked == [.answer(.stop, [ui.alarms[4].id])])
  }

  @Test("A change by something else is marked for a moment")
  func changes() {
    var ui = UIFixture()
    ui.alarms[2] = UIFixture.row(2, title: "Another title")
    ui.send(.changed)
    #expect(ui.lines[4].hasPrefix("+  Another title"))
    ui.send(.marksEnded)
    #expect(ui.lines[4].hasPrefix("   Another title"))
  }

  @Test("Keys can be changed in a file, and a key has one meaning")
  func ownKeys() {
    let (table, problems) = KeyTable.standard.reading(
      "# mine\ndone = D\nskip =\nstop=ctrl-s, s\nfly = f\ndone = hyper-x\n\nhelp =")
    #expect(table.command(Key("D"), in: .alarms) == .done)
    #expect(table.command(Key("d"), in: .alarms) == nil)
    #expect(table.command(Key("S"), in: .alarms) == nil)
    #expect(table.command(Key(.character("s"), control: true), in: .alarms) == .stop)
    #expect(
      problems == [
        "line 5: 'fly' is no command", "line 6: 'hyper-x' is no key", "'help' has no key",
      ])
    for place in Place.allCases {
      let keys = KeyTable.standard.bindings.filter { $0.places.contains(place) }.flatMap(\.keys)
      #expect(Set(keys).count == keys.count, "a key has two meanings: \(place)")
    }
    #expect(Set(KeyTable.standard.bindings.map(\.command)) == Set(UICommand.allCases))
  }

  @Test(
    "100,000 random events: no crash, a valid selection, and nothing changes that no key asked for")
  func random() {
    var random = SystemRandomNumberGenerator()
    var ui = UIFixture(30)
    let keys =
      KeyTable.standard.bindings.flatMap(\.keys)
      + "abcdefghijklmnopqrstuvwxyzADZ/?: 1234567\"'".map { Key($0) }
    var buffer: Buffer?
    for step in 0..<100_000 {
      let before = ui.asked.count
      var isKey = false
      switch Int.random(in: 0..<40, using: &random) {
      case 0:
        ui.send(
          .resized(
            Size(Int.random(in: 1...180, using: &random), Int.random(in: 1...60, using: &random))))
      case 1:
        if Bool.random(using: &random) { ui.alarms.shuffle(using: &random) }
        let count = Int.random(in: 0...40, using: &random)
        ui.alarms = (0..<count).map {
          UIFixture.row($0 + step % 7, state: $0 % 9 == 0 ? .ringing : .active)
        }
        ui.send(.changed)
      case 2: ui.send(.time)
      case 3: ui.send(.marksEnded)
      case 4:
        ui.send(
          .ended(
            .init(title: "x", lines: (0..<Int.random(in: 0...90, using: &random)).map { "l \($0)" })
          ))
      case 5:
        ui.send(
          .input(
            .click(
              column: Int.random(in: -1...200, using: &random),
              row: Int.random(in: -1...70, using: &random))))
        isKey = true
      case 6: ui.send(.input(.wheel(Int.random(in: -3...3, using: &random), column: 1, row: 3)))
      case 7: ui.send(.input(.paste("pasted\ntext 日本")))
      default:
        isKey = true
        ui.send(.input(.key(keys.randomElement(using: &random) ?? Key("j"))))
      }
      if !isKey { #expect(ui.asked.count == before) }
      let rows = ui.state.list.content.rows
      let isValid =
        rows.isEmpty ? ui.state.list.selected == nil : ui.state.list.selectedIndex != nil
      let marked = ui.state.list.marked.isSubset(of: rows.compactMap { $0.alarm?.id })
      let top = ui.state.list.top
      guard isValid, marked, top >= 0, top <= max(0, rows.count - 1) else {
        Issue.record("step \(step): \(ui.state.list)")
        return
      }
      // Drawing takes most of the time.
      guard step % 10 == 0 else { continue }
      let next = ui.state.render()
      guard next.size == ui.state.size, next.cells.count == next.size.columns * next.size.rows
      else {
        Issue.record("step \(step): the screen has another size")
        return
      }
      if step % 100 == 0 { _ = BufferDifference.bytes(from: buffer, to: next, .palette256) }
      buffer = next
    }
  }
}
