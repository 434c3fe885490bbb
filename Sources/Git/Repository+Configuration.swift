import CLibgit2
import Files

/// git's configuration.
extension Repository {
  /// Returns a value of git's configuration: the repository's own, the user's or the system's. Nil if it is not set.
  public func configuration(_ key: String) throws(GitError) -> String? {
    try withConfiguration { config throws(GitError) in
      var value: UnsafePointer<CChar>?
      guard git_config_get_string(&value, config, key) == 0, let value else { return nil }
      return String(cString: value)
    }
  }

  /// The lock file of the configuration.
  public var configurationLock: String { commonDirectory + "config.lock" }

  /// Sets several values of the repository's own configuration in one write: a crash leaves all of them changed, or none.
  ///
  /// - Parameter values: the new values by key; nil removes every value of the key.
  /// - Throws: `GitError` with the code `locked` while another process changes the configuration.
  public func setConfiguration(_ values: [(key: String, value: String?)]) throws(GitError) {
    let operation = "change git's configuration"
    try withLocalConfiguration { local throws(GitError) in
      var transaction: OpaquePointer?
      try GitError.check(git_config_lock(&transaction, local), operation)
      // Releases the lock without a write unless the changes were committed.
      defer { git_transaction_free(transaction) }
      for (key, value) in values {
        guard let value else {
          let code = git_config_delete_multivar(local, key, ".*")
          if code != GIT_ENOTFOUND.rawValue { try GitError.check(code, operation) }
          continue
        }
        try GitError.check(git_config_set_string(local, key, value), operation)
      }
      try GitError.check(git_transaction_commit(transaction), operation)
    }
    // An error is ignored: the change was made, and the file can be a link.
    try? DurableFile.sync(commonDirectory + "config")
    try? DurableFile.syncFolder(of: commonDirectory + "config")
  }

  /// An entry of git's configuration. The value is nil for a key without `=`.
  typealias ConfigurationEntry = (key: String, value: String?)

  /// Returns the entries of git's configuration (the repository's, the user's and the system's) whose keys start with one
  /// of the prefixes, in order.
  func configuration(under prefixes: [String]) throws(GitError) -> [ConfigurationEntry] {
    try withConfiguration { config throws(GitError) in
      try Repository.entries(of: config, under: prefixes)
    }
  }

  /// Returns the entries of the repository's own configuration whose keys start with one of the prefixes, in order.
  func localConfiguration(under prefixes: [String]) throws(GitError) -> [ConfigurationEntry] {
    try withLocalConfiguration { local throws(GitError) in
      try Repository.entries(of: local, under: prefixes)
    }
  }

  private static func entries(
    of config: OpaquePointer?, under prefixes: [String]
  ) throws(GitError) -> [ConfigurationEntry] {
    var iterator: OpaquePointer?
    try GitError.check(git_config_iterator_new(&iterator, config), "read git's configuration")
    defer { git_config_iterator_free(iterator) }
    var result: [ConfigurationEntry] = []
    var entry: UnsafeMutablePointer<git_config_entry>?
    while git_config_next(&entry, iterator) == 0, let current = entry?.pointee {
      let key = String(cString: current.name)
      guard prefixes.contains(where: { key.hasPrefix($0) }) else { continue }
      result.append((key, current.value.map { String(cString: $0) }))
    }
    return result
  }

  /// Calls a closure with a snapshot of the configuration.
  private func withConfiguration<Result: Sendable>(
    _ body: (OpaquePointer?) throws(GitError) -> Result
  ) throws(GitError) -> Result {
    try with { repository throws(GitError) in
      var config: OpaquePointer?
      try GitError.check(
        git_repository_config_snapshot(&config, repository), "read git's configuration")
      defer { git_config_free(config) }
      return try body(config)
    }
  }

  /// Calls a closure with the repository's own configuration.
  private func withLocalConfiguration<Result: Sendable>(
    _ body: (OpaquePointer?) throws(GitError) -> Result
  ) throws(GitError) -> Result {
    try with { repository throws(GitError) in
      var (config, local): (OpaquePointer?, OpaquePointer?)
      try GitError.check(git_repository_config(&config, repository), "read git's configuration")
      defer { git_config_free(config) }
      try GitError.check(
        git_config_open_level(&local, config, GIT_CONFIG_LEVEL_LOCAL), "read git's configuration")
      defer { git_config_free(local) }
      return try body(local)
    }
  }
}
