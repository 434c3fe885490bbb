import BelfryCore
import BelfryStore

extension Store {
  /// Returns the callouts that this device may make. It is one of the callers that `CallElection` orders.
  ///
  /// - Parameters:
  ///   - callouts: The callouts that are due.
  ///   - alarm: The alarm to which they belong.
  func ownCallouts(_ callouts: [Callout], of alarm: Alarm) -> [Callout] {
    if callouts.isEmpty { return [] }
    let devices = devices.current()
    return callouts.filter { callout in
      alarm.cascadePlan(at: callout.isTest ? context.now : callout.due).map {
        CallElection.callers(for: callout.target, of: $0, among: devices).contains(device)
      } ?? false
    }
  }
}
