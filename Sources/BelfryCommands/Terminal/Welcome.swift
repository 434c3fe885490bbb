import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Files
import Glibc
import Synchronization

/// The welcome: a few lines below the result of a user's first command on this machine, and only on a terminal. Who begins
/// with the full screen has it there, see `EmptyScreen`.
///
/// It reads nothing, so that commands that were typed ahead are left to the shell.
enum Welcome {
  /// The context of the command below whose result the welcome is shown; nil for none.
  private static let pending = Mutex<CommandContext?>(nil)

  /// True if the welcome is to be shown when the command has succeeded.
  static var isPending: Bool { pending.withLock { $0 != nil } }

  /// Makes the welcome follow the result of the command, unless it was shown before or there is no terminal.
  static func prepare(_ context: CommandContext) {
    guard isatty(STDOUT_FILENO) == 1, isatty(STDERR_FILENO) == 1,
      context.environment["TERM"] != "dumb", let marker = marker(context), access(marker, F_OK) != 0
    else { return }
    pending.withLock { $0 = context }
  }

  /// Shows the welcome that was prepared. Call it when the command has succeeded.
  static func showPending() async {
    let context = pending.withLock { context in
      defer { context = nil }
      return context
    }
    // If the marker cannot be written, the welcome would follow every command.
    guard let context, markAsShown(context) else { return }
    Console.write(WelcomeText.text(await machine(context), context.style))
  }

  /// Records that the user needs no welcome. Returns false if that is not possible.
  @discardableResult
  static func markAsShown(_ context: CommandContext) -> Bool {
    guard let marker = marker(context), let end = marker.lastIndex(of: "/") else { return false }
    do {
      try DurableFile.makeFolder(String(marker[..<end]), mode: 0o700)
      try DurableFile.write([], to: marker, temporary: "\(marker).new-\(getpid())")
      return true
    } catch {
      return false
    }
  }

  private static func marker(_ context: CommandContext) -> String? {
    (try? context.environment.folder("XDG_STATE_HOME", ".local/state")).map {
      "\($0)/belfry/welcomed"
    }
  }

  /// Returns the state of this machine. Programs are run to find it out.
  static func machine(_ context: CommandContext) async -> WelcomeText.Machine {
    // If the state cannot be determined, the service counts as absent.
    let state = try? await ServiceState(context)
    var scheduler = WelcomeText.Machine.Scheduler.absent
    if let state {
      if let failure = state.failure {
        if state.isInstalled { scheduler = .stopped(remedy: failure.hints.first ?? "") }
      } else {
        scheduler = .running
      }
    }
    return WelcomeText.Machine(reach: await context.hooks().reach(), scheduler: scheduler)
  }
}
