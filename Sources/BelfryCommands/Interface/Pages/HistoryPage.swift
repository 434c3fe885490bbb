import BelfryCore
import BelfryStore
import BelfryTerminal
import BelfryUI

/// The latest commits by day, each with its device. A commit opens its changes.
///
/// ```
/// Mon 23 Nov 2026
///   09:05 ↑ Done: Rent (09:00)          laptop  3a25f117
///   09:00   Fired: Rent (09:00)         server  9f0c2d11
/// ```
struct HistoryPage {
  private let source: PageSource

  /// The number of commits.
  private static let maxCommits = 300
  /// The width of a device's name, and the width of the page below which it has no commits.
  private static let (deviceWidth, narrow) = (14, 56)

  init(_ source: PageSource) { self.source = source }

  func lines() throws -> [PageLine] {
    let commits = try source.store.history.commits(count: HistoryPage.maxCommits)
    let names = source.store.deviceNames()
    let devices = commits.map { commit in
      let name = commit.device.flatMap { names[$0] } ?? commit.author
      return TextWidth.cut(Printable.text(name), to: HistoryPage.deviceWidth)
    }
    let deviceWidth = devices.map(TextWidth.of).max() ?? 0
    var lines = try notes(commits)
    var last: CivilDate?
    for (commit, device) in zip(commits, devices) {
      let civil = source.times.zones.local.civil(at: commit.at)
      if civil.date != last {
        if last != nil { lines.append(PageLine("")) }
        lines.append(source.heading(source.times.date(civil.date)))
      }
      last = civil.date
      lines.append(
        line(commit, civil, TextWidth.padded(device, to: deviceWidth)))
    }
    return lines
  }

  /// Returns the lines about changes that are nowhere else yet.
  private func notes(_ commits: [StoreHistory.CommitSummary]) throws -> [PageLine] {
    var notes: [String] = []
    let edits = try source.store.history.handEdits
    if edits > 0 {
      notes.append(
        "\(edits) record\(edits == 1 ? "" : "s") edited by hand: the next command imports \(edits == 1 ? "it" : "them")."
      )
    }
    let unsynced = commits.count { !$0.isSynced }
    if unsynced > 0 {
      let count = unsynced == commits.count ? "\(unsynced) or more" : "\(unsynced)"
      notes.append("↑ \(count) to push: on no remote yet.")
    }
    return notes.map { PageLine(source.style.paint(source.style.fit($0), .yellow)) }
      + (notes.isEmpty ? [] : [PageLine("")])
  }

  private func line(
    _ commit: StoreHistory.CommitSummary, _ civil: CivilDateTime, _ device: String
  ) -> PageLine {
    let (style, times, columns) = (source.style, source.times, source.columns)
    let head = "  \(times.time(civil.time)) \(commit.isSynced ? " " : "↑") "
    let hasCommit = columns >= HistoryPage.narrow
    let by = "  \(device)" + (hasCommit ? "  \(commit.id.short)" : "")
    let room = max(8, columns - TextWidth.of(head) - TextWidth.of(by))
    let subject = times.subject(commit.subject, commit.occurrence, on: civil.date)
    let text = TextWidth.padded(TextWidth.cut(Printable.text(subject), to: room), to: room)
    return PageLine(
      // Merges of the devices' histories change nothing by themselves.
      head + (commit.isMerge ? style.paint(text, .faint) : text) + style.paint(by, .faint),
      command: ["log", "--commit", commit.id.description])
  }
}
