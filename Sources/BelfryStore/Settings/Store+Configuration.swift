import BelfryCore
import Git

extension Store {
  /// Sets several values of the configuration of the store's git in one write.
  ///
  /// - Parameter values: the new values by key; nil removes the key.
  public func setGitConfiguration(_ values: [(key: String, value: String?)]) throws {
    try changeConfiguration { try $0.setConfiguration(values) }
  }

  /// Changes git's configuration. Waits while another git has it locked, and removes a stale lock.
  ///
  /// - Parameter body: the change. It runs again after it has failed because of the lock.
  /// - Throws: `StoreError.gitBusy` after `lockTimeout`.
  func changeConfiguration(_ body: (Repository) throws -> Void) throws {
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
}
