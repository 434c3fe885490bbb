import BelfryCore
import BelfryTerminal
import Testing

@testable import BelfryUI

/// The lines of pages that enter opens or changes.
@Suite struct PageLineTests {
  private func settings(_ screen: String) -> [PageLine] {
    [
      PageLine("All devices"),
      PageLine(
        "  snooze  9m",
        edit: PageLine.Edit(
          label: "snooze", hint: "It takes a length of time.", verb: "settings set snooze",
          value: "9m")),
      PageLine("  openScreen  \(screen)", command: ["settings", "set", "openScreen", screen]),
      PageLine("  version  1"),
    ]
  }

  /// A screen that shows the settings.
  private func fixture() -> UIFixture {
    var ui = UIFixture(size: Size(60, 20))
    ui.press("7")
    ui.send(.page(.settings, settings("on")))
    return ui
  }

  @Test("Enter on a value asks for another one, beginning with the present value")
  func edit() {
    var ui = fixture()
    ui.press("enter")
    #expect(ui.lines[18].hasPrefix(" snooze: 9m"))
    #expect(ui.lines.contains(" It takes a length of time."))
    ui.press("backspace", "backspace")
    ui.type("5m")
    #expect(ui.lines.contains(" It takes a length of time."))
    ui.press("enter")
    #expect(ui.asked == [.run(["settings", "set", "snooze", "5m"])])
  }

  @Test("A typed value is one argument, and nothing happens without a value or after esc")
  func words() {
    var ui = fixture()
    ui.press("enter", "ctrl-u", "enter", "enter", "esc")
    #expect(ui.asked.isEmpty)
    ui.press("enter", "ctrl-u")
    ui.type("30m, 1h")
    ui.press("enter")
    #expect(ui.asked == [.run(["settings", "set", "snooze", "30m, 1h"])])
  }

  @Test("A line whose command has changed stays selected")
  func toggle() {
    var ui = fixture()
    ui.press("j", "enter")
    #expect(ui.asked == [.run(["settings", "set", "openScreen", "on"])])
    ui.asked = []
    ui.send(.page(.settings, settings("off")))
    ui.press("enter")
    #expect(ui.asked == [.run(["settings", "set", "openScreen", "off"])])
    ui.press("k", "enter")
    #expect(ui.lines[18].hasPrefix(" snooze: 9m"))
  }

  @Test("Each line of a page can be read, and only a line on the screen is selected")
  func scrolling() {
    var ui = fixture()
    // 17 rows are shown. Two lines in the middle of 60 can be opened.
    let lines = (0..<60).map {
      PageLine("line \($0)", command: [25, 27].contains($0) ? ["show", "\($0)"] : nil)
    }
    ui.press("4")
    ui.send(.page(.stats, lines))
    #expect(ui.lines[1] == " line 0")
    ui.press("enter")
    #expect(ui.asked.isEmpty)
    ui.press("j")
    #expect(ui.lines[1] == " line 1")
    for _ in 0..<8 { ui.press("j") }
    ui.press("enter")
    #expect(ui.asked == [.run(["show", "25"])])
    ui.press("j", "j", "enter")
    #expect(ui.asked.last == .run(["show", "27"]))
    ui.press("G", "enter")
    #expect(ui.lines[17].hasPrefix(" line 59") && ui.asked.count == 2)
    // The page is read again each minute.
    ui.send(.page(.stats, lines))
    #expect(ui.lines[17].hasPrefix(" line 59"))
    ui.press("g")
    #expect(ui.lines[1] == " line 0")
    ui.press("pagedown", "enter")
    #expect(ui.lines[1] == " line 16" && ui.asked.last == .run(["show", "27"]))
    ui.press("k", "enter")
    #expect(ui.asked.last == .run(["show", "25"]))
  }

  @Test("A countdown that a new minute changes is not marked as a change, but another state is")
  func countdowns() {
    var ui = UIFixture(3)
    func content(_ wait: Int, clock: String, state: AlarmStatus.State = .active) -> ListContent {
      let rows = (0..<3).map { number in
        AlarmRow(
          id: UIFixture.row(number).id, title: "Alarm \(number)",
          state: number == 1 ? state : .active,
          line: TableLine("  Alarm \(number)  in \(wait) min"))
      }
      return ListContent(rows: rows.map { .alarm($0) }, clock: clock)
    }
    func marks(_ content: ListContent) -> Set<Identifier> {
      _ = ui.state.update(.list(content, filter: ""))
      return ui.state.list.changed
    }
    _ = marks(content(12, clock: "08:48"))
    _ = ui.state.update(.marksEnded)
    let counted = marks(content(11, clock: "08:49"))
    #expect(counted.isEmpty)
    let answered = marks(content(10, clock: "08:50", state: .pending))
    #expect(answered == [UIFixture.row(1).id])
  }
}
