import BelfryCore
import BelfryStore
import BelfryTerminal
import Files
import Glibc

/// The settings of this device alone: `settings.json` in the configuration folder, in the format of the store's file.
struct DeviceSettings {
  let path: String

  init(path: String) { self.path = path }

  /// Creates the settings in Belfry's folder for configuration.
  init(inConfiguration folder: String) { self.init(path: folder + "/settings.json") }

  /// The clock of times in text; `auto` if the file is missing or not valid.
  var clock: Settings.Clock {
    // Most devices have no settings of their own.
    guard access(path, F_OK) == 0 else { return .auto }
    // An invalid file is reported when the settings are used.
    return (try? applied(to: Settings()))?.clock ?? .auto
  }

  /// Returns settings with this device's own applied.
  func applied(to settings: Settings) throws(RecordError) -> Settings {
    var settings = settings
    try SettingsFile.apply(try read(), local: true, to: &settings)
    return settings
  }

  /// Writes a setting. Nil removes it.
  func set(_ setting: Setting, to value: Setting.Value?) throws {
    var record: SettingsRecord
    do throws(RecordError) {
      record = try read()
    } catch {
      throw CommandError(
        .failed, "\(Printable.text(path)) is not valid: \(Printable.text(error.text)).",
        hint: "Correct or remove it.")
    }
    SettingsFile.set(setting, to: value, stamp: nil, in: &record)
    try DurableFile.makeFolder(DurableFile.parent(of: path), mode: 0o700)
    try DurableFile.write(
      SettingsFile.encode(record), to: path, temporary: "\(path).new-\(getpid())")
  }

  private func read() throws(RecordError) -> SettingsRecord {
    do {
      guard let file = try DurableFile.read(path, limit: SettingsFile.largest) else {
        return SettingsRecord()
      }
      return try SettingsFile.decode(file.bytes)
    } catch let error as RecordError {
      throw error
    } catch {
      throw RecordError("\(error)")
    }
  }
}
