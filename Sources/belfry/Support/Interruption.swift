import Glibc
import Synchronization

/// Cancellation of a command's work by SIGINT, SIGTERM or SIGHUP, so that it ends what it has started before the
/// process does.
enum Interruption {
  /// Thrown when a signal has cancelled the work.
  struct Interrupted: Error {
    let signal: Int32

    /// The exit status as a shell has it.
    var status: Int32 { 128 + signal }
  }

  private static let received = Atomic<Int32>(0)

  /// Between two looks at whether a signal has come, in milliseconds.
  private static let spacing = 50

  /// Runs `body`, and cancels it when a signal arrives.
  ///
  /// - Throws: `Interrupted`, once `body` has returned after a signal; else what `body` throws.
  static func cancelling<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    install()
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        while received.load(ordering: .relaxed) == 0 {
          do {
            try await Task.sleep(for: .milliseconds(spacing))
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
    // Initialized before a handler can be the first to touch it.
    received.store(0, ordering: .relaxed)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let before = signal(number) { Interruption.received.store($0, ordering: .relaxed) }
      // Ignored by whoever started this process, as by nohup: it stays ignored.
      if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
        signal(number, SIG_IGN)
      }
    }
  }
}
