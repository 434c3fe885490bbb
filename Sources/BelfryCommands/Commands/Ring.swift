import ArgumentParser
import BelfryCore
import BelfryStore

struct Ring: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ring",
    abstract: "Show ringing alarms full screen and answer with a key.",
    discussion: """
      Keys: s stop, d done, k skip (asks first), z snooze (1: an hour, 2: a day, 3: a week), q quit and leave it ringing.
      With 'belfry settings set slideToStop on', hold Space for three seconds to stop an alarm.

      On an alarm from a partner, r sends a reply.

      With --wait the screen is a bedside clock until an alarm rings, and again after the answer.

      On an alarm that comes up by itself, keys count once none was pressed for two seconds.
      """)

  @Argument(
    help: "The alarm to show first (all ringing alarms are shown, one after the other).",
    completion: .alarms)
  var alarm: String?

  @Flag(help: "Show a clock while no alarm rings, and stay open.")
  var wait = false

  @Flag(help: "Let keys count after a pause: for a screen that opens by itself.")
  var automatic = false

  @Option(help: "The store's folder (default: BELFRY_STORE, else the data folder).")
  var store: String?

  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try CommandContext(
      store: self.store ?? root.store, color: root.color ?? .auto)
    let store = try context.open(.reading, welcome: false)
    let first = try alarm.map { try context.find($0, in: store).id }
    try RingLoop(context, first: first, waits: wait, isAutomatic: automatic).run()
  }
}
