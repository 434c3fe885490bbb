extension Timeline {
  /// Returns true while a delivered notification still reflects the alarm's state.
  ///
  /// A firing reflects it as long as its occurrence rings, and no later firing of it is due, such as one after an undo.
  public func wants(
    _ delivery: DeliveryID, at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) -> Bool {
    switch delivery.key {
    case .occurrence(let id, .firing):
      guard alarm.enabled, !alarm.isDeleted else { return false }
      return openOccurrences(at: now, settings: settings, ledger: ledger).contains { open in
        open.civil == id.occurrence && open.ringing.isRinging
          && open.due.map { $0 <= delivery.due } ?? false
      }
    case .occurrence(let id, .followUp(let number)):
      guard alarm.enabled, !alarm.isDeleted, let record = record(of: id.occurrence) else {
        return false
      }
      return record.state == .pending && record.followUps <= number
    case .occurrence(_, .advanceWarning): return alarm.enabled && !alarm.isDeleted
    case .rehearsal(_, let requested):
      let since = ledger[delivery.key]?.at ?? now
      return alarm.progress.rehearsal == requested
        && now.seconds(since: since) < Timeline.rehearsalLength
    case .battery, .missedSummary, .message: return true
    }
  }

  /// Returns the occurrences that are due and unanswered: the current one, and those of a strict alarm whose follow-ups
  /// ring. Each is a delivery of its own.
  private func openOccurrences(
    at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) -> [OpenOccurrence] {
    let open = current(at: now, ledger: ledger).flatMap {
      ringing($0, at: now, settings: settings, ledger: ledger)
    }
    return [open].compactMap { $0 } + openPending(at: now, settings: settings, ledger: ledger)
  }
}
