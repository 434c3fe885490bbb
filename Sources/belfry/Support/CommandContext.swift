import BelfryCore
import BelfryScheduler
import BelfryStore
import Git
import Glibc

/// The environment, clock and paths of a command. Commands access them only through this type.
struct CommandContext {
  let environment: [String: String]
  let storePath: String
  private(set) var storeContext: StoreContext
  let style: Style
  /// True if a script reads the output. The welcome pages are then not shown.
  var isQuiet = false

  /// Creates the context from the process's environment.
  ///
  /// - Parameter store: the value of `--store`.
  /// - Throws: `CommandError` if `BELFRY_NOW` is not valid or there is no path for a store.
  init(store: String?) throws {
    let environment = CommandContext.environment()
    self.environment = environment
    storePath = try CommandContext.storePath(store, environment)
    var now = Instant(milliseconds: CommandContext.clock())
    if let text = environment["BELFRY_NOW"], !text.isEmpty {
      guard let set = Instant(rfc3339: text) else {
        throw CommandError(
          .usage, "BELFRY_NOW is '\(Printable.text(text))', which is not an instant.",
          hint: "Write it as 2026-12-24T18:00:00Z.")
      }
      now = set
    }
    let command = CommandLine.arguments.prefix(2).map { Printable.text($0) }
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
      process: "\(command.count > 1 ? "belfry \(command[1])" : "belfry") (process \(getpid()))",
      report: CommandContext.tell)
    if let seconds = environment["BELFRY_LOCK_TIMEOUT"].flatMap({ Int($0) }),
      (0...3600).contains(seconds)
    {
      storeContext.lockTimeout = seconds * 1000
    }
    if let seconds = environment["BELFRY_NETWORK_TIMEOUT"].flatMap({ Int($0) }),
      (1...3600).contains(seconds)
    {
      storeContext.networkTimeout = seconds
    }
    style = Style(environment)
    storeContext.clockOffset = clockOffset
  }

  /// Returns the environment variables of the process.
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

  /// The offset of the system's clock from `BELFRY_NOW`, in milliseconds; 0 if that is not set.
  var clockOffset: Int64 {
    guard environment["BELFRY_NOW"]?.isEmpty == false else { return 0 }
    return CommandContext.clock() - storeContext.now.milliseconds
  }

  /// Returns the variables for background commands, which share this process's clock and never create a store.
  ///
  /// - Parameter opened: the time since this context was created.
  func backgroundVariables(after opened: ElapsedTime) -> [String: String] {
    var variables = [CommandContext.backgroundVariable: "1"]
    if clockOffset != 0 {
      variables["BELFRY_NOW"] = present(after: opened).storeContext.now.rfc3339Milliseconds
    }
    return variables
  }

  /// Returns the context with the current time. A clock set by `BELFRY_NOW` has advanced by the elapsed time.
  ///
  /// - Parameter opened: the time since this context was created.
  func present(after opened: ElapsedTime) -> CommandContext {
    if environment["BELFRY_NOW"]?.isEmpty == false { return later(by: opened.milliseconds) }
    var context = self
    context.storeContext.now = Instant(milliseconds: CommandContext.clock())
    return context
  }

  /// Returns the context with the clock advanced.
  func later(by milliseconds: Int64) -> CommandContext {
    var context = self
    context.storeContext.now.milliseconds += milliseconds
    return context
  }

  /// Returns the context with the progress of transfers shown on a line.
  func transferring(_ line: TransferLine) -> CommandContext {
    var context = self
    context.storeContext.progress = { line.show($0) }
    return context
  }

  /// Returns the absolute path of the store: `--store`, else `BELFRY_STORE`, else `$XDG_DATA_HOME/belfry`.
  private static func storePath(
    _ option: String?, _ environment: [String: String]
  ) throws -> String {
    let given = [option, environment["BELFRY_STORE"]].compactMap { $0 }.first { !$0.isEmpty }
    let path = try given ?? folder("XDG_DATA_HOME", ".local/share", environment) + "/belfry"
    return absolute(path)
  }

  /// Returns a folder of the XDG base directory specification.
  ///
  /// - Parameters:
  ///   - variable: the variable that names the folder.
  ///   - fallback: the folder in `HOME` to use if the variable is not set.
  /// - Throws: `CommandError` if neither the variable nor `HOME` is an absolute path.
  static func folder(
    _ variable: String, _ fallback: String, _ environment: [String: String]
  ) throws -> String {
    // The specification says to ignore relative paths.
    if let set = environment[variable], set.hasPrefix("/") { return set }
    guard let home = environment["HOME"], home.hasPrefix("/") else {
      throw CommandError(
        .failed, "HOME is not set, so there is no default folder for the store.",
        hint: "Set HOME, or name a store with --store.")
    }
    return "\(home)/\(fallback)"
  }

  /// Returns a path as an absolute one without trailing slashes, resolved in the current folder.
  static func absolute(_ path: String) -> String {
    var result = path
    if !path.hasPrefix("/"), let folder = getcwd(nil, 0) {
      result = String(cString: folder) + "/" + path
      free(folder)
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

  /// The kind of this machine by its SMBIOS chassis type (SMBIOS 3.6, 7.4.1); nil if that is unknown.
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

  /// Returns the user's runtime folder. cron does not set its variable, so the default path is tried, too.
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

  /// The variable set for processes that the daemon, `tick` and their helpers start.
  static let backgroundVariable = "BELFRY_BACKGROUND"

  /// Opens the store, and prints its warnings. If there is no store, creates one and reports that.
  ///
  /// - Parameters:
  ///   - welcome: show the welcome pages before a user's first command.
  ///   - creates: create the store if there is none. Background processes never create one.
  func open(welcome: Bool = true, creates: Bool = true) throws -> Store {
    if welcome, !isQuiet { try Welcome(self).showOnce() }
    let isBackground = environment[CommandContext.backgroundVariable]?.isEmpty == false
    let (store, opening) = try Store.open(
      storePath, context: storeContext, creates: creates && !isBackground)
    announce(opening, store)
    do {
      try store.resolveMergeConflicts()
    } catch {
      Console.error(
        "belfry: warning: a git merge could not be completed: \(CommandError.words(error))")
    }
    if store.isRebasing {
      Console.error(
        "belfry: warning: an unfinished git rebase makes the store read-only.")
      Console.error(
        "Alarms ring as recorded on the branch before. Finish it: belfry git -- rebase --continue, or --abort."
      )
    } else if let commit = store.past {
      Console.error(
        "belfry: warning: the store is read-only: an earlier commit is checked out (\(Printable.text(String(commit.prefix(8)))))."
      )
      let branch = store.presentBranch
      let source = branch.map { "on the branch \(Printable.text($0))" } ?? "by Belfry last"
      Console.error(
        "Alarms ring as recorded \(source). Return to it: \(CommandError.checkout(branch))")
    }
    if !storeContext.zones.works {
      Console.error(
        "belfry: warning: this system has no time zone data, so named zones count as local.")
      Console.error("Install it: apt-get install tzdata")
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
      Console.error("This clone of the store has a new device identity: \(name).")
      offerAdoption(store)
    }
  }

  /// Prints the devices that this device, which has a new identity, may have replaced.
  func offerAdoption(_ store: Store) {
    for old in store.devices.adoptable() {
      Console.error(
        "If it replaces \(Printable.text(old.name)) (\(old.id.short)): belfry device adopt \(old.id.short)"
      )
    }
  }

  /// Returns the alarms, and prints warnings about invalid records.
  func overview(_ store: Store) throws -> [AlarmSummary] {
    let overview = try store.overview()
    tell(overview.problems)
    return overview.summaries
  }

  /// Returns the alarm that a text names: by an identifier prefix, a title, or a part of one.
  ///
  /// - Throws: `StoreError` if no alarm matches, or several.
  func find(_ name: String, in store: Store) throws -> AlarmSummary {
    let (summary, problems) = try store.resolve(name)
    tell(problems)
    return summary
  }

  /// Returns the alarm that a text names. If several match, returns the only one of them that is ringing.
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

  /// Prints a notice about an automatic repair of the store.
  private static func tell(_ notification: StoreNotice) {
    func list(_ paths: [String]) -> String {
      let more = paths.count > 3 ? " and \(paths.count - 3) more" : ""
      return paths.prefix(3).map { Printable.text($0) }.joined(separator: ", ") + more
    }
    switch notification {
    case .restored(let paths):
      Console.error("belfry: warning: \(list(paths)) had been removed; restored.")
    case .healed(let paths):
      Console.error(
        "belfry: warning: git had dropped \(list(paths)) from the branch; restored."
      )
      Console.error(
        "To delete an alarm, use 'belfry delete'. To undo a change, use 'belfry undo'.")
    case .joined(let paths, let rest):
      Console.error(
        "belfry: warning: git could not merge \(list(paths)); Belfry merged both sides.")
      switch rest {
      case .nothing:
        Console.error("To let git merge them with Belfry's merge driver: belfry hooks install")
      case .operation(.rebase):
        Console.error("Continue: belfry git -- rebase --continue")
      case .operation: Console.error("See how to continue: belfry git -- status")
      }
    case .unlocked(let path):
      Console.error(
        "belfry: warning: removed a stale git lock: \(Printable.text(path)).")
    }
  }

  /// The maximum number of problems to print. `belfry doctor` prints all.
  private static let maxProblems = 20

  /// Prints warnings about invalid records.
  func tell(_ problems: [RecordProblem]) {
    defer {
      let more = problems.count - CommandContext.maxProblems
      if more > 0 { Console.error("belfry: warning: and \(more) more: see 'belfry doctor'.") }
    }
    for problem in problems.prefix(CommandContext.maxProblems) {
      let path = Printable.text(problem.path)
      switch problem.kind {
      case .invalid(let error, let lastGood):
        Console.error("belfry: warning: \(path) is not valid: \(Printable.text(error.words)).")
        switch error.kind {
        case .newerFormat: Console.error("Update Belfry on this device.")
        case .invalid where lastGood:
          Console.error(
            "Its last valid version stays armed. Correct it, or restore that version: belfry doctor --repair"
          )
        case .invalid: Console.error("Correct it, or quarantine it: belfry doctor --repair")
        }
      case .removed:
        Console.error("belfry: warning: \(path) is missing; the alarm stays.")
        Console.error("To delete an alarm, use 'belfry delete'.")
      case .unknownZone(let name):
        Console.error(
          "belfry: warning: the time zone \(Printable.text(name)) of \(path) is unknown on this device, so it counts as local."
        )
        Console.error(
          "Update the package tzdata, or set another zone: belfry edit --zone")
      }
    }
  }

  /// Audits the records once a day, and packs objects if there are many. A failure is only a warning.
  func upkeep(_ store: Store) async {
    do {
      try await store.auditDaily()
      try await store.pack()
    } catch {
      CommandError(error).with(hints: ["No data is lost. See 'belfry doctor'."]).warn()
    }
  }

  /// Prints a warning if the store's daemon does not respond.
  func warnAboutDaemon(_ store: Store) {
    guard case .unresponsive(let process) = store.daemonState() else { return }
    Console.error(
      "belfry: warning: the daemon does not respond, so no alarm rings: \(Printable.text(process))."
    )
    Console.error(DaemonRemedy.restart)
  }

  // MARK: Settings

  /// Returns the shared settings with this device's own, and prints warnings about invalid files.
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
        Console.error("Correct or remove it. Until then the defaults apply.")
      }
    }
    return settings
  }

  /// The settings of this device alone. Those in an invalid file, and shared settings, have default values.
  var ownSettings: Settings {
    var settings = (try? deviceSettings?.applied(to: Settings())) ?? Settings()
    if let sound = environment["BELFRY_SOUND"], Sound.isKnown(sound) { settings.sound = sound }
    return settings
  }

  /// The settings file of this device; nil without a home folder.
  var deviceSettings: DeviceSettings? {
    (try? configuration).map { DeviceSettings(path: $0 + "/settings.json") }
  }

  private var configuration: String {
    get throws {
      try CommandContext.folder("XDG_CONFIG_HOME", ".config", environment) + "/belfry"
    }
  }

  // MARK: The battery

  /// The state of this machine's battery.
  var battery: BatteryGauge.Finding {
    let (gauge, now) = (gauge, storeContext.now)
    if let finding = gauge.lookAtKernel(at: now) { return finding }
    // Tasks cannot start if the process is out of file descriptors.
    guard (try? Descriptors.ensure()) != nil else { return .silent }
    return Blocking.run { await gauge.look(at: now) }
  }

  /// Shows an alarm's battery warning, if there is one.
  ///
  /// - Parameter isStill: disable the animation.
  func show(_ batteryWarning: BatteryWarning?, isStill: Bool) {
    guard let batteryWarning else { return }
    let isMoving =
      !isStill && !ownSettings.reducedMotion
      && !["", "dumb"].contains(environment["TERM"] ?? "")
    SlideIn.show(batteryWarning, style, isMoving: isMoving)
  }

  /// The reader of this machine's battery. `BELFRY_POWER_SUPPLY` replaces the kernel's folder.
  var gauge: BatteryGauge {
    let root = environment["BELFRY_POWER_SUPPLY"].flatMap { $0.isEmpty ? nil : $0 }
    let state = try? CommandContext.folder("XDG_STATE_HOME", ".local/state", environment)
    return BatteryGauge(
      supplies: PowerSupplies(root: root ?? PowerSupplies.systemRoot),
      log: state.map { BatteryLog(path: "\($0)/belfry/battery") },
      bus: environment["DBUS_SYSTEM_BUS_ADDRESS"])
  }

  // MARK: Delivery

  /// Returns the hook channels: the user's own hooks and the shipped ones.
  ///
  /// - Parameter activeDeliveries: the deliveries that go on until the occurrence is answered.
  func hooks(activeDeliveries: ActiveDeliveries = ActiveDeliveries { _ in }) -> HookDelivery {
    // Without a home folder the user has no own hooks. The alarm still rings.
    let own = ownHooks
    var variables = [
      "BELFRY_STORE": storePath, "BELFRY_SOUND": ownSettings.sound,
      CommandContext.backgroundVariable: "1",
    ]
    if let executable { variables["BELFRY_COMMAND"] = executable }
    let text = NotificationText(zones: storeContext.zones)
    return HookDelivery(
      own: own, shipped: shippedHooks.map { $0 + "/deliver" }, variables: variables,
      terminals: Terminals(
        user: geteuid(), folder: environment["BELFRY_TERMINALS"] ?? Terminals.systemFolder),
      activeDeliveries: activeDeliveries, registryFolder: "\(storePath)/.git/belfry/hooks",
      render: text.render)
  }

  // MARK: Calls

  /// The path of the file with this device's call provider.
  var callsFile: String { ((try? configuration) ?? "/nonexistent") + "/calls.json" }

  /// The call provider of this device; nil if none is set up. Throws `CommandError` if its file is not valid.
  var callProvider: CallProvider? {
    get throws {
      do {
        return try CallProvider.read(callsFile)
      } catch let error as RecordError {
        throw CommandError(
          .failed, "\(Printable.text(callsFile)) is not valid: \(error.words).",
          hint: "Set up calls again: belfry help calls")
      }
    }
  }

  /// The folder of the user's own hooks; nil without a home folder.
  private var ownHooks: String? { (try? configuration).map { $0 + "/hooks/deliver" } }

  /// Returns true if a program is in one of the folders of `PATH`.
  func hasProgram(_ name: String) -> Bool {
    (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
      .contains { access("\($0)/\(name)", X_OK) == 0 }
  }

  /// Returns the path of a hook of the user's own, or nil if there is no executable one.
  func ownHook(_ name: String) -> String? {
    guard let path = ownHooks.map({ "\($0)/\(name)" }), access(path, X_OK) == 0 else { return nil }
    return path
  }

  /// The hooks that place calls and send messages. The user's own hooks come first.
  var callHook: CallHook {
    let provider: CallProvider? = (try? callProvider) ?? nil
    return CallHook(
      folders: [ownHooks].compactMap { $0 } + shippedHooks.map { $0 + "/deliver" },
      variables: provider?.variables ?? [:])
  }

  /// The path of the binary; nil if it is unknown.
  var executable: String? {
    guard let link = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(link) }
    return String(cString: link)
  }

  /// The folders to search for the shipped hooks.
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
