import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Files
import Glibc

/// The welcome pages, shown once before a user's first command on this machine, and only on a terminal.
struct Welcome {
  private let context: CommandContext

  init(_ context: CommandContext) {
    self.context = context
  }

  /// Shows the pages, unless they were shown before or there is no terminal.
  func showOnce() throws {
    guard Style.canAsk, isatty(STDOUT_FILENO) == 1, context.environment["TERM"] != "dumb",
      let state = try? context.environment.folder("XDG_STATE_HOME", ".local/state")
    else { return }
    let folder = "\(state)/belfry"
    let marker = "\(folder)/welcomed"
    guard access(marker, F_OK) != 0 else { return }
    // If the marker cannot be written, the pages would be shown with every command.
    guard (try? DurableFile.makeFolder(folder, mode: 0o700)) != nil, access(folder, W_OK) == 0
    else { return }
    guard show() else { return }
    try DurableFile.write([], to: marker, temporary: "\(marker).new-\(getpid())")
  }

  /// Shows the pages. Returns false if standard input ended before the last one.
  private func show() -> Bool {
    var machine = Blocking.run { [context] in await Welcome.machine(context) }
    for number in 1...WelcomePages.count {
      Console.write(WelcomePages.page(number, machine: machine, context.style))
      var isAnswered = false
      while !isAnswered {
        Console.write(WelcomePages.keys(number, machine: machine, context.style))
        guard let answer = readLine()?.lowercased() else {
          Console.write("\n")
          return false
        }
        let isLast = number == WelcomePages.count
        switch answer {
        case "t" where isLast: test()
        case "i" where isLast && machine.scheduler == .absent:
          install()
          machine = Blocking.run { [context] in await Welcome.machine(context) }
        default: isAnswered = true
        }
      }
      Console.write("\n")
    }
    return true
  }

  private func test() {
    let now = context.storeContext.now
    let message = Notification.Message(
      id: context.storeContext.makeIdentifier(), headline: "This is how Belfry notifies you",
      body: "This is a test. No response is needed.", at: now)
    let test = PendingDelivery(due: now, notification: .message(message))
    let hooks = context.hooks()
    switch Blocking.run({ await hooks.deliver(test, snooze: 0) }) {
    case .delivered, .ongoing: Console.line("  The test notification was shown.")
    case .withdrawn: break
    case .undelivered(let reasons):
      for reason in reasons { Console.line("  \(Printable.text(reason))") }
    }
  }

  /// Installs the background service, and prints the reason if that fails: the user's command runs anyway.
  private func install() {
    Blocking.run { [context] in
      do {
        let installation = try ServiceInstallation(context)
        let result = try await installation.run()
        installation.report(result)
        _ = try await installation.setLingering(result)
        try installation.expectCron(result)
      } catch {
        CommandError(error).warn()
      }
    }
  }

  private static func machine(_ context: CommandContext) async -> WelcomePages.Machine {
    // If the state cannot be determined, the page offers to install the service.
    let state = try? await ServiceState(context)
    var scheduler = WelcomePages.Machine.Scheduler.absent
    if let state {
      if let failure = state.failure {
        if state.isInstalled { scheduler = .stopped(remedy: failure.hints.first ?? "") }
      } else {
        scheduler = .running
      }
    }
    return WelcomePages.Machine(reach: await context.hooks().reach(), scheduler: scheduler)
  }
}
