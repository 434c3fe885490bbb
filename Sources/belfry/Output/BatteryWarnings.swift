import BelfryCore
import BelfryScheduler
import BelfryStore

/// What is said of the battery beneath alarms: reckoned afresh each time, and nothing where it lasts.
struct BatteryWarnings: Sendable {
  /// How far ahead somebody is told who asks, in seconds.
  static let horizon: Int64 = 86_400

  private var byAlarm: [Identifier: BatteryWarning] = [:]

  /// Nobody's.
  init() {}

  /// Looks at the battery, if any of the alarms is near.
  init(_ context: CommandContext, _ store: Store, _ alarms: [(id: Identifier, status: AlarmStatus)])
  {
    let now = context.storeContext.now
    let near = alarms.compactMap { alarm -> (Identifier, Instant)? in
      guard let comes = alarm.status.comes, comes.at > now,
        comes.at <= now.adding(seconds: BatteryWarnings.horizon)
      else { return nil }
      return (alarm.id, comes.at)
    }
    guard !near.isEmpty, let standing = context.battery.standing, !standing.reading.isCharging
    else { return }
    for (id, moment) in near {
      guard let batteryWarning = BatteryWarning(standing.prediction(at: moment)),
        // Another device's battery is no matter of this one's.
        let alarm = (try? store.alarm(id)) ?? nil, store.ringsHere(alarm)
      else { continue }
      byAlarm[id] = batteryWarning
    }
  }

  init(_ context: CommandContext, _ store: Store, _ alarm: Alarm, _ status: AlarmStatus) {
    self.init(context, store, [(alarm.id, status)])
  }

  subscript(_ id: Identifier) -> BatteryWarning? { byAlarm[id] }
}

/// How a nudge looks: a card of its own with a coloured edge.
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

  private var colour: Style.Colour { batteryWarning.risk == .critical ? .red : .orange }

  /// - Parameter offset: how far to the right it stands, in columns.
  func lines(offset: Int = 2) -> [String] {
    // What matters most is bold, and alone in that.
    let words: [(String, Style.Colour?)] = [
      ("⚠ \(batteryWarning.title)", batteryWarning.risk == .critical ? .plainRed : .orange),
      (batteryWarning.headline, .bold), (batteryWarning.action, nil),
    ]
    return words.map { text, colour in
      let shown = style.fit(text, indent: offset + 2)
      return String(repeating: " ", count: offset) + style.paint("▌", self.colour) + " "
        + (colour.map { style.paint(shown, $0) } ?? shown)
    }
  }

  var text: String { lines().joined(separator: "\n") + "\n" }

  /// `{risk, predicted, headline, action}`
  static func json(_ batteryWarning: BatteryWarning) -> JSON {
    .object([
      "risk": .string(batteryWarning.risk.rawValue),
      "predicted": .integer(Int64(batteryWarning.predicted)),
      "headline": .string(batteryWarning.headline), "action": .string(batteryWarning.action),
    ])
  }
}
