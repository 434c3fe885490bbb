/// The rules by which devices in different time zones settle an alarm that each rings by its own wall clock.
///
/// ```
/// Kiritimati, UTC+14   09:00 rings ─ 09:30 silent                                       missed is recorded
/// Berlin,     UTC+1                        09:00 rings ─ 09:30 silent                   ↑
/// Pago Pago,  UTC-11                                        09:00 rings ─ 09:30 silent ─┘
/// ```
///
/// 1. The clock settles an occurrence (missed, done by itself, skipped in a pause) once it has come in every zone
///    in which a device rings for the alarm, as far as the devices' records say.
/// 2. What was settled before it came here, as the record of this device's zone was old, does not count here: the
///    alarm rings.
/// 3. An answer that a person gave anywhere counts everywhere.
/// 4. A snooze elsewhere of an occurrence that has not come here does not make it ring early.
extension Timeline {
  /// The time at which an occurrence has come in every zone in which a device rings for it.
  func comesEverywhere(_ civil: CivilDateTime) -> Instant {
    otherZones.reduce(zone.instant(of: civil)) { max($0, $1.instant(of: civil)) }
  }

  /// Returns true when an occurrence has come on this device: it is due, or has rung before the device changed its
  /// zone.
  func hasCome(_ civil: CivilDateTime, at moment: Instant, ledger: DeliveryLedger) -> Bool {
    occurrence(civil).at <= moment || hasRung(civil, ledger)
  }

  /// Returns true when an occurrence has rung on this device.
  func hasRung(_ civil: CivilDateTime, _ ledger: DeliveryLedger) -> Bool {
    switch ledger[DeliveryLedger.Key(alarm: alarm.id, occurrence: civil)]?.kind {
    case .ringing, .followUp: return true
    case .warning, .rehearsal, nil: return false
    }
  }

  /// Returns true when the clock has settled an occurrence that has not come: where a device in a zone further ahead
  /// did, or one whose clock was ahead.
  func isPremature(_ record: OccurrenceRecord, _ civil: CivilDateTime) -> Bool {
    guard record.isSettledByClock, let since = record.since else { return false }
    return since < occurrence(civil).at || clock.map { isAhead(record, at: $0) } ?? false
  }

  /// Returns true when the clock has settled an occurrence at a time that has not come.
  func isAhead(_ record: OccurrenceRecord, at now: Instant) -> Bool {
    guard record.isSettledByClock, let since = record.since else { return false }
    return since > now.adding(seconds: CascadeRun.skew)
  }

  /// The occurrence before which the clock may settle what is open: the latest that has come in every zone.
  func settles(before current: Occurrence, at now: Instant) -> CivilDateTime? {
    if otherZones.isEmpty { return current.civil }
    let everywhere = due(at: now).first { comesEverywhere($0.civil) <= now }
    return everywhere.map { min($0.civil, current.civil) }
  }

  /// The occurrences that were missed here and may still come elsewhere, oldest first, and when the first of them can
  /// be recorded as missed; those done by themselves included.
  func unsettled(
    before current: Occurrence, at now: Instant
  ) -> (missed: [CivilDateTime], next: Instant?) {
    if otherZones.isEmpty { return ([], nil) }
    let limit = settles(before: current, at: now)
    let recent = due(at: current.at).lazy.map(\.civil)
      .prefix { civil in limit.map { civil >= $0 } ?? true }
    let missed = Array(
      recent.filter { $0 < current.civil && record(of: $0) == nil && !isPaused($0) })
    let waiting = missed + occurrences(in: .pending).filter { $0 < current.civil }
    let next = waiting.compactMap { alarm.schedule.next(after: $0).map(comesEverywhere) }
      .filter { $0 > now }.min()
    return (missed.reversed(), next)
  }

  /// The time at which an unanswered occurrence may be recorded as missed: its ringing has ended in every zone.
  func mayBeMissed(_ civil: CivilDateTime, settings: Settings) -> Instant? {
    otherZones.isEmpty ? nil : comesEverywhere(civil).adding(seconds: settings.ringTimeout)
  }
}

extension Alarm {
  /// The time in seconds for which a changed cascade keeps its zone: due occurrences go by the list as it stood.
  private static let cascadeAftermath: Int64 = 86_400

  /// The name of the zone that all devices follow because of a cascade; nil where each follows its own, or the alarm
  /// has a zone of its own.
  public func cascadeZone(at now: Instant) -> String? {
    guard zone == .floating, let cascade else { return nil }
    let isInForce =
      cascade.plan.isActive
      || cascade.earlier.contains {
        $0.plan.isActive && now.seconds(since: $0.until) < Alarm.cascadeAftermath
      }
    return isInForce ? cascadeZone : nil
  }

  /// The zone that the alarm's times are shown with: `floating` where they are meant on each device's own clock.
  public var shownZone: String {
    guard zone == .floating, cascade?.plan.isActive == true, let cascadeZone else {
      return zone.text
    }
    return cascadeZone
  }

  /// The zone that the first device of a cascade has to record: nil when it is recorded, or another device's to record.
  ///
  /// - Parameters:
  ///   - device: the device that looks.
  ///   - zone: the name of the zone that it is in.
  func cascadeZone(toRecordOn device: Identifier, in zone: String) -> String? {
    guard self.zone == .floating, let plan = cascade?.plan, plan.isActive, plan.primary == device,
      cascadeZone != zone
    else { return nil }
    return zone
  }
}

extension Timeline {
  /// The zone that this device, as the first of a cascade, has to record; nil when there is nothing to record.
  var zoneToRecord: String? {
    guard let deviceContext, let name = deviceContext.zoneName else { return nil }
    return alarm.cascadeZone(toRecordOn: deviceContext.device, in: name)
  }

  /// Records the zone of the first device of a cascade after it was switched on, or the device has travelled.
  func recordZone(at now: Instant, in result: inout Evaluation) {
    guard let name = zoneToRecord, let deviceContext else { return }
    let stamp = Stamp.next(after: alarm.latestStamp, now: now, device: deviceContext.device)
    result.transition.alarm.cascadeZone = name
    result.transition.alarm.stamps[.cascadeZone] = stamp
    result.upkeep.append(.cascadeZone(name))
  }
}
