extension Timeline {
  /// Returns true while a delivered notification still reflects the alarm's state.
  public func wants(
    _ key: DeliveryKey, at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) -> Bool {
    switch key {
    case .occurrence(let id, .firing):
      let status = status(at: now, settings: settings, ledger: ledger)
      return status.state == .ringing && status.current == id.occurrence
        && hasTurn(at: id.occurrence, now, ledger)
    case .occurrence(let id, .followUp(let number)):
      guard alarm.enabled, !alarm.isDeleted, let record = record(of: id.occurrence) else {
        return false
      }
      return record.state == .pending && record.followUps <= number
    case .occurrence(_, .advanceWarning): return alarm.enabled && !alarm.isDeleted
    case .rehearsal(_, let requested):
      let since = ledger[key]?.at ?? now
      return alarm.progress.rehearsal == requested
        && now.seconds(since: since) < Timeline.rehearsalLength
    case .battery, .missedSummary, .message: return true
    }
  }
}
