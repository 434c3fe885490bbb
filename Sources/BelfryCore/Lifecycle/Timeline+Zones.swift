/// The rules by which devices in different time zones settle an alarm that rings by each device's own wall clock.
///
/// ```
/// Kiritimati, UTC+14   09:00 rings ─ 09:30 silent                                       missed is recorded
/// Berlin,     UTC+1                        09:00 rings ─ 09:30 silent                   ↑
/// Pago Pago,  UTC-11                                        09:00 rings ─ 09:30 silent ─┘
/// ```
///
/// 1. The clock settles an occurrence (missed, completed automatically, skipped in a pause) once it is due in every
///    zone in which a device rings for the alarm, according to the devices' records.
/// 2. An occurrence that was settled elsewhere before it is due here, because this device's recorded zone was outdated,
///    still rings here. So does one that was recorded as missed before this device would record it.
/// 3. A user's answer on any device counts on every device.
/// 4. A snooze elsewhere does not make an occurrence ring here before it is due.
extension Timeline {
  /// Returns the identity of an occurrence of the alarm.
  func id(of civil: CivilDateTime) -> OccurrenceID {
    OccurrenceID(alarm: alarm.id, occurrence: civil)
  }

  /// Returns the time at which an occurrence is due in every zone in which a device rings for it.
  func dueEverywhere(_ civil: CivilDateTime) -> Instant {
    let time = alarm.progress.time(of: civil)
    return otherZones.reduce(zone.instant(of: time)) { max($0, $1.instant(of: time)) }
  }

  /// Returns true if an occurrence is due on this device, or rang before the device changed its zone.
  func isDueHere(_ civil: CivilDateTime, at moment: Instant, ledger: DeliveryLedger) -> Bool {
    occurrence(civil).at <= moment || hasRung(civil, ledger)
  }

  /// Returns true if an occurrence has rung on this device.
  func hasRung(_ civil: CivilDateTime, _ ledger: DeliveryLedger) -> Bool {
    ledger.hasRung(id(of: civil))
  }

  /// Returns true if the clock settled an occurrence too early for this device: on a device in a zone further ahead, or
  /// with a clock that was ahead.
  ///
  /// An automatic completion is not premature in another zone, because a user stopped the occurrence before.
  func isPremature(
    _ outcome: AutomaticOutcome, _ state: OccurrenceRecord.State, _ civil: CivilDateTime
  ) -> Bool {
    guard let since = outcome.since else { return false }
    if clock.map({ since.isImplausible(at: $0) }) ?? false { return true }
    if state == .done { return false }
    return since < occurrence(civil).at || state == .missed && isMissedEarly(civil, since: since)
  }

  /// Returns true if an occurrence was recorded as missed before this device would do so by its own clock. A device that
  /// did not know this one's zone can do that, while the occurrence rings here.
  ///
  /// A definition or a setting that was changed since then says nothing about the miss.
  private func isMissedEarly(_ civil: CivilDateTime, since: Instant) -> Bool {
    guard let settings, alarm.zone == .floating, alarm.cascadeZone(at: since) == nil else {
      return false
    }
    let values = settings.values
    let length =
      alarm.delivery.persistent ? values.grace : min(values.grace, values.ringTimeout)
    guard since < occurrence(civil).at.adding(seconds: length) else { return false }
    let basis = AutomaticOutcome.Basis(of: .missed, alarm.stamps(for: civil), settings.stamps)
    let changes = Array(basis.fields.values) + Array(basis.settings.values)
    guard changes.allSatisfy({ $0.time < since }) else { return false }
    return following(civil).map { since < occurrence($0).at } ?? true
  }

  /// Returns the place of the occurrence before which the clock may settle open ones: the latest that is due in every zone;
  /// nil if there is none.
  func settlementLimit(before current: Occurrence, at now: Instant) -> RingingOrder.Position? {
    let limit = position(of: current.civil)
    if otherZones.isEmpty { return limit }
    let everywhere = due(at: now).first { dueEverywhere($0.civil) <= now }
    return everywhere.map { min(position(of: $0.civil), limit) }
  }

  /// Returns the occurrence that rings after another one, settled or not; nil if there is none.
  private func following(_ civil: CivilDateTime) -> CivilDateTime? {
    ringingOrder.next(after: position(of: civil))?.civil
  }

  /// Returns the occurrences that were missed here and may still ring elsewhere, oldest first, and the time at which
  /// the first of them, or of the pending ones, can be settled.
  func unsettled(
    before current: Occurrence, at now: Instant
  ) -> (missed: [CivilDateTime], next: Instant?) {
    if otherZones.isEmpty { return ([], nil) }
    let limit = settlementLimit(before: current, at: now)
    let place = position(of: current.civil)
    let recent = due(at: current.at).lazy.map(\.civil)
      .prefix { civil in limit.map { position(of: civil) >= $0 } ?? true }
    let missed = Array(
      recent.filter { position(of: $0) < place && record(of: $0) == nil && !isPaused($0) })
    let waiting = missed + occurrences(in: .pending).filter { position(of: $0) < place }
    let next = waiting.compactMap { following($0).map(dueEverywhere) }
      .filter { $0 > now }.min()
    return (missed.reversed(), next)
  }

  /// Returns the earliest time at which an unanswered occurrence may be recorded as missed, when it has stopped ringing
  /// in every zone; nil if there are no other zones. A persistent alarm rings there without a time limit: it is missed on a
  /// device that was off, after the grace period.
  func earliestMiss(of civil: CivilDateTime, settings: Settings) -> Instant? {
    let length = alarm.delivery.persistent ? settings.grace : settings.ringTimeout
    return otherZones.isEmpty ? nil : dueEverywhere(civil).adding(seconds: length)
  }
}

extension Alarm {
  /// The time in seconds for which an edited cascade keeps its zone, because due occurrences follow the cascade as it
  /// was.
  private static let zoneRetention: Int64 = 86_400

  /// Returns the name of the zone that all devices use because of a cascade; nil if each device uses its own, or if the
  /// alarm has a fixed zone.
  public func cascadeZone(at now: Instant) -> String? {
    guard zone == .floating, let cascade else { return nil }
    let isInForce =
      cascade.plan.isActive
      || cascade.earlier.contains {
        $0.plan.isActive && now.seconds(since: $0.until) < Alarm.zoneRetention
      }
    return isInForce ? cascadeZone : nil
  }

  /// The zone to show with the alarm's times; `floating` if they apply to each device's own clock.
  public var shownZone: String {
    guard zone == .floating, cascade?.plan.isActive == true, let cascadeZone else {
      return zone.text
    }
    return cascadeZone
  }

  /// Returns the zone name that the primary device of a cascade has to record; nil if it is recorded, or if `device` is
  /// not the primary device.
  ///
  /// - Parameters:
  ///   - device: this device.
  ///   - zone: the name of the zone that it is in.
  func cascadeZone(toRecordOn device: Identifier, in zone: String) -> String? {
    guard self.zone == .floating, let plan = cascade?.plan, plan.isActive, plan.primary == device,
      cascadeZone != zone
    else { return nil }
    return zone
  }
}

extension Timeline {
  /// The zone name that this device has to record as the primary device of a cascade; nil if there is none.
  var zoneToRecord: String? {
    guard let deviceContext, let name = deviceContext.zoneName else { return nil }
    return alarm.cascadeZone(toRecordOn: deviceContext.device, in: name)
  }

  /// Records the zone of the primary device after the cascade was turned on or the device changed its zone.
  func recordZone(at now: Instant, in result: inout Evaluation) {
    guard let name = zoneToRecord, let deviceContext else { return }
    let stamp = Stamp.next(after: alarm.latestStamp, now: now, device: deviceContext.device)
    result.transition.alarm.cascadeZone = name
    result.transition.alarm.mergeState.stamps[.cascadeZone] = stamp
    result.corrections.append(.cascadeZone(name))
  }
}
