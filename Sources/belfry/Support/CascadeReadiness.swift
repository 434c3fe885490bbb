import BelfryCore
import BelfryScheduler
import BelfryStore

/// Who would really ring for an alarm, as far as it is known now.
struct CascadeReadiness {
  /// One of the cascade, the first device included.
  struct Member {
    /// Nil of the first.
    let target: CascadeTarget?
    let at: Instant
    let label: String
    /// Whether it would ring, and why that is thought.
    let isThere: Bool
    let reason: String
    /// The heartbeat interval that it has promised, in seconds; nil where it has promised nothing.
    let every: Int64?
  }
  let alarm: Alarm
  let next: Timeline.Occurrence
  let members: [Member]
  /// The time zone that all devices of the cascade follow; nil while the first device has not recorded it.
  let zoneName: String?

  /// The later steps that would ring.
  var live: Int { members.count { $0.target != nil && $0.isThere } }

  /// Returns the outlooks of those alarms that have a cascade and come.
  ///
  /// The devices and the daemon are asked once for all of them.
  static func all(_ alarms: [Alarm], in store: Store) -> [CascadeReadiness] {
    let now = store.context.now
    var coming: [(alarm: Alarm, plan: Cascade.Plan, next: Timeline.Occurrence)] = []
    for alarm in alarms {
      guard alarm.enabled, !alarm.isDeleted, let plan = alarm.cascade?.plan, plan.isActive,
        let next = store.timeline(alarm).next(after: now)
      else { continue }
      coming.append((alarm, plan, next))
    }
    // The daemon may take seconds to answer.
    if coming.isEmpty { return [] }
    var witness = Witness(store)
    let uninformed = store.devicesWithoutCascade(of: coming.map { $0.alarm }, witness.signs)
    return coming.map { item in
      witness.interval = item.plan.interval
      witness.uninformed = uninformed[item.alarm.id] ?? []
      return CascadeReadiness(item.alarm, item.plan, item.next, witness, in: store)
    }
  }

  private init(
    _ alarm: Alarm, _ plan: Cascade.Plan, _ next: Timeline.Occurrence, _ witness: Witness,
    in store: Store
  ) {
    let primary = plan.primary ?? store.device
    var members = [witness.member(nil, primary, at: next.at)]
    for (target, at) in plan.preview(due: next.at) {
      members.append(
        target.device.map { witness.member(target, $0, at: at) }
          ?? witness.remote(target, plan, at: at))
    }
    zoneName = store.cascadeZoneName(of: alarm)
    self.alarm = alarm
    self.next = next
    self.members = members
  }

  /// What is known of each device.
  private struct Witness {
    let now: Instant
    let own: Identifier
    let names: [Identifier: String]
    let signs: DeviceHeartbeats
    let presence: DevicePresence
    let devices: [Device]
    let isWatched: Bool
    let hasRemote: Bool
    /// The time between two steps of the alarm in question, in seconds.
    var interval = Cascade.interval
    /// The devices that are known not to have the alarm's list as it is.
    var uninformed: Set<Identifier> = []

    init(_ store: Store) {
      now = store.context.now
      own = store.device
      devices = store.devices().devices
      names = devices.names
      signs = store.deviceHeartbeats
      presence = store.presence
      isWatched = store.daemonState().isRunning || store.hasTickedLately
      hasRemote = store.hasRemote
    }

    func isThere(_ device: Identifier) -> Bool {
      device == own
        ? isWatched : signs.isAlive(device, at: now) && !uninformed.contains(device)
    }

    func member(_ target: CascadeTarget?, _ device: Identifier, at: Instant) -> Member {
      let label = target?.label(names) ?? names[device] ?? device.short
      let holder = presence.standIns[device] ?? device
      var reason = reason(holder)
      if holder != device {
        reason =
          "\(names[holder] ?? holder.short) (\(holder.short)) stands in for it: belfry device adopt \(device.short), there; \(reason)"
      }
      return Member(
        target: target, at: at, label: label, isThere: isThere(holder), reason: reason,
        every: signs.every[holder])
    }

    /// Said of a device that hears of answers more seldom than cascade steps follow each other.
    private func pace(_ device: Identifier) -> String {
      guard let every = signs.every[device], every > max(interval, DeviceHeartbeats.spacingInWindow)
      else { return "" }
      return ", and syncs every \(Span.length(every)): it may ring though another was answered"
    }

    private func reason(_ device: Identifier) -> String {
      if device == own {
        return isWatched
          ? "this device; it looks at the clock" : "this device; nobody looks at the clock here"
      }
      guard devices.contains(where: { $0.id == device }) else {
        return "this store knows no such device"
      }
      guard hasRemote else { return "this store has no remote to hear of it by" }
      guard let last = signs.seen[device] else { return "has never said that it is there" }
      if uninformed.contains(device), signs.isAlive(device, at: now) {
        return "does not have this list yet: it hears of it when it syncs"
      }
      return "last heard of \(Span.length(max(0, now.seconds(since: last)))) ago\(pace(device))"
    }

    func remote(_ target: CascadeTarget, _ plan: Cascade.Plan, at: Instant) -> Member {
      let list = CallElection.callers(
        for: target, of: plan,
        among: devices.filter { presence.replacements[$0.id] == nil })
      let live = list.filter(isThere)
      let reason: String
      if list.isEmpty {
        reason = "no device can place calls: belfry calls"
      } else if live.isEmpty {
        reason = "none of those that could is there: \(words(list))"
      } else {
        reason = "through \(words(live))"
      }
      return Member(
        target: target, at: at, label: target.label(names), isThere: !live.isEmpty, reason: reason,
        every: nil)
    }

    private func words(_ devices: [Identifier]) -> String {
      devices.map { names[$0] ?? $0.short }.joined(separator: ", ")
    }
  }
}
