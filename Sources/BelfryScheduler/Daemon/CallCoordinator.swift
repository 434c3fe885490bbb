import BelfryCore
import BelfryStore

/// The calls and messages of cascades that this daemon has in progress. A child command makes each; the devices agree on
/// the caller through claims at the remote.
struct CallCoordinator {
  private var running: Set<Callout> = []
  /// The callouts whose command failed, with the time of the next attempt.
  private var retries: [Callout: Instant] = [:]

  /// The timeout of a command, in seconds.
  static let timeout = 1800
  /// The time between two attempts to run a command, in seconds.
  private static let retryInterval: Int64 = 15

  /// The time of the next retry; nil if there is none.
  var nextWake: Instant? {
    retries.filter { !running.contains($0.key) }.values.min()
  }

  /// Returns the alarms with a retry that is due.
  func overdueAlarms(at now: Instant) -> [Identifier] {
    retries.filter { $0.value <= now && !running.contains($0.key) }.map(\.key.alarm)
  }

  /// Takes the callouts of evaluated alarms. Returns those whose command has to start now.
  mutating func update(
    _ callouts: [Callout], of alarms: Set<Identifier>, in store: Store
  ) -> [Callout] {
    retries = retries.filter { !alarms.contains($0.key.alarm) || callouts.contains($0.key) }
    let file = CallProgressFile(store)
    let started = callouts.filter { callout in
      !running.contains(callout) && (retries[callout].map { $0 <= store.context.now } ?? true)
        && file[callout.id]?.isOver != true
    }
    running.formUnion(started)
    for callout in started { retries[callout] = nil }
    return started
  }

  /// Records the end of a command.
  mutating func finish(_ callout: Callout, failed: Bool, at now: Instant) {
    running.remove(callout)
    retries[callout] = failed ? now.adding(seconds: CallCoordinator.retryInterval) : nil
  }
}
