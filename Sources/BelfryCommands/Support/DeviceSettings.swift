import BelfryCore
import BelfryStore
import Git
import Glibc

/// The settings of this device alone: `settings.json` in the configuration folder, in the format of the store's file.
struct DeviceSettings {
  let path: String

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
