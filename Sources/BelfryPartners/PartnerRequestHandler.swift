import BelfryCore

/// The state of the alarm that a request has created.
enum PartnerAlarmState: Hashable, Sendable {
  case enabled, disabled, deleted
}

/// The store's side of a partnership.
protocol PartnerRequestHandler: AnyObject {
  /// Returns the decision about a request.
  ///
  /// - Parameters:
  ///   - accepted: the number of the partner's requests that were accepted today.
  ///   - rings: the number of times that the partner's alarms ring on each day.
  func verdict(
    _ request: PartnerRequest, _ limits: PartnerLimits, accepted: Int,
    rings: @autoclosure () -> [CivilDate: Int]
  ) -> PartnerVerdict
  /// Returns the number of times that requests ring together on each day.
  func ringsByDay(_ requests: [PartnerRequest]) -> [CivilDate: Int]
  /// Returns true if a moment is on the current day.
  func isToday(_ moment: Instant) -> Bool
  /// Sets an alarm if it does not exist. Returns the reason if that is not possible.
  func set(
    _ request: PartnerRequest, as alarm: Identifier, from origin: PartnerOrigin
  ) throws -> PartnerRefusal?
  /// Deletes an alarm if it exists.
  func cancel(_ alarm: Identifier, recalledBy partner: String) throws
  /// Returns the state of an alarm; nil if it is unknown.
  func state(of alarm: Identifier) throws -> PartnerAlarmState?
  /// A description of this device's channels for the partner; nil if unknown.
  var channelSummary: String? { get }
}
