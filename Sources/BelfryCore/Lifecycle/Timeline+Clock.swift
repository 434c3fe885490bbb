/// The correction of progress that a device recorded while its clock was ahead.
extension Timeline {
  /// Returns the alarm without the states that were recorded at a future time; nil if there are none.
  ///
  /// 1. Times more than a day ahead: see `Progress.corrected`.
  /// 2. Times less than a day ahead: each occurrence that the clock alone settled is reopened explicitly.
  ///
  /// - Parameter recorded: the alarm as its record has it.
  public func rearmed(_ recorded: Alarm, at now: Instant) -> Alarm? {
    var result = recorded
    if let corrected = recorded.progress.corrected(at: now, in: zone) {
      result.progress = corrected
    }
    for (civil, record) in result.progress.occurrences where isSettledInFuture(record, at: now) {
      result.progress.occurrences[civil] = OccurrenceRecord(.open, revision: record.revision + 1)
    }
    return result == recorded ? nil : result
  }
}
