import Dispatch
import Synchronization

/// Parallel mapping of an index range, on several cores if the range is large enough to benefit.
public enum Chunks {
  /// A threshold for work of at most two microseconds per element. For fewer elements, the start of the threads costs
  /// more than it saves.
  public static let lightWork = 2048

  /// Splits `0..<count` into chunks, maps each of them, and returns the results in order.
  ///
  /// - Parameter threshold: The count below which the caller's thread does all of the work.
  public static func map<Element: Sendable>(
    _ count: Int, parallelFrom threshold: Int = 512,
    _ transform: @Sendable (Range<Int>) -> [Element]
  ) -> [Element] {
    if count < threshold { return transform(0..<count) }
    let chunks = 4
    let size = (count + chunks - 1) / chunks
    let parts = Mutex<[Int: [Element]]>([:])
    DispatchQueue.concurrentPerform(iterations: chunks) { number in
      let part = transform(min(count, number * size)..<min(count, (number + 1) * size))
      parts.withLock { $0[number] = part }
    }
    let found = parts.withLock { $0 }
    return (0..<chunks).flatMap { found[$0] ?? [] }
  }
}
