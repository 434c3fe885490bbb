/// Decides when a push that lost a race against another device is tried again.
///
/// The waits grow, so that many devices thin out, and are random, so that devices which lost together do not come back
/// together. What counts is the time, not the number of attempts: each attempt may lose against every other device.
struct PushRetry {
  /// The time for which pushes are usually tried, in milliseconds.
  static let timeout = 60_000
  /// The longest wait before the second attempt, and before any, in milliseconds.
  private static let (firstWait, longestWait) = (20, 1_000)

  private let timeout: Int
  /// The attempts that lost.
  private(set) var attempts = 0

  /// - Parameter timeout: how long pushes are tried, in milliseconds.
  init(timeout: Int = PushRetry.timeout) {
    self.timeout = timeout
  }

  /// Notes that an attempt has lost.
  ///
  /// - Parameters:
  ///   - elapsed: the time since the first attempt began, in milliseconds.
  ///   - random: returns a random number of a range.
  /// - Returns: the time to wait, in milliseconds; nil to give up.
  mutating func next(elapsed: Int, random: (ClosedRange<Int>) -> Int) -> Int? {
    attempts += 1
    guard elapsed < timeout else { return nil }
    let longest = min(PushRetry.longestWait, PushRetry.firstWait << min(attempts - 1, 10))
    return random(5...longest)
  }
}
