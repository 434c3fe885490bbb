import BelfryCore
import BelfryStore

/// The history of this device's battery warnings, `battery-warnings.json` in the store's local state.
///
/// The daemon and ticks write it. Without it, a warning is repeated.
struct BatteryWarningFile: Sendable {
  private let store: Store

  /// Creates the file of a store's device. It does not access the file.
  init(_ store: Store) {
    self.store = store
  }

  private var file: LocalFile<BatteryWarningHistory> {
    LocalFile(
      path: store.localFolder + "/battery-warnings.json", format: .batteryWarnings,
      exclusion: .lock(store.localFolder + "/battery-warnings.lock", required: false),
      isDurable: false)
  }

  /// Returns the history.
  func read() -> BatteryWarningHistory { file.read() }

  /// Reads the history, changes it and writes it, under the file's lock.
  ///
  /// - Returns: The error if the history could not be written; nil if it was.
  func update(_ body: (inout BatteryWarningHistory) -> Void) -> (any Error)? {
    do {
      try file.update(holder: store.context.process, body)
      return nil
    } catch {
      return error
    }
  }
}

extension LocalFile.Format where Value == BatteryWarningHistory {
  /// A JSON array of warnings. An unreadable file counts as empty, because a repeated warning is better than none.
  fileprivate static var batteryWarnings: Self {
    Self(
      empty: BatteryWarningHistory(), maxSize: 1 << 20,
      decode: { bytes in
        guard let list = (try? JSON(parsing: bytes))?.array else { return nil }
        var sent: [OccurrenceID: BatteryWarningHistory.SentWarning] = [:]
        for item in list {
          guard let alarm = item["alarm"]?.identifier,
            let occurrence = item["occurrence"]?.occurrence,
            let risk = item["risk"]?.string.flatMap({ BatteryPrediction.Risk(rawValue: $0) }),
            let at = item["at"]?.instant
          else { continue }
          sent[OccurrenceID(alarm: alarm, occurrence: occurrence)] =
            BatteryWarningHistory.SentWarning(
              risk: risk, at: at, isOver: item["over"]?.bool ?? false)
        }
        return BatteryWarningHistory(sent)
      },
      encode: { history in
        JSON.array(
          history.sent.map { key, warning in
            JSON.object([
              "alarm": JSON(key.alarm), "occurrence": JSON(key.occurrence),
              "risk": .string(warning.risk.rawValue), "at": JSON(warning.at),
              "over": .bool(warning.isOver),
            ])
          }
        ).document
      })
  }
}
