extension Timeline {
  /// Returns the occurrences on a date, in ascending order: those of the schedule and those with a record, such as a
  /// pending one of an earlier schedule.
  public func occurrences(on date: CivilDate) -> [CivilDateTime] {
    var result = Set(alarm.progress.occurrences.keys.filter { $0.date == date })
    var last = CivilDateTime(minuteNumber: CivilDateTime(date, .midnight).minuteNumber - 1)
    while let next = scheduled.next(after: last), next.date == date {
      result.insert(next)
      last = next
    }
    return result.sorted()
  }
}
