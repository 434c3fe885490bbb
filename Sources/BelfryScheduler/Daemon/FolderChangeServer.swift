import BelfryStore
import Git
import Glibc

/// The socket at which the daemon answers which files in `alarms` have changed. See `FolderChanges`.
struct FolderChangeServer {
  /// The descriptor of the socket.
  let descriptor: Int32

  /// Creates the socket. Returns nil if that fails; commands then look at all files.
  ///
  /// - Parameter folder: the folder of the store's local state.
  init?(_ folder: String) {
    let type = SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    descriptor = socket(AF_UNIX, Int32(type), 0)
    guard descriptor >= 0 else { return nil }
    _ = unlink("\(folder)/\(FolderChanges.socketName)")
    let isBound = LocalSocketAddress.with(FolderChanges.socketName, in: folder) {
      bind(descriptor, $0, $1) == 0
    }
    guard isBound == true else {
      close(descriptor)
      return nil
    }
  }

  /// Answers all waiting questions.
  func answer(_ changes: (FolderChanges.Question) -> FolderChanges?) {
    var bytes = [UInt8](repeating: 0, count: 64)
    while true {
      var sender = sockaddr_un()
      var length = socklen_t(MemoryLayout<sockaddr_un>.size)
      let count = withUnsafeMutablePointer(to: &sender) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          recvfrom(descriptor, &bytes, bytes.count, 0, $0, &length)
        }
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      guard let question = FolderChanges.Question(Array(bytes.prefix(count))) else { continue }
      // Any bytes that are no answer end the wait.
      let answer = changes(question)?.bytes ?? [0]
      withUnsafePointer(to: &sender) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          // A command that has ended meanwhile is no error.
          _ = sendto(
            descriptor, answer, answer.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL), $0, length)
        }
      }
    }
  }
}
