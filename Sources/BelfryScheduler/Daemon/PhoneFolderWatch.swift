import CLinux
import Dispatch
import Files
import Glibc

/// A watch of the folder with the phone's tasks. It ends when it is released.
final class PhoneFolderWatch: Sendable {
  private let path: String
  private let inode: UInt64
  /// Sound: the source is only canceled, once, which any thread may do.
  nonisolated(unsafe) private let source: any DispatchSourceRead

  /// Watches a folder; nil if it cannot be watched.
  ///
  /// - Parameter send: is called after changes of files whose names do not begin with a dot, on any thread.
  init?(_ path: String, send: @escaping @Sendable () -> Void) {
    var status = stat()
    let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0 else { return nil }
    let mask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR
    guard inotify_add_watch(descriptor, path, UInt32(mask)) >= 0, stat(path, &status) == 0 else {
      close(descriptor)
      return nil
    }
    self.path = path
    inode = UInt64(status.st_ino)
    source = DispatchSource.makeReadSource(
      fileDescriptor: descriptor, queue: DispatchQueue.global(qos: .userInitiated))
    source.setEventHandler {
      let events = FileEvent.readAll(from: descriptor)
      if events.contains(where: { !$0.name.hasPrefix(".") }) { send() }
    }
    source.setCancelHandler { close(descriptor) }
    source.resume()
  }

  deinit { source.cancel() }

  /// True if the watched folder is still at its path.
  var isInPlace: Bool {
    var status = stat()
    return stat(path, &status) == 0 && UInt64(status.st_ino) == inode
  }
}
