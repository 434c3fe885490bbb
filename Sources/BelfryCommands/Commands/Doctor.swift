import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Git
import Glibc
import Subprocess
import SystemPackage

struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check the store and its environment, and repair damage.",
    discussion: """
      Checks the store, its records and log, the clock and the time zones, the hooks, the notifications, the \
      scheduler, the battery, the devices, the cascades, the phone, the partners and the remotes. The exit status is 0 \
      only if there is no problem.

      --repair removes stale locks, resets the branch to its latest complete commit, restores damaged objects from the \
      work tree or a remote, restores removed records, and arms alarms again that a fast clock had settled. It moves \
      files that it cannot use to .git/belfry/quarantine.
      """)

  @Flag(help: "Repair damage before the checks.")
  var repair = false

  @Option(help: ArgumentHelp("The time limit of each check, in seconds.", valueName: "seconds"))
  var timeout = 120

  /// The one examination that this process runs, as a child of `belfry doctor`; nil for all of them.
  @Option(help: .hidden)
  var check: Examination?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    guard (1...86_400).contains(timeout) else {
      throw ValidationError("--timeout is 1 to 86400 seconds.")
    }
  }

  func run() async throws {
    let context = try common.context(root)
    if let check {
      // A check that hangs must also end if its parent was killed.
      _ = alarm(UInt32(timeout + Doctor.margin))
      return await check.run(context)
    }
    guard try Store.existing(context.storePath, context: context.storeContext) != nil else {
      throw StoreError.noStore(path: context.storePath)
    }
    var all: [Diagnosis] = []
    let examinations = (repair ? [Examination.repair] : []) + Examination.checks
    for examination in examinations {
      let found = await diagnoses(examination, context)
      all += found
      if common.json { continue }
      for diagnosis in found { Console.write(diagnosis.text(context.style)) }
    }
    let hasPassed = !all.contains { $0.level == .problem }
    if common.json {
      Console.write(
        JSON.object(["ok": .bool(hasPassed), "findings": .array(all.map(\.json))]).document)
    }
    if !hasPassed { throw ExitCode.failure }
  }

  /// The time for which a check outlives its time limit at most, in seconds. Its parent ends it before, if it lives.
  private static let margin = 5

  /// Runs one examination in a child process, because damaged data may crash or block it.
  private func diagnoses(_ examination: Examination, _ context: CommandContext) async -> [Diagnosis]
  {
    let area = examination.rawValue
    let outcome = await TimedProcess.run(
      .path("/proc/self/exe"),
      ["doctor", "--check", area, "--timeout", "\(timeout)", "--store", context.storePath],
      seconds: timeout, limit: 16 << 20)
    switch outcome {
    case .ended(let status, let output, let error):
      var found = output.split(separator: UInt8(ascii: "\n")).compactMap { Diagnosis(line: $0) }
      if status != 0 {
        // The child reports its errors as diagnoses, so it has crashed. The runtime prints the reason.
        let reason = error.split(separator: "\n").first.map(String.init)
        found.append(
          examination.failure(reason ?? "it exited with status \(status)."))
      }
      return found
    case .timedOut:
      return [
        Diagnosis(
          area, .problem, "The check timed out after \(timeout) seconds.",
          remedy: "A disk or a remote does not respond. To allow more time: --timeout SECONDS")
      ]
    case .failed(let reason):
      return [Diagnosis(area, .problem, "The check could not be started: \(reason).")]
    }
  }
}

/// One part of a check, which runs in a child process.
enum Examination: String, ExpressibleByArgument {
  case store, records, log, time, hooks, notifications, scheduler, battery, cascade, phone,
    partners, remotes,
    repair

  /// All examinations except the repair, in the order of the output.
  static let checks: [Examination] = [
    .store, .records, .log, .time, .hooks, .notifications, .scheduler, .battery, .cascade,
    .phone, .partners,
    .remotes,
  ]

  /// Runs the examination and prints each diagnosis as a line of JSON. A failure is a diagnosis, too.
  func run(_ context: CommandContext) async {
    do {
      try await examine(context)
    } catch {
      let failure = CommandError(error)
      Examination.write(self.failure(failure.message, remedy: DoctorText.remedy(failure)))
    }
  }

  /// Returns the diagnosis of a failed examination.
  func failure(_ reason: String, remedy: String? = nil) -> Diagnosis {
    Diagnosis(
      rawValue, .problem, "The \(self == .repair ? "repair" : "check") failed: \(reason)",
      remedy: remedy)
  }

  private func examine(_ context: CommandContext) async throws {
    if self == .repair { return try await runRepair(context) }
    var storeContext = context.storeContext
    storeContext.networkTimeout = min(
      storeContext.networkTimeout, Examination.remoteTimeout)
    guard let store = try Store.existing(context.storePath, context: storeContext) else { return }
    let diagnoses: [Diagnosis] =
      switch self {
      case .store: try await limited(RepositoryExamination(store).findings(), context)
      case .records: try await limited(RecordExamination(store).records(), context)
      case .log: limited(try RecordExamination(store).log(), context)
      case .time: limited(try RecordExamination(store).time(), context)
      case .hooks: ChannelCheck.hooks(context.hooks()) + actions(store, context)
      case .notifications:
        ChannelCheck.notifications(await context.hooks().reach())
          + ChannelCheck.sound(await context.soundState())
      case .scheduler:
        await scheduler(store, context) + deliveries(store, context)
          + SubscriptionText.diagnoses(store, context.times)
      case .battery: [await battery(context)]
      case .cascade: DeviceCheck(store).diagnoses() + (try CascadeCheck(store, context).diagnoses())
      case .phone: PhoneCheck(store).diagnoses()
      case .partners: try await PartnerCheck(store, context).diagnoses()
      case .remotes: try await remotes(store, context)
      case .repair: []
      }
    for diagnosis in diagnoses { Examination.write(diagnosis) }
  }

  private static func write(_ diagnosis: Diagnosis) { Console.write(diagnosis.json.line + "\n") }

  /// Returns the diagnoses of the first 20 findings, and the number of the others.
  private func limited(_ findings: [Finding], _ context: CommandContext) -> [Diagnosis] {
    let all = findings.map { DoctorText.diagnosis($0, context) }
    let rest = all.dropFirst(20)
    guard let last = rest.last else { return all }
    let level: Diagnosis.Level = rest.contains { $0.level == .problem } ? .problem : .note
    return all.prefix(20) + [Diagnosis(last.area, level, "And \(rest.count) more.")]
  }

  private func runRepair(_ context: CommandContext) async throws {
    if let mended = try Repair.repairLocalFolder(
      of: context.storePath, context: context.storeContext)
    {
      Examination.write(DoctorText.diagnosis(mended, context.times))
    }
    // Opening also gives a clone without a device id one; a damaged store may not allow that.
    let opened = try? Store.open(context.storePath, context: context.storeContext).store
    guard
      let store = try opened ?? Store.existing(context.storePath, context: context.storeContext)
    else { return }
    try await Repair(store) { Examination.write(DoctorText.diagnosis($0, context.times)) }.run()
    if try await store.maintenance.pack() {
      Examination.write(DoctorText.diagnosis(.packed, context.times))
    }
  }

  // MARK: The environment

  /// Returns a note for each action of an alarm that cannot run on this device.
  private func actions(_ store: Store, _ context: CommandContext) -> [Diagnosis] {
    guard let check = ActionCheck(context, store) else { return [] }
    let alarms = ((try? store.allAlarms())?.alarms ?? []).filter { !$0.isDeleted }
    let problems = alarms.sorted { $0.id < $1.id }.flatMap { alarm in
      check.problems(of: alarm).map { (alarm, $0) }
    }
    return problems.map { alarm, problem in
      Diagnosis(
        "actions", .note,
        "\(alarm.title) cannot run the action \(problem.name): \(ActionText.text(problem)).",
        remedy: ActionText.remedy(problem))
    }
  }

  /// Returns a problem for each ringing occurrence that no channel on this device delivered.
  private func deliveries(_ store: Store, _ context: CommandContext) -> [Diagnosis] {
    let undelivered = store.ledger.read().entries.compactMap {
      key, entry -> (OccurrenceID, DeliveryLedger.Entry)? in
      guard case .occurrence(let id, .firing) = key, entry.state == .undelivered else { return nil }
      return (id, entry)
    }.sorted { $0.0 < $1.0 }
    return undelivered.compactMap { id, entry in
      guard let alarm = (try? store.alarm(id.alarm)) ?? nil, let status = try? store.status(alarm),
        status.state == .ringing, status.current == id.occurrence
      else { return nil }
      return Diagnosis(
        "deliveries", .problem,
        "\(alarm.title), \(context.times.full(id.occurrence)), was not delivered on this device: \(entry.attempts) attempt\(entry.attempts == 1 ? "" : "s"), the last at \(context.times.moment(entry.at)).",
        remedy: "To see the reason: belfry tick")
    }
  }

  /// Returns how the scheduler runs: as a daemon, from a timer or from cron.
  private func scheduler(_ store: Store, _ context: CommandContext) async -> [Diagnosis] {
    let remedy = "belfry service install"
    switch DaemonHandle(store).state(probes: true) {
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
          "tick", .problem, "Your crontab runs Belfry, but no cron process runs, so nothing rings.",
          remedy: CronProcess.remedy)
      ]
    }
    guard let last = store.lastTick else {
      return [
        Diagnosis(
          "tick", .problem, "The scheduler has never run on this device, so nothing rings.",
          remedy: remedy)
      ]
    }
    guard store.hasTickedLately else {
      return [
        Diagnosis(
          "tick", .problem,
          "The scheduler has not run since \(context.times.moment(last)), so nothing rings.",
          remedy: remedy)
      ]
    }
    return [Diagnosis("tick", .fine, "The last tick was at \(context.times.moment(last)).")]
  }

  /// Returns the level and drain of the battery, or the reason why nothing is predicted.
  private func battery(_ context: CommandContext) async -> Diagnosis {
    let gauge = context.gauge
    let now = context.storeContext.now
    let standing: BatteryStanding
    switch await gauge.look(at: now) {
    case .none:
      return Diagnosis("battery", .fine, "This machine has no battery.")
    case .silent:
      return Diagnosis(
        "battery", .note,
        "Neither the kernel (\(gauge.supplies.root)) nor UPower reports a battery.")
    case .found(let found): standing = found
    }
    guard let level = standing.reading.level else {
      return Diagnosis(
        "battery", .note,
        "Neither the kernel nor UPower reports the battery level, so nothing is predicted.")
    }
    let percent = "\(Int(level.rounded(.down)))%"
    if let log = gauge.log, let reason = log.hindrance {
      return Diagnosis(
        "battery", .problem, "\(percent), but \(log.path) cannot be written: \(reason).",
        remedy: "Make it writable: predictions need recorded samples.")
    }
    if standing.reading.isCharging {
      return Diagnosis("battery", .fine, "\(percent), charging.")
    }
    let outlook = standing.forecast?.outlook(until: now.adding(seconds: BatteryWarnings.horizon))
    guard let source = outlook?.source, source != .assumed else {
      return Diagnosis(
        "battery", .note,
        "\(percent), discharging; the drain is not known yet, so a typical one is assumed.",
        remedy: "The daemon or 'belfry tick' measures it within half an hour.")
    }
    return Diagnosis(
      "battery", .fine, "\(percent), discharging: \(BatteryText.drain(outlook)).")
  }

  /// The timeout of each remote, in seconds. It is short, because one check contacts all remotes.
  private static let remoteTimeout = 20

  private func remotes(_ store: Store, _ context: CommandContext) async throws -> [Diagnosis] {
    let remotes = try store.sync.remotes()
    if remotes.isEmpty {
      return [
        Diagnosis(
          "remotes", .note, "The store has no remote, so the alarms are only on this machine.",
          remedy: "Add one: belfry remote add origin URL")
      ]
    }
    var result: [Diagnosis] = []
    for remote in remotes {
      let name = Printable.text(remote.name)
      do {
        try await store.sync.reach(remote)
        let url = RemoteURLInput.shown(remote.url)
        result.append(Diagnosis("remotes", .fine, "\(name) is reachable: \(url)."))
      } catch {
        let failure = CommandError(error)
        result.append(
          Diagnosis(
            "remotes", .problem, "\(name) is not reachable: \(failure.message)",
            remedy: failure.hint))
      }
    }
    for remote in remotes where URLMask.holdsCredentials(remote.url) {
      result.append(
        Diagnosis(
          "remotes", .note,
          "The URL of \(Printable.text(remote.name)) contains a password or a token, in plain text in .git/config.",
          remedy: RemoteURLInput.credentialHint(remote)))
    }
    for remote in remotes {
      guard let waiting = store.sync.waiting(for: remote.name), waiting > 0 else { continue }
      result.append(
        Diagnosis(
          "sync", .note,
          "\(waiting) commit\(waiting == 1 ? " is" : "s are") not pushed to \(remote.name) yet.",
          remedy: "belfry sync"))
    }
    result.append(
      store.sync.last.map {
        Diagnosis("sync", .fine, "The last sync was at \(context.times.moment($0)).")
      } ?? Diagnosis("sync", .note, "This device has never synced.", remedy: "belfry sync"))
    return result
  }
}
