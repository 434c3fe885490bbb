import ArgumentParser
import BelfryCore
import BelfryInput
import BelfryStore

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

  func run() throws {
    let context = try common.context(root)
    let title = try self.title.map { try AlarmText.title($0) }
    let note = try self.note.map { try AlarmText.note($0) }
    let parser = InputParser(context)
    let zone = try schedule.zone(parser, phrase: schedule.phrase(phrase, parser))
    guard
      title != nil || note != nil || zone != nil || changesSchedule
        || delivery.isGiven || tagging.isGiven
    else {
      throw CommandError(
        .usage, "there is nothing to change.",
        hint: "Name the options to change: see 'belfry help edit'.")
    }
    // An invalid option is reported before the alarm is looked up.
    _ = try tagging.changed([])
    let store = try context.open(.writing)
    let summary = try context.find(alarm, in: store)
    let (result, fields) = try store.update(summary.id) { before in
      var after = before
      if let title { after.title = title }
      if let note { after.note = note }
      if let zone { after.zone = zone }
      after.tags = try tagging.changed(after.tags)
      after.delivery = try delivery.changed(after.delivery, devices: DeviceDirectory(store))
      if changesSchedule {
        let zone = store.zone(of: after)
        after.schedule = try schedule.schedule(
          .init(
            parser: parser.with(zone: zone, calendar: store.calendars.workCalendar), phrase: phrase,
            earlier: before.schedule, completed: before.completed(in: zone, at: store.context.now)))
      }
      return try AlarmEdit(store).edited(before, after, stating: stated(zone, of: before))
    }
    if delivery.isGiven { delivery.warn(try context.settings(store).tier) }
    let status = try store.status(result)
    var output = AlarmOutput(
      store: store, style: context.style,
      batteryWarnings: BatteryWarnings(context, store, result, status))
    output.actions = ActionCheck(context, store)
    output.actions?.warn(about: result)
    output.scheduler = context.checkScheduler(of: store)
    if changesSchedule { HolidayCheck(store).warn(about: result.schedule) }
    if common.json { return try Console.write(output.document(result, status)) }
    let newTitle = Printable.text(result.title)
    let change =
      fields.isEmpty
      ? "\(newTitle) is unchanged"
      : "Changed \(fields.map(\.rawValue).joined(separator: ", ")) of \(newTitle)"
    Console.line("\(change): \(output.next(result, status)).")
    context.show(output.batteryWarnings[result.id], isStill: motion.noAnimation)
    SoundPreview(context).play(delivery.sound)
  }

  /// Returns the parts that the options set, also to the values that the alarm has already.
  private func stated(_ zone: Alarm.Zone?, of alarm: Alarm) -> StatedParts {
    let fields: [(Alarm.Field, Bool)] = [
      (.title, title != nil), (.note, note != nil), (.zone, zone != nil),
      (.schedule, changesSchedule), (.delivery, delivery.isGiven),
    ]
    return StatedParts(
      fields: Set(fields.filter(\.1).map(\.0)), tags: tagging.stated(for: alarm))
  }

  private var changesSchedule: Bool { !phrase.isEmpty || schedule.changesSchedule }
}

/// The change from one definition of an alarm to another, with its log entries.
struct AlarmEdit {
  let store: Store

  init(_ store: Store) {
    self.store = store
  }

  /// Returns the change from one definition of an alarm to another; a nil change if they are the same, and no part was
  /// stated.
  ///
  /// - Parameters:
  ///   - payload: the facts for the log entry; nil for the changed fields.
  ///   - stated: the parts that the user has set. Those that do not change are stamped, too: an earlier edit of another
  ///     device, which is not known here yet, must not win.
  /// - Returns: the change, the alarm after it and the changed fields.
  /// - Throws: `CommandError` if the new schedule has no future occurrence.
  func edited(
    _ before: Alarm, _ after: Alarm, as action: LogEntry.Action = .edited,
    payload: LogPayload? = nil, stating stated: StatedParts = StatedParts()
  ) throws -> (Store.Change?, (Alarm, [Alarm.Field])) {
    let fields = after.changedFields(from: before)
    if fields.isEmpty, stated.isEmpty { return (nil, (before, [])) }
    let (now, device) = (store.context.now, store.device)
    let alarm = after.stamped(against: before, at: now, device: device)
      .restating(stated, since: before, at: now, device: device)
    if !Set(fields).isDisjoint(with: [.schedule, .zone]),
      store.timeline(alarm).next(after: store.context.now) == nil
    {
      throw CommandError(
        .usage, "\(alarm.schedule.summary) has no future occurrence.",
        hint: "Use a time in the future.")
    }
    let event = Event(
      action,
      payload: payload
        ?? (action == .edited ? .fields(fields.isEmpty ? stated.allFields : fields) : nil))
    var events = [event]
    // Each occurrence that disabling clears has its own log entry, and so does each skip that the new schedule drops.
    if action == .disabled {
      events = try openOccurrences(of: before).map { Event(.cleared, $0) } + events
    } else if fields.contains(.schedule) {
      let dropped = store.timeline(before).occurrences(in: .skipped)
        .filter { store.timeline(alarm).record(of: $0) == nil }
      events =
        dropped.map { civil in
          let revision = alarm.progress.occurrences[civil]?.revision ?? 0
          return Event(.unskipped, civil, revision: revision + 1)
        } + events
    }
    let change = Store.Change(
      alarms: [alarm], entries: store.entries(events, of: alarm),
      message: CommitMessage(event, of: alarm, device: store.device))
    return (change, (alarm, fields))
  }

  /// Returns the occurrences that are pending, snoozed or ringing, in ascending order.
  private func openOccurrences(of alarm: Alarm) throws -> [CivilDateTime] {
    let status = try store.status(alarm)
    let current = status.state == .ringing || status.state == .snoozed ? status.current : nil
    return Set(status.pending.map(\.occurrence) + [current].compactMap { $0 }).sorted()
  }
}
