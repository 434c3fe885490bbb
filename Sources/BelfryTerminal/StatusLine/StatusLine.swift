import BelfryCore
import BelfryStore

/// The line about a store in a status bar: what needs an answer, or else what rings next.
package struct StatusLine: Sendable {
  /// The content.
  package let summary: AttentionSummary
  private let times: TimeText
  private let width: Int
  private let isRelative: Bool

  /// The default width of the line, in columns.
  package static let defaultWidth = 40
  /// The permitted widths.
  package static let widths = 10...500

  /// The maximum number of scalars of a title. A single character can have thousands of combining marks.
  private static let maxScalars = 500
  /// The width of a title that other parts leave no room for.
  private static let minTitle = 6

  /// Creates a line.
  ///
  /// - Parameters:
  ///   - width: The maximum width of the text, in columns.
  ///   - isRelative: True to show the time until the next occurrence instead of its time of day.
  package init(
    _ summary: AttentionSummary, _ times: TimeText, width: Int = StatusLine.defaultWidth,
    isRelative: Bool = false
  ) {
    self.summary = summary
    self.times = times
    self.width = width
    self.isRelative = isRelative
  }

  /// The most urgent state of any alarm. The raw value is the name in the formats of bars.
  package enum State: String, CaseIterable, Sendable {
    /// In descending urgency.
    case ringing, missed, pending, snoozed
    /// Nothing needs an answer, and an alarm rings next.
    case next
    /// No alarm rings next.
    case idle
  }

  /// The most urgent state.
  package var state: State {
    if let first = groups.first { return first.state }
    return summary.upcoming.isEmpty ? .idle : .next
  }

  /// The alarms that need an answer, the most urgent ones first. No group is empty.
  private var groups: [(state: State, items: [AttentionSummary.Item])] {
    [
      (.ringing, summary.ringing), (.missed, summary.missed), (.pending, summary.pending),
      (.snoozed, summary.snoozed),
    ].filter { !$0.1.isEmpty }
  }

  // MARK: Text

  /// The line, without control characters and not wider than the maximum; empty if there is nothing to show.
  package var text: String {
    let problem = summary.problem.map { [StatusLine.text($0)] } ?? []
    let groups = groups
    guard let first = groups.first, let item = first.items.first else {
      guard let next = summary.upcoming.first, let at = next.at else {
        return TextWidth.cut(problem.joined(), to: width)
      }
      return line(problem, "", next.title, " \(when(at))", [])
    }
    let more = first.items.count > 1 ? " +\(first.items.count - 1)" : ""
    let end = item.at.map { " until \(times.brief($0))" } ?? ""
    return line(
      problem, "\(first.state.rawValue) ", item.title, end + more,
      groups.dropFirst().map { "\($0.items.count) \($0.state.rawValue)" })
  }

  /// The text for a prompt of a shell: empty if nothing needs the person. It contains no text of alarms, because shells
  /// expand their prompts.
  package var prompt: String {
    let silencing = summary.problem.flatMap { $0.isSilencing ? StatusLine.text($0) : nil }
    return ([silencing].compactMap { $0 } + [StatusLine.prompt(summary.counts)])
      .filter { !$0.isEmpty }.joined(separator: ", ")
  }

  /// Returns the text for a prompt about some numbers of alarms; empty if all of them are 0.
  package static func prompt(_ counts: AttentionCounts) -> String {
    [(counts.ringing, "ringing"), (counts.missed, "missed"), (counts.pending, "pending")]
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
  }

  /// The lines with all alarms that need an answer, and those that ring next.
  package var details: [String] {
    var lines = summary.problem.map { [StatusLine.text($0)] } ?? []
    for group in groups + [(.next, summary.upcoming)] {
      lines += group.items.prefix(AttentionSummary.maxUpcoming).map { item in
        let time =
          item.at.map { times.relative($0) } ?? item.civil.map { times.relative($0) } ?? ""
        let title = TextWidth.cut(StatusLine.title(item.title), to: 60)
        return "\(group.state.rawValue): \(title) \(time)"
      }
      let more = group.items.count - AttentionSummary.maxUpcoming
      if more > 0 { lines.append("and \(more) more \(group.state.rawValue)") }
    }
    return lines
  }

  /// Returns parts as one line. The title takes the rest of the width.
  private func line(
    _ start: [String], _ label: String, _ title: String, _ end: String, _ others: [String]
  ) -> String {
    func joined(_ title: String) -> String {
      (start + [label + title + end] + others).joined(separator: " · ")
    }
    let room = max(StatusLine.minTitle, width - TextWidth.of(joined("")))
    return TextWidth.cut(joined(TextWidth.cut(StatusLine.title(title), to: room)), to: width)
  }

  /// Returns a title without control characters and of limited length.
  private static func title(_ text: String) -> String {
    let scalars = text.unicodeScalars.prefix(maxScalars)
    return Printable.text(String(String.UnicodeScalarView(scalars)))
  }

  private func when(_ at: Instant) -> String {
    isRelative ? Span.until(max(0, at.seconds(since: times.now))) : times.brief(at)
  }

  /// Returns a problem in a few words.
  package static func text(_ problem: AttentionSummary.Problem) -> String {
    switch problem {
    case .storeMissing: "store missing"
    case .storeUnreadable: "store unreadable"
    case .schedulerAbsent: "no scheduler"
    case .schedulerUnresponsive: "daemon hangs"
    case .clockBehind: "clock behind"
    case .syncOutdated: "not synced"
    }
  }

  // MARK: Time

  /// The time before which the line does not change unless the store does.
  package var validUntil: Instant {
    let tomorrow = times.zones.local.instant(
      of: CivilDateTime(times.today.adding(days: 1), .midnight))
    var changes = [summary.validUntil]
    if !summary.upcoming.isEmpty || !groups.isEmpty, tomorrow > times.now {
      changes.append(tomorrow)
    }
    if isRelative, state == .next, let at = summary.upcoming.first?.at {
      let seconds = max(0, at.seconds(since: times.now))
      let unit: Int64 = seconds < 86_400 ? 60 : seconds < 7 * 86_400 ? 3600 : 86_400
      changes.append(times.now.adding(seconds: seconds % unit + 1))
    }
    return changes.min() ?? .distantFuture
  }
}
