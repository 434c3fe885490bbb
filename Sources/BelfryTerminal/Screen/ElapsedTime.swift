/// The time since the creation of the value, independent of the wall clock.
package struct ElapsedTime: Sendable {
  private let start = ContinuousClock.now

  package init() {}

  package var milliseconds: Int64 {
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}
