extension PartnerRequest {
  /// The number of occurrences of a repeated request that are checked against the limits: more than a year of every
  /// day.
  private static let mostMoments = 400

  /// Returns when it rings from a moment on, in order: the first 400 times. None where this system does not know its
  /// zone.
  func moments(from start: Instant, zone: (String) -> TimeZoneRules?) -> [Instant] {
    guard let repeats else { return at >= start ? [at] : [] }
    guard let rules = zone(repeats.zone) else { return [] }
    var civil = CivilDateTime(
      minuteNumber: rules.civil(at: max(at, start)).minuteNumber - 1)
    var moments: [Instant] = []
    while moments.count < PartnerRequest.mostMoments,
      let next = repeats.schedule.next(after: civil)
    {
      civil = next
      moments.append(rules.instant(of: civil))
    }
    return moments
  }

  /// Returns how often some requests together ring on each day, from today on.
  ///
  /// - Parameter local: the wall clock by which days are told apart.
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
