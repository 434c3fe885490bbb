import BelfryCore
import BelfryStore

/// Commits the log entries of deliveries that the ledger has and the log lacks.
struct DeliveryLog {
  let store: Store
  let settings: Settings

  /// Commits the entries: firings together, follow-ups one by one.
  func commit() throws {
    let known = DeliveryLog.unlogged(store.ledger.read())
    if known.isEmpty { return }
    // The alarm's record counts its follow-ups, so that the same one is recorded once.
    for item in known {
      if case .occurrence(let id, .followUp(let number)) = item.key,
        item.entry.state == .delivered
      {
        try recordFollowUp(number, of: id)
      }
    }
    try store.ledger.logDeliveries { ledger in
      var fired: [(Event, Alarm)] = []
      var times: [Instant] = []
      var changes: [Store.Change] = []
      var logged: [DeliveryKey] = []
      for (key, entry) in DeliveryLog.unlogged(ledger) {
        switch key {
        case .occurrence(let id, .firing):
          if let alarm = try store.alarm(id.alarm) {
            let payload: LogPayload? = entry.state == .undelivered ? .undelivered : nil
            fired.append((Event(.fired, id.occurrence, payload: payload), alarm))
            times.append(time(of: entry))
          }
        case .occurrence(_, .followUp):
          // Another device may deliver a failed one. One that was delivered since is recorded by the next commit.
          guard entry.state == .delivered, known.contains(where: { $0 == (key, entry) }) else {
            continue
          }
        case .rehearsal(let id, _):
          if let alarm = try store.alarm(id) {
            changes.append(rehearsed(alarm, isDelivered: entry.state == .delivered))
          }
        case .occurrence(_, .advanceWarning), .battery, .missedSummary, .message: break
        }
        logged.append(key)
      }
      if let first = fired.first {
        let message =
          fired.count == 1
          ? CommitMessage(first.0, of: first.1, device: store.device)
          : CommitMessage("Fired: \(fired.count) alarms", device: store.device)
        changes.append(
          Store.Change(
            alarms: [], entries: store.entries(fired, at: times), message: message))
      }
      return (changes, logged)
    }
  }

  private static func unlogged(
    _ ledger: DeliveryLedger
  ) -> [(key: DeliveryKey, entry: DeliveryLedger.Entry)] {
    ledger.entries.filter { !$0.entry.isLogged && $0.entry.state != .claimed }
      .sorted { a, b in
        if a.entry.due != b.entry.due { return a.entry.due < b.entry.due }
        return (a.key.alarm?.text ?? "") < (b.key.alarm?.text ?? "")
      }
  }

  private func rehearsed(_ alarm: Alarm, isDelivered: Bool) -> Store.Change {
    let event = Event(.rehearsed, payload: .rehearsal(isDelivered: isDelivered))
    return Store.Change(
      alarms: [], entries: store.entries([event], of: alarm),
      message: CommitMessage(event, of: alarm, device: store.device))
  }

  /// Returns the time of a firing for the log. The ledger is written shortly after the delivery, and an answer can come
  /// before that: in the log the firing comes first.
  private func time(of entry: DeliveryLedger.Entry) -> Instant {
    min(store.context.now, max(entry.due, entry.at.adding(seconds: -1)))
  }

  private func recordFollowUp(_ number: Int, of id: OccurrenceID) throws {
    try store.update(id.alarm, includingDeleted: true) { alarm in
      let timeline = store.timeline(alarm)
      let followUp = timeline.followUp(number, of: id.occurrence, settings: settings)
      return (followUp.flatMap { timeline.reminded($0) }.flatMap(store.change), ())
    }
  }
}
