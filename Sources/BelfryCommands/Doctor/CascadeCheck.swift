import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Glibc

/// The part of `belfry doctor` that checks whether cascade steps would ring and calls can be placed.
struct CascadeCheck {
  private let store: Store
  private let context: CommandContext

  /// The time ahead for which alarms are checked, in seconds.
  private static let horizon: Int64 = 86_400

  init(_ store: Store, _ context: CommandContext) {
    self.store = store
    self.context = context
  }

  func diagnoses() throws -> [Diagnosis] {
    let reader = store.alarmReader()
    let alarms = try store.overview().summaries.compactMap { try reader.alarm($0.id) }
      .filter { $0.enabled && !$0.isDeleted && $0.cascade?.plan.isActive == true }
    let calls = try callers(alarms)
    if alarms.isEmpty { return calls }
    let now = context.storeContext.now
    let near = CascadeReadiness.all(alarms, in: store)
      .filter { $0.next.at.seconds(since: now) <= CascadeCheck.horizon }
      .sorted { ($0.next.at, $0.alarm.title) < ($1.next.at, $1.alarm.title) }
    if near.isEmpty {
      return calls + [
        Diagnosis("cascade", .fine, "No alarm with a cascade rings within 24 hours.")
      ]
    }
    return calls + near.map(diagnosis) + near.compactMap(zoneDiagnosis) + near.compactMap(slow)
      + phoneTasks(near)
  }

  /// Returns a warning if the zone of the cascade is not recorded, so that each device rings by its own clock.
  private func zoneDiagnosis(_ outlook: CascadeReadiness) -> Diagnosis? {
    guard outlook.zoneName == nil else { return nil }
    return Diagnosis(
      "cascade", .note,
      "\(Printable.text(outlook.alarm.title)): its first device has not recorded its time zone; each device rings by its own clock.",
      remedy: "Run 'belfry tick' and 'belfry sync' on the first device.")
  }

  /// Returns a warning about devices that sync less often than cascade steps follow each other.
  ///
  /// They may ring although another device has responded.
  private func slow(_ outlook: CascadeReadiness) -> Diagnosis? {
    let interval = max(outlook.alarm.cascade?.plan.interval ?? 0, DeviceHeartbeats.spacingInWindow)
    let slow = outlook.members.filter { $0.every.map { $0 > interval } ?? false }
    if slow.isEmpty { return nil }
    let list = slow.map { "\(Printable.text($0.label)) every \(Span.length($0.every ?? 0))" }
    return Diagnosis(
      "cascade", .note,
      "\(Printable.text(outlook.alarm.title)): devices that sync rarely: \(list.joined(separator: ", ")). They may ring although another device has responded.",
      remedy:
        "On these devices: belfry service install, or a crontab line that syncs every minute.")
  }

  /// Returns a warning if a step is the task on a phone, but no device publishes tasks.
  private func phoneTasks(_ outlooks: [CascadeReadiness]) -> [Diagnosis] {
    let titles = outlooks.filter { outlook in
      outlook.members.contains { $0.target == .phoneTasks && !$0.wouldRing }
    }.map { Printable.text($0.alarm.title) }
    if titles.isEmpty { return [] }
    return [
      Diagnosis(
        "cascade", .note,
        "\(titles.joined(separator: ", ")): a step is the task on a phone, but no device of this store publishes tasks.",
        remedy: "Publish tasks from a device, or remove the step: belfry help cascade")
    ]
  }

  private func diagnosis(_ outlook: CascadeReadiness) -> Diagnosis {
    let title =
      "\(Printable.text(outlook.alarm.title)), \(context.times.full(outlook.next.time))\(outlook.zoneName.map { " \(Printable.text($0))" } ?? "")"
    let silent = outlook.members.filter { !$0.wouldRing }
    if outlook.live == 0 {
      return Diagnosis(
        "cascade", .problem, "\(title): no step of its cascade is expected to ring.",
        remedy: "See why: belfry cascade status \(outlook.alarm.id.short)")
    }
    if silent.isEmpty {
      return Diagnosis(
        "cascade", .fine,
        "\(title): the first device and all \(outlook.live) steps of its cascade would ring.")
    }
    let names = silent.map { Printable.text($0.label) }.joined(separator: ", ")
    return Diagnosis(
      "cascade", .note,
      "\(title): \(outlook.live) of \(outlook.members.count - 1) steps of its cascade would ring; not online: \(names).",
      remedy: "See why: belfry cascade status \(outlook.alarm.id.short)")
  }

  /// Returns the findings about placing calls.
  private func callers(_ alarms: [Alarm]) throws -> [Diagnosis] {
    let isCalling = alarms.contains { $0.cascade?.plan.calls == true }
    var result: [Diagnosis] = []
    if isCalling, store.devices.callers.isEmpty {
      result.append(
        Diagnosis(
          "calls", .problem,
          "A cascade has phone numbers, but no device of this store can place calls.",
          remedy: "Set up a call provider on a device that is always on: belfry help calls"))
    }
    if let mode = CallProvider.exposure(of: context.callsFile) {
      let path = Printable.text(context.callsFile)
      result.append(
        Diagnosis(
          "calls", .problem,
          "\(path) contains a secret, but is open to others (mode 0\(String(mode, radix: 8))).",
          remedy: "chmod 600 \(path), and change the secret if anyone else uses this machine"))
    }
    guard store.devices.callers.contains(store.device) else { return result }
    guard let provider = try context.callProvider else {
      if let hook = context.ownHook("call") {
        return result + [Diagnosis("calls", .fine, "Calls are placed by your own hook \(hook).")]
      }
      return result + [
        Diagnosis(
          "calls", .problem,
          "This device is set to place calls, but has neither a provider nor a hook.",
          remedy: "Set one up, or turn calls off here: belfry help calls")
      ]
    }
    let missing = programs(provider).filter { !context.environment.hasProgram($0.program) }
    if let first = missing.first {
      return result + [
        Diagnosis(
          "calls", .problem, "Calls are placed by \(first.program), which is not installed.",
          remedy: "apt-get install \(missing.map(\.package).joined(separator: " "))")
      ]
    }
    return result + [
      Diagnosis("calls", .fine, "Calls are placed by \(Printable.text(provider.text)).")
    ]
  }

  private func programs(_ provider: CallProvider) -> [(program: String, package: String)] {
    switch provider {
    case .sip: [("baresip", "baresip-core"), ("espeak-ng", "espeak-ng"), ("sox", "sox")]
    case .http: [("curl", "curl")]
    }
  }
}
