/// The correction of progress that a device recorded while its clock was ahead.
extension Timeline {
  /// Returns the alarm without what a clock that was ahead has recorded; nil if there is nothing. See
  /// `Progress.corrected`.
  ///
  /// - Parameter recorded: the alarm as its record has it.
  public func rearmed(_ recorded: Alarm, at now: Instant) -> Alarm? {
    var result = recorded
    if let corrected = recorded.progress.corrected(at: now, in: zone, on: device) {
      result.progress = corrected
    }
    return result == recorded ? nil : result
  }
}
