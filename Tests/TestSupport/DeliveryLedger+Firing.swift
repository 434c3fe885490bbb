import BelfryCore

extension DeliveryLedger {
  /// Records that an occurrence has rung.
  public mutating func recordFiring(_ id: OccurrenceID, due: Instant, at: Instant) {
    self[.occurrence(id, .firing)] = Entry(due: due, at: at)
  }
}
