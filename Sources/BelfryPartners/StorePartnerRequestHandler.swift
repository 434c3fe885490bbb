import BelfryCore
import BelfryStore
import Git

/// Sets partners' alarms in the store: all that came together in one commit.
final class StorePartnerRequestHandler: PartnerRequestHandler {
  private let store: Store
  private let settings: Settings
  let ways: String?
  /// The alarms to set.
  private var made: [Alarm] = []
  /// Reads the alarms until the next write; nil where none was read since the last.
  private var reader: Store.AlarmReader?

  init(store: Store, settings: Settings, ways: String?) {
    self.store = store
    self.settings = settings
    self.ways = ways
  }

  private var now: Instant { store.context.now }
  private var zones: ZoneLibrary { store.context.zones }

  private func stored(_ alarm: Identifier) throws -> Alarm? {
    let reader = self.reader ?? store.alarmReader()
    self.reader = reader
    return try reader.alarm(alarm)
  }

  func judge(
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
    // Another device of this person's was faster, or this one has died over it.
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

  func standing(_ alarm: Identifier) throws -> AlarmStanding? {
    guard !made.contains(where: { $0.id == alarm }), let known = try stored(alarm) else {
      return nil
    }
    return known.isDeleted ? .deleted : known.enabled ? .stands : .off
  }

  func cancel(_ alarm: Identifier, why: String) throws {
    // It came together with what takes it back.
    made.removeAll { $0.id == alarm }
    reader = nil
    _ = try store.delete(alarm, why: why) { self.message("\($0.title): \(why)", of: [$0]) }
  }

  func revoke(_ alarms: [Identifier], by name: String) throws -> Int {
    let unset = made.count { alarms.contains($0.id) }
    made.removeAll { alarms.contains($0.id) }
    reader = nil
    return try store.delete(alarms, why: "\(name) is no partner any more").count + unset
  }

  /// Commits what is to be set. Throws what the store does: then nothing is.
  func commit() throws {
    guard let first = made.first else { return }
    reader = nil
    let entries = store.entries(
      made.map { alarm in
        (Event(.created, detail: "asked by \(alarm.partner?.name ?? "a partner")"), alarm)
      })
    let what = made.count == 1 ? first.schedule.summary : "\(made.count) alarms"
    try store.add(
      Store.Change(
        alarms: made, entries: entries, message: message("\(first.title): \(what)", of: made)))
    made = []
  }

  /// Not to be undone: nobody here has done it.
  private func message(_ subject: String, of alarms: [Alarm]) -> CommitMessage {
    CommitMessage(
      subject,
      trailers: alarms.count == 1
        ? [("Alarm", alarms[0].id.text), ("Auto", "true")] : [("Auto", "true")],
      device: store.device)
  }
}
