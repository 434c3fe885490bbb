import Glibc

/// A detached thread for blocking work, which would otherwise block the thread pool that tasks share.
///
/// Dispatch is no alternative: if the system refuses a thread, it blocks the thread that enqueues the work until the
/// system grants one. With these threads, a daemon whose user may start no process and no thread still tries the
/// terminals, 3 seconds after an alarm is due.
public enum BackgroundThread {
  private final class Work {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  /// Runs `body` in a new thread, or in the calling thread if the system refuses to create one.
  public static func start(_ body: @escaping @Sendable () -> Void) {
    if !tryStart(body) { body() }
  }

  /// Runs `body` in a new thread.
  ///
  /// - Returns: False if the system refuses to create a thread. `body` does not run in that case.
  public static func tryStart(_ body: @escaping @Sendable () -> Void) -> Bool {
    guard let thread = create(body) else { return false }
    pthread_detach(thread)
    return true
  }

  /// Runs `body` in a new thread.
  ///
  /// - Returns: The thread, to be joined. Nil if the system refuses to create one: `body` does not run in that case.
  static func create(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
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
      return nil
    }
    return thread
  }
}
