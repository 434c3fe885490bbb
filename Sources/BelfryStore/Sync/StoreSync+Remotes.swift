import BelfryCore
import Files
import Git
import Glibc

extension StoreSync {
  /// True if git's configuration contains a remote.
  public var hasRemote: Bool {
    guard let file = (try? DurableFile.read("\(local.gitDirectory)/config", limit: 1 << 20)) ?? nil
    else { return false }
    return file.bytes.firstRange(of: Array("[remote ".utf8)) != nil
  }

  /// The signature of git's configuration of the store, which changes with the remotes; nil if it cannot be read.
  public var configurationSignature: FileSignature? {
    var status = stat()
    guard stat("\(local.commonDirectory)/config", &status) == 0 else { return nil }
    return FileSignature(status)
  }

  /// Returns the commit that the last sync has fetched from a remote, or pushed to it; nil if there was none.
  ///
  /// - Complexity: Reads one or two small files.
  public func fetchedCommit(of remote: String) -> ObjectID? {
    local.readReference("refs/remotes/\(remote)/\(Repository.defaultBranch)")
  }

  /// Returns the store's remotes, sorted by name.
  public func remotes() throws -> [Remote] {
    try repository().remotes()
  }

  /// Adds a remote.
  ///
  /// - Throws: `StoreError.remoteExists`, or `.unsupportedRemote` if the URL is not valid.
  public func addRemote(_ remote: Remote) throws {
    _ = try GitTransport.check(remote.url)
    try store.changeConfiguration { repository in
      guard try !repository.remotes().contains(where: { $0.name == remote.name }) else {
        throw StoreError.remoteExists(remote.name)
      }
      try repository.addRemote(remote)
    }
  }

  /// Removes a remote.
  ///
  /// - Throws: `StoreError.noRemote` if there is none of that name.
  public func removeRemote(_ name: String) throws {
    try store.changeConfiguration { repository in
      guard try repository.remotes().contains(where: { $0.name == name }) else {
        throw StoreError.noRemote(name)
      }
      try repository.removeRemote(name)
    }
  }

  /// Returns the remotes with the given names, or all remotes if `names` is empty.
  ///
  /// - Throws: `StoreError.noRemote`.
  func remotes(named names: [String]) throws -> [Remote] {
    let all = try remotes()
    if names.isEmpty {
      // Without a remote there can still be commits that other devices have pushed here.
      guard !all.isEmpty || hasIncoming else { throw StoreError.noRemote(nil) }
      return all
    }
    var result: [Remote] = []
    for name in names {
      guard let remote = all.first(where: { $0.name == name }) else {
        throw StoreError.noRemote(name)
      }
      if !result.contains(remote) { result.append(remote) }
    }
    return result
  }

  /// Checks that a remote can be reached and is a repository.
  ///
  /// - Throws: `StoreError.remoteFailed`.
  public func reach(_ remote: Remote) async throws {
    try await GitTransport(repository(), remote, context: context).probe()
  }

  // MARK: Incoming commits

  /// The folder of the references to which devices push if they cannot move this store's checked-out branch. Each
  /// device has its own.
  static let incoming = "refs/belfry/incoming/"

  /// True if there may be incoming commits. Lists a folder only.
  var hasIncoming: Bool {
    !DurableFile.names(in: "\(local.gitDirectory)/\(StoreSync.incoming)").isEmpty
  }
}
