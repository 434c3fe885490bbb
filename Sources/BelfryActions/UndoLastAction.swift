import BelfryStore

/// The taking back of a person's latest undo on this device, if no action follows it.
public struct RedoLastUndo {
  /// Creates the taking back.
  public init() {}

  /// Returns the result that it would have. Nothing is recorded.
  public func preview(in store: Store) throws -> Undone { try store.history.redo(isDryRun: true) }

  /// Takes back the undo, as a new commit.
  ///
  /// - Throws: `StoreError.nothingToRedo`, `.notUndone`, `.settingChangedSince`, `.calendarChangedSince` or
  ///   `.alarmLimit`.
  public func perform(in store: Store) throws -> Undone { try store.history.redo() }
}

/// The undoing of a person's latest action on this device that is not yet undone.
public struct UndoLastAction {
  private let skipping: Int

  /// Creates the undoing.
  ///
  /// - Parameter skipping: The number of latest actions to keep.
  public init(skipping: Int = 0) { self.skipping = skipping }

  /// Returns the result that the undoing would have. Nothing is recorded.
  public func preview(in store: Store) throws -> Undone {
    try store.history.undo(skipping: skipping, isDryRun: true)
  }

  /// Undoes the action, as a new commit.
  ///
  /// - Throws: `StoreError.nothingToUndo`, `.cannotBeUndone`, `.notUndone`, `.settingChangedSince`,
  ///   `.calendarChangedSince` or `.alarmLimit`.
  public func perform(in store: Store) throws -> Undone {
    try store.history.undo(skipping: skipping)
  }
}
