import Dispatch
import Synchronization

/// Parallel mapping of an index range, on several cores if the range is large enough to benefit.
public enum Chunks {
  /// The size of a range below which the caller's thread does all of the work.
  private static let parallelThreshold = 512

  /// Splits `0..<count` into chunks, maps each of them, and returns the results in order.
  public static func map<Element: Sendable>(
    _ count: Int, _ transform: @Sendable (Range<Int>) -> [Element]
  ) -> [Element] {
    if count < parallelThreshold { return transform(0..<count) }
    let chunks = 4
    let size = (count + chunks - 1) / chunks
    let parts = Mutex<[Int: [Element]]>([:])
    DispatchQueue.concurrentPerform(iterations: chunks) { number in
      let part = transform((number * size)..<min(count, (number + 1) * size))
      parts.withLock { $0[number] = part }
    }
    let found = parts.withLock { $0 }
    return (0..<chunks).flatMap { found[$0] ?? [] }
  }
}
