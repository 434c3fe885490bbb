import Foundation
import Testing

@testable import BelfryUI

/// The table of keys in the manual. `BELFRY_RECORD=1` writes it.
@Suite struct ManualKeysTests {
  @Test("The manual has the keys of the key table")
  func table() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Sources/belfry/belfry.docc/FullScreen.md").standardizedFileURL
    var lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    let start = try #require(lines.firstIndex { $0.hasPrefix("| key | ") }) + 2
    let end = try #require(lines[start...].firstIndex { !$0.hasPrefix("|") })
    let rows = KeyTable.standard.bindings.map { binding in
      let keys = binding.keys.map { "`\($0.name)`" }.joined(separator: " ")
      let places =
        binding.places == Set(Place.allCases)
        ? "all pages"
        : Place.allCases.filter { binding.places.contains($0) }.map(\.title).joined(separator: ", ")
      return "| \(keys) | \(binding.help) | \(places) | `\(binding.command.rawValue)` |"
    }
    if ProcessInfo.processInfo.environment["BELFRY_RECORD"] != nil {
      lines.replaceSubrange(
        start - 2..<end, with: ["| key | effect | on | command |", "|---|---|---|---|"] + rows)
      try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
      return
    }
    #expect(Array(lines[start..<end]) == rows)
  }

  @Test("The help of each key fits beside the keys on 60 columns")
  func width() {
    for binding in KeyTable.standard.bindings {
      #expect(binding.help.count <= 35, "\(binding.help)")
    }
  }
}

extension Place {
  fileprivate var title: String {
    switch self {
    case .alarms: "alarms"
    case .month: "month"
    case .text: "other pages"
    }
  }
}
