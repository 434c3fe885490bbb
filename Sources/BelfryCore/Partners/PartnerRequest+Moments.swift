extension PartnerRequest {
  /// The maximum number of occurrences that are checked against the limits: more than a year of daily ones.
  private static let maxMomentCount = 400

  /// Returns the first 400 times at which the request rings from a moment on, in order.
  ///
  /// The result is empty if this system does not know the request's time zone.
  func moments(from start: Instant, zone: (String) -> TimeZoneRules?) -> [Instant] {
    guard let repeats else { return at >= start ? [at] : [] }
    guard let rules = zone(repeats.zone) else { return [] }
    var civil = CivilDateTime(
      minuteNumber: rules.civil(at: max(at, start)).minuteNumber - 1)
    let scheduled = repeats.occurrences
    var moments: [Instant] = []
    while moments.count < PartnerRequest.maxMomentCount, let next = scheduled.next(after: civil) {
      civil = next
      moments.append(rules.instant(of: civil))
    }
    return moments
  }

  /// Returns the number of times that requests ring together on each day, from today on.
  ///
  /// - Parameters:
  ///   - requests: the requests.
  ///   - now: the current time.
  ///   - local: the time zone that defines the days.
  ///   - zone: returns the rules of a named time zone; nil if this system does not know the name.
  public static func ringsByDay(
    _ requests: [PartnerRequest], at now: Instant, local: TimeZoneRules,
    zone: (String) -> TimeZoneRules?
  ) -> [CivilDate: Int] {
    let today = local.instant(of: CivilDateTime(local.civil(at: now).date, .midnight))
    var result: [CivilDate: Int] = [:]
    for moment in requests.flatMap({ $0.moments(from: today, zone: zone) }) {
      result[local.civil(at: moment).date, default: 0] += 1
    }
    return result
  }
}
