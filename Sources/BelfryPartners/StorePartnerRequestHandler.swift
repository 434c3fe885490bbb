import BelfryCore
import BelfryStore

/// A request handler that sets the alarms of one run in the store with a single commit.
final class StorePartnerRequestHandler: PartnerRequestHandler {
  private let store: Store
  private let settings: Settings
  let channelSummary: String?
  /// The alarms that `commit()` will add.
  private var made: [Alarm] = []
  /// A reader that is valid until the next write; nil if there is none.
  private var reader: Store.AlarmReader?

  init(store: Store, settings: Settings, channelSummary: String?) {
    self.store = store
    self.settings = settings
    self.channelSummary = channelSummary
  }

  private var now: Instant { store.context.now }
  private var zones: ZoneLibrary { store.context.zones }

  private func stored(_ alarm: Identifier) throws -> Alarm? {
    let reader = self.reader ?? store.alarmReader()
    self.reader = reader
    return try reader.alarm(alarm)
  }

  func verdict(
    _ request: PartnerRequest, _ limits: PartnerLimits, accepted: Int,
    rings: @autoclosure () -> [CivilDate: Int]
  ) -> PartnerVerdict {
    guard settings.tier.hasPartners else { return .refused(.tier) }
    return limits.verdict(
      on: request, at: now, accepted: accepted, rings: rings(), local: zones.local,
      zone: zones.zone(named:))
  }

  func ringsByDay(_ requests: [PartnerRequest]) -> [CivilDate: Int] {
    PartnerRequest.ringsByDay(
      requests, at: now, local: zones.local, zone: zones.zone(named:))
  }

  func isToday(_ moment: Instant) -> Bool {
    zones.local.civil(at: moment).date == zones.local.civil(at: now).date
  }

  func set(
    _ request: PartnerRequest, as alarm: Identifier, from origin: PartnerOrigin
  ) throws -> PartnerRefusal? {
    // Another device of this user, or an interrupted run of this one, has set the alarm.
    if try stored(alarm) != nil { return nil }
    do {
      made.append(
        try request.alarm(
          id: alarm, from: origin, here: zones.zone(named: zones.local.name), at: now,
          device: store.device))
      return nil
    } catch {
      return .neverComes
    }
  }

  func state(of alarm: Identifier) throws -> PartnerAlarmState? {
    guard !made.contains(where: { $0.id == alarm }), let known = try stored(alarm) else {
      return nil
    }
    return known.isDeleted ? .deleted : known.enabled ? .enabled : .disabled
  }

  func cancel(_ alarm: Identifier, recalledBy partner: String) throws {
    // The request and its recall can arrive in the same run.
    made.removeAll { $0.id == alarm }
    reader = nil
    _ = try store.delete(alarm, reason: .recalled(partner: partner)) {
      self.message("\($0.title): recalled by \(partner)", of: [$0])
    }
  }

  /// Commits the alarms that were set.
  ///
  /// - Throws: The errors of the store. In this case no alarm is set.
  func commit() throws {
    guard let first = made.first else { return }
    reader = nil
    let entries = store.entries(
      made.map { alarm in
        (Event(.created, payload: .partnerRequest(partner: alarm.partner?.name)), alarm)
      })
    let summary = made.count == 1 ? first.schedule.summary : "\(made.count) alarms"
    try store.add(
      Store.Change(
        alarms: made, entries: entries,
        message: message("\(first.title): \(summary)", of: made)))
    made = []
  }

  /// Returns the message of a commit that `belfry undo` skips, because it is not an action of the user.
  private func message(_ subject: String, of alarms: [Alarm]) -> CommitMessage {
    CommitMessage(
      subject,
      trailers: alarms.count == 1
        ? [("Alarm", alarms[0].id.text), ("Auto", "true")] : [("Auto", "true")],
      device: store.device)
  }
}
