import Glibc
import Synchronization

/// Work on several cores: the mapping of an index range if it is large enough to benefit, or two closures.
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
    let parts = Mutex([[Element]](repeating: [], count: chunks))
    perform(chunks) { number in
      let part = transform(min(count, number * size)..<min(count, (number + 1) * size))
      parts.withLock { $0[number] = part }
    }
    return parts.withLock { $0 }.flatMap { $0 }
  }

  /// Runs two closures, on two cores if a second one is free, and returns when both have ended.
  ///
  /// The closures must not share mutable state.
  ///
  /// - Parameter count: The number of elements of light work. A few of them are not worth a thread, and the closures run one
  ///   after the other.
  public static func both(
    of count: Int = lightWork, _ first: @escaping () -> Void, and second: @escaping () -> Void
  ) {
    if count < lightWork {
      first()
      second()
      return
    }
    // Sound: the closures share no mutable state, and each runs once, on one thread, while the caller waits.
    nonisolated(unsafe) let (first, second) = (first, second)
    perform(2) { $0 == 0 ? first() : second() }
  }

  /// Runs a body for each number below a count, on as many cores as there are, and returns when all have ended.
  ///
  /// Dispatch would go on to wake the process each second.
  private static func perform(_ count: Int, _ body: @Sendable (Int) -> Void) {
    let numbers = Numbers(count)
    withoutActuallyEscaping(body) { body in
      let others = (1..<max(1, min(count, cores))).compactMap { _ in
        BackgroundThread.create { while let number = numbers.next() { body(number) } }
      }
      // Without another thread, this one does all of the work.
      while let number = numbers.next() { body(number) }
      for thread in others { pthread_join(thread, nil) }
    }
  }

  private static let cores = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

  /// The numbers below a count that no thread has taken.
  private final class Numbers: Sendable {
    private let count: Int
    private let taken = Atomic(0)

    init(_ count: Int) { self.count = count }

    func next() -> Int? {
      let number = taken.wrappingAdd(1, ordering: .relaxed).oldValue
      return number < count ? number : nil
    }
  }
}
