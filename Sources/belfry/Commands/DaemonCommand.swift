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
    abstract: "Ring, ask and warn when it is time, and sync, until stopped.",
    discussion: """
      One for a store. It notices what other commands, git and editors change by itself; SIGHUP lets it read
      everything anew, SIGTERM ends it. What it does is told on standard error, a line each, with the time where
      that is not the system's journal, which has its own.

      Where there is no store it waits for one, as its disk may be mounted later, and never creates one.

      To have it run whenever you are logged in: belfry service install
      """)

  @Flag(inversion: .prefixedNo, help: "Sync with the store's remotes, if it has any.")
  var sync = true

  @Flag(help: "Wake the machine from sleep for what is due: see 'belfry help service install'.")
  var wake = false

  @Option(help: "The store's folder (default: BELFRY_STORE, else the data folder).")
  var store: String?

  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try CommandContext(store: self.store ?? root.store)
    let notifier = ServiceNotifier(environment: context.environment, process: getpid())
    let store = try await DaemonCommand.open(context, notifier)
    guard let command = context.executable else {
      throw CommandError(
        .failed, "the path of the binary cannot be told.", hint: "Is /proc mounted?")
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

  /// Opens the store. Where there is none the daemon waits for one and never creates it: its disk may be mounted later.
  private static func open(
    _ context: CommandContext, _ notifier: ServiceNotifier?
  ) async throws -> Store {
    var isWaiting = false
    while true {
      do {
        return try context.open(welcome: false, creates: false)
      } catch StoreError.noStore(let path) {
        if !isWaiting {
          DaemonLog(context).write(.storeLeft(path: path))
          notifier?.ready("Waiting for the store at \(path)")
        }
        isWaiting = true
        notifier?.keepAlive()
        let pause = min(2, notifier?.interval ?? 2)
        try await Task.sleep(for: .milliseconds(Int64(pause * 1000)))
      }
    }
  }
}

/// What a daemon tells on standard error, a line each.
private struct DaemonLog {
  private let context: CommandContext

  init(_ context: CommandContext) {
    self.context = context
  }

  func write(_ news: DaemonLogEvent) {
    let isJournal = context.environment["JOURNAL_STREAM"]?.isEmpty == false
    let time = isJournal ? "" : context.storeContext.zones.text(context.storeContext.now) + " "
    for line in lines(news) { Console.error("\(time)belfry: \(line)") }
  }

  private func lines(_ news: DaemonLogEvent) -> [String] {
    switch news {
    case .started(let alarms, let next):
      let when = next.map { "; next look: \(context.storeContext.zones.text($0))" } ?? ""
      return ["watching \(alarms) \(alarms == 1 ? "alarm" : "alarms")\(when)."]
    case .told(let notification, let outcome):
      let what =
        "\(Printable.text(notification.headline)) (\(notification.alarm.short), \(notification.occurrence))"
      switch outcome {
      case .delivered, .attended: return ["\(verb(notification)) \(what)."]
      case .withdrawn: return []
      case .undelivered(let reasons):
        return ["warning: nobody could be told of \(what):"]
          + reasons.map { "  \(Printable.text($0))" }
      }
    case .wayFailed(let notification, let reasons):
      let what =
        "\(Printable.text(notification.headline)) (\(notification.alarm.short), \(notification.occurrence))"
      return ["warning: one way to tell of \(what) failed, another worked:"]
        + reasons.map { "  \(Printable.text($0))" }
    case .answered(let notification, let answer, let failure):
      let title = Printable.text(notification.title)
      if let failure {
        return [
          "warning: the answer to \(title) could not be recorded: \(Printable.text(failure))."
        ]
      }
      return ["answered: \(title), \(word(answer))."]
    case .failed(let what, let why):
      return ["warning: \(what) fails: \(Printable.text(why)). It is tried again."]
    case .recovered(let what): return ["\(what) works again."]
    case .warned(let lines):
      return lines.map { Printable.text($0.hasPrefix("belfry: ") ? String($0.dropFirst(8)) : $0) }
    case .reloaded(let alarms): return ["read \(alarms) alarms anew."]
    case .unlocked(let why):
      return [
        "warning: the store cannot be locked: \(Printable.text(why)). A second daemon would not be noticed: make sure that there is one only."
      ]
    case .unreachable(let why):
      return [
        "warning: commands cannot wake the daemon: \(Printable.text(why)). It watches the store's files instead. See 'belfry doctor'."
      ]
    case .clockChanged: return ["the clock was set, or the machine has slept."]
    case .storeLeft(let path):
      return [
        "warning: there is no store at \(Printable.text(path)); waiting for it. Known alarms ring from memory."
      ]
    case .storeReturned(let path): return ["the store at \(Printable.text(path)) is back."]
    case .stopped: return ["stopped."]
    }
  }

  private func verb(_ notification: Notification) -> String {
    switch notification.kind {
    case .firing(let late):
      notification.cascade.map { "rang as cascade step \($0.step):" }
        ?? (late ? "rang late:" : "rang:")
    case .followUp: "asked:"
    case .warning: "said ahead:"
    case .missed: "told:"
    case .batteryWarning: "warned of the battery:"
    case .rehearsal: "rehearsed:"
    case .word: "told:"
    }
  }

  private func word(_ answer: DeliveredAnswer) -> String {
    switch answer {
    case .remind: "remind"
    case .answer(.stop): "stop"
    case .answer(.snooze): "snooze"
    case .answer(.skip): "skip"
    case .answer: "done"
    }
  }
}

/// What git's hooks call.
struct Poke: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Tell the daemon that the store has changed; without one, look at the clock.",
    discussion: "Belfry's git hooks do it after every pull, merge, commit and checkout.")

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
