import Glibc
import Synchronization
import SystemPackage

/// A writer of lines to a pipe that never blocks its callers.
///
/// A pipe holds 64 KiB. Further writes block a background thread until the reader continues.
final class PipeWriter: Sendable {
  private let file: FileDescriptor
  private let worker = BlockingWorker()
  private let onFailure: @Sendable () -> Void

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - file: the writing end of the pipe. It is not closed.
  ///   - onFailure: called when a line cannot be written, because the reader has closed the pipe.
  init(_ file: FileDescriptor, onFailure: @escaping @Sendable () -> Void = {}) {
    self.file = file
    self.onFailure = onFailure
  }

  /// Enqueues a line. Lines are written in the order in which they were sent.
  func send(_ line: String) {
    worker.enqueue { [file, onFailure] in
      let bytes = Array(line.utf8) + [UInt8(ascii: "\n")]
      do {
        _ = try file.writeAll(bytes)
      } catch {
        onFailure()
      }
    }
  }

  /// Waits until all sent lines are written. Returns false on timeout.
  func flush(within limit: Duration) async -> Bool {
    await worker.start {}.value(within: limit) != nil
  }
}
