/// An alarm's occurrences as moments: its schedule seen through a time zone and its progress.
public struct Timeline: Sendable {
  public let alarm: Alarm
  /// The zone in which the alarm's civil times are meant.
  public let zone: TimeZoneRules
  /// The device that looks; nil for one that rings for whatever is due.
  public let deviceContext: DeviceContext?
  /// The zones of other devices that ring for the alarm by their own wall clocks.
  public let otherZones: [TimeZoneRules]
  /// The clock of the device that looks; nil where any recorded time counts as possible.
  let clock: Instant?
  /// True if the record needs a correction, as a clock that was ahead had settled occurrences that have not come.
  public let isCorrected: Bool
  /// Why it rings at the alarm's time; nil when it does not.
  public let role: Alarm.RingingRole?
  /// Whether it is one of those that ring at the alarm's time.
  public var ringsHere: Bool { role != nil }
  /// The wall clock of this device, for quiet hours; nil where there are none.
  let local: TimeZoneRules?

  public init(
    _ alarm: Alarm, zone: TimeZoneRules, deviceContext: DeviceContext? = nil,
    otherZones: [TimeZoneRules] = [],
    local: TimeZoneRules? = nil
  ) {
    self.init(
      alarm, zone: zone, deviceContext: deviceContext, otherZones: otherZones, local: local,
      clock: nil,
      isCorrected: false)
  }

  private init(
    _ alarm: Alarm, zone: TimeZoneRules, deviceContext: DeviceContext?, otherZones: [TimeZoneRules],
    local: TimeZoneRules?, clock: Instant?, isCorrected: Bool
  ) {
    self.alarm = alarm
    self.zone = zone
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

  /// The same as a device sees it whose clock says `now`: without what one with a wrong clock has put into it.
  public init(
    _ alarm: Alarm, zone: TimeZoneRules, at now: Instant, deviceContext: DeviceContext? = nil,
    otherZones: [TimeZoneRules] = [], local: TimeZoneRules? = nil
  ) {
    var alarm = alarm
    let corrected = alarm.progress.corrected(at: now, in: zone)
    if let corrected { alarm.progress = corrected }
    self.init(
      alarm, zone: zone, deviceContext: deviceContext, otherZones: otherZones, local: local,
      clock: now,
      isCorrected: corrected.map { $0.generation <= Timeline.mostCorrections } ?? false)
  }

  /// The number of corrections that are recorded at once, later ones with the next change: a device whose clock stays
  /// wrong is not to make all others write at every sync.
  private static let mostCorrections = 100

  /// The same of another version of the alarm.
  func with(_ alarm: Alarm) -> Timeline {
    Timeline(
      alarm, zone: zone, deviceContext: deviceContext, otherZones: otherZones, local: local,
      clock: clock,
      isCorrected: isCorrected)
  }

  /// A nominal firing and the moment of it.
  public struct Occurrence: Hashable, Sendable {
    public let civil: CivilDateTime
    public let at: Instant

    public init(civil: CivilDateTime, at: Instant) {
      self.civil = civil
      self.at = at
    }
  }

  func occurrence(_ civil: CivilDateTime) -> Occurrence {
    Occurrence(civil: civil, at: zone.instant(of: civil))
  }

  /// How far back unanswered occurrences are looked for and reported, in seconds: a leap year.
  static let horizon: Int64 = 366 * 86_400

  /// Clocks set back repeat wall times; so far ahead of the wall clock an occurrence may lie in the past.
  private static let repeatedMinutes = 180

  // MARK: What is to come

  /// The occurrences strictly after a moment that will fire, in order: those skipped or already
  /// settled are left out, and so is what the progress says will not fire.
  public func upcoming(after moment: Instant) -> some Sequence<Occurrence> {
    let from = max(moment, alarm.progress.armed)
    // Not step by step: a floor may lie anywhere.
    var last = max(zone.civil(at: from), alarm.progress.floor ?? zone.civil(at: from))
    return AnySequence(
      sequence(state: ()) { _ -> Occurrence? in
        while let civil = alarm.schedule.next(after: last) {
          last = civil
          if let pause = alarm.pause, pause.covers(civil) {
            // Not step by step: it may last for years.
            last = max(last, CivilDateTime(minuteNumber: pause.until.minuteNumber - 1))
            continue
          }
          if isSettledAhead(civil) { continue }
          var occurrence = self.occurrence(civil)
          if occurrence.at <= from { continue }
          // Those that a clock change moves to one moment fire once, under the last one's name.
          while let following = alarm.schedule.next(after: last),
            case let other = self.occurrence(following), other.at == occurrence.at
          {
            last = following
            if !isSettledAhead(following) { occurrence = other }
          }
          return occurrence
        }
        return nil
      })
  }

  public func next(after moment: Instant) -> Occurrence? {
    upcoming(after: moment).first { _ in true }
  }

  private func isSettledAhead(_ civil: CivilDateTime) -> Bool {
    guard let record = record(of: civil) else { return false }
    // What was stopped where it came earlier does not ring here.
    return record.state.isSettled || record.state == .pending
  }

  /// A skip ahead counts only under the schedule that it was made for; one that had passed when the schedule
  /// was changed was one.
  private func counts(_ record: OccurrenceRecord, _ civil: CivilDateTime) -> Bool {
    if isPremature(record, civil) { return false }
    guard record.state == .skipped, let made = record.schedule else { return true }
    return made == alarm.stamps[.schedule] || occurrence(civil).at <= alarm.progress.armed
  }

  // MARK: What is due

  /// The occurrences due up to a moment above the floor, armed and within the horizon, newest first.
  ///
  /// Two that a clock change moves to one moment fire once, under the later's name.
  func due(at moment: Instant) -> some Sequence<Occurrence> {
    let oldest = max(alarm.progress.armed, moment.adding(seconds: -Timeline.horizon))
    var before = CivilDateTime(
      minuteNumber: zone.civil(at: moment).minuteNumber + Timeline.repeatedMinutes)
    var previous: Instant?
    return AnySequence(
      sequence(state: ()) { _ -> Occurrence? in
        while let civil = alarm.schedule.last(onOrBefore: before) {
          before = CivilDateTime(minuteNumber: civil.minuteNumber - 1)
          if let floor = alarm.progress.floor, civil <= floor { return nil }
          let occurrence = self.occurrence(civil)
          if occurrence.at > moment || occurrence.at == previous { continue }
          if occurrence.at <= oldest { return nil }
          previous = occurrence.at
          return occurrence
        }
        return nil
      })
  }

  /// What is known of an occurrence; nil when it is open.
  ///
  /// What disabling cleared, and a skip made for another schedule, count for nothing.
  public func record(of civil: CivilDateTime) -> OccurrenceRecord? {
    guard let record = alarm.progress.occurrences[civil], record.state != .open,
      counts(record, civil)
    else { return nil }
    return isCleared(record) ? nil : record
  }

  private func isCleared(_ record: OccurrenceRecord) -> Bool {
    guard record.state == .pending || record.state == .snoozed else { return false }
    if !alarm.enabled { return true }
    guard let cleared = alarm.progress.cleared, let since = record.revived ?? record.since else {
      return false
    }
    return since <= cleared
  }

  /// The occurrences in one state that counts, oldest first.
  public func occurrences(in state: OccurrenceRecord.State) -> [CivilDateTime] {
    alarm.progress.occurrences.keys.filter { record(of: $0)?.state == state }.sorted()
  }

  // MARK: What is current

  /// The occurrence that the alarm is about now: the latest that is due and not skipped, or one
  /// snoozed or reopened since. Nil when nothing has come due that progress still tells of.
  func current(at moment: Instant, ledger: DeliveryLedger = DeliveryLedger()) -> Occurrence? {
    let latest = due(at: moment).first { !isSkipped($0.civil) }
    let snoozed = occurrences(in: .snoozed).filter { hasCome($0, at: moment, ledger: ledger) }
    // These may come from an earlier schedule or lie before `armed`.
    guard let other = (snoozed + reopened(at: moment)).max() else { return latest }
    if let latest, latest.civil >= other { return latest }
    return occurrence(other)
  }

  /// Whether an occurrence that is due was left out, or is to be: it came in a pause.
  private func isSkipped(_ civil: CivilDateTime) -> Bool {
    guard let record = record(of: civil) else { return isPaused(civil) }
    return record.state == .skipped
  }

  /// What was due when somebody took back how it had ended: open again, whatever `armed` says.
  func reopened(at moment: Instant) -> [CivilDateTime] {
    alarm.progress.occurrences.filter { civil, record in
      guard record.state == .open, record.revision > 0, let since = record.since else {
        return false
      }
      // Disabling has ended it again.
      if let cleared = alarm.progress.cleared, since <= cleared { return false }
      return occurrence(civil).at <= min(since, moment)
    }.map(\.key)
  }
}
