import Files
import Glibc

/// The mark of a process that shows on its terminal everything that rings in a store: it has the store's folder open.
public final class ScreenMark: Sendable {
  private let folder: Int32

  /// Marks this process. Without a mark, for example because the store's folder is missing, a notification is shown on
  /// the terminal in another way.
  public init(store: String) {
    folder = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  }

  deinit {
    if folder >= 0 { close(folder) }
  }

  /// Returns true if a process has the mark of a store. The files of another user's process cannot be read.
  static func isSet(by process: Int32, store: String) -> Bool {
    guard let folder = FileIdentity(store) else { return false }
    let files = "/proc/\(process)/fd"
    return DurableFile.names(in: files).contains { FileIdentity("\(files)/\($0)") == folder }
  }
}
