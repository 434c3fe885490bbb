import BelfryCore
import BelfryScheduler
import BelfryStore
import Git
import Glibc

/// Greets a person whose first command on this machine it is: once, and only on a terminal.
struct Welcome {
  private let context: CommandContext

  init(_ context: CommandContext) {
    self.context = context
  }

  /// Shows the pages, unless they were shown, or nobody is there to read them.
  func showOnce() throws {
    guard Style.canAsk, isatty(STDOUT_FILENO) == 1, context.environment["TERM"] != "dumb",
      let state = try? CommandContext.folder("XDG_STATE_HOME", ".local/state", context.environment)
    else { return }
    let folder = "\(state)/belfry"
    let marker = "\(folder)/welcomed"
    guard access(marker, F_OK) != 0 else { return }
    // Where it cannot be remembered that they were shown, they would be shown for ever.
    guard (try? DurableFile.makeFolder(folder, mode: 0o700)) != nil, access(folder, W_OK) == 0
    else { return }
    guard show() else { return }
    try DurableFile.write([], to: marker, temporary: "\(marker).new-\(getpid())")
  }

  /// False when the person has gone in the middle.
  private func show() -> Bool {
    let machine = Blocking.run { [context] in await Welcome.look(context) }
    for number in 1...WelcomePages.count {
      Console.write(WelcomePages.page(number, machine: machine, context.style))
      var isAnswered = false
      while !isAnswered {
        Console.write(WelcomePages.keys(number, context.style))
        guard let answer = readLine()?.lowercased() else {
          Console.write("\n")
          return false
        }
        isAnswered = number < WelcomePages.count || answer != "t"
        if !isAnswered { test() }
      }
      Console.write("\n")
    }
    return true
  }

  private func test() {
    let now = context.storeContext.now
    let local = context.storeContext.zones.local
    let notification = Notification(
      .warning, alarm: context.storeContext.makeIdentifier(),
      title: "This is how Belfry reaches you",
      note: "It was a test: nothing needs an answer.", occurrence: local.civil(at: now),
      due: context.storeContext.zones.text(now))
    let hooks = context.hooks()
    switch Blocking.run({ await hooks.deliver(notification, snooze: 0) }) {
    case .delivered, .attended: Console.line("  It was shown. Did you see it?")
    case .withdrawn: break
    case .undelivered(let reasons):
      for reason in reasons { Console.line("  \(Printable.text(reason))") }
    }
  }

  private static func look(_ context: CommandContext) async -> WelcomePages.Machine {
    var isTicking = false
    if let manager = try? ServiceManager(context) {
      let status = await manager.status()
      isTicking = status.isInCrontab || !status.units.isEmpty
    }
    return WelcomePages.Machine(reach: await context.hooks().reach(), isTicking: isTicking)
  }
}
