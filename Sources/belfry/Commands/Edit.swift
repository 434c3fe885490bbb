import ArgumentParser
import BelfryCore
import BelfryStore

struct Edit: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Change an alarm.",
    discussion: """
      Only what is named changes. A change of the schedule starts at now: nothing fires retroactively.

        belfry edit rent --title "Pay the rent" --at 11:30
        belfry edit rent --monthly 1 --note ""
      """)

  @Argument(help: "The alarm.")
  var alarm: String

  @Option(help: "Another title.")
  var title: String?

  @OptionGroup var schedule: ScheduleOptions
  @OptionGroup var delivery: DeliveryOptions

  @Option(help: "Another note; an empty one takes it away.")
  var note: String?

  @OptionGroup var motion: MotionOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let title = try self.title.map { try AlarmText.title($0) }
    let note = try self.note.map { try AlarmText.note($0) }
    let zone = try schedule.zone(context.storeContext.zones)
    guard
      title != nil || note != nil || zone != nil || schedule.changesSchedule
        || delivery.isGiven
    else {
      throw CommandError(
        .usage, "there is nothing to change.", hint: "Name it: see 'belfry help edit'.")
    }
    let store = try context.open()
    let summary = try context.find(alarm, in: store)
    let (result, fields) = try store.update(summary.id) { before in
      var after = before
      if let title { after.title = title }
      if let note { after.note = note }
      if let zone { after.zone = zone }
      after.delivery = try delivery.changed(after.delivery, devices: DeviceDirectory(store))
      if schedule.changesSchedule {
        let zone = store.zone(of: after)
        after.schedule = try schedule.schedule(
          changing: before.schedule, now: zone.civil(at: context.storeContext.now))
      }
      return try store.edited(before, after)
    }
    if delivery.isGiven, let warning = delivery.warning(try context.settings(store).tier) {
      Console.error(warning)
    }
    let status = try store.status(result)
    let output = AlarmOutput(
      store: store, style: context.style,
      batteryWarnings: BatteryWarnings(context, store, result, status))
    if common.json { return output.print(output.json(result, status)) }
    let words =
      fields.isEmpty
      ? "Nothing has changed" : "Changed \(fields.map(\.rawValue).joined(separator: ", "))"
    Console.line("\(words) of \(Printable.text(result.title)): \(output.next(result, status)).")
    context.show(output.batteryWarnings[result.id], isStill: motion.noAnimation)
  }
}

extension Store {
  /// The change from one definition to another; none when they are the same.
  ///
  /// - Parameter words: what the log says of it; nil for the names of the fields.
  func edited(
    _ before: Alarm, _ after: Alarm, as action: LogEntry.Action = .edited, words: String? = nil
  ) throws -> (Change?, (Alarm, [Alarm.Field])) {
    let fields = after.changedFields(from: before)
    if fields.isEmpty { return (nil, (before, [])) }
    let alarm = after.stamped(against: before, at: context.now, device: device)
    if !Set(fields).isDisjoint(with: [.schedule, .zone]),
      timeline(alarm).next(after: context.now) == nil
    {
      throw CommandError(
        .usage, "\(alarm.schedule.summary) has no occurrence ahead.",
        hint: "Name a time that is to come.")
    }
    let event = Event(
      action,
      detail: words ?? (action == .edited ? fields.map(\.rawValue).joined(separator: ", ") : nil))
    var events = [event]
    // What disabling takes back, and the skips that mean nothing to another schedule, are told one by one.
    if action == .disabled {
      events = try waiting(before).map { Event(.cleared, $0) } + events
    } else if fields.contains(.schedule) {
      let ahead = timeline(before).occurrences(in: .skipped)
        .filter { timeline(alarm).record(of: $0) == nil }
      events =
        ahead.map { civil in
          let revision = alarm.progress.occurrences[civil]?.revision ?? 0
          return Event(.unskipped, civil, revision: revision + 1)
        } + events
    }
    let change = Change(
      alarms: [alarm], entries: entries(events, of: alarm),
      message: CommitMessage(event, of: alarm, device: device))
    return (change, (alarm, fields))
  }

  /// What waits for somebody: pending, snoozed, ringing.
  private func waiting(_ alarm: Alarm) throws -> [CivilDateTime] {
    let status = try self.status(alarm)
    let current = status.state == .ringing || status.state == .snoozed ? status.current : nil
    return Set(status.pending.map(\.occurrence) + [current].compactMap { $0 }).sorted()
  }
}
