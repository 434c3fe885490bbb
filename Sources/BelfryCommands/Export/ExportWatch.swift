import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// A file that is written again whenever the store changes, until SIGINT, SIGTERM or SIGHUP.
///
/// It is also written when an alarm's status changes with time, and at midnight. Changes that follow each other quickly
/// are written together.
struct ExportWatch: Sendable {
  /// Returns the command's context and the store, as they are now.
  let open: @Sendable () throws -> (CommandContext, Store)
  /// Writes the file. Returns the time before which it does not change unless the store does; nil if time alone does not
  /// change it.
  let write: @Sendable (CommandContext, Store) throws -> Instant?

  /// The time that changes are collected for.
  private static let delay = Duration.milliseconds(150)
  /// The maximum time between two writes, for clocks that jump.
  private static let maxInterval: Int64 = 3_600_000
  /// The time after which a failed write is repeated.
  private static let retryInterval: Int64 = 30_000

  /// Writes the file now, and then after each change.
  ///
  /// - Throws: The errors of the first write. Later ones are warnings, and the file keeps its last version.
  func run(started: @escaping @Sendable () -> Void) async throws {
    // Subscribed first, so that no change between the first write and the subscription is lost.
    let changes = try StoreChanges(of: open().1)
    let first = try writeOnce()
    started()
    let (wakes, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let watching = Task { for await _ in changes.sets { continuation.yield() } }
    defer { watching.cancel() }
    do {
      try await Interruption.cancelling {
        var interval = first
        var iterator = wakes.makeAsyncIterator()
        while !Task.isCancelled {
          let timer = Task { [interval] in
            try await Task.sleep(for: .milliseconds(interval))
            continuation.yield()
          }
          _ = await iterator.next()
          timer.cancel()
          if Task.isCancelled { break }
          try await Task.sleep(for: ExportWatch.delay)
          interval = self.tryToWrite()
        }
      }
    } catch is Interruption.Interrupted {
      // The regular end.
    }
    withExtendedLifetime(changes) {}
  }

  /// Writes the file. Returns the number of milliseconds until it has to be written again.
  private func writeOnce() throws -> Int64 {
    let (context, store) = try open()
    let validUntil = try write(context, store)
    let now = context.storeContext.now
    let rest = validUntil.map { $0.milliseconds - now.milliseconds } ?? ExportWatch.maxInterval
    // A status can change every second while an alarm rings.
    return min(max(rest, 1000), ExportWatch.maxInterval)
  }

  private func tryToWrite() -> Int64 {
    do {
      return try writeOnce()
    } catch {
      CommandError(error).warn()
      return ExportWatch.retryInterval
    }
  }
}
