import BelfryCore
import BelfryTerminal
import Files
import Glibc

/// The file with the text for prompts of shells, which they read without a process.
///
/// The file is in a folder in memory, so that writes never wait for a disk. It exists only while the daemon runs.
final class PromptFile {
  private let path: String
  private var counts: AttentionCounts?

  /// Creates the file's writer. It writes nothing yet.
  init(_ path: String) { self.path = path }

  /// Writes the text about some numbers of alarms if they have changed. A failure is repeated with the next event.
  func show(_ new: AttentionCounts) {
    guard new != counts else { return }
    let text = StatusLine.prompt(new)
    // A line break at the end, as `read` of shells expects it.
    let bytes = Array((text.isEmpty ? "" : text + "\n").utf8)
    mkdir(DurableFile.parent(of: path), 0o700)
    do throws(FileError) {
      try DurableFile.write(
        bytes, to: path, temporary: "\(path).\(getpid())", mode: 0o600, syncing: false)
      counts = new
    } catch {
      // Alarms ring without the file.
      counts = nil
    }
  }

  /// Removes the file, so that no prompt shows what is no longer true.
  func remove() {
    counts = nil
    unlink(path)
  }
}
