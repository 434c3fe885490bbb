import ArgumentParser
import BelfryCore
import BelfryPhone
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct PhoneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "phone", abstract: "Let a task app on your phone ring and answer.",
    discussion: """
      Belfry writes each occurrence of the next 30 days as a task into a folder. A CalDAV server gives the tasks to any \
      task app on your phone, which rings by itself, also without a network. Completing a task there marks it as done \
      here, deleting it skips it once, and a new task becomes an alarm.

        belfry phone setup
        belfry phone setup --folder ~/tasks/belfry --yes
        belfry phone status
      """,
    subcommands: [
      PhoneStatusCommand.self, PhoneSetupCommand.self, PhoneSyncCommand.self,
      PhoneRemoveCommand.self,
    ],
    defaultSubcommand: PhoneStatusCommand.self)

  @ParentCommand var root: Belfry
}

/// The run of the tasks on the phone, from a command.
struct PhoneTasks {
  let context: CommandContext
  let store: Store

  /// Creates the run of a store; nil if no folder is set up on this device.
  init?(_ context: CommandContext, _ store: Store) {
    if PhoneConfiguration.read(of: store) == nil { return nil }
    (self.context, self.store) = (context, store)
  }

  /// Runs once, and then the actions of the alarms that were completed on the phone.
  ///
  /// - Parameter deletionRest: The time for which deletions rest before they count, in seconds.
  func run(
    _ decision: PhoneSync.Decision = .none, deletionRest: Int64 = 0
  ) async throws -> PhoneReport {
    let parser = InputParser(context, calendar: store.calendars.workCalendar)
    let sync = PhoneSync(
      store, settings: try context.settings(store), input: parser.context,
      decision: decision, deletionRest: deletionRest)
    let report = try await sync.run()
    for completion in report.completions {
      await context.runDoneAction(after: completion.event, of: completion.alarm)
    }
    return report
  }

  /// Runs a last time before the folder is left, so that no answer in it is lost.
  func runLast() async {
    do {
      let report = try await run()
      PhoneText(context).warn(about: report.refusals)
    } catch is PhoneError {
      // The folder is missing or another one.
    } catch {
      CommandError(error).warn()
    }
  }

  /// Warns about moves that are not possible, and asks with a notification about tasks that were deleted together.
  func ask(about report: PhoneReport) async {
    PhoneText(context).warn(about: report.refusals)
    if report.newlyHeld <= 0 { return }
    let message = Notification.Message(
      id: context.storeContext.makeIdentifier(),
      headline: "\(report.held.count) tasks were deleted on the phone at once",
      body: "Nothing was skipped yet. To skip them: belfry phone sync --skip-deleted",
      at: context.storeContext.now)
    let outcome = await context.hooks(registry: HookRegistry.folder(of: store)).deliver(
      PendingDelivery(due: context.storeContext.now, notification: .message(message)), snooze: 0)
    // A failure needs no retry, as 'belfry phone' and 'belfry doctor' show it, too.
    if case .undelivered = outcome { PhoneText(context).showHeld(report.held, in: store) }
  }

  /// The error of a command that needs a folder.
  static let notSetUp = CommandError(
    .failed, "no folder for the phone is set up on this device.",
    hint: "Set it up: belfry phone setup")
}

extension CommandError {
  /// Creates the error for an error of the folder with the phone's tasks.
  init(_ error: PhoneError) {
    let (message, hint): (String, String) =
      switch error {
      case .folderMissing(let path):
        (
          "the folder of the phone's tasks is missing: \(Printable.text(path)).",
          "Mount its disk, or set up another one: belfry phone setup. Nothing was skipped."
        )
      case .folderReplaced(let path):
        (
          "the folder of the phone's tasks is not the one that was set up: \(Printable.text(path)).",
          "If it was emptied or restored: belfry phone setup --folder \(Printable.text(path)). Nothing was skipped."
        )
      case .serverLocked(let path):
        (
          "the CalDAV server has locked \(Printable.text(path)).",
          "It is tried again. If it stays so, restart the server."
        )
      case .busy: ("another command writes the phone's tasks.", "Try again when it has finished.")
      case .notAdded(let path, let reason):
        (
          "git could not add the tasks to \(Printable.text(path)): \(Printable.text(reason.split(separator: "\n").first.map(String.init) ?? reason))",
          "If git's index is locked (.git/index.lock) and no git runs, remove that file."
        )
      }
    let kind: Kind =
      switch error {
      case .busy, .serverLocked: .locked
      default: .failed
      }
    self.init(kind, message, hint: hint, source: error)
  }
}
