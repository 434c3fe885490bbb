import BelfryCore
import BelfryStore

/// The error for a name that several alarms match, with what tells them apart.
struct AmbiguousName {
  private let name: String
  private let matches: [AlarmSummary]
  private let output: AlarmOutput

  init(_ name: String, _ matches: [AlarmSummary], _ output: AlarmOutput) {
    self.name = name
    self.matches = matches
    self.output = output
  }

  /// The error. Its hint has the identifier, the title and the next occurrence of the first alarms. If all have one
  /// title, it has their notes, too.
  var error: CommandError {
    let isOneTitle = Set(matches.map(\.title)).count == 1
    let shown = matches.prefix(Self.maxShown).map { summary in
      let note = isOneTitle ? summary.note?.split(separator: "\n").first.map { ": \($0)" } : nil
      let next = summary.status.next.map { ", \(output.when($0.civil, zone: summary.zone))" }
      return Printable.text(summary.title + (note ?? ""))
        + " (\(summary.id.short), \(summary.badge)\(next ?? ""))"
    }
    let more = matches.count > Self.maxShown ? ", …" : ""
    return CommandError(
      .noSuchAlarm, "'\(Printable.text(name))' could be any of \(matches.count) alarms.",
      hint: "Use more of the title, or the identifier: \(shown.joined(separator: ", "))\(more).")
  }

  private static let maxShown = 4
}
