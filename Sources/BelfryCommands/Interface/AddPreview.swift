import BelfryActions
import BelfryCore
import BelfryInput
import BelfryStore
import BelfryTerminal
import BelfryUI

/// The meaning of a line that is typed to add an alarm: what `belfry add` would make of it.
struct AddPreview {
  let context: CommandContext
  /// Nil before the first alarm.
  let store: Store?
  let style: Style

  private var text: PreviewText { PreviewText(style: style) }

  /// Returns the alarm, its next dates and its other values, or what is missing.
  func lines(_ line: String) -> [String] {
    do {
      guard let add = try Belfry.parse(process: ["add"] + ShellWords.split(line)) as? Add else {
        return []
      }
      let parser = InputParser(context)
      return try context.explaining { try lines(add.creation(parser), parser) }
    } catch {
      return text.refusal(error)
    }
  }

  private func lines(_ creation: AlarmCreation, _ parser: InputParser) throws -> [String] {
    var action = try creation.action(parser)
    let tags = creation.tags.sorted().map { " +" + Printable.text($0.text) }.joined()
    let head = style.paint(Printable.text(creation.title) + tags, .bold) + "  "
    guard let store else {
      let schedule = try creation.schedule(parser)
      var next: [String] = []
      var civil = parser.context.now
      let occurrences = Occurrences(schedule, in: parser.context.calendar)
      while next.count < PreviewText.dates, let date = occurrences.next(after: civil) {
        next.append(parser.formatter.full(date))
        civil = date
      }
      return [head + parser.formatter.schedule(schedule), text.dates(next)]
        + defaultTime(creation, nil)
    }
    action.delivery = try creation.delivery.changed(
      Alarm.Delivery(), devices: DeviceDirectory(store))
    let settings = try context.settings(store)
    let alarm = try action.preview(in: store, settings: settings).change.alarm
    let output = AlarmOutput(store: store, style: style)
    let next = store.timeline(alarm).upcoming(after: context.storeContext.now)
      .prefix(PreviewText.dates).map { output.when($0, zone: alarm.zone.text) }
    let note = alarm.note.map { ["note: " + Printable.text($0.replacing("\n", with: " "))] } ?? []
    return [head + context.times.schedule(alarm.schedule, zone: alarm.zone.text), text.dates(next)]
      + defaultTime(creation, settings.dayTimes.standard)
      + others(creation.extras(of: alarm, store) + note)
  }

  /// Returns the line about a time that was not typed.
  private func defaultTime(_ creation: AlarmCreation, _ standard: CivilTime?) -> [String] {
    if !creation.lacksTime { return [] }
    let time =
      standard.map { "\(context.times.time($0)), as the setting defaultTime says" }
      ?? "at the time of day now"
    return [style.paint("No time was typed: \(time).", .yellow)]
  }

  /// Returns the line of the values beside the schedule, if there are any.
  private func others(_ values: [String]) -> [String] {
    values.isEmpty ? [] : [style.paint(values.joined(separator: "; "), .faint)]
  }
}
