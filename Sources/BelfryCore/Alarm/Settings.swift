/// What a person has chosen: most of it for the whole store, on every device; some for this device.
public struct Settings: Hashable, Sendable {
  public enum Tier: String, CaseIterable, Sendable {
    case free, plus, premium

    /// How many alarms a store may have; nil for any number.
    public var alarmLimit: Int? { self == .free ? 2 : nil }
    /// Whether what is stopped stays pending until somebody confirms it.
    public var confirmsCompletion: Bool { self != .free }
    /// Whether partners may set each other alarms.
    public var hasPartners: Bool { self == .premium }
  }

  public var tier: Tier
  /// Whether what rings can be snoozed.
  public var snoozeEnabled: Bool
  /// How long a snooze lasts when none is named, in seconds.
  public var snooze: Int64
  /// When a stopped occurrence asks again.
  public var followUps: FollowUpPlan
  /// How long after its time an occurrence may still ring after downtime, in seconds.
  public var grace: Int64
  /// How long an alarm that is not persistent rings before it counts as missed, in seconds.
  public var ringTimeout: Int64
  /// New alarms keep the time of the place where they were made, instead of that of wherever the device is.
  public var fixedZone: Bool
  /// A skipped occurrence ends a streak.
  public var skipBreaksStreak: Bool
  /// This device: what rings is stopped by holding a key for three seconds.
  public var slideToStop: Bool
  /// This device: the sound of alarms that name none; `none` for silence.
  public var sound: String
  /// This device: sounds begin softly.
  public var soundRising: Bool
  /// This device: nothing moves on the screen.
  public var reducedMotion: Bool

  public init(
    tier: Tier = .free, snoozeEnabled: Bool = true, snooze: Int64 = 9 * 60,
    followUps: FollowUpPlan = .standard, grace: Int64 = 12 * 3600, ringTimeout: Int64 = 30 * 60,
    fixedZone: Bool = false, skipBreaksStreak: Bool = false, slideToStop: Bool = false,
    sound: String = "bell", soundRising: Bool = false,
    reducedMotion: Bool = false
  ) {
    self.reducedMotion = reducedMotion
    self.soundRising = soundRising
    self.tier = tier
    self.snoozeEnabled = snoozeEnabled
    self.snooze = snooze
    self.followUps = followUps
    self.grace = grace
    self.ringTimeout = ringTimeout
    self.fixedZone = fixedZone
    self.skipBreaksStreak = skipBreaksStreak
    self.slideToStop = slideToStop
    self.sound = sound
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
