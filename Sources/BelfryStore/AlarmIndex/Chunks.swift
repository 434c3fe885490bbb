import Dispatch
import Synchronization

/// Work on many things, on all cores when they are many enough to be worth it.
public enum Chunks {
  /// Fewer than this are done at once by whoever asks.
  private static let smallest = 512

  /// Maps the ranges that `0..<count` is cut into, and returns the results in order.
  public static func map<Element: Sendable>(
    _ count: Int, _ transform: @Sendable (Range<Int>) -> [Element]
  ) -> [Element] {
    if count < smallest { return transform(0..<count) }
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
