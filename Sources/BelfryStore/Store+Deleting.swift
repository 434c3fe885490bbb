import BelfryCore

extension Store {
  /// Deletes an alarm.
  ///
  /// - Parameters:
  ///   - id: The alarm.
  ///   - reason: The reason, for the log entry; nil for a deletion by the user.
  ///   - message: Returns the commit's message for the deleted alarm. If it returns nil, the message is that of a
  ///     deletion by the user.
  /// - Returns: The deleted alarm; nil if it was already deleted.
  public func delete(
    _ id: Identifier, reason: LogPayload.DeletionReason? = nil,
    message: (Alarm) -> CommitMessage? = { _ in nil }
  ) throws -> Alarm? {
    guard let known = try alarm(id), !known.isDeleted else { return nil }
    return try update(id, includingDeleted: true) { before in
      guard !before.isDeleted else { return (nil, nil) }
      let after = before.deleted()
      let event = Event(.deleted, payload: reason.map { .deletion($0) })
      return (
        Change(
          alarms: [after], entries: entries([event], of: after),
          message: message(after) ?? CommitMessage(event, of: after, device: device)), after
      )
    }
  }

  /// Deletes several alarms in one commit.
  ///
  /// - Parameters:
  ///   - ids: The alarms.
  ///   - reason: The reason, for the log and the commit; nil for a deletion by the user.
  ///   - isFinal: True if `belfry undo` must not restore the alarms.
  ///   - condition: Returns true for the alarms to delete, as they are under the store's lock.
  /// - Returns: The alarms that were deleted.
  public func delete(
    _ ids: [Identifier], reason: LogPayload.DeletionReason?, isFinal: Bool = false,
    where condition: (Alarm) throws -> Bool = { _ in true }
  ) throws -> [Alarm] {
    let reader = alarmReader()
    guard try ids.contains(where: { try reader.alarm($0)?.isDeleted == false }) else { return [] }
    return try update(ids) { alarms in
      let deleted = try alarms.filter(condition).map { $0.deleted() }
      guard let first = deleted.first else { return (nil, []) }
      let event = Event(.deleted, payload: reason.map { .deletion($0) })
      var message = CommitMessage(event, of: first, device: device)
      if deleted.count > 1 {
        message = CommitMessage(
          "Deleted: \(deleted.count) alarms",
          trailers: [("Action", LogEntry.Action.deleted.rawValue)]
            + (event.payload.map(CommitMessage.facts) ?? []), device: device)
      }
      if isFinal { message.trailers.append((CommitMessage.final, "true")) }
      return (
        Change(
          alarms: deleted, entries: entries(deleted.map { (event, $0) }), message: message),
        deleted
      )
    }
  }
}
