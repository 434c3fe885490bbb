import Glibc
import Synchronization
import SystemPackage

/// Writes lines into a pipe in order, without ever making their senders wait for the reader.
///
/// A pipe takes 64 KiB; who writes more blocks until somebody reads. A thread of its own blocks here.
final class PipeWriter: Sendable {
  private let file: FileDescriptor
  private let worker = BlockingWorker()
  private let failed: @Sendable () -> Void

  /// - Parameters:
  ///   - file: the end to write to. It stays open.
  ///   - failed: is called when a line could not be written, as nobody reads any more.
  init(_ file: FileDescriptor, failed: @escaping @Sendable () -> Void = {}) {
    self.file = file
    self.failed = failed
  }

  /// Writes a line after all that were sent before it.
  func send(_ line: String) {
    worker.enqueue { [file, failed] in
      let bytes = Array(line.utf8) + [UInt8(ascii: "\n")]
      do {
        _ = try file.writeAll(bytes)
      } catch {
        failed()
      }
    }
  }

  /// Waits until everything that was sent is written; returns false when the reader takes longer.
  func flush(within limit: Duration) async -> Bool {
    await worker.start {}.value(within: limit) != nil
  }
}
