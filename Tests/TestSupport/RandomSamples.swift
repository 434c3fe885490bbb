import Glibc

/// The sizes of randomized tests.
public enum RandomSamples {
  /// The factor in the environment variable `BELFRY_TEST_SAMPLES`, for runs that search longer; 1 by default.
  private static let factor = {
    let text = getenv("BELFRY_TEST_SAMPLES").map { String(cString: $0) }
    return max(1, text.flatMap { Int($0) } ?? 1)
  }()

  /// Returns the seeds of a test that has `count` samples by default.
  public static func seeds(_ count: Int) -> Range<UInt64> { 0..<UInt64(count * factor) }
}
