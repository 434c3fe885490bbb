import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The devices of a store as text, for `belfry device show` and the full screen.
struct DeviceText {
  private let store: Store
  private let times: TimeText
  private let presence: DevicePresence
  private let scheduler: SchedulerState
  private let clocksAhead: [Identifier: Int64]
  /// The devices, this one first, the others sorted by name.
  let devices: [Device]
  /// The names of the devices.
  let names: [Identifier: String]

  init(_ store: Store, _ scheduler: SchedulerState, _ times: TimeText) {
    (self.store, self.scheduler, self.times) = (store, scheduler, times)
    presence = store.devices.presence
    clocksAhead = store.devices.clocksAhead()
    let own = store.device
    devices = store.devices.all().devices.sorted {
      ($0.id == own ? 0 : 1, $0.name, $0.id) < ($1.id == own ? 0 : 1, $1.name, $1.id)
    }
    names = devices.names
  }

  // MARK: Presence

  /// Returns true if a device is known to be online. This one is, if its scheduler runs.
  func isReachable(_ device: Device) -> Bool {
    device.id == store.device ? scheduler.isRunning : presence.isAlive(device.id)
  }

  /// Returns the time of the latest evidence of another device.
  func lastHeard(_ device: Device) -> Instant? {
    device.id == store.device ? nil : presence.lastHeard[device.id]
  }

  /// Returns the presence in a few words, and its color: `reachable, heard 12 min ago`,
  /// `silent since Tue 3 Nov 2026, 09:00, laptop rings in its place`.
  func state(_ device: Device) -> (text: String, color: Style.Color) {
    if device.id == store.device {
      return scheduler.isRunning
        ? ("this device, the scheduler runs", .green)
        : ("this device, the scheduler does not run", .red)
    }
    if let successor = presence.replacements[device.id] {
      return ("replaced by \(name(successor))", .faint)
    }
    let last = presence.lastHeard[device.id] ?? device.created
    if presence.isAlive(device.id) {
      return ("reachable, heard \(Span.ago(times.now.seconds(since: last)))", .green)
    }
    let instead = presence.standIns[device.id].map { ", \(name($0)) rings in its place" }
    return ("silent since \(times.moment(last))\(instead ?? "")", .yellow)
  }

  /// Returns the number of seconds at least by which a device's clock is ahead of this one's; nil if it is not.
  func clockAhead(_ device: Device) -> Int64? { clocksAhead[device.id] }

  /// Returns `clock 2 h ahead`; nil for a clock that is not ahead.
  func clock(_ device: Device) -> String? {
    clockAhead(device).map { seconds in
      device.id == store.device
        ? "its log is \(Span.length(seconds)) ahead of its clock"
        : "clock \(Span.length(seconds)) ahead"
    }
  }

  private func name(_ device: Identifier) -> String {
    Printable.text(names[device] ?? device.short)
  }

  // MARK: Cascades

  /// Returns the alarms with a cascade that is on.
  static func cascades(in store: Store) throws -> [Alarm] {
    let reader = store.alarmReader()
    return try store.overview().summaries.compactMap { summary in
      guard summary.hasCascade, let alarm = try reader.alarm(summary.id), alarm.enabled,
        !alarm.isDeleted, alarm.cascade?.plan.isActive == true
      else { return nil }
      return alarm
    }.sorted { ($0.title, $0.id) < ($1.title, $1.id) }
  }

  /// Returns the roles of a device in cascades: `first of Pills`, `step 2 of Pills, Rent and 3 more`.
  func roles(_ device: Device, in cascades: [Alarm]) -> [String] {
    var titles: [Int: [String]] = [:]
    for alarm in cascades {
      guard let plan = alarm.cascade?.plan else { continue }
      if plan.primary == device.id {
        titles[0, default: []].append(alarm.title)
      } else if let step = plan.step(of: device.id) {
        titles[step, default: []].append(alarm.title)
      }
    }
    return titles.sorted { $0.key < $1.key }.map { step, titles in
      let more = titles.count > 2 ? " and \(titles.count - 2) more" : ""
      let list = titles.prefix(2).map { Printable.text($0) }.joined(separator: ", ")
      return (step == 0 ? "first of " : "step \(step) of ") + list + more
    }
  }
}
