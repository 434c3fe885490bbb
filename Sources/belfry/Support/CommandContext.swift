import BelfryCore
import BelfryScheduler
import BelfryStore
import Git
import Glibc

/// The one place where environment, clock and file system are looked up.
struct CommandContext {
  let environment: [String: String]
  let storePath: String
  private(set) var storeContext: StoreContext
  let style: Style
  /// A script reads what is printed: nobody is greeted.
  var isQuiet = false

  /// - Parameter store: the value of `--store`.
  init(store: String?) throws {
    let environment = CommandContext.environment()
    self.environment = environment
    storePath = try CommandContext.place(store, environment)
    var now = Instant(milliseconds: CommandContext.clock())
    if let text = environment["BELFRY_NOW"], !text.isEmpty {
      guard let set = Instant(rfc3339: text) else {
        throw CommandError(
          .usage, "BELFRY_NOW is '\(Printable.text(text))', which is not an instant.",
          hint: "Write it as 2026-12-24T18:00:00Z.")
      }
      now = set
    }
    let words = CommandLine.arguments.prefix(2).map { Printable.text($0) }
    storeContext = StoreContext(
      now: now, zones: ZoneLibrary(variable: environment["TZ"]),
      deviceName: CommandContext.deviceName(environment), deviceKind: CommandContext.deviceKind,
      machine: CommandContext.machine(),
      user: geteuid(),
      makeIdentifier: {
        var generator = SystemRandomNumberGenerator()
        return .random(using: &generator)
      },
      random: { Int.random(in: $0) },
      runtimeFolder: CommandContext.runtimeFolder(environment),
      process: "\(words.count > 1 ? "belfry \(words[1])" : "belfry") (process \(getpid()))",
      report: CommandContext.tell)
    if let seconds = environment["BELFRY_LOCK_TIMEOUT"].flatMap({ Int($0) }),
      (0...3600).contains(seconds)
    {
      storeContext.patience = seconds * 1000
    }
    if let seconds = environment["BELFRY_NETWORK_TIMEOUT"].flatMap({ Int($0) }),
      (1...3600).contains(seconds)
    {
      storeContext.networkPatience = seconds
    }
    style = Style(environment)
    storeContext.clockOffset = clockOffset
  }

  /// The process's variables.
  static func environment() -> [String: String] {
    var environment: [String: String] = [:]
    var pointer = environ
    while let entry = pointer.pointee {
      let text = String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        environment[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      pointer += 1
    }
    return environment
  }

  private static func clock() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// How far the system's clock is ahead of one that was set by BELFRY_NOW, in milliseconds; 0 without.
  var clockOffset: Int64 {
    guard environment["BELFRY_NOW"]?.isEmpty == false else { return 0 }
    return CommandContext.clock() - storeContext.now.milliseconds
  }

  /// The variables for background commands: the same clock as this process, and no permission to create a store.
  func backgroundVariables(after opened: ElapsedTime) -> [String: String] {
    var variables = [CommandContext.backgroundVariable: "1"]
    if clockOffset != 0 {
      variables["BELFRY_NOW"] = present(after: opened).storeContext.now.rfc3339Milliseconds
    }
    return variables
  }

  /// The same as of now: a clock that was set to a moment goes on from there.
  func present(after opened: ElapsedTime) -> CommandContext {
    if environment["BELFRY_NOW"]?.isEmpty == false { return later(by: opened.milliseconds) }
    var context = self
    context.storeContext.now = Instant(milliseconds: CommandContext.clock())
    return context
  }

  /// The same with the clock moved on.
  func later(by milliseconds: Int64) -> CommandContext {
    var context = self
    context.storeContext.now.milliseconds += milliseconds
    return context
  }

  /// The same with transfers shown on a line.
  func transferring(_ line: TransferLine) -> CommandContext {
    var context = self
    context.storeContext.progress = { line.show($0) }
    return context
  }

  /// `--store` over `BELFRY_STORE` over `$XDG_DATA_HOME/belfry`; absolute, without a slash at the end.
  private static func place(
    _ option: String?, _ environment: [String: String]
  ) throws -> String {
    let given = [option, environment["BELFRY_STORE"]].compactMap { $0 }.first { !$0.isEmpty }
    let path = try given ?? folder("XDG_DATA_HOME", ".local/share", environment) + "/belfry"
    return absolute(path)
  }

  /// A folder of the XDG base directory specification.
  static func folder(
    _ variable: String, _ fallback: String, _ environment: [String: String]
  ) throws -> String {
    // A relative one is to be ignored, the specification says.
    if let set = environment[variable], set.hasPrefix("/") { return set }
    guard let home = environment["HOME"], home.hasPrefix("/") else {
      throw CommandError(
        .failed, "HOME is not set, so there is no place for a store.",
        hint: "Set HOME, or name a store with --store.")
    }
    return "\(home)/\(fallback)"
  }

  /// A path seen from where the command was given.
  static func absolute(_ path: String) -> String {
    var result = path
    if !path.hasPrefix("/"), let here = getcwd(nil, 0) {
      result = String(cString: here) + "/" + path
      free(here)
    }
    while result.count > 1, result.hasSuffix("/") { result.removeLast() }
    return result
  }

  private static func deviceName(_ environment: [String: String]) -> String {
    var name = environment["BELFRY_DEVICE"] ?? ""
    if name.isEmpty {
      var buffer = [CChar](repeating: 0, count: 256)
      if gethostname(&buffer, buffer.count - 1) == 0 {
        name = String(
          decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      }
    }
    let kept = name.unicodeScalars.filter { !AlarmText.isControl($0) }
    let clean = String(String(String.UnicodeScalarView(kept)).prefix(DeviceRecord.longestName))
    return clean.isEmpty ? "device" : clean
  }

  /// What this machine is, by what its maker says of its case (SMBIOS 3.6, 7.4.1); nil where that tells nothing.
  private static var deviceKind: Device.Kind? {
    guard let bytes = try? DurableFile.readStream("/sys/class/dmi/id/chassis_type") else {
      return nil
    }
    return switch Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)) {
    case 8, 9, 10, 14, 31, 32: .laptop
    case 3, 4, 5, 6, 7, 13, 15, 16, 35: .desktop
    case 30: .tablet
    case 17, 23, 28: .server
    default: nil
    }
  }

  /// The user's folder in memory; cron does not name it.
  private static func runtimeFolder(_ environment: [String: String]) -> String? {
    let folder = environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(geteuid())"
    return folder.hasPrefix("/") && access(folder, W_OK) == 0 ? folder : nil
  }

  private static func machine() -> String {
    guard let file = fopen("/etc/machine-id", "re") else { return "" }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 64)
    let count = fread(&buffer, 1, 63, file)
    return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
      .filter { $0.isHexDigit }
  }

  // MARK: The store

  /// Set for the processes that the daemon, `tick` and their helpers start.
  static let backgroundVariable = "BELFRY_BACKGROUND"

  /// Opens the store, makes it if there is none, and says so.
  ///
  /// - Parameters:
  ///   - welcome: greet a person whose first command this is.
  ///   - creates: create a store where there is none. Processes started in the background never do.
  func open(welcome: Bool = true, creates: Bool = true) throws -> Store {
    if welcome, !isQuiet { try Welcome(self).showOnce() }
    let isBackground = environment[CommandContext.backgroundVariable]?.isEmpty == false
    let (store, opening) = try Store.open(
      storePath, context: storeContext, creates: creates && !isBackground)
    announce(opening, store)
    do {
      try store.mendMerge()
    } catch {
      Console.error(
        "belfry: warning: a merge of git's was not mended: \(CommandError.words(error))")
    }
    if store.isRebasing {
      Console.error(
        "belfry: warning: git has begun a rebase in the store and not finished it: nothing is written."
      )
      Console.error(
        "What rings is what the branch had; 'belfry git -- rebase --continue', or --abort.")
    } else if let commit = store.past {
      Console.error(
        "belfry: warning: the store is at a commit of the past, \(Printable.text(String(commit.prefix(8)))), and read-only."
      )
      let branch = store.presentBranch
      let name = branch.map { "the branch \(Printable.text($0)) has" } ?? "Belfry wrote last"
      Console.error(
        "What rings is what \(name); back to it: \(CommandError.checkout(branch))")
    }
    if !storeContext.zones.works {
      Console.error(
        "belfry: warning: this system has no time zone data, so named zones count as local.")
      Console.error("Install them: apt-get install tzdata")
    }
    return store
  }

  private func announce(_ opening: Store.Opening, _ store: Store) {
    let name = Printable.text(storeContext.deviceName)
    switch opening {
    case .existing: break
    case .created:
      Console.error("Made a store at \(Printable.text(storePath)); this device is called \(name).")
    case .adopted:
      Console.error("Gave this clone of the store an identity of its own: \(name).")
      offerAdoption(store)
    }
  }

  /// Names the devices whose place a device with a new identity may have taken.
  func offerAdoption(_ store: Store) {
    for old in store.adoptable() {
      Console.error(
        "If it has taken the place of \(Printable.text(old.name)) (\(old.id.short)): belfry device adopt \(old.id.short)"
      )
    }
  }

  /// The alarms, with what is wrong told on standard error.
  func overview(_ store: Store) throws -> [AlarmSummary] {
    let overview = try store.overview()
    tell(overview.problems)
    return overview.summaries
  }

  /// The alarm that a person means.
  func find(_ name: String, in store: Store) throws -> AlarmSummary {
    let (summary, problems) = try store.resolve(name)
    tell(problems)
    return summary
  }

  /// The same for an answer: of several the one that rings is meant, if only one does.
  func findRinging(_ name: String, in store: Store) throws -> AlarmSummary {
    do {
      return try find(name, in: store)
    } catch let error as StoreError {
      guard case .ambiguousAlarm(_, let matches) = error else { throw error }
      let ids = Set(matches.map(\.id))
      let ringing = try store.overview().summaries.filter {
        ids.contains($0.id) && $0.status.state == .ringing
      }
      guard ringing.count == 1, let summary = ringing.first else { throw error }
      return summary
    }
  }

  /// Says what the store has mended by itself.
  private static func tell(_ notification: StoreNotice) {
    func list(_ paths: [String]) -> String {
      let more = paths.count > 3 ? " and \(paths.count - 3) more" : ""
      return paths.prefix(3).map { Printable.text($0) }.joined(separator: ", ") + more
    }
    switch notification {
    case .restored(let paths):
      Console.error("belfry: warning: \(list(paths)) had been removed; put back.")
    case .healed(let paths):
      Console.error(
        "belfry: warning: another git had dropped \(list(paths)); put back."
      )
      Console.error(
        "To delete an alarm, use 'belfry delete'; to take something back, 'belfry undo'.")
    case .joined(let paths, let rest):
      Console.error(
        "belfry: warning: git could not merge \(list(paths)); both sides were taken and joined.")
      switch rest {
      case .nothing:
        Console.error("So that git joins them itself from now on: belfry hooks install")
      case .operation(.rebase):
        Console.error("Go on with 'belfry git -- rebase --continue'.")
      case .operation: Console.error("Go on with what 'belfry git -- status' tells.")
      }
    case .unlocked(let path):
      Console.error(
        "belfry: warning: took a lock away that a git left which died: \(Printable.text(path)).")
    }
  }

  /// So many problems are told; 'belfry doctor' tells of all.
  private static let mostProblems = 20

  func tell(_ problems: [RecordProblem]) {
    defer {
      let more = problems.count - CommandContext.mostProblems
      if more > 0 { Console.error("belfry: warning: and \(more) more: see 'belfry doctor'.") }
    }
    for problem in problems.prefix(CommandContext.mostProblems) {
      let path = Printable.text(problem.path)
      switch problem.kind {
      case .invalid(let error, let lastGood):
        Console.error("belfry: warning: \(path) is not valid: \(Printable.text(error.words)).")
        switch error.kind {
        case .newerFormat: Console.error("Bring Belfry up to date on this device.")
        case .invalid where lastGood:
          Console.error(
            "Its last good version stays armed. Correct it, or put it aside: belfry doctor --repair"
          )
        case .invalid: Console.error("Correct it, or put it aside: belfry doctor --repair")
        }
      case .removed:
        Console.error("belfry: warning: \(path) is gone; the alarm stays.")
        Console.error("To delete an alarm, use 'belfry delete'.")
      case .unknownZone(let name):
        Console.error(
          "belfry: warning: the time zone \(Printable.text(name)) of \(path) is not known here; it counts as local."
        )
        Console.error(
          "Bring the package tzdata up to date, or set another with 'belfry edit --zone'.")
      }
    }
  }

  /// Keeps the store in order: compares all records with the branch once a day, and packs objects when
  /// there are many. What cannot be done is no failure of the command.
  func upkeep(_ store: Store) async {
    do {
      try await store.tidy()
      try await store.pack()
    } catch {
      let reason = CommandError(explaining: error)?.message ?? "\(error)."
      Console.error("belfry: warning: \(reason)")
      Console.error("Nothing is lost by it; see 'belfry doctor'.")
    }
  }

  /// Warns when the store's daemon has stopped working.
  func warnAboutDaemon(_ store: Store) {
    guard case .unresponsive(let process) = store.daemonState() else { return }
    Console.error(
      "belfry: warning: the daemon does not respond, so nothing rings: \(Printable.text(process)).")
    Console.error(DaemonRemedy.restart)
  }

  // MARK: Settings

  /// The settings: those that all devices share, and this device's own; what is wrong with either is told.
  func settings(_ store: Store) throws -> Settings {
    var (settings, problem) = try store.settings()
    tell([problem].compactMap { $0 })
    if let file = deviceSettings {
      do {
        settings = try file.applied(to: settings)
      } catch {
        Console.error(
          "belfry: warning: \(Printable.text(file.path)) is not valid: \(Printable.text(error.words))."
        )
        Console.error("Correct it, or remove it; until then the defaults hold.")
      }
    }
    return settings
  }

  /// The settings as far as they are this device's own; the defaults where its file is not valid.
  var ownSettings: Settings {
    var settings = (try? deviceSettings?.applied(to: Settings())) ?? Settings()
    if let sound = environment["BELFRY_SOUND"], Sound.isKnown(sound) { settings.sound = sound }
    return settings
  }

  /// This device's own settings; nil without a home.
  var deviceSettings: DeviceSettings? {
    (try? configuration).map { DeviceSettings(path: $0 + "/settings.json") }
  }

  private var configuration: String {
    get throws {
      try CommandContext.folder("XDG_CONFIG_HOME", ".config", environment) + "/belfry"
    }
  }

  // MARK: The battery

  /// How this machine's battery stands.
  var battery: BatteryGauge.Finding {
    let (gauge, now) = (gauge, storeContext.now)
    if let finding = gauge.lookAtKernel(at: now) { return finding }
    // Tasks cannot begin where no file can be opened any more.
    guard (try? Descriptors.ensure()) != nil else { return .silent }
    return Blocking.run { await gauge.look(at: now) }
  }

  /// Shows what is said of the battery beneath an alarm, if anything is.
  ///
  /// - Parameter isStill: nothing is to move, for this once.
  func show(_ batteryWarning: BatteryWarning?, isStill: Bool) {
    guard let batteryWarning else { return }
    let isMoving =
      !isStill && !ownSettings.reducedMotion
      && !["", "dumb"].contains(environment["TERM"] ?? "")
    SlideIn.show(batteryWarning, style, isMoving: isMoving)
  }

  /// What reads this machine's battery. BELFRY_POWER_SUPPLY names another folder than the kernel's.
  var gauge: BatteryGauge {
    let root = environment["BELFRY_POWER_SUPPLY"].flatMap { $0.isEmpty ? nil : $0 }
    let state = try? CommandContext.folder("XDG_STATE_HOME", ".local/state", environment)
    return BatteryGauge(
      supplies: PowerSupplies(root: root ?? PowerSupplies.systemRoot),
      log: state.map { BatteryLog(path: "\($0)/belfry/battery") },
      bus: environment["DBUS_SYSTEM_BUS_ADDRESS"])
  }

  // MARK: Delivery

  /// The hooks that reach a person: the user's own, and those that came with the binary.
  ///
  /// - Parameter attendance: who stays with what goes on until it is answered.
  func hooks(activeDeliveries: ActiveDeliveries = ActiveDeliveries { _ in }) -> HookDelivery {
    // Without a home there are no hooks of the user's own, and the alarm rings all the same.
    let own = ownHooks
    var variables = [
      "BELFRY_STORE": storePath, "BELFRY_SOUND": ownSettings.sound,
      CommandContext.backgroundVariable: "1",
    ]
    if let executable { variables["BELFRY_COMMAND"] = executable }
    return HookDelivery(
      own: own, shipped: shippedHooks.map { $0 + "/deliver" }, variables: variables,
      terminals: Terminals(
        user: geteuid(), folder: environment["BELFRY_TERMINALS"] ?? Terminals.systemFolder),
      activeDeliveries: activeDeliveries, notes: "\(storePath)/.git/belfry/hooks")
  }

  // MARK: Calls

  /// How this device places calls.
  var callsFile: String { ((try? configuration) ?? "/nonexistent") + "/calls.json" }

  /// Throws when there is a file, and it says nothing of use.
  var callProvider: CallProvider? {
    get throws {
      do {
        return try CallProvider.read(callsFile)
      } catch let error as RecordError {
        throw CommandError(
          .failed, "\(Printable.text(callsFile)) is not valid: \(error.words).",
          hint: "Set it up anew: belfry help calls")
      }
    }
  }

  /// The folder of the user's own hooks; nil without a home.
  private var ownHooks: String? { (try? configuration).map { $0 + "/hooks/deliver" } }

  /// Returns true when a program is in one of the folders of `PATH`.
  func hasProgram(_ name: String) -> Bool {
    (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
      .contains { access("\($0)/\(name)", X_OK) == 0 }
  }

  /// A hook of the user's own; nil where there is none that can be run.
  func ownHook(_ name: String) -> String? {
    guard let path = ownHooks.map({ "\($0)/\(name)" }), access(path, X_OK) == 0 else { return nil }
    return path
  }

  /// What calls, and sends word: the user's own hook first.
  var callHook: CallHook {
    let provider: CallProvider? = (try? callProvider) ?? nil
    return CallHook(
      folders: [ownHooks].compactMap { $0 } + shippedHooks.map { $0 + "/deliver" },
      variables: provider?.variables ?? [:])
  }

  /// The path of the binary; nil where it cannot be told.
  var executable: String? {
    guard let link = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(link) }
    return String(cString: link)
  }

  /// The folders that the hooks which came with the binary may be in.
  var shippedHooks: [String] {
    guard let parts = executable?.split(separator: "/").dropLast() else { return [] }
    // `PREFIX/bin/belfry` has `PREFIX/libexec/belfry`; a build has the source tree above it.
    var folders = ["/" + parts.dropLast().joined(separator: "/") + "/libexec/belfry/hooks"]
    if let build = parts.lastIndex(where: { $0.hasPrefix(".build") }) {
      folders.append("/" + parts[..<build].joined(separator: "/") + "/hooks")
    }
    return folders
  }
}
