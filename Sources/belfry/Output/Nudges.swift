import BelfryCore
import BelfryScheduler
import BelfryStore

/// What is said of the battery beneath alarms: reckoned afresh each time, and nothing where it lasts.
struct Nudges: Sendable {
  /// How far ahead somebody is told who asks, in seconds.
  static let horizon: Int64 = 86_400

  private var byAlarm: [Identifier: BatteryNudge] = [:]

  /// Nobody's.
  init() {}

  /// Looks at the battery, if any of the alarms is near.
  init(_ context: CommandContext, _ store: Store, _ alarms: [(id: Identifier, status: AlarmStatus)])
  {
    let now = context.storeContext.now
    let near = alarms.compactMap { alarm -> (Identifier, Instant)? in
      guard let comes = alarm.status.comes, comes.at > now,
        comes.at <= now.adding(seconds: Nudges.horizon)
      else { return nil }
      return (alarm.id, comes.at)
    }
    guard !near.isEmpty, let standing = context.battery.standing, !standing.reading.isCharging
    else { return }
    for (id, moment) in near {
      guard let nudge = BatteryNudge(standing.prediction(at: moment)),
        // Another device's battery is no matter of this one's.
        let alarm = (try? store.alarm(id)) ?? nil, store.ringsHere(alarm)
      else { continue }
      byAlarm[id] = nudge
    }
  }

  init(_ context: CommandContext, _ store: Store, _ alarm: Alarm, _ status: AlarmStatus) {
    self.init(context, store, [(alarm.id, status)])
  }

  subscript(_ id: Identifier) -> BatteryNudge? { byAlarm[id] }
}

/// How a nudge looks: a card of its own with a coloured edge.
///
/// ```
/// ▌ ⚠ Alarm at Risk
/// ▌ Estimated battery at alarm: 0%
/// ▌ Plug in now.
/// ```
struct NudgeText {
  private let nudge: BatteryNudge
  private let style: Style

  init(_ nudge: BatteryNudge, _ style: Style) {
    self.nudge = nudge
    self.style = style
  }

  private var colour: Style.Colour { nudge.risk == .critical ? .red : .orange }

  /// - Parameter offset: how far to the right it stands, in columns.
  func lines(offset: Int = 2) -> [String] {
    // What matters most is bold, and alone in that.
    let words: [(String, Style.Colour?)] = [
      ("⚠ \(nudge.title)", nudge.risk == .critical ? .plainRed : .orange),
      (nudge.headline, .bold), (nudge.action, nil),
    ]
    return words.map { text, colour in
      let shown = style.fit(text, indent: offset + 2)
      return String(repeating: " ", count: offset) + style.paint("▌", self.colour) + " "
        + (colour.map { style.paint(shown, $0) } ?? shown)
    }
  }

  var text: String { lines().joined(separator: "\n") + "\n" }

  /// `{risk, predicted, headline, action}`
  static func json(_ nudge: BatteryNudge) -> JSON {
    .object([
      "risk": .string(nudge.risk.rawValue), "predicted": .integer(Int64(nudge.predicted)),
      "headline": .string(nudge.headline), "action": .string(nudge.action),
    ])
  }
}
