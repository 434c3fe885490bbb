import BelfryCore

/// The record `settings.json`: the settings that all devices share. The file is missing if all have their defaults.
///
/// | key | content |
/// |---|---|
/// | `tier` | `free`, `plus`, `premium` |
/// | `snoozeEnabled`, `fixedZone`, `skipBreaksStreak` | true or false |
/// | `snooze`, `grace`, `ringTimeout` | seconds |
/// | `followUps` | ascending seconds after the stop |
/// | `workdays` | `["mon", "tue", "wed", "thu", "fri"]` |
/// | `defaultTime` | `"09:00"`, or `"now"` |
/// | `morning`, `noon`, `afternoon`, `evening`, `night` | `"19:00"`, or `"none"` |
/// | `partner-<id>` | the limits of a partner, sealed for the devices that have the keys |
/// | `stamps` | the last edit of each key |
///
/// Each key merges by its stamp. Unknown keys are preserved. A device's own settings (`slideToStop`, `sound`) are in
/// a file of the same format in the configuration folder.
public enum SettingsFile: TrackedRecord {
  /// The path within the store.
  public static let path = "settings.json"
  /// The beginning of the keys of sealed values, which belong to partnerships.
  public static let sealedPrefix = "partner-"
  /// The maximum size in bytes. A larger file is rejected unread.
  public static let largest = 64 << 10

  /// Parses a record.
  ///
  /// - Throws: `RecordError` if the record is not valid.
  public static func decode(_ bytes: [UInt8]) throws(RecordError) -> SettingsRecord {
    var reader = try RecordReader(bytes)
    var record = SettingsRecord()
    if var stamps = try reader.nested("stamps") {
      for key in stamps.keys {
        record.stamps[JSON.escaped(key: key)] = try stamps.required(key, \.stamp, "a stamp")
      }
    }
    record.values = reader.remaining()
    // A stamp without a value has no effect.
    record.stamps = record.stamps.filter { record.values[$0.key] != nil }
    for setting in Setting.allCases { _ = try value(of: setting, in: record) }
    return record
  }

  static let stage = ReconcileStage.settings
  static let name = "settings"
  static let action = CommitMessage.settings
  static let location = path
  /// False, because the file is missing if all settings have their defaults.
  static let isRestored = false
  static func committedSignature(_ local: LocalState) -> LocalFile<String?> { local.settings }

  static func decode(
    _ bytes: [UInt8], at path: RecordPath, now: Instant
  ) throws(RecordError) -> SettingsRecord { try decode(bytes) }

  /// Returns the canonical document of a record.
  public static func encode(_ record: SettingsRecord) -> [UInt8] {
    JSON.object(omittingNil: [
      "format": .integer(RecordFormat.current),
      "stamps": record.stamps.isEmpty
        ? nil
        : .object(
          Dictionary(
            uniqueKeysWithValues: record.stamps.map {
              (JSON.key(escaped: $0.key), JSON($0.value))
            })),
    ]).adding(record.values).document
  }

  /// Returns a setting's value in a record, or nil if the record doesn't contain it.
  ///
  /// - Throws: `RecordError` if the value is not valid for the setting.
  public static func value(
    of setting: Setting, in record: SettingsRecord
  ) throws(RecordError) -> Setting.Value? {
    guard let text = record.values[setting.rawValue] else { return nil }
    let json = JSON(fragment: text)
    let value: Setting.Value? =
      switch (Settings()[keyPath: setting.value], json) {
      case (.flag, .bool(let flag)?): .flag(flag)
      case (.seconds, .integer(let seconds)?): .seconds(seconds)
      case (.plan, let json?): json.plan.map { .plan($0) }
      case (.weekdays, let json?): json.weekdays.map { .weekdays($0) }
      case (.word, .string(let word)?): .word(word)
      default: nil
      }
    guard let value, setting.admits(value) else {
      throw RecordError("'\(setting.rawValue)' is not \(setting.choices)")
    }
    return value
  }

  /// Sets or removes a setting's value in a record.
  ///
  /// - Parameters:
  ///   - setting: The setting.
  ///   - value: The value; nil to restore the default.
  ///   - stamp: The stamp of the edit; nil for a device's own setting, which never merges.
  ///   - record: The record.
  public static func set(
    _ setting: Setting, to value: Setting.Value?, stamp: Stamp?, in record: inout SettingsRecord
  ) {
    // A shared setting is reset to an explicit default, because a missing value cannot win a merge.
    let stored = value ?? (setting.isLocal ? nil : Settings()[keyPath: setting.value])
    record.values[setting.rawValue] = stored.map { JSON($0).line }
    record.stamps[setting.rawValue] = stamp
  }

  /// Applies a record's values to settings.
  ///
  /// - Parameter local: True for a record of the device's own settings, false for the store's.
  public static func apply(
    _ record: SettingsRecord, local: Bool, to settings: inout Settings
  ) throws(RecordError) {
    for setting in Setting.allCases where setting.isLocal == local {
      if let value = try value(of: setting, in: record) {
        settings[keyPath: setting.value] = value
      }
    }
  }
}

extension Setting {
  /// The valid values, for an error message.
  fileprivate var choices: String {
    switch Settings()[keyPath: value] {
    case .flag: "true or false"
    case .seconds: "a number of seconds up to a year"
    case .plan: "a list of ascending seconds"
    case .weekdays: "a list of weekdays"
    case .word:
      switch self {
      case .defaultTime: "a time of day or 'now'"
      case .noon: "a time of day"
      case .morning, .afternoon, .evening, .night: "a time of day or 'none'"
      case .tier: "free, plus or premium"
      case .clock: "12h, 24h or auto"
      default: "the name of a sound"
      }
    }
  }
}

extension JSON {
  /// The weekdays of a list; nil for any other value.
  fileprivate var weekdays: WeekdaySet? {
    guard let list = array else { return nil }
    let days = list.compactMap { $0.string.flatMap { Weekday($0) } }
    return days.count == list.count ? WeekdaySet(days) : nil
  }

  /// Creates the JSON form of a setting's value, as in records and command output.
  public init(_ value: Setting.Value) {
    self =
      switch value {
      case .flag(let flag): .bool(flag)
      case .seconds(let seconds): .integer(seconds)
      case .plan(let plan): JSON(plan)
      case .weekdays(let days): .array(days.days.map { .string($0.abbreviation) })
      case .word(let word): .string(word)
      }
  }
}
