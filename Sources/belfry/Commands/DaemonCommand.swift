import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore
import Git
import Glibc
import Synchronization

struct DaemonCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "daemon",
    abstract: "Run the scheduler: ring, remind and sync until stopped.",
    discussion: """
      Each store has at most one daemon. The daemon detects changes by other commands, by git and by editors. SIGHUP
      reloads the store, SIGTERM stops the daemon. It logs to standard error, one line an event, with the time unless
      standard error is the systemd journal.

      If there is no store, the daemon waits for one, because its disk may be mounted later. It never creates one.

      To run the daemon whenever you are logged in: belfry service install
      """)

  @Flag(inversion: .prefixedNo, help: "Sync with the remotes of the store.")
  var sync = true

  @Flag(help: "Wake the machine from sleep for alarms (see 'belfry help service install').")
  var wake = false

  @Option(help: "The store's folder (default: BELFRY_STORE, else the data folder).")
  var store: String?

  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try CommandContext(store: self.store ?? root.store)
    let notifier = ServiceNotifier(environment: context.environment.variables, process: getpid())
    let store = try await DaemonCommand.open(context, notifier)
    guard let command = context.environment.executable else {
      throw CommandError(
        .failed, "the path of the belfry binary is unknown.", hint: "Check that /proc is mounted.")
    }
    Descriptors.raiseLimit()
    let opened = ElapsedTime()
    let zones = Mutex(context.storeContext.zones)
    let daemon = Daemon(
      store,
      Daemon.Dependencies(
        command: command, clockOffset: context.clockOffset, syncs: sync, wakesMachine: wake,
        variables: { context.backgroundVariables(after: opened) },
        context: { rereadingZones in
          var present = context.present(after: opened).storeContext
          present.zones = zones.withLock { zones in
            if rereadingZones { zones = ZoneLibrary(variable: context.environment["TZ"]) }
            return zones
          }
          return present
        },
        hooks: { context.hooks(activeDeliveries: $0) }, gauge: context.gauge,
        notifier: notifier,
        log: { DaemonLog(context.present(after: opened)).write($0) }))
    try await daemon.run()
  }

  /// Opens the store, once there is one. It is never created, because its disk may be mounted later.
  private static func open(
    _ context: CommandContext, _ notifier: ServiceNotifier?
  ) async throws -> Store {
    var isWaiting = false
    while true {
      do {
        return try context.open(welcome: false, creates: false)
      } catch StoreError.noStore(let path) {
        if !isWaiting {
          DaemonLog(context).write(.storeUnavailable(path: path))
          notifier?.ready("Waiting for the store at \(path)")
        }
        isWaiting = true
        notifier?.keepAlive()
        let seconds = min(2, notifier?.interval ?? 2)
        try await Task.sleep(for: .milliseconds(Int64(seconds * 1000)))
      }
    }
  }
}

/// The daemon's log on standard error.
private struct DaemonLog {
  private let context: CommandContext

  init(_ context: CommandContext) {
    self.context = context
  }

  func write(_ event: DaemonLogEvent) {
    let isJournal = context.environment["JOURNAL_STREAM"]?.isEmpty == false
    let time = isJournal ? "" : context.storeContext.zones.text(context.storeContext.now) + " "
    for line in lines(event) { Console.error("\(time)belfry: \(line)") }
  }

  private func lines(_ event: DaemonLogEvent) -> [String] {
    switch event {
    case .started(let alarms, let next):
      let when = next.map { "; next wake-up: \(context.storeContext.zones.text($0))" } ?? ""
      return ["watching \(count(alarms))\(when)."]
    case .delivered(let notification, let outcome):
      switch outcome {
      case .delivered, .attended: return ["\(verb(notification)) \(name(notification))."]
      case .withdrawn: return []
      case .undelivered(let reasons):
        return ["warning: not delivered: \(name(notification)):"]
          + reasons.map { "  \(Printable.text($0))" }
      }
    case .channelFailed(let notification, let reasons):
      return ["warning: a channel failed, another delivered: \(name(notification)):"]
        + reasons.map { "  \(Printable.text($0))" }
    case .answered(let notification, let answer, let failure):
      let title = Printable.text(notification.title)
      if let failure {
        return [
          "warning: the answer to \(title) could not be recorded: \(Printable.text(failure))."
        ]
      }
      return ["answered: \(title), \(name(of: answer))."]
    case .failed(let task, let reason):
      return ["warning: \(task) failed: \(Printable.text(reason)). The daemon retries."]
    case .recovered(let task): return ["\(task) works again."]
    case .warned(let lines):
      return lines.map { Printable.text($0.hasPrefix("belfry: ") ? String($0.dropFirst(8)) : $0) }
    case .reloaded(let alarms): return ["reloaded \(count(alarms))."]
    case .lockUnavailable(let reason):
      return [
        "warning: the store cannot be locked: \(Printable.text(reason)). Belfry cannot detect a second daemon: run only one."
      ]
    case .wakeupPipeFailed(let reason):
      return [
        "warning: commands cannot wake the daemon: \(Printable.text(reason)). It watches the store's files instead. See 'belfry doctor'."
      ]
    case .clockChanged: return ["the clock was set, or the machine woke from sleep."]
    case .storeUnavailable(let path):
      return [
        "warning: there is no store at \(Printable.text(path)); waiting for it. Known alarms ring from memory."
      ]
    case .storeAvailable(let path): return ["the store at \(Printable.text(path)) is back."]
    case .stopped: return ["stopped."]
    }
  }

  private func count(_ alarms: Int) -> String { "\(alarms) alarm\(alarms == 1 ? "" : "s")" }

  /// Returns the notification's headline, alarm and occurrence.
  private func name(_ notification: Notification) -> String {
    "\(Printable.text(notification.headline)) (\(notification.alarm.short), \(notification.occurrence))"
  }

  private func verb(_ notification: Notification) -> String {
    switch notification.kind {
    case .firing(let late):
      notification.cascade.map { "rang as cascade step \($0.step):" }
        ?? (late ? "rang late:" : "rang:")
    case .followUp: "sent a follow-up:"
    case .warning: "sent an advance warning:"
    case .missed: "sent a missed summary:"
    case .batteryWarning: "sent a battery warning:"
    case .rehearsal: "rang as a test:"
    case .message: "sent a message:"
    }
  }

  private func name(of answer: DeliveredAnswer) -> String {
    switch answer {
    case .remind: "remind"
    case .answer(.stop): "stop"
    case .answer(.snooze): "snooze"
    case .answer(.skip): "skip"
    case .answer: "done"
    }
  }
}

/// The command that Belfry's git hooks run after a change.
struct Poke: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Notify the daemon of a change, or run a tick.",
    discussion: """
      Belfry's git hooks run this command after every pull, merge, commit and checkout. Without a daemon it runs a tick.
      """, shouldDisplay: false)

  @Option(help: "The store's folder (default: BELFRY_STORE, else the data folder).")
  var store: String?

  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try CommandContext(store: self.store ?? root.store)
    if let store = try Store.existing(context.storePath, context: context.storeContext),
      store.pokeDaemon()
    {
      return
    }
    try await TickCommand.run(context)
  }
}
