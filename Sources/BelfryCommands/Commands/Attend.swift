import ArgumentParser
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Files

/// A helper process that `belfry tick` starts for a delivery that outlives it: a notification with buttons, or a sound.
struct Attend: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: ChildCommand.attendName,
    abstract: "Run the deliveries of a tick until they end.", shouldDisplay: false)

  @Option(help: "The store's folder.")
  var store: String?

  @Option(help: "The folder of the registry of running hooks.")
  var hookRegistry: String?

  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try CommandContext(store: self.store ?? root.store)
    Descriptors.raiseLimit()
    let opened = ElapsedTime()
    await DeliveryHelper(
      recorder: AnswerRecorder(
        command: context.environment.executable ?? "belfry", store: context.storePath,
        variables: { context.backgroundVariables(after: opened) }),
      open: {
        try Store.existing(context.storePath, context: context.present(after: opened).storeContext)
      },
      hooks: { [hookRegistry] in context.hooks(activeDeliveries: $0, registry: hookRegistry) }
    ).run()
  }
}
