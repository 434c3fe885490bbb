import BelfryActions
import BelfryCore
import BelfryStore
import BelfryTerminal
import BelfryUI

/// The form of the full screen for the values of an alarm: what it shows, and what its words would change.
struct EditForm {
  let store: Store
  let context: CommandContext

  /// Returns the values of an alarm; none if it cannot be read.
  func fields(_ id: Identifier) -> [FormField] {
    guard let alarm = try? store.alarm(id) else { return [] }
    let parser = InputParser(context).with(
      zone: store.zone(of: alarm), calendar: store.calendars.workCalendar)
    let delivery = alarm.delivery
    return [
      FormField("Title", alarm.title, .option("--title", empty: "")),
      FormField("Schedule", parser.formatter.schedule(alarm.schedule), .phrase),
      FormField("Tags", alarm.tags.text, .option("--tag", empty: "none")),
      FormField("Note", alarm.note ?? "", .option("--note", empty: "")),
      FormField(
        "Warn before", delivery.warnings?.description ?? "", .option("--warn", empty: "none")),
      FormField("Sound", delivery.sound ?? "default", .option("--sound", empty: "default")),
      FormField(
        "Ring until answered", delivery.persistent ? "yes" : "no",
        .choice(yes: "--persistent", no: "--no-persistent")),
    ]
  }

  /// Returns what the words of `belfry edit` would change: a line for each value, and the next dates of a new schedule.
  func preview(_ words: [String], _ style: Style) -> [String] {
    do {
      guard let edit = try Belfry.parse(process: words) as? Edit,
        let change = try context.explaining({ try edit.preview(in: store, context) }),
        let before = change.before
      else { return [] }
      var lines = AlarmDifference(
        before, change.alarm, names: store.deviceNames(), times: context.times
      ).values.map { TextWidth.cut($0.text, to: style.width ?? 80) }
      if before.schedule != change.alarm.schedule {
        let output = AlarmOutput(store: store, style: style)
        let next = store.timeline(change.alarm).upcoming(after: context.storeContext.now)
          .prefix(PreviewText.dates).map { output.when($0, zone: change.alarm.zone.text) }
        lines.append(PreviewText(style: style).dates(next))
      }
      return lines
    } catch {
      return PreviewText(style: style).refusal(error)
    }
  }
}

extension Edit {
  /// Returns the change that the command would make to the one alarm that its first word identifies. Nothing is recorded.
  fileprivate func preview(in store: Store, _ context: CommandContext) throws -> AlarmChange? {
    guard let id = words.first.flatMap({ Identifier($0) }) else { return nil }
    let parser = InputParser(context)
    var edit = AlarmEdit(
      title: title, note: note, schedule: schedule, delivery: delivery, tagging: tagging)
    try edit.check()
    edit.words = Array(words.dropFirst())
    edit.takeTimes(parser.context)
    return try edit.action([id], in: store, parser).preview(in: store).first
  }
}
