import BelfryCore
import BelfryStore

/// The content of a status line, read from a store with the state of its scheduler.
public struct AttentionReading: Sendable {
  /// The content.
  public let summary: AttentionSummary
  /// The state of the scheduler; nil if the store cannot be read.
  public let scheduler: SchedulerState?
  /// The process of the daemon; nil without one.
  public let daemon: String?

  /// The age of the last sync from which it is a problem, in seconds.
  private static let maxSyncAge: Int64 = 86_400

  /// Creates the reading of a store that cannot be opened.
  public init(unreadable: Void) {
    (summary, scheduler, daemon) = (AttentionSummary(problem: .storeUnreadable), nil, nil)
  }

  /// Reads a store. Takes no lock, and changes no record.
  ///
  /// - Parameters:
  ///   - store: The store at the time of the reading; nil if there is none.
  ///   - wasPresent: True if there was a store before.
  public init(_ store: Store?, wasPresent: Bool) {
    guard let store else {
      (summary, scheduler, daemon) = (
        AttentionSummary(problem: wasPresent ? .storeMissing : nil), nil, nil
      )
      return
    }
    do {
      let now = store.context.now
      var summary = AttentionSummary(try store.overview().summaries, at: now)
      let scheduler = SchedulerState(store)
      switch scheduler {
      case .absent: summary.problem = .schedulerAbsent
      case .unresponsive: summary.problem = .schedulerUnresponsive
      case .daemon, .ticks: break
      }
      if summary.problem == nil, let ahead = store.branch.timeAhead {
        summary.problem = .clockBehind
        summary.validUntil = min(
          summary.validUntil, ahead.adding(seconds: -Instant.tolerance))
      }
      // A user without a daemon may prefer to sync by hand.
      if summary.problem == nil, scheduler == .daemon, store.sync.hasRemote,
        let last = store.sync.last
      {
        let end = last.adding(seconds: AttentionReading.maxSyncAge)
        if end <= now {
          summary.problem = .syncOutdated
        } else {
          summary.validUntil = min(summary.validUntil, end)
        }
      }
      if scheduler == .ticks, let last = store.lastTick {
        summary.validUntil = min(summary.validUntil, last.adding(seconds: Store.maxTickAge + 1))
      }
      (self.summary, self.scheduler) = (summary, scheduler)
      daemon = DaemonHandle(store).process
    } catch {
      (summary, scheduler, daemon) = (AttentionSummary(problem: .storeUnreadable), nil, nil)
    }
  }
}
