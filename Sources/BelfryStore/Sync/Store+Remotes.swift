import BelfryCore
import Git

extension Store {
  public func remotes() throws -> [Remote] {
    try repository().remotes()
  }

  /// Adds a remote. Throws when there is one of that name, or no way to reach such a URL.
  public func addRemote(_ remote: Remote) throws {
    _ = try GitTransport.check(remote.url)
    try changeConfiguration { repository in
      guard try !repository.remotes().contains(where: { $0.name == remote.name }) else {
        throw StoreError.remoteExists(remote.name)
      }
      try repository.addRemote(remote)
    }
  }

  public func removeRemote(_ name: String) throws {
    try changeConfiguration { repository in
      guard try repository.remotes().contains(where: { $0.name == name }) else {
        throw StoreError.noRemote(name)
      }
      try repository.removeRemote(name)
    }
  }

  /// Sets several values of the configuration of the store's git in one write.
  ///
  /// - Parameter values: the new values by key; nil removes the key.
  public func setGitConfiguration(_ values: [(key: String, value: String?)]) throws {
    try changeConfiguration { try $0.setConfiguration(values) }
  }

  /// Runs a change of git's configuration, which another git may have locked.
  private func changeConfiguration(_ body: (Repository) throws -> Void) throws {
    try locked {
      let repository = try repository()
      try waitingForGit(repository.configurationLock, in: repository) {
        do {
          return try body(repository)
        } catch let error as GitError where error.code == .locked {
          return nil
        }
      }
    }
  }

  /// The remotes of some names; all when none is named.
  ///
  /// Throws `StoreError.noRemote`.
  func remotes(named names: [String]) throws -> [Remote] {
    let all = try remotes()
    if names.isEmpty {
      // Others may reach this store, and leave something.
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

  /// Asks a remote whether it can be reached; throws `StoreError.remoteFailed`.
  public func reach(_ remote: Remote) async throws {
    try await GitTransport(repository(), remote, context: context).probe()
  }

  // MARK: Commits that others left

  /// Where a device that cannot move this store's branch leaves its own: each under its identifier.
  static let incoming = "refs/belfry/incoming/"

  /// Whether somebody may have left something to be taken in. Costs a look at a folder.
  var hasIncoming: Bool {
    !DurableFile.names(in: "\(local.gitDirectory)/\(Store.incoming)").isEmpty
  }
}
