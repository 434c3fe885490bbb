import BelfryCore

/// `settings.json`: the settings that all devices share; absent where all are the defaults.
///
/// | key | holds |
/// |---|---|
/// | `tier` | `free`, `plus`, `premium` |
/// | `snoozeEnabled`, `fixedZone`, `skipBreaksStreak` | true or false |
/// | `snooze`, `grace`, `ringTimeout` | seconds |
/// | `followUps` | seconds after the stop, ascending |
/// | `stamps` | each key's last edit |
///
/// Each key joins by its stamp; unknown ones are kept. The settings of one device (`slideToStop`, `sound`)
/// have a file of the same form in the configuration folder.
public enum SettingsFile {
  public static let path = "settings.json"
  public static let largest = 64 << 10

  public static func decode(_ bytes: [UInt8]) throws(RecordError) -> SettingsRecord {
    var reader = try RecordReader(bytes)
    var record = SettingsRecord()
    if var stamps = try reader.nested("stamps") {
      for key in stamps.keys {
        record.stamps[key] = try stamps.required(key, \.stamp, "a stamp")
      }
    }
    record.values = reader.remaining()
    // A stamp of nothing says nothing.
    record.stamps = record.stamps.filter { record.values[$0.key] != nil }
    for setting in Setting.allCases { _ = try value(of: setting, in: record) }
    return record
  }

  public static func encode(_ record: SettingsRecord) -> [UInt8] {
    JSON.object(omittingNil: [
      "format": .integer(RecordFormat.current),
      "stamps": record.stamps.isEmpty
        ? nil
        : .object(
          Dictionary(uniqueKeysWithValues: record.stamps.map { ($0.key, JSON($0.value)) })),
    ]).adding(record.values).document
  }

  /// What a record says of a setting; nil when nothing. Throws when it holds what it may not.
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
      case (.word, .string(let word)?): .word(word)
      default: nil
      }
    guard let value, setting.admits(value) else {
      throw RecordError("'\(setting.rawValue)' is not \(setting.shape)")
    }
    return value
  }

  /// Writes a setting's value into a record; nil takes it away.
  ///
  /// - Parameter stamp: nil for the settings of one device, which are never joined.
  public static func set(
    _ setting: Setting, to value: Setting.Value?, stamp: Stamp?, in record: inout SettingsRecord
  ) {
    // A shared setting that is taken away is set to its default, as absence is no edit that could win.
    let stored = value ?? (setting.isLocal ? nil : Settings()[keyPath: setting.value])
    record.values[setting.rawValue] = stored.map { JSON($0).line }
    record.stamps[setting.rawValue] = stamp
  }

  /// Brings what a record says into settings: of the store, or of this device.
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
  /// What a record holds for it, in words.
  fileprivate var shape: String {
    switch Settings()[keyPath: value] {
    case .flag: "true or false"
    case .seconds: "a number of seconds up to a year"
    case .plan: "a list of ascending seconds"
    case .word: self == .tier ? "free, plus or premium" : "the name of a sound"
    }
  }
}

extension JSON {
  /// A setting's value as records and documents hold it.
  public init(_ value: Setting.Value) {
    self =
      switch value {
      case .flag(let flag): .bool(flag)
      case .seconds(let seconds): .integer(seconds)
      case .plan(let plan): JSON(plan)
      case .word(let word): .string(word)
      }
  }
}
