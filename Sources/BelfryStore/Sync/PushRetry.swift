/// The back-off of pushes that lost a race against another device.
///
/// The waits grow, to reduce the number of competing devices, and are random, so that devices that lost together
/// don't retry together. The limit is a time, not a number of attempts, because each attempt can lose against another
/// device.
struct PushRetry {
  /// The time in milliseconds for which a refused push waits for the branch to move. Another push that holds the
  /// branch's lock takes less.
  static let refusalTimeout = 2_000
  /// The default time for which pushes are retried, in milliseconds.
  static let timeout = 60_000
  /// The maximum wait before the second attempt, and before any attempt, in milliseconds.
  private static let (firstWait, longestWait) = (20, 1_000)

  private let timeout: Int
  /// The number of attempts that lost.
  private(set) var attempts = 0

  /// Creates a back-off.
  ///
  /// - Parameter timeout: The time for which pushes are retried, in milliseconds.
  init(timeout: Int = PushRetry.timeout) {
    self.timeout = timeout
  }

  /// Records that an attempt has lost.
  ///
  /// - Parameters:
  ///   - elapsed: The time since the start of the first attempt, in milliseconds.
  ///   - random: A function that returns a random number of a range.
  /// - Returns: The time to wait in milliseconds; nil to give up.
  mutating func next(elapsed: Int, random: (ClosedRange<Int>) -> Int) -> Int? {
    attempts += 1
    guard elapsed < timeout else { return nil }
    let longest = min(PushRetry.longestWait, PushRetry.firstWait << min(attempts - 1, 10))
    return random(5...longest)
  }
}
