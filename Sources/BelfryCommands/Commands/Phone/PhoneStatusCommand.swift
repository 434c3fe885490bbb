import ArgumentParser
import BelfryDocuments
import BelfryPhone
import BelfryTerminal

struct PhoneStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the tasks on the phone and what waits.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PhoneCommand

  func run() throws {
    let context = try common.context(parent.root)
    let store = try context.open(.reading)
    let status = PhoneConfiguration.read(of: store).map { PhoneStatus($0, of: store) }
    let scheduler = context.checkScheduler(of: store)
    if common.json {
      return try Console.write(PhoneStatusDocument(status, scheduler: scheduler, store: store))
    }
    guard let status else {
      Console.line(
        "No folder for the phone is set up on this device. Set it up: belfry phone setup")
      return
    }
    PhoneText(context).show(status, in: store)
  }
}
