import ArgumentParser
import BelfryDocuments
import BelfryPhone
import BelfryScheduler
import BelfryTerminal

struct PhoneRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Stop publishing tasks, and remove them.",
    discussion: "The alarms stay. They no longer ring on the phone after its next sync.")

  @Flag(help: "Leave the tasks in the folder.")
  var keepTasks = false

  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PhoneCommand

  func run() async throws {
    let context = try common.context(parent.root)
    let store = try context.open(.writing, welcome: false)
    guard let configuration = PhoneConfiguration.read(of: store) else { throw PhoneTasks.notSetUp }
    let count = PhoneStatus(configuration, of: store).tasks
    let folder = Printable.text(configuration.folder)
    let consequence =
      keepTasks
      ? "The \(count) tasks stay on the phone and ring there, whatever happens here."
      : "The phone no longer rings after its next sync."
    if confirmation.dryRun {
      if common.json {
        return try Console.write(
          PhoneStatusDocument(
            PhoneStatus(configuration, of: store), scheduler: SchedulerState(store), store: store))
      }
      return Console.line("Would stop publishing to \(folder). \(consequence)")
    }
    try Confirmation(isGiven: confirmation.yes, json: common.json).require(
      "Stop publishing to \(folder)? \(consequence)", change: "stop publishing to \(folder)")
    await PhoneTasks(context, store)?.runLast()
    let removed = try await PhoneSetup.remove(
      configuration, of: store, keepingTasks: keepTasks)
    _ = store.pokeDaemon()
    if common.json {
      return try Console.write(
        PhoneStatusDocument(nil, scheduler: SchedulerState(store), store: store))
    }
    Console.line(
      "Stopped. \(removed) \(removed == 1 ? "task was" : "tasks were") removed from \(folder).")
  }
}
