import BelfryCore
import BelfryStore

/// The remarks behind the title of an alarm.
extension AlarmTable {
  /// A remark.
  private struct Remark {
    let text: String
    /// The text for a narrow row in which this is the first remark, empty for one that says nothing new; nil for none.
    var short: String?
  }

  /// Returns what else there is to know about an alarm, the most urgent first.
  func remarks(
    _ summary: AlarmSummary, _ status: AlarmStatus, _ group: Group
  ) -> TextColumns.Cell {
    if summary.isPlain, output.batteryWarnings[summary.id] == nil {
      return TextColumns.Cell()
    }
    var remarks: [Remark] = []
    var color: Style.Color? = .faint
    if let warning = output.batteryWarnings[summary.id] {
      remarks.append(Remark(text: "battery \(warning.predicted)%"))
      color = warning.risk == .critical ? .red : .orange
    }
    if status.state == .snoozed, status.snooze?.count == 0 {
      remarks.append(Remark(text: "quiet hours"))
    }
    let isPending = status.state == .pending
    if status.pending.count > (isPending ? 1 : 0) {
      remarks.append(Remark(text: "\(status.pending.count) pending"))
      color = color == .faint ? .brightMagenta : color
    }
    if status.missed.count > (status.state == .missed ? 1 : 0) {
      remarks.append(Remark(text: "\(status.missed.count) missed"))
      color = .red
    }
    // The state is `due`, which says the same in short.
    if status.state == .ringing, status.isUndelivered {
      remarks.append(Remark(text: "not delivered", short: ""))
    }
    if let until = status.pausedUntil {
      let end = local(until, summary.zone)
      let time = end.time == .midnight ? times.relative(end.date) : times.brief(end)
      remarks.append(
        status.state == .paused
          ? Remark(text: "until \(time)") : Remark(text: "paused until \(time)", short: "paused"))
    }
    if let skipped = status.skipped.first {
      let more = status.skipped.count > 1 ? " +\(status.skipped.count - 1)" : ""
      let time = times.relative(local(status.time(of: skipped), summary.zone))
      remarks.append(Remark(text: "skips \(time)\(more)", short: "skips"))
    }
    if let moved = moved(status) {
      let own = times.relative(local(moved.civil, summary.zone))
      let time = times.relative(local(status.time(of: moved.civil), summary.zone))
      remarks.append(
        Remark(
          text: moved.isShown ? "moved from \(own)" : "\(own) moved to \(time)", short: "moved"))
    }
    // Before the tags, which are cut on a narrow screen. It follows from the schedule.
    if group == .now, let next = next(summary) {
      remarks.append(Remark(text: "next \(next)", short: ""))
    }
    if !summary.tags.isEmpty {
      let tags = summary.tags.sorted().map { "+\($0.text)" }
      remarks.append(Remark(text: tags.joined(separator: " ")))
    }
    if summary.hasCascade { remarks.append(Remark(text: "cascade")) }
    if let partner = summary.partner {
      remarks.append(Remark(text: "partner \(Printable.text(partner))"))
    }
    return TextColumns.Cell(
      remarks.map(\.text).joined(separator: ", "), color, shorter: shorter(remarks))
  }

  /// Returns the texts of some remarks for narrow rows, the longest first.
  private func shorter(_ remarks: [Remark]) -> [String] {
    let cut = (1..<max(1, remarks.count)).reversed().map {
      remarks.prefix($0).map(\.text).joined(separator: ", ") + " …"
    }
    guard let short = remarks.first?.short else { return cut }
    return cut + [short.isEmpty || remarks.count == 1 ? short : short + " …"]
  }

  /// Returns the occurrence that a row shows, if it was moved, or else the first one that was; nil if there is none.
  private func moved(_ status: AlarmStatus) -> (civil: CivilDateTime, isShown: Bool)? {
    let shown = status.state == .active ? status.next?.civil : status.current
    if let shown, status.moved[shown] != nil { return (shown, true) }
    return status.moved.keys.min().map { ($0, false) }
  }
}
