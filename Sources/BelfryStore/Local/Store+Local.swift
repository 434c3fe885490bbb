import Files

/// The local state that other modules keep with the store. It is never committed or synced.
extension Store {
  /// The folder of the local state. Only its owner can enter it.
  public var localFolder: String { local.folder }

  /// Runs `body` under the lock of a part of the local state.
  ///
  /// - Throws: `StoreError.locked` after `lockTimeout`, and the errors of `body`.
  public func withLocalLock<Result>(
    _ name: String, _ body: () throws -> Result
  ) throws -> Result {
    let lock = try FileLock(
      "\(local.folder)/\(name).lock", holder: context.process, timeout: context.lockTimeout)
    defer { withExtendedLifetime(lock) {} }
    return try body()
  }
}
