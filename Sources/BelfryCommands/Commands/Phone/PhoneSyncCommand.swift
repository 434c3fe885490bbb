import ArgumentParser
import BelfryDocuments
import BelfryPhone
import BelfryTerminal

struct PhoneSyncCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Read the phone's answers and write its tasks now.",
    discussion: """
      The daemon does this by itself, and so does each 'belfry tick'.

      More than three tasks that were deleted together are held: they may be those of a lost or wiped phone. After an \
      hour they are written again. Before, you decide:

        belfry phone sync --skip-deleted
        belfry phone sync --restore-deleted
      """)

  @Flag(help: "Skip the occurrences whose deleted tasks are held.")
  var skipDeleted = false

  @Flag(help: "Write the deleted tasks that are held again.")
  var restoreDeleted = false

  /// True for the daemon, which has no use of a report.
  @Flag(help: .hidden)
  var background = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PhoneCommand

  func validate() throws {
    if skipDeleted, restoreDeleted {
      throw ValidationError("--skip-deleted and --restore-deleted cannot be combined.")
    }
  }

  func run() async throws {
    let context = try common.context(parent.root)
    let store = try context.open(.writing, welcome: false)
    guard let tasks = PhoneTasks(context, store) else {
      if background { return }
      throw PhoneTasks.notSetUp
    }
    let report = try await tasks.run(
      skipDeleted ? .skip : restoreDeleted ? .restore : .none,
      deletionRest: background ? PhoneSync.backgroundRest : 0)
    if background {
      await tasks.ask(about: report)
      return
    }
    if common.json { return try Console.write(PhoneReportDocument(report)) }
    PhoneText(context).show(report, in: store)
  }
}
