/// What holds for the whole store, on every device.
public struct Settings: Hashable, Sendable {
  public enum Tier: String, CaseIterable, Sendable { case free, plus, premium }

  public var tier: Tier
  /// How long a snooze lasts when none is named, in seconds.
  public var snooze: Int64
  /// How long after its time an occurrence may still ring after downtime, in seconds.
  public var grace: Int64
  /// How long an alarm that is not persistent rings before it counts as missed, in seconds.
  public var ringTimeout: Int64

  public init(
    tier: Tier = .free, snooze: Int64 = 9 * 60, grace: Int64 = 12 * 3600,
    ringTimeout: Int64 = 30 * 60
  ) {
    self.tier = tier
    self.snooze = snooze
    self.grace = grace
    self.ringTimeout = ringTimeout
  }
}

/// The record behind `Settings`: each key a register of its own.
public struct SettingsRecord: Hashable, Sendable {
  /// Canonical JSON by key, unknown keys included.
  public var values: [String: String]
  public var stamps: [String: Stamp]

  public init(values: [String: String] = [:], stamps: [String: Stamp] = [:]) {
    self.values = values
    self.stamps = stamps
  }
}
