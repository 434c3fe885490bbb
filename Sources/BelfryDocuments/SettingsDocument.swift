import BelfryCore
import BelfryScheduler
import BelfryStore

/// Settings, by their names: the document of `settings`, and with one of them that of `settings get`, `set` and `unset`.
package struct SettingsDocument: JSONDocument {
  /// The tier: `free`, `plus` or `premium`.
  private(set) var tier: String?
  /// True if alarms can be snoozed.
  private(set) var snoozeEnabled: Bool?
  /// The length of a snooze, in seconds.
  private(set) var snooze: Int64?
  /// The times of follow-ups after a stop, in seconds, ascending.
  private(set) var followUps: [Int64]?
  /// The time after which an occurrence that never rang is missed, in seconds.
  private(set) var grace: Int64?
  /// The time after which an unanswered ringing occurrence is missed, in seconds.
  private(set) var ringTimeout: Int64?
  /// True if new alarms keep the time zone in which they were made.
  private(set) var fixedZone: Bool?
  /// True if a skipped occurrence ends a streak.
  private(set) var skipBreaksStreak: Bool?
  /// The weekdays on which people work, such as `["mon", "fri"]`.
  private(set) var workdays: [String]?
  /// The time of schedules that name none, such as `09:00`; `now` for the time at which they are typed.
  private(set) var defaultTime: String?
  /// The time of `morning`, or `none`.
  private(set) var morning: String?
  /// The time of `noon`.
  private(set) var noon: String?
  /// The time of `afternoon`, or `none`.
  private(set) var afternoon: String?
  /// The time of `evening` and of the end of a day, or `none`.
  private(set) var evening: String?
  /// The time of `night`, or `none`.
  private(set) var night: String?
  /// True if a key must be held to stop an alarm on this device.
  private(set) var slideToStop: Bool?
  /// The sound of this device, or `none`.
  private(set) var sound: String?
  /// True if sounds start softly on this device.
  private(set) var soundRising: Bool?
  /// True if the muted sound output of this device is unmuted for alarms.
  private(set) var unmuteSound: Bool?
  /// True if the firing screen opens by itself on this device.
  private(set) var openScreen: Bool?
  /// True if terminals of this device that can do so show notifications on the desktop.
  private(set) var terminalNotices: Bool?
  /// True if animations are disabled on this device.
  private(set) var reducedMotion: Bool?
  /// The clock of times in text on this device: `auto`, `12h` or `24h`.
  private(set) var clock: String?
  /// The channel that shows notifications; only for all settings.
  let notifications: Notifications?
  /// The names of the remotes; only for all settings.
  let remotes: [String]?

  /// The state of notifications.
  package struct Notifications: Encodable {
    /// True if a channel shows notifications.
    let reachable: Bool
    /// The channel, or the reason why there is none, as text.
    let detail: String

    package init(reachable: Bool, detail: String) {
      self.reachable = reachable
      self.detail = detail
    }
  }

  /// Creates the document of all settings.
  package init(_ settings: Settings, notifications: Notifications, remotes: [String]) {
    self.notifications = notifications
    self.remotes = remotes
    for setting in Setting.allCases { set(setting, to: settings[keyPath: setting.value]) }
  }

  /// Creates the document of one setting.
  package init(_ setting: Setting, _ value: Setting.Value) {
    notifications = nil
    remotes = nil
    set(setting, to: value)
  }

  private mutating func set(_ setting: Setting, to value: Setting.Value) {
    switch setting {
    case .tier: tier = value.name
    case .snoozeEnabled: snoozeEnabled = value.flag
    case .snooze: snooze = value.seconds
    case .followUps: followUps = value.followUps
    case .grace: grace = value.seconds
    case .ringTimeout: ringTimeout = value.seconds
    case .fixedZone: fixedZone = value.flag
    case .skipBreaksStreak: skipBreaksStreak = value.flag
    case .workdays: workdays = value.weekdays
    case .defaultTime: defaultTime = value.name
    case .morning: morning = value.name
    case .noon: noon = value.name
    case .afternoon: afternoon = value.name
    case .evening: evening = value.name
    case .night: night = value.name
    case .slideToStop: slideToStop = value.flag
    case .sound: sound = value.name
    case .soundRising: soundRising = value.flag
    case .unmuteSound: unmuteSound = value.flag
    case .openScreen: openScreen = value.flag
    case .terminalNotices: terminalNotices = value.flag
    case .reducedMotion: reducedMotion = value.flag
    case .clock: clock = value.name
    }
  }
}

extension Setting.Value {
  fileprivate var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
  fileprivate var seconds: Int64? { if case .seconds(let seconds) = self { seconds } else { nil } }
  fileprivate var name: String? { if case .word(let name) = self { name } else { nil } }
  fileprivate var weekdays: [String]? {
    if case .weekdays(let days) = self { days.days.map(\.abbreviation) } else { nil }
  }
  fileprivate var followUps: [Int64]? {
    if case .plan(let plan) = self { plan.seconds } else { nil }
  }
}

/// The tier: the document of `tier`.
package struct TierDocument: JSONDocument {
  /// The name: `free`, `plus` or `premium`.
  let tier: String
  /// The maximum number of alarms; absent if there is none.
  let alarmLimit: Int?
  /// True if a stopped occurrence is pending until it is confirmed.
  let confirmsCompletion: Bool
  /// The pending occurrences that the change of the tier has completed; absent if there are none.
  let completed: [Completed]?

  /// A completed occurrence.
  package struct Completed: Encodable {
    /// The id of the alarm.
    let alarm: String
    /// The occurrence.
    let occurrence: String
  }

  package init(_ tier: Settings.Tier, completed: [(alarm: Alarm, occurrence: CivilDateTime)]) {
    self.tier = tier.rawValue
    alarmLimit = tier.alarmLimit
    confirmsCompletion = tier.confirmsCompletion
    self.completed =
      completed.isEmpty
      ? nil
      : completed.map {
        Completed(alarm: $0.alarm.id.text, occurrence: $0.occurrence.description)
      }
  }
}

/// A sound: an element of `sounds`.
package struct SoundDocument: JSONDocument {
  /// The name.
  let name: String
  /// A description.
  let summary: String
  /// True for the sound of this device.
  let chosen: Bool

  package init(name: String, summary: String, chosen: Bool) {
    self.name = name
    self.summary = summary
    self.chosen = chosen
  }
}

/// A sound that was played: the document of `sounds play`.
package struct PlayedSoundDocument: JSONDocument {
  /// The name.
  let played: String

  package init(played: String) {
    self.played = played
  }
}

/// A part of the terminal output: an element of `catalog`, a string.
package struct CatalogPartDocument: JSONDocument {
  /// The name of the part.
  let name: String

  package init(name: String) {
    self.name = name
  }

  package func encode(to encoder: any Encoder) throws { try name.encode(to: encoder) }
}
