import BelfryActions
import BelfryCore
import BelfryExchange
import BelfryInput
import BelfryStore

/// A new alarm from a task that a person has written on the phone.
///
/// The first of these that gives a schedule counts:
///
/// 1. The words of the title, as `belfry add` reads them: `Rent every month on the 1st at 9:00`. Without a time of day, they
///    mean the default time, or an hour from now if that has passed today. Beside a due time, they need a time of
///    day: `Call Berlin` and `Review daily` are titles.
/// 2. The due time and the recurrence of the task, as `belfry import` reads them.
/// 3. Tomorrow at the default time, with the tag `inbox`: somebody has to look at it.
struct PhoneCapture {
  /// The tag of what was not understood.
  static let inbox: AlarmTag = {
    guard let tag = try? AlarmTag("inbox") else { preconditionFailure("a valid tag") }
    return tag
  }()
  /// The time of day of what was not understood, without a default time in the settings.
  private static let fallbackTime = CivilTime(hour: 9, minute: 0)

  private let reading: TaskReading
  private let document: TaskDocument
  private let store: Store
  private let input: InputContext

  /// Creates an alarm from a file. Nothing is recorded.
  init(_ reading: TaskReading, _ document: TaskDocument, _ store: Store, _ input: InputContext) {
    self.reading = reading
    self.document = document
    self.store = store
    self.input = input
  }

  /// Returns the identifier of the alarm, which is the same on every device and after a crash.
  static func identifier(_ reading: TaskReading) -> Identifier { Identifier(naming: reading.uid) }

  /// The title and the schedule of some words.
  struct Words {
    let title: String
    let schedule: Schedule
    let zone: Alarm.Zone?
    let tags: Set<AlarmTag>
    let warnings: WarningPlan?
    /// True if the words have a time of day.
    let hasTime: Bool
  }

  /// Returns the readings of a title with a schedule, the best one first; none if it has none that is understood.
  static func readings(of text: String, _ input: InputContext) -> [Words] {
    let soon = input.zone.civil(at: input.instant.adding(seconds: 3600)).time
    guard let first = words(text, input.with(standardTime: standardTime(in: input))) else {
      return []
    }
    return [first]
      + (first.hasTime ? [] : [words(text, input.with(standardTime: soon))].compactMap { $0 })
  }

  private static func words(_ text: String, _ input: InputContext) -> Words? {
    var words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    var warnings: WarningPlan?
    if let found = Input.warnings(in: words) {
      words = found.words
      warnings = WarningPlan(found.lengths.sorted(by: >))
    }
    guard let line = try? Input.line(words, in: input), !line.schedule.isEmpty,
      // A task needs no other name than its words.
      let title = ForeignAlarm.title(line.title.isEmpty ? text : line.title),
      let draft = try? Input.schedule(line.schedule, in: input)
    else { return nil }
    guard let schedule = try? draft.schedule(in: input.with(zoneOf: draft)) else { return nil }
    return Words(
      title: title, schedule: schedule, zone: draft.zone.map { .named($0) },
      tags: Set(line.tags.compactMap { try? AlarmTag($0) }), warnings: warnings,
      hasTime: draft.times != nil)
  }

  /// Creates the alarm.
  func perform(settings: Settings) throws -> AlarmChange {
    for alarm in candidates {
      do {
        var alarm = alarm
        alarm.id = PhoneCapture.identifier(reading)
        alarm.place = PhoneSync.place
        alarm.note = ForeignAlarm.note(reading.note)
        return try alarm.perform(in: store, settings: settings).change
      } catch ActionError.noFutureOccurrence {
        continue
      }
    }
    throw ActionError.noFutureOccurrence(try PhoneCapture.once(input.now))
  }

  /// The alarms that the task may mean, the best one first.
  private var candidates: [CreateAlarm] {
    let tags = Set(reading.tags.compactMap { try? AlarmTag($0) })
    var result: [CreateAlarm] = []
    for words in PhoneCapture.readings(of: reading.title, input)
    where words.hasTime || reading.due == nil {
      let delivery = Alarm.Delivery(warnings: words.warnings ?? warnings)
      result.append(
        CreateAlarm(
          title: words.title, tags: tags.union(words.tags), zone: words.zone, delivery: delivery
        ) { _, _ in words.schedule })
    }
    let plain = ForeignAlarm.title(reading.title) ?? ForeignAlarm.untitled
    if let due = reading.due, !reading.recurs {
      result.append(
        CreateAlarm(title: plain, tags: tags, delivery: Alarm.Delivery(warnings: warnings)) {
          zone, _ in
          try PhoneCapture.once(civil(due, in: zone))
        })
    } else if let item = imported {
      result.append(
        CreateAlarm(
          title: plain, tags: tags, zone: item.zone, delivery: Alarm.Delivery(warnings: warnings)
        ) { _, _ in item.schedule })
    }
    let tomorrow = CivilDateTime(input.today.adding(days: 1), standardTime)
    result.append(
      CreateAlarm(title: plain, tags: tags.union([PhoneCapture.inbox])) { _, _ in
        try PhoneCapture.once(tomorrow)
      })
    return result
  }

  /// The time of day of tasks that name none.
  private var standardTime: CivilTime { PhoneCapture.standardTime(in: input) }

  private static func standardTime(in input: InputContext) -> CivilTime {
    input.dayTimes().standard ?? fallbackTime ?? .noon
  }

  private func civil(_ due: TaskTime, in zone: TimeZoneRules) -> CivilDateTime {
    switch due {
    case .date(let date): CivilDateTime(date, standardTime)
    case .civil(let civil, _): civil
    case .instant(let instant): zone.civil(at: instant)
    }
  }

  /// The advance warnings: the reminders before a due time.
  private var warnings: WarningPlan? {
    guard let due = reading.due?.instant(in: input.zone) else { return nil }
    let seconds = Set(reading.alerts.compactMap(\.time).map { due.seconds(since: $0) })
    if case .date = reading.due { return nil }
    return WarningPlan(seconds.filter { $0 >= 60 }.sorted(by: >))
  }

  /// The alarm of the due time and the recurrence, as an import reads them; nil if there is none.
  private var imported: ForeignAlarm? {
    guard reading.due != nil || reading.start != nil, var task = document.task else { return nil }
    // The reminders are warnings. A time of the phone's zone, or in UTC, is one of the wall clock.
    task.items.removeAll { if case .component = $0 { true } else { false } }
    for name in ["DUE", "DTSTART"] {
      guard let line = task.first(name),
        let time = TaskTime(line, zones: store.context.zones), case .instant = time,
        line.parameter("TZID").map({ $0 == input.zone.name }) ?? true
      else { continue }
      let local = input.zone.civil(at: time.instant(in: input.zone))
      task.set(name, CalendarTime.text(local))
    }
    var document = document
    document.task = task
    let context = store.context
    return try? CalendarDocument().read(document.bytes, now: context.now, zones: context.zones)
      .alarms.first
  }

  private static func once(_ civil: CivilDateTime) throws -> Schedule {
    try Schedule(.once(civil.date), times: [civil.time], limits: .none)
  }
}
