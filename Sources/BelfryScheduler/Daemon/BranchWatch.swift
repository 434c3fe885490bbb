import BelfryCore
import BelfryStore

/// The detection of a branch that another program has moved, such as `git reset` or a push into the checked-out branch.
struct BranchWatch {
  /// The time at which the moved branch is taken in; nil if there is none.
  private(set) var nextWake: Instant?
  /// The commit of the moved branch that was taken in last.
  private var handledHead: String?

  /// The delay between a move and taking it in, in milliseconds. Belfry's own writes update the work tree within it.
  private static let delay: Int64 = 300

  /// Forgets the last head, so that a failed attempt is repeated.
  mutating func retry() { handledHead = nil }

  /// Returns true if a moved branch has to be taken in now.
  mutating func check(_ store: Store, at now: Instant) -> Bool {
    guard let head = store.branch.movedHead, head != handledHead else {
      nextWake = nil
      return false
    }
    guard let due = nextWake else {
      nextWake = Instant(milliseconds: now.milliseconds + BranchWatch.delay)
      return false
    }
    guard due <= now else { return false }
    nextWake = nil
    handledHead = head
    return true
  }
}
