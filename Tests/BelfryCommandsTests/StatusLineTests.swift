import BelfryCore
import BelfryStore
import Foundation
import TestSupport
import Testing

@testable import BelfryTerminal

/// The line of a status bar, and its forms for the programs that show it.
@Suite struct StatusLineTests {
  private typealias Item = AttentionSummary.Item

  private func item(_ title: String, at seconds: Int64? = nil) -> Item {
    Item(
      id: TestIdentifier.make(), title: title,
      civil: seconds == nil ? CivilDateTime("2026-11-23T09:00") : nil,
      at: seconds.map { TimeText.utc.now.adding(seconds: $0) })
  }

  private func line(
    _ summary: AttentionSummary, width: Int = 40, isRelative: Bool = false
  ) -> StatusLine {
    StatusLine(summary, .utc, width: width, isRelative: isRelative)
  }

  /// Titles that are code in one of the formats, or for a terminal.
  static let hostile = [
    "<b>&%{A1:rm:}#(reboot)", "#[fg=red]#{pid}", "%{F#f00}%{{A", "\u{1B}]0;x\u{7}\u{1B}[2J",
    "\u{202E}gnip\u{2066}", "two\nlines\r\n", #"quotes " ' ` \ $(reboot)"#,
    String(repeating: "long ", count: 2000), "a" + String(repeating: "\u{301}", count: 10_000),
    String(repeating: "日本語", count: 100), "&lt;&#60;", "",
  ]

  @Test("The most urgent state comes first, then the numbers of the others")
  func order() {
    var summary = AttentionSummary()
    #expect(line(summary).text.isEmpty)
    #expect(line(summary).state == .idle)
    summary.upcoming = [item("Tea", at: 1800), item("Pills", at: 3600)]
    #expect(line(summary).text == "Tea 10:00")
    #expect(line(summary, isRelative: true).text == "Tea in 30 min")
    #expect(line(summary).prompt.isEmpty)
    summary.snoozed = [item("Rent", at: 600)]
    #expect(line(summary).text == "snoozed Rent until 09:40")
    #expect(line(summary).prompt.isEmpty)
    summary.pending = [item("Bins"), item("Gym")]
    #expect(line(summary).text == "pending Bins +1 · 1 snoozed")
    summary.missed = [item("Plants")]
    #expect(line(summary).text == "missed Plants · 2 pending · 1 snoozed")
    summary.ringing = [item("Milk")]
    #expect(line(summary, width: 60).text == "ringing Milk · 1 missed · 2 pending · 1 snoozed")
    #expect(line(summary).prompt == "1 ringing, 1 missed, 2 pending")
    #expect(line(summary).state == .ringing)
    summary.problem = .schedulerAbsent
    #expect(line(summary, width: 80).text.hasPrefix("no scheduler · ringing Milk · "))
    #expect(line(summary).prompt == "no scheduler, 1 ringing, 1 missed, 2 pending")
    #expect(line(AttentionSummary(problem: .syncOutdated)).text == "not synced")
    #expect(line(AttentionSummary(problem: .clockBehind)).text == "clock behind")
    #expect(line(AttentionSummary(problem: .syncOutdated)).prompt.isEmpty)
  }

  @Test("A line changes with the day, and a relative one with each minute")
  func validity() {
    var summary = AttentionSummary()
    #expect(line(summary).validUntil == .distantFuture)
    let now = TimeText.utc.now
    summary.upcoming = [item("Tea", at: 1830)]
    // It is 09:30.
    #expect(line(summary).validUntil == now.adding(seconds: 14 * 3600 + 1800))
    let relative = line(summary, isRelative: true)
    #expect(relative.validUntil == now.adding(seconds: 31))
    let later = TimeText(
      now: relative.validUntil, zones: TimeText.utc.zones, format: TimeText.utc.format)
    #expect(StatusLine(summary, later, isRelative: true).text == "Tea in 29 min")
  }

  @Test("Titles are inert and cut to the width", arguments: hostile)
  func hostileTitles(_ title: String) throws {
    for width in [10, 40, 500] {
      var summary = AttentionSummary(problem: .schedulerAbsent)
      summary.ringing = [item(title), item(title)]
      summary.upcoming = [item(title, at: 60)]
      let line = line(summary, width: width)
      #expect(TextWidth.of(line.text) <= width)
      for format in StatusLineFormat.allCases {
        let text = format.text(line)
        #expect(
          !text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
        #expect(!text.contains("\u{202E}") && !text.contains("\u{2066}"))
        #expect(text.utf8.count < 20_000)
      }
      #expect(!StatusLineFormat.polybar.text(line).contains("%{"))
      #expect(!StatusLineFormat.i3blocks.text(line).contains("\\"))
      let tmux = StatusLineFormat.tmux.text(line)
      #expect(tmux.replacing("##", with: "") == line.text.replacing("#", with: ""))
      for format in [StatusLineFormat.waybar, .i3bar, .i3blocks] {
        let data = Data(format.text(line).utf8)
        let object = try #require(
          try JSONSerialization.jsonObject(with: data) as? [String: Any])
        if format != .waybar {
          let text = format == .i3bar ? line.text : StatusLineFormat.i3blocks(line.text)
          #expect(object["full_text"] as? String == text)
          #expect(object["markup"] as? String == "none")
          #expect(object["urgent"] as? Bool == (format == .i3bar ? true : nil))
          #expect(object["urgent"] as? String == (format == .i3blocks ? "true" : nil))
        } else {
          for key in ["text", "tooltip"] {
            let markup = try #require(object[key] as? String)
            #expect(!markup.contains("<") && !markup.contains(">"))
            let references = markup.matches(of: /&(amp|lt|gt);/).count
            #expect(references == markup.count { $0 == "&" })
          }
          #expect(object["class"] as? [String] == ["ringing", "problem"])
          #expect(object["percentage"] as? Int == 100)
        }
      }
    }
  }
}
