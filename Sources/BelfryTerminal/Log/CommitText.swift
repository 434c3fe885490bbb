import BelfryCore
import BelfryStore

/// The changes of a commit in words.
///
/// ```
/// Edited: Rent
///   Mon 23 Nov 2026, 09:05  laptop  3a25f117
///
/// Rent
///   title: Rent → Pay rent
///
/// Log
///   09:05  Edited     Pay rent: title  laptop
///
/// Files
///   changed  alarms/bkrrxnefq7yzj5m2xkkyqh3zva.json
///   1 file in log
/// ```
package struct CommitText {
  private let log: LogText
  private let style: Style
  private var times: TimeText { log.times }

  /// The maximum number of alarms, entries and files that are listed.
  private static let maxItems = 40

  package init(_ log: LogText, _ style: Style) {
    (self.log, self.style) = (log, style)
  }

  /// Returns the lines.
  package func lines(_ changes: CommitChanges) -> [String] {
    let commit = changes.commit
    let subject = Printable.text(times.subject(commit.subject, commit.occurrence))
    var lines = wrapped(subject, indent: 0).map { style.paint($0, .bold) }
    let device = commit.device.flatMap { log.names[$0] } ?? commit.author
    let sync = commit.isSynced ? "" : "  on no remote yet"
    lines.append(
      style.paint(
        style.fit(
          "  \(times.full(commit.at))  \(Printable.text(device))  \(commit.id.short)\(sync)"),
        .faint))
    lines += changes.body.flatMap { wrapped(Printable.text($0), indent: 2) }
    for change in changes.alarms.prefix(CommitText.maxItems) {
      let values = values(change)
      guard let alarm = change.after ?? change.before, !values.isEmpty else { continue }
      lines += ["", style.paint(style.fit(Printable.text(alarm.title)), .bold)]
      lines += values.flatMap { wrapped($0, indent: 2) }
    }
    if !changes.settings.isEmpty {
      lines += ["", style.paint("Settings", .bold)]
      lines += changes.settings.flatMap { setting, before, after in
        wrapped(
          "\(setting.name): \(before?.description ?? "default") → \(after?.description ?? "default")",
          indent: 2)
      }
    }
    for change in changes.devices {
      guard let device = change.after ?? change.before else { continue }
      lines += ["", style.paint("Device \(Printable.text(device.name))", .bold)]
      lines += values(change).flatMap { wrapped($0, indent: 2) }
    }
    if !changes.entries.isEmpty {
      lines += ["", style.paint("Log", .bold)]
      let rows = LogLines(NewestFirst(changes.entries.reversed())).prefix(CommitText.maxItems)
      lines += rows.flatMap { log.row($0).split(separator: "\n").map(String.init) }
    }
    return lines + files(changes)
  }

  /// Returns the files. Those of the log, whose names are long, are counted.
  private func files(_ changes: CommitChanges) -> [String] {
    let files = changes.files.filter { !$0.path.hasPrefix("log/") }
    let logged = changes.files.count - files.count
    var lines = ["", style.paint("Files", .bold)]
    lines += files.prefix(CommitText.maxItems).map {
      style.fit("  \(TextWidth.padded($0.change.rawValue, to: 7))  \(Printable.text($0.path))")
    }
    if files.count > CommitText.maxItems {
      lines.append("  and \(files.count - CommitText.maxItems) more")
    }
    if logged > 0 { lines.append("  \(logged) file\(logged == 1 ? "" : "s") in log") }
    return lines
  }

  private func wrapped(_ text: String, indent: Int) -> [String] {
    let space = String(repeating: " ", count: indent)
    guard let width = style.width else { return [space + text] }
    return TextWidth.wrapped(text, to: max(8, width - indent)).map { space + $0 }
  }

  /// Returns the values of an alarm that differ, each as `title: Rent → Pay rent`. The states of its occurrences are in the
  /// log.
  private func values(_ change: CommitChanges.Change<Alarm>) -> [String] {
    guard let after = change.after else { return ["removed"] }
    guard let before = change.before else {
      return ["added: \(Printable.text(times.schedule(after.schedule, zone: after.zone.text)))"]
    }
    var lines = AlarmDifference(before, after, names: log.names, times: times).values.map(\.text)
    // The fields that no form edits.
    for field in [Alarm.Field.enabled, .pause] where !before.hasSame(field, as: after) {
      let texts = [before, after].map { alarm in
        let text = Printable.text(times.dates(in: alarm.text(of: field)))
        return text.isEmpty ? "none" : text
      }
      lines.append("\(field.rawValue): \(texts[0]) → \(texts[1])")
    }
    let cascades = [before, after].map { cascade($0.cascade?.plan) }
    if cascades[0] != cascades[1] { lines.append("cascade: \(cascades[0]) → \(cascades[1])") }
    if before.isDeleted != after.isDeleted {
      lines.append(after.isDeleted ? "deleted" : "restored")
    }
    return lines
  }

  private func cascade(_ plan: Cascade.Plan?) -> String {
    guard let plan, !plan.targets.isEmpty else { return "none" }
    let steps = plan.targets.map { Printable.text($0.label(log.names)) }.joined(separator: ", ")
    return plan.isOn ? "\(steps), every \(Span.exact(plan.interval))" : "off (\(steps))"
  }

  private func values(_ change: CommitChanges.Change<Device>) -> [String] {
    guard let after = change.after else { return ["removed"] }
    guard let before = change.before else { return ["added"] }
    func line(_ name: String, _ old: String?, _ new: String?) -> String? {
      old == new
        ? nil : "\(name): \(Printable.text(old ?? "none")) → \(Printable.text(new ?? "none"))"
    }
    return [
      line("name", before.name, after.name),
      line("kind", before.kind?.rawValue, after.kind?.rawValue),
      line("owner", before.owner, after.owner), line("zone", before.zone, after.zone),
      line("calls", before.calls ? "on" : "off", after.calls ? "on" : "off"),
      line("phone", before.phone, after.phone),
    ].compactMap { $0 }
  }
}
