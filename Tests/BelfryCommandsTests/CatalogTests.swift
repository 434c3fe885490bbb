import Foundation
import TestSupport
import Testing

@testable import BelfryCommands
@testable import BelfryTerminal

/// The rendering of every view in every state.
@Suite struct CatalogTests {
  /// The approved rendering. `BELFRY_RECORD=1` records it again. Review the difference afterwards.
  @Test(arguments: [40, 60, 80, 120, 200])
  func theRenderingEqualsTheSnapshot(_ width: Int) throws {
    try CatalogTests.compare(CatalogTests.text(width, isColored: false), "catalog-\(width)")
  }

  /// The colors of the same parts. They are those of the terminal's palette, for light and dark backgrounds.
  @Test(arguments: [60, 80, 120])
  func theColorsEqualTheSnapshot(_ width: Int) throws {
    let text = CatalogParts(Style(isColored: true, width: width)).all
      .filter { !$0.name.hasPrefix("firing") }
      .map { "== \($0.name)\n\($0.text)\n" }.joined()
      .replacing("\u{1B}[", with: "^[")
    try CatalogTests.compare(text, "catalog-\(width)-color")
    // A color of its own for the background, or white or black text, would be unreadable on one of the two.
    #expect(text.firstMatch(of: /\^\[[0-9;]*\b(30|37|4[0-9]|90|97|10[0-7])\b[0-9;]*m/) == nil)
  }

  private static func compare(_ text: String, _ name: String) throws {
    let file =
      URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Snapshots/\(name).txt").path
    if ProcessInfo.processInfo.environment["BELFRY_RECORD"] != nil {
      try text.write(toFile: file, atomically: true, encoding: .utf8)
    }
    let expected = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    let (old, new) = (expected.split(separator: "\n"), text.split(separator: "\n"))
    let first = zip(old, new).first { $0 != $1 }
    #expect(text == expected, "first: \(first.map { "\($0.0)\n\($0.1)" } ?? "the end")")
  }

  @Test(arguments: [40, 50, 60, 64, 80, 100, 133, 200])
  func noLineIsWiderThanTheTerminal(_ width: Int) {
    for part in CatalogParts(Style(isColored: false, width: width)).all {
      // The frame of the firing screen.
      let room = part.name.hasPrefix("firing") ? width + 1 : width
      for line in part.text.split(separator: "\n") where !line.contains("* * * * *") {
        #expect(TextWidth.of(String(line)) <= room, "\(part.name): \(line)")
      }
    }
  }

  @Test(arguments: [40, 80, 200])
  func theFiringScreenFillsTheTerminal(_ width: Int) {
    for part in CatalogParts(Style(isColored: false, width: width)).all
    where part.name.hasPrefix("firing") {
      for line in part.text.split(separator: "\n") {
        #expect(TextWidth.of(String(line)) == width + 1, "\(part.name): \(line)")
      }
    }
  }

  @Test func colorIsNeverTheOnlyDistinction() {
    let (plain, colored) = (
      CatalogTests.text(80, isColored: false), CatalogTests.text(80, isColored: true)
    )
    #expect(colored != plain)
    #expect(colored.replacing(/\u{1B}\[[0-9;]*m/, with: "") == plain)
  }

  @Test func eachStateHasItsOwnColorAndWord() {
    let parts = CatalogParts(Style(isColored: true, width: 80)).all
    func first(_ name: String) -> String {
      let text = parts.first { $0.name == "card: \(name)" }?.text ?? ""
      return text.split(separator: "\n").dropFirst().first.map(String.init) ?? ""
    }
    #expect(first("ringing").hasPrefix("  \u{1B}[1;31mRINGING"))
    #expect(first("snoozed").hasPrefix("  \u{1B}[33mSnoozed"))
    #expect(first("pending").hasPrefix("  \u{1B}[1;95mPending"))
    #expect(first("missed").hasPrefix("  \u{1B}[1;31mMissed"))
    #expect(first("disabled").hasPrefix("  \u{1B}[2mDisabled"))
    let badges = parts.filter { $0.name.hasPrefix("badge: ") }
      .compactMap { $0.text.firstMatch(of: /\u{1B}\[([0-9;]+)m\[/)?.1 }
    #expect(badges.count == 6)
    // Once, daily, weekly, monthly, annual. Every second week looks like weekly.
    #expect(Set(badges).count == 5)
  }

  private static func text(_ width: Int, isColored: Bool) -> String {
    CatalogParts(Style(isColored: isColored, width: width)).all
      .map { "== \($0.name)\n\($0.text)\n" }.joined()
  }
}
