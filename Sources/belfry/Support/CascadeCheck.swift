import BelfryCore
import BelfryScheduler
import BelfryStore
import Glibc

/// What a doctor looks at of the later steps: whether any would ring tonight, and whether calls can be placed.
struct CascadeCheck {
  private let store: Store
  private let context: CommandContext

  /// So far ahead counts as tonight, in seconds.
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
  }

  /// A warning that devices ring by their own clocks, as the zone of the cascade is not recorded.
  private func zoneDiagnosis(_ outlook: CascadeReadiness) -> Diagnosis? {
    guard outlook.zoneName == nil else { return nil }
    return Diagnosis(
      "cascade", .note,
      "\(Printable.text(outlook.alarm.title)): its first device has not recorded its time zone; each device rings by its own clock.",
      remedy: "Run 'belfry tick' and 'belfry sync' on the first device.")
  }

  /// Devices that hear of an answer more seldom than cascade steps follow each other: they ring though it was answered.
  private func slow(_ outlook: CascadeReadiness) -> Diagnosis? {
    let interval = max(outlook.alarm.cascade?.plan.interval ?? 0, DeviceHeartbeats.spacingInWindow)
    let slow = outlook.members.filter { $0.every.map { $0 > interval } ?? false }
    if slow.isEmpty { return nil }
    let list = slow.map { "\(Printable.text($0.label)) every \(Span.length($0.every ?? 0))" }
    return Diagnosis(
      "cascade", .note,
      "\(Printable.text(outlook.alarm.title)): synced seldom: \(list.joined(separator: ", ")). These may ring though another was answered.",
      remedy: "There: belfry service install, or a crontab line that syncs every minute.")
  }

  private func diagnosis(_ outlook: CascadeReadiness) -> Diagnosis {
    let title =
      "\(Printable.text(outlook.alarm.title)), \(outlook.next.civil.spoken)\(outlook.zoneName.map { " \(Printable.text($0))" } ?? "")"
    let silent = outlook.members.filter { !$0.isThere }
    if outlook.live == 0 {
      return Diagnosis(
        "cascade", .problem, "\(title): as far as is known, no step of its cascade would ring.",
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

  /// Whether numbers can be called that are to be.
  private func callers(_ alarms: [Alarm]) throws -> [Diagnosis] {
    let isCalling = alarms.contains { $0.cascade?.plan.calls == true }
    var result: [Diagnosis] = []
    if isCalling, store.callers.isEmpty {
      result.append(
        Diagnosis(
          "calls", .problem, "Numbers are to be called, and no device of this store can.",
          remedy: "Set up a provider on one that is always on: belfry help calls"))
    }
    if let mode = CallProvider.exposure(of: context.callsFile) {
      let path = Printable.text(context.callsFile)
      result.append(
        Diagnosis(
          "calls", .problem,
          "\(path) holds a secret, and is open to others (mode 0\(String(mode, radix: 8))).",
          remedy: "chmod 600 \(path), and change the secret if anybody else uses this machine"))
    }
    guard store.callers.contains(store.device) else { return result }
    guard let provider = try context.callProvider else {
      if let hook = context.ownHook("call") {
        return result + [Diagnosis("calls", .fine, "Placed by your own hook: \(hook).")]
      }
      return result + [
        Diagnosis(
          "calls", .problem,
          "This device is to place calls, and has neither a provider nor a hook.",
          remedy: "Set one up, or take it back: belfry help calls")
      ]
    }
    let missing = programs(provider).filter { !context.hasProgram($0.program) }
    if let first = missing.first {
      return result + [
        Diagnosis(
          "calls", .problem, "Calls are placed by \(first.program), which is not installed.",
          remedy: "apt-get install \(missing.map(\.package).joined(separator: " "))")
      ]
    }
    return result + [Diagnosis("calls", .fine, "Placed by \(Printable.text(provider.words)).")]
  }

  private func programs(_ provider: CallProvider) -> [(program: String, package: String)] {
    switch provider {
    case .sip: [("baresip", "baresip-core"), ("espeak-ng", "espeak-ng"), ("sox", "sox")]
    case .http: [("curl", "curl")]
    }
  }
}
