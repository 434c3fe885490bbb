import Glibc
import Synchronization

/// Cancellation of a command's work by SIGINT, SIGTERM or SIGHUP, so that it can clean up before the process exits.
enum Interruption {
  /// The error thrown when a signal has cancelled the work.
  struct Interrupted: Error {
    let signal: Int32

    /// The exit status in the convention of shells.
    var status: Int32 { 128 + signal }
  }

  private static let received = Atomic<Int32>(0)

  /// The time between two checks for a signal, in milliseconds.
  private static let pollInterval = 50

  /// Runs `body` and cancels it when a signal arrives.
  ///
  /// - Throws: `Interrupted` after a signal, once `body` has returned; otherwise the errors of `body`.
  static func cancelling<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    install()
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        while received.load(ordering: .relaxed) == 0 {
          do {
            try await Task.sleep(for: .milliseconds(pollInterval))
          } catch {
            return nil
          }
        }
        return nil
      }
      let first = try await group.next() ?? nil
      group.cancelAll()
      if let first { return first }
      _ = try? await group.next()
      throw Interrupted(signal: received.load(ordering: .relaxed))
    }
  }

  private static func install() {
    // Initializes the static variable before a handler can access it.
    received.store(0, ordering: .relaxed)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let before = signal(number) { Interruption.received.store($0, ordering: .relaxed) }
      // A signal that the parent process ignores, as nohup does, stays ignored.
      if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
        signal(number, SIG_IGN)
      }
    }
  }
}
