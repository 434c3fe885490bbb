/// The occurrences of an alarm as instants: its schedule in a time zone, combined with its progress.
public struct Timeline: Sendable {
  /// The alarm.
  public let alarm: Alarm
  /// The zone of the alarm's civil times.
  public let zone: TimeZoneRules
  /// The working days and holidays of the store.
  public let calendar: WorkCalendar
  /// The civil times of the schedule, settled or not. They are the identities of its occurrences, also of moved ones.
  public let scheduled: Occurrences
  /// The occurrences of the schedule that were moved, in the order in which they ring.
  let moved: [RingingOrder.Position]
  /// The date of the latest completion of a schedule that follows completions; nil for any other schedule, or if there
  /// was none.
  let completedUpTo: CivilDate?
  /// This device and its knowledge of the others; nil for a device that rings for everything that is due.
  public let deviceContext: DeviceContext?
  /// The zones of other devices that ring for the alarm by their own wall clocks.
  public let otherZones: [TimeZoneRules]
  /// The present time on this device; nil if every recorded time counts as plausible.
  let clock: Instant?
  /// True if the record needs a correction because a wrong clock had settled future occurrences.
  public let isCorrected: Bool
  /// The reason why this device rings at the alarm's time; nil if it does not.
  public let role: Alarm.RingingRole?
  /// True if this device rings at the alarm's time.
  public var ringsHere: Bool { role != nil }
  /// The zone of this device's wall clock, for quiet hours; nil if there are none.
  let local: TimeZoneRules?
  /// The settings of the store, which decide whether automatic outcomes count; nil if they are unknown.
  let settings: StampedSettings?
  /// This device, which gives answers their identity; nil for answers without one.
  let device: Identifier?

  /// Creates a timeline that takes every recorded time as plausible.
  public init(
    _ alarm: Alarm, zone: TimeZoneRules, calendar: WorkCalendar = .standard,
    deviceContext: DeviceContext? = nil, otherZones: [TimeZoneRules] = [],
    local: TimeZoneRules? = nil, settings: StampedSettings? = nil,
    device: Identifier? = nil
  ) {
    self.init(
      alarm, zone: zone, calendar: calendar, deviceContext: deviceContext, otherZones: otherZones,
      local: local, settings: settings, device: device, clock: nil, isCorrected: false)
  }

  private init(
    _ alarm: Alarm, zone: TimeZoneRules, calendar: WorkCalendar, deviceContext: DeviceContext?,
    otherZones: [TimeZoneRules], local: TimeZoneRules?, settings: StampedSettings?,
    device: Identifier?, clock: Instant?, isCorrected: Bool
  ) {
    self.alarm = alarm
    self.zone = zone
    self.calendar = calendar
    self.settings = settings
    self.device = device
    completedUpTo = alarm.schedule.followsCompletion ? alarm.completed(in: zone, at: clock) : nil
    let own = Occurrences(alarm.schedule, in: calendar, completed: completedUpTo)
    moved = alarm.progress.moves.compactMap { civil, move in
      guard let time = move.time, own.contains(civil) else { return nil }
      return RingingOrder.Position(time: time, civil: civil)
    }.sorted()
    // An occurrence that was moved ahead and not done recurs from its new date.
    let ahead = moved.filter { $0.time < $0.civil }.map { $0.time.date.adding(days: 1) }.min()
    scheduled =
      ahead == nil
      ? own : Occurrences(alarm.schedule, in: calendar, completed: completedUpTo, from: ahead)
    self.local = local
    self.deviceContext = deviceContext
    self.otherZones = otherZones
    self.clock = clock
    self.isCorrected = isCorrected
    guard let deviceContext else {
      role = .intended
      return
    }
    let plan = alarm.cascade?.plan
    role = alarm.role(
      of: deviceContext.device, seenBy: deviceContext, plan: plan?.isActive == true ? plan : nil)
  }

  /// Creates a timeline as seen at a time, without the effects of a wrong clock.
  public init(
    _ alarm: Alarm, zone: TimeZoneRules, calendar: WorkCalendar = .standard, at now: Instant,
    deviceContext: DeviceContext? = nil, otherZones: [TimeZoneRules] = [],
    local: TimeZoneRules? = nil, settings: StampedSettings? = nil,
    device: Identifier? = nil
  ) {
    var alarm = alarm
    let corrected = alarm.progress.corrected(at: now, in: zone, on: device)
    if let corrected { alarm.progress = corrected }
    self.init(
      alarm, zone: zone, calendar: calendar, deviceContext: deviceContext, otherZones: otherZones,
      local: local, settings: settings, device: device, clock: now,
      isCorrected: corrected.map { $0.generation <= Timeline.maxCorrections } ?? false)
  }

  /// The maximum number of corrections that are recorded immediately. Later ones wait for the next change, so that one
  /// device with a wrong clock does not make all others write at every sync.
  private static let maxCorrections = 100

  /// Returns the timeline of another version of the alarm.
  func with(_ alarm: Alarm) -> Timeline {
    Timeline(
      alarm, zone: zone, calendar: calendar, deviceContext: deviceContext, otherZones: otherZones,
      local: local, settings: settings, device: device, clock: clock,
      isCorrected: isCorrected)
  }

  /// A nominal firing with its instant.
  public struct Occurrence: Hashable, Sendable {
    /// The civil time of the schedule, which identifies the occurrence.
    public let civil: CivilDateTime
    /// The civil time to which the occurrence was moved; nil if it rings at its own time.
    public let movedTo: CivilDateTime?
    /// The instant at which the occurrence is due.
    public let at: Instant

    /// The civil time at which the occurrence rings.
    public var time: CivilDateTime { movedTo ?? civil }

    /// Creates an occurrence from its parts.
    public init(civil: CivilDateTime, movedTo: CivilDateTime? = nil, at: Instant) {
      self.civil = civil
      self.movedTo = movedTo
      self.at = at
    }
  }

  /// Returns an occurrence with the time at which it rings.
  public func occurrence(_ civil: CivilDateTime) -> Occurrence {
    let movedTo = alarm.progress.moves[civil]?.time
    return Occurrence(civil: civil, movedTo: movedTo, at: zone.instant(of: movedTo ?? civil))
  }

  /// Returns the place of an occurrence in the order in which they ring.
  func position(of civil: CivilDateTime) -> RingingOrder.Position {
    RingingOrder.Position(time: alarm.progress.time(of: civil), civil: civil)
  }

  /// The order in which the occurrences ring, without those up to the floor.
  var ringingOrder: RingingOrder {
    RingingOrder(
      scheduled: scheduled, moved: moved, floor: alarm.progress.floor,
      isReplacing: alarm.schedule.followsCompletion)
  }

  /// The age in seconds up to which unanswered occurrences are considered and reported: one leap year.
  static let horizon: Int64 = 366 * 86_400

  /// The number of minutes that a clock change can repeat. An occurrence that is less far ahead on the wall clock may
  /// already have been due.
  private static let repeatedMinutes = 180

  // MARK: Upcoming occurrences

  /// Returns the occurrences strictly after a moment that will fire, in order. Occurrences that are skipped, paused or
  /// already settled are left out.
  ///
  /// Of a schedule that follows completions, the later occurrences are those that follow if each is done on its day.
  public func upcoming(after moment: Instant) -> some Sequence<Occurrence> {
    let from = max(moment, alarm.progress.armed)
    let start = zone.civil(at: from)
    var last = RingingOrder.Position(time: start, civil: start)
    var order = ringingOrder
    return AnySequence(
      sequence(state: ()) { _ -> Occurrence? in
        while let position = order.next(after: last) {
          last = position
          if let pause = alarm.pause, pause.covers(position.time) {
            // Continue at the end of the pause instead of stepping to it: a pause may last for years.
            let end = pause.until.previous
            last = max(last, RingingOrder.Position(time: end, civil: end))
            continue
          }
          if isSettledAhead(position.civil) { continue }
          var occurrence = self.occurrence(position.civil)
          if occurrence.at <= from { continue }
          // Occurrences that a clock change moves to one instant fire once, identified by the last one.
          while occurrence.movedTo == nil, let following = order.next(after: last),
            following.time == following.civil,
            case let other = self.occurrence(following.civil), other.at == occurrence.at
          {
            last = following
            if !isSettledAhead(following.civil) { occurrence = other }
          }
          if alarm.schedule.followsCompletion {
            order.scheduled = Occurrences(
              alarm.schedule, in: calendar, completed: occurrence.time.date)
          }
          assert(occurrence.at > moment, "an upcoming occurrence is ahead")
          assert(!isBelowFloor(occurrence.civil), "an occurrence up to the floor is settled")
          return occurrence
        }
        return nil
      })
  }

  /// Returns the first occurrence strictly after a moment that will fire; nil if there is none.
  public func next(after moment: Instant) -> Occurrence? {
    upcoming(after: moment).first { _ in true }
  }

  private func isSettledAhead(_ civil: CivilDateTime) -> Bool {
    guard let record = record(of: civil) else { return false }
    // An occurrence that was stopped where it was due earlier does not ring here.
    return record.state.isSettled || record.state == .pending
  }

  // MARK: Due occurrences

  /// Returns the occurrences that are due up to a moment, latest first by the times at which they ring: those above the
  /// floor, later than `armed` and within the horizon.
  ///
  /// Occurrences that a clock change moves to one instant fire once, identified by the later one. Of a schedule that
  /// follows completions, an occurrence without a record is left out if a later one is due: it is the same obligation,
  /// a day earlier.
  func due(at moment: Instant) -> some Sequence<Occurrence> {
    let oldest = max(alarm.progress.armed, moment.adding(seconds: -Timeline.horizon))
    let end = CivilDateTime(
      minuteNumber: zone.civil(at: moment).minuteNumber + Timeline.repeatedMinutes)
    var before = RingingOrder.Position(time: end, civil: end)
    let order = ringingOrder
    var previous: Occurrence?
    return AnySequence(
      sequence(state: ()) { _ -> Occurrence? in
        while let position = order.last(before: before) {
          before = position
          let occurrence = self.occurrence(position.civil)
          if occurrence.at > moment { continue }
          if let previous, previous.at == occurrence.at, previous.movedTo == nil,
            occurrence.movedTo == nil
          {
            continue
          }
          if occurrence.at <= oldest { return nil }
          if alarm.schedule.followsCompletion, previous != nil, record(of: position.civil) == nil {
            continue
          }
          assert(
            occurrence.at <= moment && occurrence.at > alarm.progress.armed,
            "a due occurrence is past")
          previous = occurrence
          return occurrence
        }
        return nil
      })
  }

  /// Returns the occurrences in a state, oldest first by the times at which they ring. Records that do not count are left
  /// out.
  public func occurrences(in state: OccurrenceRecord.State) -> [CivilDateTime] {
    inOrder(alarm.progress.occurrences.keys.filter { record(of: $0)?.state == state })
  }

  /// Returns occurrences in the order in which they ring.
  func inOrder(_ civils: some Collection<CivilDateTime>) -> [CivilDateTime] {
    if alarm.progress.moves.isEmpty { return civils.sorted() }
    return civils.map(position).sorted().map(\.civil)
  }

  // MARK: Current occurrence

  /// Returns the current occurrence: the latest that is due and not skipped, or a later one that was snoozed or
  /// reopened; nil if there is none.
  func current(at moment: Instant, ledger: DeliveryLedger = DeliveryLedger()) -> Occurrence? {
    let latest = due(at: moment).first { !isSkipped($0.civil) }
    let snoozed = occurrences(in: .snoozed).filter { isDueHere($0, at: moment, ledger: ledger) }
    // These may belong to an earlier schedule, or lie before `armed`.
    guard let other = (snoozed + reopened(at: moment)).map(position).max() else { return latest }
    if let latest, position(of: latest.civil) >= other { return latest }
    return occurrence(other.civil)
  }

  /// Returns true if a due occurrence was skipped, or will be because of a pause.
  private func isSkipped(_ civil: CivilDateTime) -> Bool {
    guard let record = record(of: civil) else { return isPaused(civil) }
    return record.state == .skipped
  }

  /// Returns the due occurrences that a user reopened, even if they lie before `armed`.
  func reopened(at moment: Instant) -> [CivilDateTime] {
    alarm.progress.occurrences.filter { civil, record in
      guard record.isReopened, let since = record.answered,
        self.record(of: civil) == nil, !isBelowFloor(civil), !isCompleted(civil)
      else { return false }
      // Disabling ended it again.
      if let cleared = alarm.progress.cleared, since <= cleared { return false }
      return occurrence(civil).at <= min(since, moment)
    }.map(\.key)
  }
}
