import BelfryStore
import CLinux
import Git
import Glibc

/// The watch of a remote on this machine's file systems with inotify.
struct FolderWatch: Sendable {
  /// The path of the remote.
  let path: String
  /// The branch.
  let branch: String

  /// Watches the remote until its repository is missing or the task is canceled.
  func run(_ report: @escaping @Sendable (ObjectID?) -> Void) async -> RemoteWatchEnd {
    guard let folder = RepositoryFolder(path) else { return .lost }
    // inotify reports no changes by other machines.
    guard !folder.isShared, folder.hasFileReferences else { return .unavailable }
    guard let events = FolderEvents(folder, branch: branch) else { return .lost }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        BackgroundThread.start {
          var last: ObjectID??
          repeat {
            let head = folder.head(of: branch)
            if last != .some(head) { report(head) }
            last = .some(head)
          } while events.wait()
          continuation.resume()
        }
      }
    } onCancel: {
      events.stop()
    }
    return .lost
  }
}

/// The changes of a branch's files in a repository.
private final class FolderEvents: Sendable {
  private let inotify: Int32
  /// The pipe that ends a wait.
  private let reading: Int32
  private let writing: Int32
  /// The watch of the folder of branches.
  private let branches: Int32
  private let branch: String

  init?(_ folder: RepositoryFolder, branch: String) {
    self.branch = branch
    var ends: [Int32] = [-1, -1]
    guard pipe2(&ends, O_NONBLOCK | O_CLOEXEC) == 0 else { return nil }
    (reading, writing) = (ends[0], ends[1])
    inotify = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    let changes = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR
    let own = IN_MOVE_SELF | IN_DELETE_SELF
    branches = inotify_add_watch(
      inotify, folder.path + "/refs/heads", UInt32(changes | own))
    let root = inotify_add_watch(inotify, folder.path, UInt32(changes | own))
    // The descriptors are closed by `deinit`.
    if branches < 0 || root < 0 { return nil }
  }

  deinit {
    for descriptor in [inotify, reading, writing] where descriptor >= 0 { close(descriptor) }
  }

  /// Ends the current wait and all later ones.
  func stop() {
    var byte: UInt8 = 0
    _ = write(writing, &byte, 1)
  }

  /// Blocks until the branch may have changed. Returns false if the repository is gone, or after `stop()`.
  func wait() -> Bool {
    while true {
      var descriptors = [inotify, reading].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      if poll(&descriptors, 2, -1) < 0 {
        if errno == EINTR { continue }
        return false
      }
      if descriptors[1].revents != 0 { return false }
      switch read() {
      case .gone: return false
      case .changed: return true
      case .other: continue
      }
    }
  }

  private enum Change { case changed, gone, other }

  private func read() -> Change {
    var result = Change.other
    for event in FileEvent.read(from: inotify) {
      if event.mask & UInt32(IN_IGNORED | IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT) != 0 {
        return .gone
      }
      // git renames a lock file to its target, which inotify reports under the name of the target.
      let isBranch = event.watch == branches && event.name == branch
      if isBranch || event.watch != branches && event.name == "packed-refs"
        || event.mask & UInt32(IN_Q_OVERFLOW) != 0
      {
        result = .changed
      }
    }
    return result
  }
}
