import BelfryActions
import BelfryCore
import BelfryInput
import BelfryStore
import BelfryTerminal

/// The values that `edit` gives to alarms: those of its options, of a schedule in words, or of the form.
struct AlarmEdit {
  var title: String?
  /// The note; an empty one removes it.
  var note: String?
  var schedule: ScheduleOptions
  /// The words of the schedule, and tags such as `+home`.
  var words: [String] = []
  var delivery: DeliveryOptions
  var tagging: TagOptions

  /// The words of the schedule: `to 11am` without `to`, and without tags.
  var phrase: [String] { AlarmEdit.phrase(words) }

  /// Returns the words of a schedule.
  static func phrase(_ words: [String]) -> [String] {
    let words = words.filter { !Input.isTag($0) }
    return words.first == "to" ? Array(words.dropFirst()) : words
  }

  /// The tags of the options and of the words.
  var tags: TagOptions {
    var tags = tagging
    tags.tag += words.filter(Input.isTag).map { String($0.dropFirst()) }
    return tags
  }

  /// Takes `30m later` and `19:30 to 20:00` from the words as changes of the times of day.
  mutating func takeTimes(_ context: InputContext) {
    let text = phrase.joined(separator: " ")
    guard schedule.at == nil, Input.changesTimes(text, in: context) else { return }
    schedule.at = text
    words = words.filter(Input.isTag)
  }

  var changesSchedule: Bool { !phrase.isEmpty || schedule.changesSchedule }

  /// True if nothing changes.
  var isEmpty: Bool {
    title == nil && note == nil && schedule.zone == nil && !changesSchedule && !delivery.isGiven
      && !tags.isGiven
  }

  /// Reports invalid values before the store is opened.
  func check() throws {
    _ = try title.map { try AlarmText.title($0) }
    _ = try note.map { try AlarmText.note($0) }
    _ = try tagging.changed([])
    _ = try delivery.changed(Alarm.Delivery())
  }

  /// Returns the action that gives the values to alarms.
  ///
  /// - Throws: `CommandError` if a value is not valid.
  func action(
    _ alarms: [Identifier], in store: Store, _ parser: InputParser
  ) throws -> EditAlarms {
    let title = try title.map { try AlarmText.title($0) }
    let note = try note.map { try AlarmText.note($0) }
    let draft = try schedule.phrase(phrase, parser)
    let replacesRule = draft?.rule != nil || !schedule.givenCycles.isEmpty
    let zone = try schedule.zone(parser, phrase: draft)
    // An invalid option is reported before the alarms are read.
    _ = try tags.changed([])
    let directory = DeviceDirectory(store)
    func edit(_ alarm: inout Alarm) throws {
      let earlier = alarm
      // An alarm that counts elapsed time is in UTC. A rule of dates that replaces it is local again.
      if case .elapsed = earlier.schedule.recurrence, replacesRule, alarm.zone == .named("UTC") {
        alarm.zone = .floating
      }
      if let title { alarm.title = title }
      if let note { alarm.note = note }
      if let zone { alarm.zone = zone }
      alarm.tags = try tags.changed(alarm.tags)
      alarm.delivery = try delivery.changed(alarm.delivery, devices: directory)
      if changesSchedule {
        alarm.schedule = try schedule(of: alarm, from: earlier, in: store, parser)
      }
    }
    return EditAlarms(alarms, stating: { stated(zone, of: $0) }, edit: edit)
  }

  /// Returns the schedule of an alarm after the edit, in the zone that the alarm has then.
  func schedule(
    of alarm: Alarm, from earlier: Alarm, in store: Store, _ parser: InputParser
  ) throws -> Schedule {
    let zone = store.zone(of: alarm)
    return try schedule.schedule(
      .init(
        parser: parser.with(zone: zone, calendar: store.calendars.workCalendar), phrase: phrase,
        earlier: earlier.schedule, completed: earlier.completed(in: zone, at: store.context.now)))
  }

  /// Returns the parts that the options set, also to the values that the alarm has already.
  private func stated(_ zone: Alarm.Zone?, of alarm: Alarm) -> StatedParts {
    let fields: [(Alarm.Field, Bool)] = [
      (.title, title != nil), (.note, note != nil), (.zone, zone != nil),
      (.schedule, changesSchedule), (.delivery, delivery.isGiven),
    ]
    return StatedParts(
      fields: Set(fields.filter(\.1).map(\.0)), tags: tags.stated(for: alarm))
  }
}
