extension [AlarmSummary] {
  /// Returns the alarms by their titles, without regard to case.
  public func sortedByTitle() -> [AlarmSummary] {
    map { (folded: $0.title.lowercased(), summary: $0) }
      .sorted { a, b in
        (a.folded, a.summary.title, a.summary.id) < (b.folded, b.summary.title, b.summary.id)
      }
      .map(\.summary)
  }
}
