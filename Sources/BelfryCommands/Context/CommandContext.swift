import BelfryActions
import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Files
import Git
import Glibc

/// Everything that a command uses from outside the store: its environment, the context of the store and its warnings.
struct CommandContext {
  private(set) var environment: CommandEnvironment
  let warnings = CommandWarnings()
  var storeContext: StoreContext
  /// True if a script reads the output. The welcome is then not shown.
  var isQuiet = false

  /// The path of the store.
  var storePath: String { environment.storePath }
  /// The terminal on standard output.
  var style: Style { environment.style }
  /// The colors of a full screen.
  var colors: TerminalColors {
    TerminalColors(environment.variables, isColored: style.isColored)
  }
  /// The formatter of times and dates.
  var times: TimeText {
    TimeText(now: storeContext.now, zones: storeContext.zones, format: style.timeFormat)
  }

  /// Creates the context from an environment.
  ///
  /// - Parameters:
  ///   - store: the value of `--store`.
  ///   - color: the value of `--color`.
  ///   - variables: the environment variables, by default those of the process.
  /// - Throws: `CommandError` if `BELFRY_NOW` is not valid or there is no path for a store.
  init(
    store: String?, color: ColorChoice = .auto,
    variables: [String: String] = CommandEnvironment.processVariables()
  ) throws {
    let environment = try CommandEnvironment(store: store, color: color, variables: variables)
    self.environment = environment
    let command = CommandLine.arguments.prefix(2).map { Printable.text($0) }
    storeContext = StoreContext(
      now: environment.fixedNow ?? CommandEnvironment.systemNow,
      zones: ZoneLibrary(variable: environment["TZ"]), deviceName: environment.deviceName,
      deviceKind: CommandEnvironment.deviceKind, machine: CommandEnvironment.machine,
      user: geteuid(),
      makeIdentifier: {
        var generator = SystemRandomNumberGenerator()
        return .random(using: &generator)
      },
      random: { Int.random(in: $0) }, runtimeFolder: environment.runtimeFolder,
      sshConnections: SSHConnections(
        runtimeFolder: environment.runtimeFolder, variables: environment.variables),
      process: "\(command.count > 1 ? "belfry \(command[1])" : "belfry") (process \(getpid()))",
      report: CommandWarnings.report)
    if let seconds = environment.number("BELFRY_LOCK_TIMEOUT", in: 0...3600) {
      storeContext.lockTimeout = seconds * 1000
    }
    if let seconds = environment.number("BELFRY_NETWORK_TIMEOUT", in: 1...3600) {
      storeContext.networkTimeout = seconds
    }
    storeContext.clockOffset = clockOffset
    storeContext.didWrite = HookRegistry.terminateUnneeded
  }

  // MARK: The clock

  /// The offset of the system's clock from `BELFRY_NOW`, in milliseconds; 0 if that is not set.
  var clockOffset: Int64 {
    guard environment.fixedNow != nil else { return 0 }
    return CommandEnvironment.systemNow.milliseconds - storeContext.now.milliseconds
  }

  /// The variable set for processes that the daemon, `tick` and their helpers start.
  static let backgroundVariable = "BELFRY_BACKGROUND"

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
    if environment.fixedNow != nil { return later(by: opened.milliseconds) }
    var context = self
    context.storeContext.now = CommandEnvironment.systemNow
    return context
  }

  /// Returns the context with the current time and this device's current settings, for a process that runs for long.
  ///
  /// - Parameter opened: the time since this context was created.
  func refreshed(after opened: ElapsedTime) -> CommandContext {
    var context = present(after: opened)
    context.environment = environment.rereadingSettings()
    return context
  }

  /// The time of the answer that this command records; nil if it is given now.
  ///
  /// The daemon records an answer later than it was given if the store could not be written.
  var answerTime: Instant? {
    ChildCommand.answerTime(environment.variables).map { min(storeContext.now, $0) }
  }

  /// Returns the context with the clock advanced.
  private func later(by milliseconds: Int64) -> CommandContext {
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

  // MARK: The store

  /// The store, opened for reading; nil if there is none or it cannot be read.
  var existing: Store? { try? Store.existing(storePath, context: storeContext) }

  /// Returns the alarm that a text names: by an identifier prefix, a title, or a part of one.
  ///
  /// - Throws: `StoreError` if no alarm matches, `CommandError` if several match, or only by a part of a word.
  func find(_ name: String, in store: Store) throws -> AlarmSummary {
    try explaining { try selector(of: store).find(name) }
  }

  /// Returns the alarms of some words, to be shown: named ones, those of a filter, or all without words.
  ///
  /// - Throws: `StoreError` if a name does not match, `CommandError` if names and filter words are mixed.
  func listed(_ words: [String], in store: Store) throws -> [AlarmSummary] {
    try shown(words, in: store).summaries
  }

  /// Returns the selection of some words, to be shown: named ones, those of a filter, or all without words.
  ///
  /// - Throws: `StoreError` if a name does not match, `CommandError` if names and filter words are mixed.
  func shown(_ words: [String], in store: Store) throws -> AlarmSelector.Selection {
    try explaining { try selector(of: store).select(words, readingOnly: true) }
  }

  /// The working days and holidays of the store; nil if there is no store or it cannot be read.
  var workCalendar: WorkCalendar? {
    existing?.calendars.workCalendar
  }

  /// Returns whether alarms ring on this device, and prints a warning if they do not.
  func checkScheduler(of store: Store) -> SchedulerState {
    let scheduler = SchedulerState(store)
    warnings.warn(about: scheduler)
    return scheduler
  }

  // MARK: The pager

  /// The shell command of the pager: `BELFRY_PAGER`, else `core.pager` of git's configuration, else `PAGER`, else `less`;
  /// nil for none.
  var pager: String? {
    let command =
      environment["BELFRY_PAGER"]
      ?? (try? Repository.open(storePath).configuration("core.pager")) ?? environment["PAGER"]
      ?? (environment.hasProgram("less") ? "less" : "")
    return ["", "cat"].contains(command) ? nil : command
  }

  // MARK: Settings

  /// Returns the settings of the store, or without a store this device's own ones and the defaults.
  func currentSettings() throws -> Settings {
    do {
      return try settings(open(.reading))
    } catch StoreError.noStore {
      return try deviceSettings?.applied(to: Settings()) ?? Settings()
    }
  }

  /// The times of day of the store's settings; those of a new store if there is none.
  var dayTimes: DayTimes { (try? existing?.settings().settings.dayTimes) ?? DayTimes() }

  /// Returns the shared settings with this device's own, and prints warnings about invalid files.
  func settings(_ store: Store) throws -> Settings {
    var (settings, problem) = try store.settings()
    warnings.warn(about: [problem].compactMap { $0 })
    if let file = deviceSettings {
      do {
        settings = try file.applied(to: settings)
      } catch {
        warnings.warn(
          "\(Printable.text(file.path)) is not valid: \(Printable.text(error.text)).",
          remedy: "Correct or remove it. Until then the defaults apply.")
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
    (try? environment.configuration).map { DeviceSettings(inConfiguration: $0) }
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
      && !Style.isDumb(environment["TERM"])
    SlideIn.show(batteryWarning, style, isMoving: isMoving)
  }

  /// The reader of this machine's battery. `BELFRY_POWER_SUPPLY` replaces the kernel's folder.
  var gauge: BatteryGauge {
    let root = environment["BELFRY_POWER_SUPPLY"].flatMap { $0.isEmpty ? nil : $0 }
    let state = try? environment.folder("XDG_STATE_HOME", ".local/state")
    return BatteryGauge(
      supplies: PowerSupplies(root: root ?? PowerSupplies.systemRoot),
      log: state.map { BatteryLog(path: "\($0)/belfry/battery") },
      bus: environment["DBUS_SYSTEM_BUS_ADDRESS"])
  }

  // MARK: Delivery

  /// Returns the hook channels: the user's own hooks and the shipped ones.
  ///
  /// - Parameters:
  ///   - activeDeliveries: the deliveries that go on until the occurrence is answered.
  ///   - registry: the folder of the registry of running hooks; nil to register none.
  ///   - current: returns the context of the moment, in a process that runs for long; nil for this one.
  func hooks(
    activeDeliveries: ActiveDeliveries = ActiveDeliveries { _ in }, registry: String? = nil,
    current: (@Sendable () -> CommandContext)? = nil
  ) -> HookDelivery {
    let current = current ?? { self }
    return HookDelivery(
      // Without a home folder the user has no own hooks. The alarm still rings.
      own: ownHooks, shipped: environment.shippedHooks.map { $0 + "/deliver" },
      variables: { hookVariables },
      terminals: Terminals(
        user: geteuid(), folder: environment["BELFRY_TERMINALS"] ?? Terminals.systemFolder,
        store: storePath, sendsNotices: { ownSettings.terminalNotices }),
      activeDeliveries: activeDeliveries, registryFolder: registry, actions: actions,
      opensScreen: { ownSettings.openScreen },
      times: { current().times })
  }

  /// The environment variables of all hooks and actions. The settings are read each time.
  private var hookVariables: [String: String] {
    [
      "BELFRY_STORE": storePath, "BELFRY_SOUND": ownSettings.sound,
      CommandContext.backgroundVariable: "1",
      // While an update replaces the binary, the system still has that of this process.
      "BELFRY_COMMAND": environment.executable ?? "/proc/\(getpid())/exe",
    ]
  }

  /// The folder of the user's actions; nil without a home folder.
  var actions: ActionFolder? {
    (try? environment.configuration).map {
      ActionFolder(path: $0 + "/actions", variables: { hookVariables })
    }
  }

  // MARK: Calls

  /// The path of the file with this device's call provider.
  var callsFile: String { ((try? environment.configuration) ?? "/nonexistent") + "/calls.json" }

  /// The call provider of this device; nil if none is set up. Throws `CommandError` if its file is not valid.
  var callProvider: CallProvider? {
    get throws {
      do {
        return try CallProvider.read(callsFile)
      } catch let error as RecordError {
        throw CommandError(
          .failed, "\(Printable.text(callsFile)) is not valid: \(error.text).",
          hint: "Set up calls again: belfry help calls")
      }
    }
  }

  /// The folder of the user's own hooks; nil without a home folder.
  private var ownHooks: String? { (try? environment.configuration).map { $0 + "/hooks/deliver" } }

  /// Returns the path of a hook of the user's own, or nil if there is no executable one.
  func ownHook(_ name: String) -> String? {
    guard let path = ownHooks.map({ "\($0)/\(name)" }), access(path, X_OK) == 0 else { return nil }
    return path
  }

  /// The hooks that place calls and send messages. The user's own hooks come first.
  var callHook: CallHook {
    let provider: CallProvider? = (try? callProvider) ?? nil
    return CallHook(
      folders: [ownHooks].compactMap { $0 } + environment.shippedHooks.map { $0 + "/deliver" },
      variables: provider?.variables ?? [:])
  }
}
