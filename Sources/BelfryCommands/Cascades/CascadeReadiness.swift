import BelfryCore
import BelfryScheduler
import BelfryStore

/// A prediction of the steps of a cascade that would ring, as far as is known now.
struct CascadeReadiness {
  /// A step of the cascade, or its first device.
  struct Member {
    /// Nil for the first device.
    let target: CascadeTarget?
    let at: Instant
    let label: String
    /// True if it would ring.
    let wouldRing: Bool
    /// The reason for `wouldRing`.
    let reason: String
    /// The announced heartbeat interval of the device, in seconds; nil if it has announced none.
    let every: Int64?
  }
  let alarm: Alarm
  let next: Timeline.Occurrence
  let members: [Member]
  /// The time zone that all devices of the cascade use; nil while the first device has not recorded it.
  let zoneName: String?

  /// The number of steps that would ring, without the first device.
  var live: Int { members.count { $0.target != nil && $0.wouldRing } }

  /// Returns the predictions for the alarms that have an active cascade and a next occurrence.
  ///
  /// The devices and the daemon are queried once for all of them.
  static func all(_ alarms: [Alarm], in store: Store) -> [CascadeReadiness] {
    let now = store.context.now
    var coming: [(alarm: Alarm, plan: Cascade.Plan, next: Timeline.Occurrence)] = []
    for alarm in alarms {
      guard alarm.enabled, !alarm.isDeleted, let plan = alarm.cascade?.plan, plan.isActive,
        let next = store.timeline(alarm).next(after: now)
      else { continue }
      coming.append((alarm, plan, next))
    }
    // Without alarms, skip the query of the daemon, which may take seconds.
    if coming.isEmpty { return [] }
    var knowledge = DeviceKnowledge(store)
    let withoutCascade = store.sync.devicesWithoutCascade(
      of: coming.map { $0.alarm }, knowledge.heartbeats)
    return coming.map { item in
      knowledge.interval = item.plan.interval
      knowledge.withoutCascade = withoutCascade[item.alarm.id] ?? []
      return CascadeReadiness(item.alarm, item.plan, item.next, knowledge, in: store)
    }
  }

  private init(
    _ alarm: Alarm, _ plan: Cascade.Plan, _ next: Timeline.Occurrence,
    _ knowledge: DeviceKnowledge, in store: Store
  ) {
    let primary = plan.primary ?? store.device
    var members = [knowledge.member(nil, primary, at: next.at)]
    for (target, at) in plan.preview(due: next.at) {
      members.append(
        target == .phoneTasks
          ? knowledge.phoneTasks(at: at)
          : target.device.map { knowledge.member(target, $0, at: at) }
            ?? knowledge.remote(target, plan, at: at))
    }
    zoneName = store.devices.cascadeZoneName(of: alarm)
    self.alarm = alarm
    self.next = next
    self.members = members
  }

  /// The state of the devices, as far as this device knows it.
  private struct DeviceKnowledge {
    let now: Instant
    let own: Identifier
    let names: [Identifier: String]
    let heartbeats: DeviceHeartbeats
    let presence: DevicePresence
    let devices: [Device]
    let isSchedulerRunning: Bool
    let hasRemote: Bool
    /// The interval between two steps of the cascade, in seconds.
    var interval = Cascade.interval
    /// The devices that do not have the current version of the cascade.
    var withoutCascade: Set<Identifier> = []

    init(_ store: Store) {
      now = store.context.now
      own = store.device
      devices = store.devices.all().devices
      names = devices.names
      heartbeats = store.deviceHeartbeats
      presence = store.devices.presence
      isSchedulerRunning = SchedulerState(store).isRunning
      hasRemote = store.sync.hasRemote
    }

    func isOnline(_ device: Identifier) -> Bool {
      device == own
        ? isSchedulerRunning
        : heartbeats.isAlive(device, at: now) && !withoutCascade.contains(device)
    }

    func member(_ target: CascadeTarget?, _ device: Identifier, at: Instant) -> Member {
      let label = target?.label(names) ?? names[device] ?? device.short
      let holder = presence.standIns[device] ?? device
      var reason = reason(holder)
      if holder != device {
        reason =
          "\(names[holder] ?? holder.short) (\(holder.short)) replaces it (run there: belfry device adopt \(device.short)); \(reason)"
      }
      return Member(
        target: target, at: at, label: label, wouldRing: isOnline(holder), reason: reason,
        every: heartbeats.intervals[holder])
    }

    /// Returns a note about a device that syncs less often than cascade steps follow each other; else an empty string.
    private func syncNote(_ device: Identifier) -> String {
      guard let every = heartbeats.intervals[device],
        every > max(interval, DeviceHeartbeats.spacingInWindow)
      else { return "" }
      return
        ", and syncs every \(Span.length(every)): it may ring although another device has responded"
    }

    private func reason(_ device: Identifier) -> String {
      if device == own {
        return isSchedulerRunning
          ? "this device; the scheduler runs" : "this device; the scheduler does not run"
      }
      guard devices.contains(where: { $0.id == device }) else {
        return "this store has no such device"
      }
      guard hasRemote else { return "this store has no remote to receive its heartbeats" }
      guard let last = heartbeats.seen[device] else { return "has never sent a heartbeat" }
      if withoutCascade.contains(device), heartbeats.isAlive(device, at: now) {
        return "does not have this cascade yet: it gets it with its next sync"
      }
      return
        "last heartbeat \(Span.length(max(0, now.seconds(since: last)))) ago\(syncNote(device))"
    }

    func remote(_ target: CascadeTarget, _ plan: Cascade.Plan, at: Instant) -> Member {
      let list = CallElection.callers(
        for: target, of: plan,
        among: devices.filter { presence.replacements[$0.id] == nil })
      let live = list.filter(isOnline)
      let reason: String
      if list.isEmpty {
        reason = "no device can place calls: belfry help calls"
      } else if live.isEmpty {
        reason = "all devices that could are offline: \(nameList(list))"
      } else {
        reason = "through \(nameList(live))"
      }
      return Member(
        target: target, at: at, label: target.label(names), wouldRing: !live.isEmpty,
        reason: reason,
        every: nil)
    }

    /// Returns the prediction of a step that a phone rings by itself. Nobody knows if the phone has synced.
    func phoneTasks(at: Instant) -> Member {
      let publishers = devices.filter {
        $0.phone != nil && presence.replacements[$0.id] == nil
      }.map(\.id)
      let live = publishers.filter(isOnline)
      let reason: String
      if publishers.isEmpty {
        reason = "no device publishes tasks"
      } else if live.isEmpty {
        reason = "if the phone has the task; offline: \(nameList(publishers))"
      } else {
        reason = "if the phone has synced; published by \(nameList(live))"
      }
      return Member(
        target: .phoneTasks, at: at, label: CascadeTarget.phoneTasks.label(names),
        wouldRing: !publishers.isEmpty, reason: reason, every: nil)
    }

    private func nameList(_ devices: [Identifier]) -> String {
      devices.map { names[$0] ?? $0.short }.joined(separator: ", ")
    }
  }
}
