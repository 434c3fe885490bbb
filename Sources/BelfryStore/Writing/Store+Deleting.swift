import BelfryCore

extension Store {
  /// Deletes an alarm.
  ///
  /// - Parameters:
  ///   - id: The alarm.
  ///   - reason: The reason, for the log entry.
  ///   - message: Returns the commit's message for the deleted alarm.
  /// - Returns: The deleted alarm; nil if it was already deleted.
  public func delete(
    _ id: Identifier, reason: LogPayload.DeletionReason, message: (Alarm) -> CommitMessage
  ) throws -> Alarm? {
    guard let known = try alarm(id), !known.isDeleted else { return nil }
    return try update(id, includingDeleted: true) { before in
      guard !before.isDeleted else { return (nil, nil) }
      let after = before.deleted()
      let event = Event(.deleted, payload: .deletion(reason))
      return (
        Change(
          alarms: [after], entries: entries([event], of: after), message: message(after)), after
      )
    }
  }
}
