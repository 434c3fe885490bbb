import BelfryCore

/// The text that explains a miss in the summary of missed occurrences.
package enum MissedText {
  /// Returns the facts of a miss as a clause; nil if there are none.
  package static func text(_ payload: LogPayload?, _ times: TimeText) -> String? {
    switch payload {
    case .exhaustedCascade: "the whole cascade was unanswered"
    case .earlier(let earlier): text(earlier, times)
    default: nil
    }
  }

  /// Returns the earlier occurrences as a clause: `and 12 before it, the first on Thu 1 Jan 2026, 00:01`.
  package static func text(_ earlier: LogPayload.EarlierOccurrences, _ times: TimeText) -> String {
    "and \(earlier.count) before it, the first on \(times.full(earlier.first))"
  }
}
