import BelfryCore

/// The state of an occurrence that an answer or a move does not fit, in words.
extension Phase {
  /// The predicate: `is already done`.
  var predicate: String {
    switch self {
    case .ringing, .snoozed, .pending, .skipped, .missed, .upcoming: "is \(rawValue)"
    case .skippedAhead: "is skipped"
    case .done: "is already done"
    case .autoCompleted: "was completed automatically"
    case .unknown: "is not an occurrence, or was too long ago"
    }
  }
}
