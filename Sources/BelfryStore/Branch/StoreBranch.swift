import BelfryCore
import Files
import Git
import Glibc

/// The branch of a store: the checked-out branch, or the branch to read while a commit is checked out.
public struct StoreBranch: StorePart {
  let store: Store

  /// The files that git replaces when it moves the checked-out branch, or checks out another one.
  ///
  /// - Complexity: Reads one small file.
  public var files: [String] {
    let common = local.commonDirectory
    let branch = local.headReference.map { "\(common)/\($0)" }
    return [local.gitDirectory + "/HEAD", common + "/packed-refs"] + [branch].compactMap { $0 }
  }

  /// The files of `files`, and git's configuration, which contains the remotes.
  public var filesAndConfiguration: [String] { files + [local.commonDirectory + "/config"] }

  /// The commit of the branch; nil if its files cannot be read.
  public var head: String? {
    (local.readHead() ?? local.readReference("refs/heads/\(Repository.defaultBranch)"))?.description
  }

  /// The time of the latest commit if it is implausibly ahead of the present, so that this device's clock may be behind; nil
  /// otherwise.
  ///
  /// - Complexity: Reads some small files. Once for each commit in a pack, reads the pack and writes a small file.
  public var timeAhead: Instant? {
    headTime.flatMap { $0.isImplausible(at: context.now) ? $0 : nil }
  }

  /// The time of the commit that is checked out; nil if it cannot be read.
  private var headTime: Instant? {
    let checkedOut = local.readHead()
    if let checkedOut {
      if let commit = Commit.loose(checkedOut, in: local.commonDirectory) {
        return Instant(seconds: commit.time)
      }
      if let time = local.notedTime(of: checkedOut) { return time }
    }
    guard let repository = try? repository(),
      let head = (try? repository.commit(of: "HEAD")) ?? nil,
      let commit = try? repository.commit(head)
    else { return nil }
    local.noteTime(of: commit)
    return Instant(seconds: commit.time)
  }

  /// The commit of the checked-out branch if another program has moved it; nil otherwise, and while a commit is checked
  /// out instead of a branch.
  ///
  /// - Complexity: Reads three small files.
  public var movedHead: String? {
    guard let head = local.readHead(), head != local.readSeen() else { return nil }
    return head.description
  }

  /// The checked-out commit; nil if a branch is checked out.
  ///
  /// While a commit is checked out, the store is read-only, and the alarms of the branch ring.
  public var detachedHead: String? { local.readDetachedHead() }

  /// The name of the branch to check out while a commit is checked out; nil if it is unknown.
  ///
  /// This is `main` if it exists, otherwise a branch that contains the commit at which Belfry left the branch.
  public var nameToCheckOut: String? { (try? repository()).flatMap { nameToCheckOut(in: $0) } }

  func nameToCheckOut(in repository: Repository) -> String? {
    let folder = "refs/heads/"
    let main = folder + Repository.defaultBranch
    // A damaged reference counts, because it is the one to repair.
    if repository.referenceFile(main) != nil || ((try? repository.commit(of: main)) ?? nil) != nil {
      return Repository.defaultBranch
    }
    guard let seen = local.readSeen(), let branches = try? repository.references(under: folder)
    else { return nil }
    let holders = branches.filter { (try? repository.isAncestor(seen, of: $0.value)) == true }
    // A branch at exactly that commit takes precedence over branches that have moved on.
    let name = holders.keys.sorted().first { holders[$0] == seen } ?? holders.keys.min()
    return name.map { String($0.dropFirst(folder.count)) }
  }

  /// True during a rebase.
  public var isRebasing: Bool {
    ["rebase-merge", "rebase-apply"].contains { name in
      access("\(local.gitDirectory)/\(name)", F_OK) == 0
    }
  }

  /// Returns all alarms of the branch while an earlier commit is checked out, or nil without such a branch.
  func alarms() throws -> [Alarm]? {
    let repository = try repository()
    guard let head = try headToRead(repository) else { return nil }
    let blobs = try Store.alarms(repository, in: try repository.commit(head).tree)
    return blobs.compactMap { id, blob in
      // An invalid version is left out.
      guard let bytes = try? repository.blob(blob, limit: AlarmRecord.largest) else { return nil }
      return try? AlarmRecord.decode(bytes, id: id, now: context.now)
    }
  }

  /// Returns the commit of the branch to read while an earlier commit is checked out: that of `main`, or the commit at
  /// which Belfry left the branch if it is a descendant.
  private func headToRead(_ repository: Repository) throws -> ObjectID? {
    let head = try repository.commit(of: "refs/heads/\(Repository.defaultBranch)")
    guard let seen = local.readSeen(), (try? repository.commit(seen)) != nil else { return head }
    guard let head else { return seen }
    return (try? repository.isAncestor(head, of: seen)) == true ? seen : head
  }
}

extension Store {
  /// The branch of this store.
  public var branch: StoreBranch { StoreBranch(store: self) }
}

extension LocalState {
  /// The folder that contains the references of branches.
  var commonDirectory: String {
    guard let common = DurableFile.firstLine(of: gitDirectory + "/commondir") else {
      return gitDirectory
    }
    return common.hasPrefix("/") ? common : "\(gitDirectory)/\(common)"
  }

  /// Returns the commit of the checked-out branch, or nil if no branch is checked out or its files cannot be read.
  ///
  /// It doesn't use libgit2, because initializing libgit2 takes longer than most commands.
  func readHead() -> ObjectID? {
    headReference.flatMap(readReference)
  }

  /// The full name of the checked-out branch, such as `refs/heads/main`; nil if no branch is checked out.
  var headReference: String? {
    DurableFile.firstLine(of: gitDirectory + "/HEAD")
      .flatMap { $0.hasPrefix("ref: ") ? String($0.dropFirst(5)) : nil }
  }

  /// Returns the commit of a reference, from its own file or from the packed references.
  func readReference(_ name: String) -> ObjectID? {
    ReferenceFiles.read(name, in: commonDirectory)
  }
}
