import BelfryCore
import BelfryStore
import Git
import Glibc

/// A registry of the running hooks, with a file for each. If a daemon is killed, the next one terminates its hooks
/// before it delivers again.
///
/// A file is named after the leader of the hook's process group, and contains the name of the lease owner.
public struct HookRegistry: Sendable {
  /// The folder of the files.
  let folder: String
  /// The process that runs the hooks.
  let leaseOwner: LeaseOwner
  /// Writes and removes the files in order. A disk that hangs delays no alarm.
  private let worker = BlockingWorker()

  /// Returns the folder of a store's registry, in its local state.
  public static func folder(of store: Store) -> String { store.localFolder + "/hooks" }

  /// Creates a registry in a folder.
  public init(folder: String, leaseOwner: LeaseOwner) {
    self.folder = folder
    self.leaseOwner = leaseOwner
  }

  /// The entry of a running hook.
  struct Entry: Sendable {
    /// The path of the file.
    let path: String
    fileprivate let worker: BlockingWorker

    /// Removes the entry.
    func remove() { worker.enqueue { [path] in _ = unlink(path) } }
  }

  /// Registers a process group by its leader. A failure is ignored: the entry matters only if this process is killed.
  func register(_ leader: pid_t) -> Entry {
    let path = "\(folder)/\(LeaseOwner.identity(of: "\(leader)"))"
    worker.enqueue { [folder, leaseOwner] in
      _ = mkdir(folder, 0o700)
      let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard file >= 0 else { return }
      defer { close(file) }
      let text = Array(leaseOwner.name.utf8)
      _ = write(file, text, text.count)
    }
    return Entry(path: path, worker: worker)
  }

  /// Terminates the hooks of lease owners that are no longer alive.
  public func terminateOrphans() {
    for name in DurableFile.names(in: folder) {
      let path = "\(folder)/\(name)"
      guard let owner = DurableFile.firstLine(of: path), !leaseOwner.isAlive(owner) else {
        continue
      }
      // A reused process id has another start time, and so another identity.
      if let leader = name.split(separator: "-").first.flatMap({ pid_t($0) }), leader > 1,
        LeaseOwner.identity(of: "\(leader)") == name
      {
        _ = kill(-leader, SIGTERM)
      }
      Entry(path: path, worker: worker).remove()
    }
  }
}
