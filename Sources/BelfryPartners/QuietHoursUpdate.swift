import BelfryCore
import BelfryStore

/// An update of a partner's quiet hours in the alarms that the partner has set, for all of the user's devices.
///
/// This is not an edit of the alarms: there is no log entry, and the partner gets no receipt.
public struct QuietHoursUpdate: Sendable {
  private let store: Store
  private let quiet: QuietHours?

  /// Creates an update.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - quiet: The quiet hours; nil for none.
  public init(_ store: Store, to quiet: QuietHours?) {
    self.store = store
    self.quiet = quiet
  }

  /// Records the quiet hours in the given alarms, as one commit.
  ///
  /// - Returns: The number of changed alarms.
  @discardableResult
  public func apply(to alarms: [Identifier]) throws -> Int {
    let reader = store.alarmReader()
    guard try alarms.contains(where: { try reader.alarm($0).map(differs) ?? false }) else {
      return 0
    }
    return try store.update(alarms) { alarms in
      let changed = alarms.filter(differs).map { before in
        var after = before
        after.partner?.quiet = quiet
        after.mergeState.stamps[.partner] = Stamp.next(
          after: before.latestStamp, now: store.context.now, device: store.device)
        return after
      }
      guard let first = changed.first else { return (nil, 0) }
      let hours = quiet.map { "\($0)" } ?? "none"
      let message = CommitMessage(
        "Quiet hours: \(first.title) (\(hours))", device: store.device)
      return (Store.Change(alarms: changed, entries: [], message: message), changed.count)
    }
  }

  private func differs(_ alarm: Alarm) -> Bool {
    !alarm.isDeleted && alarm.partner.map { $0.quiet != quiet } ?? false
  }
}
