import BelfryCore

extension Store {
  /// Deletes an alarm; returns it as it is then, or nil where it is gone already.
  ///
  /// - Parameters:
  ///   - why: what the log says of it.
  ///   - message: the commit's; that of the deletion as a person's action when it returns nil.
  public func delete(
    _ id: Identifier, why: String? = nil, message: (Alarm) -> CommitMessage? = { _ in nil }
  ) throws -> Alarm? {
    guard let known = try alarm(id), !known.isDeleted else { return nil }
    return try update(id, includingDeleted: true) { before in
      guard !before.isDeleted else { return (nil, nil) }
      let after = before.deleted()
      let event = Event(.deleted, detail: why)
      return (
        Change(
          alarms: [after], entries: entries([event], of: after),
          message: message(after) ?? CommitMessage(event, of: after, device: device)), after
      )
    }
  }

  /// Deletes several alarms in one commit; returns those that there were.
  ///
  /// - Parameters:
  ///   - why: what the log and the commit say of it.
  ///   - isFinal: whether 'belfry undo' must not restore them.
  public func delete(_ ids: [Identifier], why: String, isFinal: Bool = false) throws -> [Alarm] {
    let reader = alarmReader()
    guard try ids.contains(where: { try reader.alarm($0)?.isDeleted == false }) else { return [] }
    return try update(ids) { alarms in
      let deleted = alarms.map { $0.deleted() }
      guard let first = deleted.first else { return (nil, []) }
      let event = Event(.deleted, detail: why)
      var message = CommitMessage(event, of: first, device: device)
      if deleted.count > 1 {
        message = CommitMessage(
          "Deleted: \(deleted.count) alarms", body: [why],
          trailers: [("Action", LogEntry.Action.deleted.rawValue)], device: device)
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
