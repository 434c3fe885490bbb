import BelfryCore
import BelfryStore

/// The copies of a store as text.
///
/// ```
/// Store  /home/you/.local/share/belfry: 19 alarms, 42 commits
///
/// Copies
///   origin  you@host:belfry.git  synced 2 h ago, lacks 3 commits
///   export  /media/usb/b.json    made 3 days ago, lacks 12 commits
///
/// If this disk failed now
///   3 changes would be lost:
///     today 09:05  Done: Rent (Mon 23 Nov 2026, 09:00)
///
/// To restore
///   belfry clone you@host:belfry.git
/// ```
package struct BackupText {
  private let backup: StoreBackup
  private let tier: Settings.Tier
  private let times: TimeText
  private let style: Style
  /// Returns a word of a command line, quoted if needed.
  private let quoted: (String) -> String
  /// Returns a URL for output, with credentials masked.
  private let shown: (String) -> String

  package init(
    _ backup: StoreBackup, tier: Settings.Tier, times: TimeText, style: Style,
    quoted: @escaping (String) -> String, shown: @escaping (String) -> String
  ) {
    self.backup = backup
    self.tier = tier
    self.times = times
    self.style = style
    self.quoted = quoted
    self.shown = shown
  }

  /// The whole page.
  package var text: String {
    var text =
      "\(heading("Store"))  \(Printable.text(backup.path)): "
      + "\(count(backup.alarms, "alarm")), \(count(backup.commits, "commit"))\n"
    text += section("Copies", copies)
    text += section("If this disk failed now", losses)
    text += section("To restore on another disk", restoring)
    text += section("Tiers", tiers)
    text += section("Tips", tips)
    return text
  }

  private func heading(_ text: String) -> String { style.paint(text, .bold) }

  private func section(_ title: String, _ lines: [String]) -> String {
    lines.isEmpty ? "" : "\n\(heading(title))\n" + lines.map { "  \($0)\n" }.joined()
  }

  private func count(_ number: Int, _ word: String) -> String {
    "\(number) \(word)\(number == 1 ? "" : "s")"
  }

  // MARK: Copies

  private var copies: [String] {
    if backup.copies.isEmpty { return [style.paint("none: no remote and no export", .red)] }
    let names = backup.copies.map { name($0).0 }
    let width = names.map { TextWidth.of($0) }.max() ?? 0
    return backup.copies.flatMap { copy -> [String] in
      let (name, place) = name(copy)
      let gap = String(repeating: " ", count: width - TextWidth.of(name) + 2)
      let state = state(copy)
      let line = name + gap + place
      let painted = style.paint(state, copy.isSafe ? (copy.lacking == 0 ? .green : .yellow) : .red)
      let room = (style.width ?? .max) - 4
      if TextWidth.of(line) + 2 + TextWidth.of(state) <= room { return ["\(line)  \(painted)"] }
      return [line, String(repeating: " ", count: width + 2) + painted]
    }
  }

  private func name(_ copy: StoreBackup.Copy) -> (String, String) {
    switch copy.place {
    case .remote(let remote): (Printable.text(remote.name), shown(remote.url))
    case .export(let path): ("export", path.map { Printable.text($0) } ?? "standard output")
    }
  }

  private func state(_ copy: StoreBackup.Copy) -> String {
    var verb = "synced"
    if case .export = copy.place { verb = "made" }
    var parts = [
      copy.at.map { "\(verb) \(Span.ago(times.now.seconds(since: $0)))" } ?? "never \(verb)"
    ]
    switch copy.lacking {
    case 0: parts.append("has everything")
    case let lacking?: parts.append("lacks \(count(lacking, "commit"))")
    case nil where copy.at != nil: parts.append("its commit is unknown")
    case nil: break
    }
    if copy.isMissing { parts.append("not there now") }
    if copy.isOnSameDisk { parts.append("on the disk of the store") }
    return parts.joined(separator: ", ")
  }

  // MARK: Losses

  /// True if there are copies, and each is on the disk of the store.
  private var isOnOneDisk: Bool {
    !backup.copies.isEmpty && backup.copies.allSatisfy(\.isOnSameDisk)
  }

  private var losses: [String] {
    var lines: [String] = []
    if backup.best == nil {
      lines.append(
        style.paint(
          "everything would be lost: \(count(backup.alarms, "alarm")) with their history", .red))
      if isOnOneDisk { lines.append("because all copies are on the disk of the store") }
    } else if backup.unsavedCount == 0 {
      lines.append(style.paint("nothing would be lost", .green))
    } else {
      lines.append(
        style.paint("\(count(backup.unsavedCount, "change")) would be lost:", .yellow))
      for change in backup.unsaved {
        let subject = Printable.text(times.subject(change.subject, change.occurrence))
        lines.append(style.fit("  \(times.relative(change.at))  \(subject)", indent: 2))
      }
      let more = backup.unsavedCount - backup.unsaved.count
      if more > 0 { lines.append("  and \(more) more") }
    }
    if backup.handEdits > 0 {
      lines.append("\(count(backup.handEdits, "hand edit")), not in a commit yet")
    }
    lines.append("also this device's settings, hooks, actions and partner keys: see Tips")
    return lines
  }

  // MARK: Restoring

  private var restoring: [String] {
    let safe = backup.copies.filter(\.isSafe)
    if isOnOneDisk { return ["not possible yet: make a copy on another disk or machine, see Tips"] }
    if safe.isEmpty { return ["not possible yet: make a copy first, see Tips"] }
    return safe.sorted { ($0.lacking ?? .max) < ($1.lacking ?? .max) }.map { copy in
      switch copy.place {
      case .remote(let remote): "belfry clone \(quoted(shown(remote.url)))"
      case .export(let path): "belfry import \(path.map { quoted(Printable.text($0)) } ?? "FILE")"
      }
    }
  }

  // MARK: Tiers and tips

  private var tiers: [String] {
    let rows: [(Settings.Tier, String)] = [
      (.free, "sync, history, undo, export; 2 alarms"),
      (.plus, "also any number of alarms, and follow-ups until it is done"),
      (.premium, "also partners, with end-to-end encryption"),
    ]
    return rows.map { row, features in
      let name = row.rawValue + String(repeating: " ", count: 9 - row.rawValue.utf8.count)
      return name + features + (row == tier ? style.paint("  (yours)", .green) : "")
    }
  }

  private var tips: [String] {
    var tips: [String] = []
    let remotes = backup.copies.filter { if case .remote = $0.place { true } else { false } }
    let exports = backup.copies.filter { if case .export = $0.place { true } else { false } }
    if remotes.isEmpty {
      tips.append("copy each change to another machine: belfry remote add origin URL")
    } else if remotes.allSatisfy(\.isOnSameDisk) {
      tips.append("add a remote on another machine: belfry remote add NAME URL")
    }
    if remotes.contains(where: { $0.lacking != 0 }) {
      tips.append("bring the remotes up to date: belfry sync")
    }
    if exports.allSatisfy({ !$0.isSafe }) {
      tips.append("write an export to another disk: belfry export -o /media/usb/belfry.json")
    }
    tips.append("sync by itself: belfry service install")
    tips.append("copy the files of this device alone: ~/.config/belfry")
    if tier == .premium {
      tips.append("keep the keys of your partners: belfry partner keys export > FILE")
    }
    return tips
  }
}
