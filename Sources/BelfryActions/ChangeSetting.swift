import BelfryCore
import BelfryStore

/// The change of a setting that all devices share.
public struct ChangeSetting {
  /// The setting.
  public let setting: Setting
  /// The new value; nil for the default.
  public let value: Setting.Value?

  /// Creates the change of a setting.
  public init(_ setting: Setting, to value: Setting.Value?) {
    self.setting = setting
    self.value = value
  }

  /// The result of the change.
  public struct Result {
    /// The value after the change.
    public let value: Setting.Value
    /// The pending occurrences that a change to a tier without pending completes.
    public let completed: [(alarm: Alarm, occurrence: CivilDateTime)]
  }

  /// Returns the result that the change would have. Nothing is recorded.
  public func preview(in store: Store) throws -> Result { try run(in: store, isDryRun: true) }

  /// Changes the setting, in one commit.
  ///
  /// - Throws: `StoreError.badRecord` if the settings file is not valid.
  public func perform(in store: Store) throws -> Result { try run(in: store, isDryRun: false) }

  private func run(in store: Store, isDryRun: Bool) throws -> Result {
    let completed = try store.set(setting, to: value, isDryRun: isDryRun)
    return Result(value: value ?? Settings()[keyPath: setting.value], completed: completed)
  }
}
