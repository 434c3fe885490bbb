/// The settings: those of the whole store, which are synced, and those of this device.
public struct Settings: Hashable, Sendable {
  /// A tier, which determines the available features.
  public enum Tier: String, CaseIterable, Sendable {
    /// The tiers in ascending order of their features.
    case free, plus, premium

    /// The maximum number of alarms in a store; nil if there is no limit.
    public var alarmLimit: Int? { self == .free ? 2 : nil }
    /// True if a stopped occurrence stays pending until a user confirms it.
    public var confirmsCompletion: Bool { self != .free }
    /// True if partners can set alarms on each other's devices.
    public var hasPartners: Bool { self == .premium }
  }

  /// The clock of times in text.
  public enum Clock: String, CaseIterable, Sendable {
    /// The clock of the locale.
    case auto
    /// A clock of 12 hours: `9:00 PM`.
    case twelveHour = "12h"
    /// A clock of 24 hours: `21:00`.
    case twentyFourHour = "24h"
  }

  /// The tier of the store.
  public var tier: Tier
  /// True if a ringing alarm can be snoozed.
  public var snoozeEnabled: Bool
  /// The default length of a snooze, in seconds.
  public var snooze: Int64
  /// The follow-up times of alarms that define none.
  public var followUps: FollowUpPlan
  /// The grace period in seconds. After downtime, an occurrence that has been due for longer is missed and does not
  /// ring.
  public var grace: Int64
  /// The ring timeout in seconds. An alarm that is not persistent is missed after ringing for this time.
  public var ringTimeout: Int64
  /// True if new alarms keep the zone in which they are created. Otherwise they are `floating`.
  public var fixedZone: Bool
  /// True if a skipped occurrence ends a streak.
  public var skipBreaksStreak: Bool
  /// The weekdays on which people work, for schedules such as the last workday of a month. At least one.
  public var workdays: WeekdaySet
  /// The times of day that words such as `evening` mean, and that of schedules without one.
  public var dayTimes: DayTimes
  /// This device: true if a ringing alarm is stopped by holding a key for three seconds.
  public var slideToStop: Bool
  /// This device: the sound of alarms that name none; `none` for silence.
  public var sound: String
  /// This device: true if sounds start quietly and become louder.
  public var soundRising: Bool
  /// This device: true if the muted sound output is unmuted for alarms.
  public var unmuteSound: Bool
  /// This device: true if the firing screen opens by itself when an alarm rings.
  public var openScreen: Bool
  /// This device: true if terminals that can do so show notifications on the desktop in front of them.
  public var terminalNotices: Bool
  /// This device: true if animations are disabled.
  public var reducedMotion: Bool
  /// This device: the clock of times in text.
  public var clock: Clock

  /// Creates settings. The defaults are those of a new store.
  public init(
    tier: Tier = .free, snoozeEnabled: Bool = true, snooze: Int64 = 9 * 60,
    followUps: FollowUpPlan = .standard, grace: Int64 = 12 * 3600, ringTimeout: Int64 = 30 * 60,
    fixedZone: Bool = false, skipBreaksStreak: Bool = false,
    workdays: WeekdaySet = WorkCalendar.defaultWorkdays, dayTimes: DayTimes = DayTimes(),
    slideToStop: Bool = false,
    sound: String = "bell", soundRising: Bool = false, unmuteSound: Bool = false,
    openScreen: Bool = false, terminalNotices: Bool = true, reducedMotion: Bool = false,
    clock: Clock = .auto
  ) {
    self.clock = clock
    self.workdays = workdays
    self.dayTimes = dayTimes
    self.reducedMotion = reducedMotion
    self.soundRising = soundRising
    self.unmuteSound = unmuteSound
    self.openScreen = openScreen
    self.terminalNotices = terminalNotices
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

/// The record of `Settings`, in which each key is a last-writer-wins register.
public struct SettingsRecord: Hashable, Sendable {
  /// The values as canonical JSON by key, unknown keys included.
  public var values: [String: String]
  /// The stamp of each key's last edit.
  public var stamps: [String: Stamp]

  /// Creates a record from its values and stamps.
  public init(values: [String: String] = [:], stamps: [String: Stamp] = [:]) {
    self.values = values
    self.stamps = stamps
  }
}
