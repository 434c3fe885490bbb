import BelfryCore
import BelfryScheduler
import BelfryStore

/// The battery warnings of alarms, predicted from the current battery state. An alarm without risk has none.
struct BatteryWarnings: Sendable {
  /// The time ahead for which warnings are shown, in seconds.
  static let horizon: Int64 = 86_400

  private var byAlarm: [Identifier: BatteryWarning] = [:]

  /// Creates an empty collection.
  init() {}

  /// Predicts the battery for the alarms of a list that ring on this device within the horizon.
  init(_ context: CommandContext, _ store: Store, _ alarms: AlarmListing) {
    let now = context.storeContext.now
    let end = now.adding(seconds: BatteryWarnings.horizon)
    let ringing = alarms.ringing(after: now, until: end)
    guard !ringing.isEmpty, let standing = context.battery.standing, !standing.reading.isCharging
    else { return }
    let reader = store.alarmReader()
    for alarm in ringing {
      guard let comes = alarm.nextRinging,
        let batteryWarning = BatteryWarning(standing.prediction(at: comes.at)),
        // An alarm that rings on other devices only does not depend on this battery.
        let record = (try? reader.alarm(alarm.id)) ?? nil, store.ringsHere(record)
      else { continue }
      byAlarm[alarm.id] = batteryWarning
    }
  }

  init(_ context: CommandContext, _ store: Store, _ alarm: Alarm, _ status: AlarmStatus) {
    self.init(context, store, AlarmListing([AlarmSummary(alarm, status: status)]))
  }

  /// True if no alarm has a warning.
  var isEmpty: Bool { byAlarm.isEmpty }

  subscript(_ id: Identifier) -> BatteryWarning? { byAlarm[id] }

  /// The warning with the lowest predicted level; nil if there is none.
  var worst: BatteryWarning? { byAlarm.values.min { $0.predicted < $1.predicted } }
}

/// A battery warning as a card with a colored edge.
///
/// ```
/// ▌ ⚠ Alarm at Risk
/// ▌ Estimated battery at alarm: 0%
/// ▌ Plug in now.
/// ```
struct BatteryWarningText {
  private let batteryWarning: BatteryWarning
  private let style: Style

  init(_ batteryWarning: BatteryWarning, _ style: Style) {
    self.batteryWarning = batteryWarning
    self.style = style
  }

  private var color: Style.Color { batteryWarning.risk == .critical ? .red : .orange }

  /// Returns the lines of the card.
  ///
  /// - Parameter offset: the indentation, in columns.
  func lines(offset: Int = 2) -> [String] {
    // Only the most important line is bold.
    var content: [(String, Style.Color?)] = [
      ("⚠ \(batteryWarning.title)", batteryWarning.risk == .critical ? .plainRed : .orange),
      (batteryWarning.headline, .bold), (batteryWarning.action, nil),
    ]
    if let note = batteryWarning.note { content.append((note, .faint)) }
    return content.map { text, color in
      let shown = style.fit(text, indent: offset + 2)
      return String(repeating: " ", count: offset) + style.paint("▌", self.color) + " "
        + (color.map { style.paint(shown, $0) } ?? shown)
    }
  }

  var text: String { lines().joined(separator: "\n") + "\n" }
}
