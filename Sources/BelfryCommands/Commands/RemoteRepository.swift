import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Git

/// The repository of a new remote at a path: on another disk, or a shared folder.
struct RemoteRepository {
  private let url: RemoteURL
  private let path: String
  private let state: LocalRemote

  /// Looks at the path of a remote. Returns nil for a remote with a host, and for one that is not valid.
  init?(_ remote: Remote) {
    guard let url = try? RemoteURL(remote.url), let state = LocalRemote(url) else { return nil }
    self.url = url
    self.state = state
    path = Printable.text(url.repositoryPath ?? remote.url)
  }

  /// Creates the repository if there is none, and the user wants it.
  ///
  /// - Parameters:
  ///   - isWanted: The value of `--create`.
  ///   - canAsk: True if the user can be asked.
  /// - Returns: True if it was created.
  /// - Throws: `CommandError` if something else is at the path.
  func create(isWanted: Bool, canAsk: Bool) throws -> Bool {
    switch state {
    case .repository, .unreadable: return false
    case .missing, .emptyFolder:
      if !isWanted, !canAsk { try ChildOfScreen.requireTerminal() }
      let isAccepted = isWanted || (canAsk && isConfirmed())
      guard isAccepted else {
        warn()
        return false
      }
      do throws(GitError) {
        try LocalRemote.create(url)
      } catch {
        throw CommandError("the repository was not created", causedBy: error)
      }
      return true
    case .missingParent(let parent):
      guard isWanted else {
        warn()
        return false
      }
      throw CommandError(
        .failed, "there is no folder \(Printable.text(parent)).",
        hint:
          "If it is on another disk, mount that. Otherwise create it: mkdir -p \(Printable.text(parent))"
      )
    case .otherFolder:
      throw CommandError(
        .usage, "\(path) is not a git repository, and contains other files.",
        hint: "Name a new folder in it: \(path)/belfry.git")
    case .file:
      throw CommandError(
        .usage, "\(path) is a file, not a git repository.", hint: "Name a folder.")
    }
  }

  private func isConfirmed() -> Bool {
    Console.prompt("There is no repository at \(path). Create it?")
    return Console.confirmed()
  }

  /// Warns that a sync will fail as long as there is no repository.
  private func warn() {
    CommandDiagnostic.warn(
      "there is no repository at \(path) yet.",
      hints: ["If its disk is mounted, create it: git init --bare -b main \(path)"])
  }
}
