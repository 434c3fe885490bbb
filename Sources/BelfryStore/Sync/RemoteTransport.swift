import CLinux
import Git
import Glibc

/// A way to a remote: what it has, and how to move its branch.
protocol RemoteTransport: Sendable {
  /// Brings the remote's branch here. Returns the commit it stands at; nil when it has none.
  func fetch(_ branch: String) throws -> ObjectID?

  /// Moves the remote's branch to a commit that comes after the one fetched last.
  ///
  /// Returns false when somebody else was faster: the branch has moved since, or is being moved.
  func push(_ commit: ObjectID, to branch: String) async throws -> Bool
}

/// A repository on a file system that this machine sees: a path, or a `file://` URL.
struct LocalTransport: RemoteTransport {
  let repository: Repository
  let remote: Remote

  init(_ repository: Repository, _ remote: Remote) throws {
    guard LocalTransport.reaches(remote.url) else {
      throw StoreError.unsupportedRemote(url: remote.url)
    }
    self.repository = repository
    self.remote = remote
  }

  /// An absolute path or a `file://` URL; `host:path` and every other scheme go over a network.
  static func reaches(_ url: String) -> Bool {
    url.hasPrefix("/") || url.hasPrefix("file:///")
  }

  func fetch(_ branch: String) throws -> ObjectID? {
    // libgit2 takes a path that is not there for a URL of an unknown kind. A real URL is its to decode.
    if remote.url.hasPrefix("/"), access(remote.url, F_OK) != 0 {
      throw StoreError.remoteFailed(url: remote.url, reason: "there is no repository")
    }
    let lock = repository.lock(of: "refs/remotes/\(remote.name)/\(branch)")
    var waited = 0
    while true {
      do {
        return try repository.fetch(remote.name, branch: branch)
      } catch  where access(lock, F_OK) == 0 && waited < 2_000 {
        // Another sync is at work on the reference, or one has died there.
        if repository.removeAbandonedLock(lock, olderThan: 0) { continue }
        usleep(20_000)
        waited += 20
      } catch {
        throw StoreError.remoteFailed(url: remote.url, reason: error.message)
      }
    }
  }

  /// Pushes by git itself: libgit2 moves a local remote's branch without comparing, and would lose what
  /// somebody else pushed meanwhile; git locks it, and honours the remote's hooks and rules.
  func push(_ commit: ObjectID, to branch: String) async throws -> Bool {
    let outcome: GitCommand.Outcome
    do {
      outcome = try await GitCommand.run(
        ["push", "--porcelain", "--end-of-options", remote.name, "\(commit):refs/heads/\(branch)"],
        in: repository.workTree)
    } catch is GitCommand.NotFound {
      throw StoreError.gitNotFound
    }
    if outcome.status == 0 { return true }
    let refusal = outcome.output.split(separator: "\n").first { $0.hasPrefix("!") }
    let races = [
      "fetch first", "non-fast-forward", "cannot lock ref", "failed to update ref",
      "incorrect old value",
    ]
    if let refusal, races.contains(where: { refusal.contains($0) || outcome.error.contains($0) }) {
      removeAbandonedLocks(of: branch)
      return false
    }
    let words = outcome.error.split(separator: "\n").first {
      $0.hasPrefix("fatal:") || $0.hasPrefix("error:") || $0.hasPrefix("remote:")
    }
    throw StoreError.remoteFailed(
      url: remote.url,
      reason: (refusal.map { String($0.dropFirst(2)) } ?? words.map(String.init)
        ?? "git push failed")
        .replacing("\t", with: " "))
  }

  /// Takes locks away that a push left in the remote which died.
  private func removeAbandonedLocks(of branch: String) {
    let path = remote.url.hasPrefix("/") ? remote.url : String(remote.url.dropFirst(7))
    guard let other = try? Repository.open(path) else { return }
    // On a disk that other machines share their processes cannot be seen.
    let age: Int64 = LocalTransport.isShared(path) ? 120 : 1
    for lock in other.locks(of: "refs/heads/\(branch)") {
      _ = other.removeAbandonedLock(lock, olderThan: age)
    }
  }

  /// Whether a path is on a file system that other machines may write to.
  private static func isShared(_ path: String) -> Bool {
    let kind = belfry_file_system(path)
    guard kind >= 0 else { return true }
    // NFS, SMB, CIFS, SMB2, FUSE, 9P, Ceph, AFS: linux/magic.h.
    let shared: Set<UInt32> = [
      0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x0102_1997, 0x00C3_6400, 0x5346_414F,
    ]
    return shared.contains(UInt32(truncatingIfNeeded: kind))
  }
}
