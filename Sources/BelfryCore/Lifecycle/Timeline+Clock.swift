/// Progress that a device recorded while its clock was ahead.
extension Timeline {
  /// The alarm without what was settled at a time that has not come; nil where nothing was.
  ///
  /// 1. What lies more than a day ahead: see `Progress.corrected`.
  /// 2. Of less than a day: each occurrence that the clock alone has settled is open again, as an explicit reopening.
  ///
  /// - Parameter recorded: the alarm as its record has it.
  public func rearmed(_ recorded: Alarm, at now: Instant) -> Alarm? {
    var result = recorded
    if let corrected = recorded.progress.corrected(at: now, in: zone) {
      result.progress = corrected
    }
    for (civil, record) in result.progress.occurrences where isAhead(record, at: now) {
      result.progress.occurrences[civil] = OccurrenceRecord(.open, revision: record.revision + 1)
    }
    return result == recorded ? nil : result
  }
}
