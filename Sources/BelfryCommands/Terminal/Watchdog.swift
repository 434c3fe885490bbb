import Glibc

/// A timer that ends the process if its work hangs, as libgit2 does with a truncated commit.
///
/// The next write completes an interrupted one.
enum Watchdog {
  /// The timeout without progress, in seconds.
  private static let timeout: UInt32 = 600

  /// Restarts the timeout after progress.
  static func feed() { alarm(timeout) }

  /// Runs `body` with the timeout.
  static func limit<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    // A signal, as it arrives even if every thread is blocked.
    signal(SIGALRM) { _ in
      let message: StaticString = """
        error: timed out after 10 min without progress.
        hint: Find the cause: belfry doctor

        """
      _ = write(STDERR_FILENO, message.utf8Start, message.utf8CodeUnitCount)
      _exit(1)
    }
    alarm(timeout)
    defer { alarm(0) }
    return try await body()
  }
}
