import BelfryCore
import BelfryStore
import Synchronization

/// The statistics of the alarms, which need the whole log: a tenth of a second after ten years of use.
///
/// They are read once, and again after a change of the store, in the background: until then, the earlier ones are shown.
final class StatisticsCache: Sendable {
  private struct Known {
    let statistics: Statistics
    let responses: [Statistics.Response]
  }

  private struct State {
    var known: [Identifier: Known] = [:]
    var skipBreaksStreak = false
    /// The number of changes of the store so far.
    var changes = 0
    /// The number of changes before the statistics were read; nil if they never were.
    var readAfter: Int?
    var isReading = false
  }

  private let state = Mutex(State())

  /// Notes that the log, an alarm or a setting has changed.
  func invalidate() { state.withLock { $0.changes += 1 } }

  /// Returns the statistics of alarms in their order; without those that are not known yet.
  ///
  /// - Parameters:
  ///   - waits: True to read the log at once if it was never read.
  ///   - changed: Called when other statistics are known.
  func statistics(
    of summaries: [AlarmSummary], in store: Store, skipBreaksStreak: Bool, waits: Bool,
    changed: @escaping @Sendable () -> Void
  ) -> [AlarmStatistics] {
    let (isCurrent, isFirst) = state.withLock { state in
      let isCurrent =
        state.readAfter == state.changes && state.skipBreaksStreak == skipBreaksStreak
      return (isCurrent || state.isReading, state.readAfter == nil)
    }
    if isFirst, waits {
      read(store, skipBreaksStreak)
    } else if !isCurrent {
      state.withLock { $0.isReading = true }
      Task.detached { [self] in
        read(store, skipBreaksStreak)
        changed()
      }
    }
    let known = state.withLock { $0.known }
    // The status of an alarm changes without a change of the store, so it is always that of the summary.
    return summaries.compactMap { summary in
      known[summary.id].map { AlarmStatistics(summary, $0.statistics, $0.responses) }
    }
  }

  private func read(_ store: Store, _ skipBreaksStreak: Bool) {
    let changes = state.withLock { $0.changes }
    let summaries = (try? store.overview())?.summaries ?? []
    let read = store.history.statistics(of: summaries, skipBreaksStreak: skipBreaksStreak)
    let known = Dictionary(
      read.map { ($0.summary.id, Known(statistics: $0.statistics, responses: $0.responses)) }
    ) { $1 }
    state.withLock { state in
      state.known = known
      state.readAfter = changes
      state.skipBreaksStreak = skipBreaksStreak
      state.isReading = false
    }
  }
}
