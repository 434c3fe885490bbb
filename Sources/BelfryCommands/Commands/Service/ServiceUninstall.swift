import ArgumentParser
import BelfryDocuments
import BelfryTerminal

struct ServiceUninstall: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uninstall", abstract: "Stop and remove the background service.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Service

  func run() async throws {
    let manager = try ServiceManager(try common.context(parent.root))
    let removed = try await manager.uninstall()
    if common.json {
      return try Console.write(ServiceRemovalDocument(removed: removed))
    }
    Console.line(
      removed.isEmpty
        ? "The service is not installed." : "Removed \(removed.joined(separator: ", ")).")
  }
}
