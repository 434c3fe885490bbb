import Glibc

/// Ends the process when something takes for ever, as libgit2 does with a commit that was cut short: what
/// was begun is finished by the next write.
enum Watchdog {
  private static let seconds: UInt32 = 600

  /// Something has gone on: from here it may take as long again.
  static func feed() { alarm(seconds) }

  /// Runs `body`, which may take ten minutes from when something was last seen to go on.
  static func limit<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    // A signal comes even while every thread is busy.
    signal(SIGALRM) { _ in
      let message: StaticString = """
        belfry: this came to no end, and was given up.
        See 'belfry doctor'.

        """
      _ = write(STDERR_FILENO, message.utf8Start, message.utf8CodeUnitCount)
      _exit(1)
    }
    alarm(seconds)
    defer { alarm(0) }
    return try await body()
  }
}
