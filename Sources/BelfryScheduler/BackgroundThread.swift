import Glibc

/// A thread for what blocks: the pool that tasks share has as many threads as the machine has cores, and one that
/// waits is one that nobody else has.
enum BackgroundThread {
  private final class Work {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  /// Runs `body` in a thread of its own.
  static func start(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(body))
    let result = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    if result == 0 {
      pthread_detach(thread)
    } else {
      // No thread is to be had: the caller does it itself.
      work.takeRetainedValue().body()
    }
  }
}
