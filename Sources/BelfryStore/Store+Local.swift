import Git

/// What other parts of Belfry keep on this device beside the store: never in a commit, never synced.
extension Store {
  /// The folder of it, for its owner alone to enter.
  public var localFolder: String { local.folder }

  /// Runs while this process alone may change what lies under a name there.
  ///
  /// Throws `StoreError.locked` when another does for too long.
  public func withLocalLock<Result>(
    _ name: String, _ body: () throws -> Result
  ) throws -> Result {
    let lock = try StoreLock(
      "\(local.folder)/\(name).lock", holder: context.process, patience: context.patience)
    defer { withExtendedLifetime(lock) {} }
    return try body()
  }
}
