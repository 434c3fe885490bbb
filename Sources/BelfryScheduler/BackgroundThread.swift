import Glibc

/// A thread for blocking work, which would otherwise hold up the pool of threads that all tasks share.
public enum BackgroundThread {
  private final class Work {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  /// Runs `body` in a thread of its own, or on the caller's where the system gives none.
  static func start(_ body: @escaping @Sendable () -> Void) {
    if !tryStart(body) { body() }
  }

  /// Runs `body` in a thread of its own.
  ///
  /// - Returns: False when the system gives no thread. `body` has not run then.
  public static func tryStart(_ body: @escaping @Sendable () -> Void) -> Bool {
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(body))
    let result = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    guard result == 0 else {
      work.release()
      return false
    }
    pthread_detach(thread)
    return true
  }
}
