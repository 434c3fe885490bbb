import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryInput
import BelfryStore
import BelfryTerminal

struct Edit: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Change an alarm.",
    discussion: """
      Options that you leave out keep their values. A new schedule applies from now on; no past occurrence fires.

        belfry edit rent --title "Pay the rent" --at 11:30
        belfry edit rent --monthly 1 --note ""
        belfry edit bins every other tue 7pm
        belfry edit rent --tag +home,-work

      Who is alerted if nobody responds is changed with 'belfry cascade'.
      """)

  @Argument(help: "The alarm.", completion: .alarms)
  var alarm: String

  @Argument(help: "The new schedule, such as: every last workday at 11", completion: .text)
  var phrase: [String] = []

  @Option(help: "The new title.")
  var title: String?

  @OptionGroup var schedule: ScheduleOptions
  @OptionGroup var delivery: DeliveryOptions
  @OptionGroup var tagging: TagOptions

  @Option(help: "The new note; an empty one removes the note.")
  var note: String?

  @OptionGroup var motion: MotionOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  /// The words of the schedule: `to 11am` without `to`, and without tags.
  private var words: [String] {
    let words = phrase.filter { !Input.isTag($0) }
    return words.first == "to" ? Array(words.dropFirst()) : words
  }

  /// The tags of the options and of the words.
  private var tags: TagOptions {
    var tags = tagging
    tags.tag += phrase.filter(Input.isTag).map { String($0.dropFirst()) }
    return tags
  }

  mutating func validate() throws {
    var (schedule, delivery, phrase) = (schedule, delivery, phrase)
    try delivery.moveDates(to: &schedule)
    delivery.takeUnit(from: &phrase)
    (self.schedule, self.delivery, self.phrase) = (schedule, delivery, phrase)
  }

  func run() throws {
    let context = try common.context(root)
    let title = try self.title.map { try AlarmText.title($0) }
    let note = try self.note.map { try AlarmText.note($0) }
    let parser = InputParser(context)
    let phrase = try schedule.phrase(words, parser)
    let replacesRule = phrase?.rule != nil || !schedule.givenCycles.isEmpty
    let zone = try schedule.zone(parser, phrase: phrase)
    guard
      title != nil || note != nil || zone != nil || changesSchedule
        || delivery.isGiven || tags.isGiven
    else {
      throw CommandError(
        .usage, "there is nothing to change.",
        hint: "Name the options to change: see 'belfry help edit'.")
    }
    // An invalid option is reported before the alarm is looked up.
    _ = try tags.changed([])
    let store = try context.open(.writing)
    let summary = try context.find(alarm, in: store)
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
      guard changesSchedule else { return }
      let zone = store.zone(of: alarm)
      alarm.schedule = try schedule.schedule(
        .init(
          parser: parser.with(zone: zone, calendar: store.calendars.workCalendar), phrase: words,
          earlier: earlier.schedule, completed: earlier.completed(in: zone, at: store.context.now)))
    }
    let action = EditAlarms([summary.id], stating: { stated(zone, of: $0) }, edit: edit)
    guard let change = try context.explaining({ try action.perform(in: store) }).first else {
      return
    }
    try show(change, store, context)
  }

  private func show(_ change: AlarmChange, _ store: Store, _ context: CommandContext) throws {
    let (alarm, status, fields) = (change.alarm, change.status, change.fields)
    if delivery.isGiven { delivery.warn(try context.settings(store).tier) }
    let output = AlarmOutput(
      store: store, style: context.style,
      batteryWarnings: BatteryWarnings(context, store, alarm, status))
    let actions = ActionCheck(context, store)
    actions?.warn(about: alarm)
    let scheduler = context.checkScheduler(of: store)
    if changesSchedule { HolidayCheck(store).warn(about: alarm.schedule) }
    if common.json {
      return try Console.write(
        output.document(alarm, status, actions: actions, scheduler: scheduler))
    }
    let newTitle = Printable.text(alarm.title)
    let what =
      fields.isEmpty
      ? "\(newTitle) is unchanged"
      : "Changed \(fields.map(\.rawValue).joined(separator: ", ")) of \(newTitle)"
    if let before = change.before, before.schedule != alarm.schedule {
      func schedule(of alarm: Alarm) -> String {
        output.times.schedule(alarm.schedule, zone: alarm.zone.text)
      }
      Console.line("Before: \(schedule(of: before)).")
      Console.line("Now: \(schedule(of: alarm)).")
    }
    Console.line("\(what): \(output.next(alarm, status)).")
    context.show(output.batteryWarnings[alarm.id], isStill: motion.noAnimation)
    SoundPreview(context).play(delivery.sound)
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

  private var changesSchedule: Bool { !words.isEmpty || schedule.changesSchedule }
}
