import BelfryCore

/// A schedule as it is understood: the document of `when`.
package struct WhenDocument: JSONDocument {
  /// The schedule in words, which `when` reads as the same schedule.
  let understood: String
  /// The next occurrences, as wall-clock times.
  let next: [String]
  /// The name of the time zone that the schedule names; absent for none.
  let zone: String?

  package init(understood: String, next: [CivilDateTime], zone: String?) {
    self.understood = understood
    self.next = next.map(\.description)
    self.zone = zone
  }
}
