import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore
import Git
import Glibc
import Subprocess
import SystemPackage

struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check everything, and mend what can be mended.",
    discussion: """
      Looks at the store, its records and log, the clock and the time zones, the hooks, how you are notified, \
      who looks at the clock, the battery, the devices, the cascades, and the remotes. The exit status is 0 only when all is well.

      --repair takes dead locks away, gives the branch a whole commit, restores damaged objects from the work \
      tree or a remote, puts records back, and arms alarms again that a clock which was ahead had settled. What it cannot use it moves to .git/belfry/quarantine.
      """)

  @Flag(help: "Mend what can be mended first.")
  var repair = false

  @Option(help: ArgumentHelp("How long each check may take, in seconds.", valueName: "seconds"))
  var timeout = 120

  /// What a process of its own is to look at.
  @Option(help: .hidden)
  var check: Examination?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    guard (1...86_400).contains(timeout) else {
      throw ValidationError("--timeout is from 1 to 86400 seconds.")
    }
  }

  func run() async throws {
    let context = try common.context(root)
    if let check { return try await check.run(context) }
    guard try Store.existing(context.storePath, context: context.storeContext) != nil else {
      throw CommandError(
        .failed, "there is no store at \(Printable.text(context.storePath)).",
        hint: "The first command makes one: belfry list")
    }
    var all: [Diagnosis] = []
    let examinations = (repair ? [Examination.repair] : []) + Examination.checks
    for examination in examinations {
      let found = await diagnoses(examination, context)
      all += found
      if common.json { continue }
      for diagnosis in found { Console.write(diagnosis.text(context.style)) }
    }
    let isWell = !all.contains { $0.level == .problem }
    if common.json {
      Console.write(
        JSON.object(["ok": .bool(isWell), "findings": .array(all.map(\.json))]).document)
    }
    if !isWell { throw ExitCode.failure }
  }

  /// Runs one examination in a process that can be given up: what it reads may be damaged in any way.
  private func diagnoses(_ examination: Examination, _ context: CommandContext) async -> [Diagnosis]
  {
    let area = examination.rawValue
    let outcome = await TimedProcess.run(
      .path("/proc/self/exe"),
      ["doctor", "--check", area, "--store", context.storePath], seconds: timeout, limit: 16 << 20)
    switch outcome {
    case .ended(let status, let output, let error):
      var found = output.split(separator: UInt8(ascii: "\n")).compactMap { Diagnosis(line: $0) }
      if status != 0 {
        let words = error.split(separator: "\n").map(String.init)
        let first = words.first ?? "it ended with \(status)."
        let reason = first.hasPrefix("belfry: ") ? String(first.dropFirst(8)) : first
        let isRepair = examination == .repair
        let hint = words.dropFirst().first
        found.append(
          Diagnosis(
            area, .problem, "The \(isRepair ? "repair" : "check") failed: \(reason)",
            remedy: hint?.contains("'belfry doctor'") == true ? nil : hint))
      }
      return found
    case .timedOut:
      return [
        Diagnosis(
          area, .problem, "The check did not end within \(timeout) seconds.",
          remedy: "Something that it reads does not answer; or give it longer with --timeout.")
      ]
    case .failed(let reason):
      return [Diagnosis(area, .problem, "The check could not be started: \(reason).")]
    }
  }
}

/// One part of a check, run in a process of its own: it prints a diagnosis on each line, as JSON.
enum Examination: String, ExpressibleByArgument {
  case store, records, log, time, hooks, notifications, clockwork, battery, cascade, partners,
    remotes,
    repair

  static let checks: [Examination] = [
    .store, .records, .log, .time, .hooks, .notifications, .clockwork, .battery, .cascade,
    .partners,
    .remotes,
  ]

  func run(_ context: CommandContext) async throws {
    if self == .repair { return try await mend(context) }
    var storeContext = context.storeContext
    storeContext.networkPatience = min(
      storeContext.networkPatience, Examination.remotePatience)
    guard let store = try Store.existing(context.storePath, context: storeContext) else { return }
    let diagnoses: [Diagnosis] =
      switch self {
      case .store: try await told(RepositoryExamination(store).findings(), context)
      case .records: try await told(RecordExamination(store).records(), context)
      case .log: told(try RecordExamination(store).log(), context)
      case .time: told(try RecordExamination(store).time(), context)
      case .hooks: hooks(context)
      case .notifications: await notifications(context)
      case .clockwork: await clockwork(store, context) + deliveries(store, context)
      case .battery: [await battery(context)]
      case .cascade: DeviceCheck(store).diagnoses() + (try CascadeCheck(store, context).diagnoses())
      case .partners: try await PartnerCheck(store, context).diagnoses()
      case .remotes: try await remotes(store, context)
      case .repair: []
      }
    for diagnosis in diagnoses { Examination.tell(diagnosis) }
  }

  private static func tell(_ diagnosis: Diagnosis) { Console.write(diagnosis.json.line + "\n") }

  /// Of many findings of one kind the first few, and how many more there are.
  private func told(_ findings: [Finding], _ context: CommandContext) -> [Diagnosis] {
    let all = findings.map { DoctorText.diagnosis($0, context) }
    guard all.count > 20 else { return all }
    let rest = all.dropFirst(20)
    let level: Diagnosis.Level = rest.contains { $0.level == .problem } ? .problem : .note
    return all.prefix(20) + [Diagnosis(rawValue, level, "And \(rest.count) more.")]
  }

  private func mend(_ context: CommandContext) async throws {
    if let mended = try Repair.mendLocalFolder(
      of: context.storePath, context: context.storeContext)
    {
      Examination.tell(DoctorText.diagnosis(mended))
    }
    // A clone without an identity is given one, if it is not too damaged for that.
    let opened = try? Store.open(context.storePath, context: context.storeContext).store
    guard
      let store = try opened ?? Store.existing(context.storePath, context: context.storeContext)
    else { return }
    try await Repair(store) { Examination.tell(DoctorText.diagnosis($0)) }.run()
    if try await store.pack() { Examination.tell(DoctorText.diagnosis(.packed)) }
  }

  // MARK: Beyond the store

  private func hooks(_ context: CommandContext) -> [Diagnosis] {
    let hooks = context.hooks()
    var result: [Diagnosis] = []
    for file in hooks.ownHooks() {
      switch file.fault {
      case nil: result.append(Diagnosis("hooks", .fine, "Your own: \(file.path)."))
      case .notExecutable?:
        result.append(
          Diagnosis(
            "hooks", .problem, "\(file.path) is not executable.", remedy: "chmod +x \(file.path)"))
      case .interpreterMissing(let program)?:
        result.append(
          Diagnosis(
            "hooks", .problem, "\(file.path) is to be run by \(program), which is not there.",
            remedy: "Install it, or correct the file's first line."))
      case .unknownName?:
        result.append(Diagnosis("hooks", .note, "No delivery is named as \(file.path) is."))
      }
    }
    if let folder = hooks.shippedFolder {
      result.append(Diagnosis("hooks", .fine, "The shipped ones: \(folder)."))
    } else {
      result.append(
        Diagnosis(
          "hooks", .problem, "The shipped hooks are not installed.",
          remedy: "Copy hooks/deliver to libexec/belfry/hooks beside the folder of the binary."))
    }
    return result
  }

  private func notifications(_ context: CommandContext) async -> [Diagnosis] {
    switch await context.hooks().reach() {
    case .reachable(let words, _): [Diagnosis("notifications", .fine, "Reached by \(words).")]
    case .unreachable(let words):
      [
        Diagnosis(
          "notifications", .problem, words.hasSuffix(".") ? words : words + ".",
          remedy: "You can write a hook of your own instead: see the README.")
      ]
    }
  }

  /// What rings and reached nobody.
  private func deliveries(_ store: Store, _ context: CommandContext) -> [Diagnosis] {
    let unheard = store.ledger().ledger.filter { $0.value.standing == .undelivered }
      .sorted { $0.key < $1.key }
    return unheard.compactMap { key, firing in
      guard let alarm = (try? store.alarm(key.alarm)) ?? nil, let status = try? store.status(alarm),
        status.state == .ringing, status.current == key.occurrence
      else { return nil }
      return Diagnosis(
        "deliveries", .problem,
        "\(alarm.title), \(key.occurrence.spoken), reached nobody on this device: tried \(firing.attempts == 1 ? "once" : "\(firing.attempts) times"), last at \(context.storeContext.zones.text(firing.at)).",
        remedy: "See what 'belfry tick' says of it.")
    }
  }

  private func clockwork(_ store: Store, _ context: CommandContext) async -> [Diagnosis] {
    let remedy = "belfry service install"
    let zones = context.storeContext.zones
    switch store.daemonState(probes: true) {
    case .running(let process):
      return [Diagnosis("tick", .fine, "The daemon runs: \(process).")]
    case .unresponsive(let process):
      return [
        Diagnosis(
          "tick", .problem, "The daemon does not respond, so nothing rings: \(process).",
          remedy: DaemonRemedy.restart)
      ]
    case .absent: break
    }
    if let manager = try? ServiceManager(context), await manager.isInCrontab,
      manager.cronRuns == false
    {
      return [
        Diagnosis(
          "tick", .problem, "Your crontab runs Belfry, but no cron process runs: nothing rings.",
          remedy: CronProcess.remedy)
      ]
    }
    guard let last = store.lastTick else {
      return [
        Diagnosis(
          "tick", .problem, "Nothing has ever looked at the clock here: no alarm rings.",
          remedy: remedy)
      ]
    }
    guard store.hasTickedLately else {
      return [
        Diagnosis(
          "tick", .problem, "Nobody has looked at the clock since \(zones.text(last)).",
          remedy: remedy)
      ]
    }
    return [Diagnosis("tick", .fine, "The clock was last looked at at \(zones.text(last)).")]
  }

  /// What is known of the battery, and what is not.
  private func battery(_ context: CommandContext) async -> Diagnosis {
    let gauge = context.gauge
    let now = context.storeContext.now
    let standing: BatteryStanding
    switch await gauge.look(at: now) {
    case .none:
      return Diagnosis("battery", .fine, "This machine has none: nothing is predicted.")
    case .silent:
      return Diagnosis(
        "battery", .note,
        "Neither the kernel (\(gauge.supplies.root)) nor UPower tells of one: nothing is predicted."
      )
    case .found(let found): standing = found
    }
    guard let level = standing.reading.level else {
      return Diagnosis(
        "battery", .note,
        "There is one, but neither the kernel nor UPower tells what is left: nothing is predicted.")
    }
    let percent = "\(Int(level.rounded(.down)))%"
    if let log = gauge.log, let reason = log.hindrance {
      return Diagnosis(
        "battery", .problem, "\(percent); but \(log.path) cannot be written: \(reason).",
        remedy: "Without samples nothing is learned of the drain.")
    }
    if standing.reading.isCharging {
      return Diagnosis("battery", .fine, "\(percent), charging.")
    }
    let outlook = standing.forecast?.outlook(until: now.adding(seconds: BatteryWarnings.horizon))
    guard outlook?.awake != nil else {
      return Diagnosis(
        "battery", .note,
        "\(percent), discharging; how fast is not known yet, so nothing is predicted.",
        remedy: "The daemon, or cron's tick, measures it within half an hour.")
    }
    return Diagnosis(
      "battery", .fine, "\(percent), discharging: \(BatteryText.drain(outlook)).")
  }

  /// How long a remote is waited for, in seconds: there may be several, and a check ends in time.
  private static let remotePatience = 20

  private func remotes(_ store: Store, _ context: CommandContext) async throws -> [Diagnosis] {
    let remotes = try store.remotes()
    if remotes.isEmpty {
      return [
        Diagnosis(
          "remotes", .note, "There is none: the alarms are on this machine alone.",
          remedy: "Add one: belfry remote add origin URL")
      ]
    }
    var result: [Diagnosis] = []
    for remote in remotes {
      let name = Printable.text(remote.name)
      do {
        try await store.reach(remote)
        let place = RemoteURLInput.shown(remote.url)
        result.append(Diagnosis("remotes", .fine, "\(name) is reached: \(place)."))
      } catch {
        let failure = CommandError(explaining: error)
        result.append(
          Diagnosis(
            "remotes", .problem,
            "\(name) is not reached: \(failure?.message ?? Printable.text("\(error)."))",
            remedy: failure?.hint))
      }
    }
    for remote in remotes where URLMask.holdsCredentials(remote.url) {
      result.append(
        Diagnosis(
          "remotes", .note,
          "The URL of \(Printable.text(remote.name)) holds a password or a token, in plain text in .git/config.",
          remedy: RemoteURLInput.credentialHint(remote)))
    }
    let zones = context.storeContext.zones
    for remote in remotes {
      guard let waiting = store.waiting(for: remote.name), waiting > 0 else { continue }
      result.append(
        Diagnosis(
          "sync", .note,
          "\(waiting) commit\(waiting == 1 ? " waits" : "s wait") for a sync with \(remote.name).",
          remedy: "belfry sync"))
    }
    result.append(
      store.lastSync.map {
        Diagnosis("sync", .fine, "The last sync was at \(zones.text($0)).")
      } ?? Diagnosis("sync", .note, "Nothing was ever synced from here.", remedy: "belfry sync"))
    return result
  }
}
