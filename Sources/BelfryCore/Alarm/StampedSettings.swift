/// The settings of the store, with the stamps of their latest changes.
public struct StampedSettings: Sendable {
  /// The values. Those of this device alone are the defaults.
  public let values: Settings
  /// The stamps. A setting that was never changed has none.
  public let stamps: [Setting: Stamp]

  /// Creates settings from their parts.
  public init(_ values: Settings = Settings(), stamps: [Setting: Stamp] = [:]) {
    self.values = values
    self.stamps = stamps
  }
}
