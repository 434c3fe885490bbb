import BelfryCore
import BelfryStore

extension Store {
  /// Records a partner's quiet hours in alarms that the partner has set, for all of the user's devices.
  ///
  /// This is not an edit of the alarms: there is no log entry, and the partner gets no receipt.
  ///
  /// - Parameters:
  ///   - quiet: the quiet hours; nil for none.
  ///   - alarms: the identifiers of the alarms.
  /// - Returns: The number of changed alarms.
  @discardableResult public func note(
    _ quiet: QuietHours?, in alarms: [Identifier]
  ) throws -> Int {
    let reader = alarmReader()
    let hasOther = try alarms.contains { id in
      try reader.alarm(id).map { isOther($0, quiet) } ?? false
    }
    guard hasOther else { return 0 }
    return try update(alarms) { alarms in
      let changed = alarms.filter { isOther($0, quiet) }.map { before in
        var after = before
        after.partner?.quiet = quiet
        after.stamps[.partner] = Stamp.next(
          after: before.latestStamp, now: context.now, device: device)
        return after
      }
      guard let first = changed.first else { return (nil, 0) }
      let hours = quiet.map { "\($0)" } ?? "none"
      let message = CommitMessage("Quiet hours: \(first.title) (\(hours))", device: device)
      return (Change(alarms: changed, entries: [], message: message), changed.count)
    }
  }

  private func isOther(_ alarm: Alarm, _ quiet: QuietHours?) -> Bool {
    !alarm.isDeleted && alarm.partner.map { $0.quiet != quiet } ?? false
  }
}
