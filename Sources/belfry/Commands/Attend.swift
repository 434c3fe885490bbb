import ArgumentParser
import BelfryScheduler
import BelfryStore
import Git

/// What `belfry tick` leaves behind while a notification waits for its button, or a sound plays.
struct Attend: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Deliver what a tick hands over, and stay until it is answered.", shouldDisplay: false
  )

  @Option(help: "The store's folder.")
  var store: String?

  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try CommandContext(store: self.store ?? root.store)
    Descriptors.raiseLimit()
    let opened = ElapsedTime()
    await DeliveryHelper(
      recorder: AnswerRecorder(
        command: context.executable ?? "belfry", store: context.storePath,
        variables: { context.backgroundVariables(after: opened) }),
      open: {
        try Store.existing(context.storePath, context: context.present(after: opened).storeContext)
      },
      hooks: { context.hooks(activeDeliveries: $0) }
    ).run()
  }
}
