/// A value whose versions on several devices are joined.
public protocol Joinable: Equatable, Sendable {
  /// Joins two versions. The join needs no common ancestor. It is commutative, associative and idempotent.
  static func join(_ a: Self, _ b: Self) -> Self

  /// Returns the version with reproducible stamps on what was edited by hand since an ancestor.
  ///
  /// Each stamp is the first one after the ancestor's. Every device computes the same stamp, so that the edit wins over
  /// the value that it replaced and loses to every later edit.
  ///
  /// By default, nothing is stamped: between two values with the same stamp, the greater text wins.
  func stamped(asDescendantOf base: Self) -> Self

  /// Returns the join of two conflicting versions with the edits that the user then made in a file, as an edit at
  /// `now`.
  ///
  /// By default, the file's edits are dropped.
  ///
  /// - Parameters:
  ///   - file: The edited version.
  ///   - sides: The conflicting versions.
  func takingEdits(
    from file: Self, since sides: [Self], at now: Instant, device: Identifier
  ) -> Self
}

extension Joinable {
  /// Returns the version as it is.
  public func stamped(asDescendantOf base: Self) -> Self { self }

  /// Drops the edits.
  public func takingEdits(
    from file: Self, since sides: [Self], at now: Instant, device: Identifier
  ) -> Self { self }
}

/// A value whose parts have the stamps of their last edits. A part that differs under the same stamp was edited by
/// hand.
public protocol Stamped: Joinable {
  /// The latest stamp; nil if there is none.
  var latestStamp: Stamp? { get }

  /// Returns true if a part was edited by hand since an earlier version.
  ///
  /// - Parameter earlier: The earlier version; nil if there is none.
  func isEditedByHand(since earlier: Self?) -> Bool

  /// Returns true if another version has all stamps of this one. If this one was edited by hand, it can have been made
  /// from the other.
  ///
  /// By default, it is true: an edit counts as made from the last known version, without a search of the history.
  func hasStamps(of other: Self) -> Bool

  /// Returns the value with stamps on the parts that were edited by hand since an earlier version.
  ///
  /// - Parameters:
  ///   - earlier: The earlier version; nil if there is none.
  ///   - latest: A stamp that the new ones must exceed.
  func stamped(
    against earlier: Self?, at now: Instant, device: Identifier, after latest: Stamp?
  ) -> Self
}

extension Stamped {
  /// Is true.
  public func hasStamps(of other: Self) -> Bool { true }
}
