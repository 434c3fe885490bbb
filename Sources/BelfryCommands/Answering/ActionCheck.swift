import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The check of the alarms' actions on this device.
struct ActionCheck: Sendable {
  private let folder: ActionFolder
  private let device: Identifier
  private let devices: Set<Identifier>

  /// Creates the check; nil without a folder of actions.
  init?(_ context: CommandContext, _ store: Store) {
    guard let folder = context.actions else { return nil }
    self.folder = folder
    device = store.device
    devices = Set(store.deviceNames().keys)
  }

  /// Returns the actions of an alarm that cannot run on this device.
  func problems(of alarm: Alarm) -> [ActionFolder.Problem] {
    folder.problems(of: alarm, ringsHere: alarm.delivery.rings(on: device, known: devices))
  }

  /// Warns about the actions of an alarm that cannot run on this device.
  func warn(about alarm: Alarm) {
    for problem in problems(of: alarm) {
      CommandDiagnostic.warn(
        "the action \(Printable.text(problem.name.text)) cannot run on this device: \(ActionText.text(problem)).",
        hints: [ActionText.remedy(problem)])
    }
  }
}
