import BelfryActions
import BelfryCore
import BelfryExchange
import BelfryScheduler
import BelfryTerminal

/// The text about the import of alarms from a calendar or another program.
struct ImportOutput {
  private let context: CommandContext
  /// The noun for the origin of the alarms: `file`.
  private let source: String
  private let isDryRun: Bool

  init(_ context: CommandContext, source: String, isDryRun: Bool) {
    self.context = context
    self.source = source
    self.isDryRun = isDryRun
  }

  /// Prints the counts of an import, and a line for each alarm that it changes.
  ///
  /// - Parameters:
  ///   - skipped: The skipped occurrences of series that are not in the document.
  ///   - unchanged: The number of alarms that are in the store already.
  ///   - leftOut: The number of items that were left out.
  func show(
    _ result: ImportAlarms.Result, _ skipped: [ImportChanges.Skipped], unchanged: Int, leftOut: Int
  ) {
    let verb = isDryRun ? "Would import" : "Imported"
    let count = result.new.count
    var parts = ["\(unchanged) already in the store", "\(leftOut) left out"]
    if !result.removed.isEmpty { parts.insert("\(result.removed.count) removed", at: 0) }
    if result.changedCount > 0 { parts.insert("\(result.changedCount) changed", at: 0) }
    Console.line(
      "\(verb) \(count) alarm\(count == 1 ? "" : "s"); \(parts.joined(separator: ", ")).")
    for alarm in result.new {
      let schedule = context.times.schedule(alarm.schedule, zone: alarm.zone.text)
      Console.line("  \(Printable.text(alarm.title)): \(schedule)")
    }
    for (before, after) in result.updated {
      let (title, newTitle) = (Printable.text(before.title), Printable.text(after.title))
      let name = title == newTitle ? title : "\(title), now \(newTitle)"
      let old = context.times.schedule(before.schedule, zone: before.zone.text)
      let new = context.times.schedule(after.schedule, zone: after.zone.text)
      let schedule = old == new ? old : "\(old) → \(new)"
      Console.line("  changed: \(name): \(schedule)")
    }
    for move in result.moves {
      let (title, zone) = (Printable.text(move.title), move.zone.text)
      let time = context.times.full(move.time, zone: zone)
      let own = context.times.full(move.occurrence, zone: zone)
      Console.line(
        move.time == move.occurrence
          ? "  moved back: \(title): \(own)" : "  moved: \(title): \(own) → \(time)")
    }
    for move in result.skipped {
      let own = context.times.full(move.occurrence, zone: move.zone.text)
      Console.line("  skipped: \(Printable.text(move.title)): \(own)")
    }
    for alarm in result.removed { Console.line("  removed: \(Printable.text(alarm.title))") }
    for change in skipped {
      Console.line(
        "  \(Printable.text(change.alarm.title)): without \(context.times.date(change.occurrence.date))"
      )
    }
  }

  /// Prints a warning for each alarm and occurrence that stays as a person has edited it, and for each lost property.
  ///
  /// - Parameter present: The alarms of the document; nil if an alarm can be missing in it without a meaning.
  func warn(about result: ImportAlarms.Result, present: Set<Identifier>? = nil) {
    for alarm in result.edited {
      if let present, !present.contains(alarm.id) {
        CommandDiagnostic.warn(
          "\(Printable.text(alarm.title)) is not in the \(source) any more, but was edited here since its import; it stays."
        )
        continue
      }
      CommandDiagnostic.warn(
        "\(Printable.text(alarm.title)) differs from the \(source), but was edited here since its import; it was not changed."
      )
    }
    for move in result.editedMoves {
      let (title, zone) = (Printable.text(move.title), move.zone.text)
      let time = context.times.full(move.time, zone: zone)
      let own = context.times.full(move.occurrence, zone: zone)
      CommandDiagnostic.warn(
        "\(title): the \(source) moves \(own) to \(time), but it was moved here since its import; it was not changed."
      )
    }
    for alarm in result.new where !alarm.losses.isEmpty {
      let losses = alarm.losses.map { Printable.text($0) }.joined(separator: "; ")
      CommandDiagnostic.warn("\(Printable.text(alarm.title)): not imported: \(losses).")
    }
  }
}
