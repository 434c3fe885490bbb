import BelfryCore
import BelfryTerminal
import Foundation
import Testing

@testable import BelfryUI

/// Screens as text, compared with files. `BELFRY_RECORD=1` records them.
@Suite struct UISnapshotTests {
  static let sizes = [Size(40, 10), Size(60, 20), Size(80, 24), Size(160, 50)]

  @Test("The screens are as recorded, in every size", arguments: sizes)
  func screens(size: Size) throws {
    var text = ""
    func add(_ name: String, _ ui: UIFixture) {
      text += "== \(name)\n" + ui.lines.map { $0 + "\n" }.joined()
    }
    var ui = UIFixture(30, size: size)
    ui.alarms[3] = UIFixture.row(3, state: .ringing, title: "Certificates 日本語 👩‍👩‍👧 renewal")
    ui.alarms[4] = UIFixture.row(
      4, state: .pending, title: "<b>&%{A1:rm:}#(reboot)\u{1B}[2J\u{202E}")
    ui.send(.changed)
    ui.send(.marksEnded)
    add("list", ui)
    ui.press("space", "space", "j", "j")
    add("marked", ui)
    ui.press("esc", "enter")
    add("details", ui)
    ui.press("esc", "2")
    add("month", ui)
    ui.press("3", "pagedown")
    add("history", ui)
    ui.press("1", "a")
    ui.type("Rent every month on the 1st at 9:00 and a very long title behind it")
    add("add", ui)
    ui.press("esc", "e")
    ui.type(" renewal")
    ui.press("tab", "end")
    ui.type(", 18:00")
    add("form", ui)
    ui.press("esc", "esc", "/")
    ui.type("nothing")
    add("filter", ui)
    ui.press("esc", "?")
    ui.type("go")
    add("help", ui)
    ui.press("esc", "x")
    add("question", ui)
    ui.press("n")
    ui.send(
      .ended(
        .init(lines: ["Rent is not ringing, so there is nothing to mark as done."], isError: true)))
    add("error", ui)
    ui.send(.ended(.init(title: "doctor", lines: (0..<60).map { "check \($0)  ok" })))
    add("output", ui)
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Screens/\(size.columns)x\(size.rows).txt")
    if ProcessInfo.processInfo.environment["BELFRY_RECORD"] != nil {
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == text)
  }
}
