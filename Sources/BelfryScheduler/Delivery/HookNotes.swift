import Git
import Glibc

/// The hooks that run, each noted in a file as long as it does: what a daemon leaves running that was killed is ended by
/// the next one, before it tells people again.
public struct HookNotes: Sendable {
  /// The folder that the notes are in.
  let folder: String
  let leaseOwner: LeaseOwner
  /// Writes and removes the notes in order: a disk that hangs holds back no alarm.
  private let worker = BlockingWorker()

  public init(folder: String, leaseOwner: LeaseOwner) {
    self.folder = folder
    self.leaseOwner = leaseOwner
  }

  /// The note of one that runs.
  struct Note: Sendable {
    let path: String
    fileprivate let worker: BlockingWorker

    func end() { worker.enqueue { [path] in _ = unlink(path) } }
  }

  /// Notes a process group by its leader. One that cannot be noted matters only to whoever is killed.
  func begin(_ leader: pid_t) -> Note {
    let path = "\(folder)/\(LeaseOwner.identity(of: "\(leader)"))"
    worker.enqueue { [folder, leaseOwner] in
      _ = mkdir(folder, 0o700)
      let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard file >= 0 else { return }
      defer { close(file) }
      let text = Array(leaseOwner.name.utf8)
      _ = write(file, text, text.count)
    }
    return Note(path: path, worker: worker)
  }

  /// Ends what processes have left running that died.
  public func endLeftovers() {
    for name in DurableFile.names(in: folder) {
      let path = "\(folder)/\(name)"
      guard let owner = DurableFile.firstLine(of: path), !leaseOwner.isAlive(owner) else {
        continue
      }
      // A number that was given to another process since is not the one that was noted.
      if let leader = name.split(separator: "-").first.flatMap({ pid_t($0) }), leader > 1,
        LeaseOwner.identity(of: "\(leader)") == name
      {
        _ = kill(-leader, SIGTERM)
      }
      Note(path: path, worker: worker).end()
    }
  }
}
