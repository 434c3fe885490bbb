import Git
import Glibc

/// The hooks that run, each noted in a file as long as it does: what a daemon leaves running that was killed is ended by
/// the next one, before it tells people again.
public struct HookNotes: Sendable {
  /// The folder that the notes are in.
  let folder: String
  let keeper: Keeper

  public init(folder: String, keeper: Keeper) {
    self.folder = folder
    self.keeper = keeper
  }

  /// The note of one that runs.
  struct Note {
    let path: String

    func end() { _ = unlink(path) }
  }

  /// Notes a process group by its leader; nil when it cannot be noted, which matters only to whoever is killed.
  func begin(_ leader: pid_t) -> Note? {
    let path = "\(folder)/\(Keeper.identity(of: "\(leader)"))"
    _ = mkdir(folder, 0o700)
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let text = Array(keeper.name.utf8)
    return write(file, text, text.count) == text.count ? Note(path: path) : nil
  }

  /// Ends what processes have left running that died.
  public func endLeftovers() {
    for name in DurableFile.names(in: folder) {
      let path = "\(folder)/\(name)"
      guard let owner = DurableFile.firstLine(of: path), !keeper.isAlive(owner) else { continue }
      // A number that was given to another process since is not the one that was noted.
      if let leader = name.split(separator: "-").first.flatMap({ pid_t($0) }), leader > 1,
        Keeper.identity(of: "\(leader)") == name
      {
        _ = kill(-leader, SIGTERM)
      }
      _ = unlink(path)
    }
  }
}
