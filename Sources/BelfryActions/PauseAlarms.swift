import BelfryCore
import BelfryStore

/// The start of a pause, or its end.
public struct PauseAlarms: AlarmAction {
  /// The alarms of the action.
  public let alarms: [Identifier]
  /// The end of the pause; nil to resume.
  private let end: CivilDateTime?
  /// False to leave out disabled alarms, which a person has not named.
  private let isNamed: Bool
  /// True to leave longer pauses, or alarms that are not paused, as they are.
  private let isCautious: Bool
  private let settings: Settings

  private init(
    _ alarms: [Identifier], until end: CivilDateTime?, isNamed: Bool, isCautious: Bool,
    _ settings: Settings
  ) {
    self.alarms = alarms
    self.end = end
    self.isNamed = isNamed
    self.isCautious = isCautious
    self.settings = settings
  }

  /// Returns an action that pauses alarms until a time in their zones.
  ///
  /// - Parameters:
  ///   - isNamed: False to leave out disabled alarms, which a person has not named.
  ///   - keepingLonger: True to leave pauses with a later end as they are.
  public static func until(
    _ end: CivilDateTime, _ alarms: [Identifier], isNamed: Bool, keepingLonger: Bool,
    settings: Settings
  ) -> PauseAlarms {
    PauseAlarms(alarms, until: end, isNamed: isNamed, isCautious: keepingLonger, settings)
  }

  /// Returns an action that ends the pauses of alarms.
  ///
  /// - Parameters:
  ///   - isNamed: False to leave out disabled alarms, which a person has not named.
  ///   - onlyPaused: True to leave out alarms that are not paused here. Otherwise they count as resumed by a person, which
  ///     wins over an earlier pause of another device.
  public static func resuming(
    _ alarms: [Identifier], isNamed: Bool, onlyPaused: Bool, settings: Settings
  ) -> PauseAlarms {
    PauseAlarms(alarms, until: nil, isNamed: isNamed, isCautious: onlyPaused, settings)
  }

  /// The result of a pause.
  public struct Result: Sendable {
    /// The alarms whose pause has changed.
    public let changes: [AlarmChange]
    /// The alarms whose only occurrence is during the pause. They are not paused.
    public let unpausable: [Alarm]
  }

  /// Returns the alarms whose pause changes.
  public func plan(_ alarms: [Alarm], in store: Store) throws -> ActionPlan<Result> {
    let (now, device) = (store.context.now, store.device)
    let ledger = store.ledger.read()
    let status = try store.statusReader()
    var unpausable: [Alarm] = []
    var changes: [AlarmChange] = []
    for before in alarms where isNamed || before.enabled {
      let timeline = store.timeline(before)
      guard case .set(let pause) = try wish(for: timeline, at: now) else { continue }
      if let pause, timeline.comesOnlyOnce(within: pause) {
        unpausable.append(before)
        continue
      }
      let paused = timeline.paused(pause, at: now, settings: settings, ledger: ledger)
      let after = paused.alarm.stamped(against: before, at: now, device: device)
        .restating(StatedParts(fields: [.pause]), since: before, at: now, device: device)
      changes.append(
        AlarmChange(before: before, alarm: after, events: paused.events, status: status(after)))
    }
    if isNamed, self.alarms.count == 1, let alarm = unpausable.first {
      throw ActionError.pauseCoversOnlyOccurrence(alarm)
    }
    // The others are only stamped again.
    let changed = changes.filter { $0.before?.pause != $0.alarm.pause }
    return ActionPlan(store.change(changes), Result(changes: changed, unpausable: unpausable))
  }

  /// The pause that the action gives an alarm.
  private enum Wish {
    /// The pause stays as it is.
    case unchanged
    /// Another pause; nil for none.
    case set(Pause?)
  }

  private func wish(for timeline: Timeline, at now: Instant) throws -> Wish {
    guard let end else {
      return isCautious && timeline.alarm.pause == nil ? .unchanged : .set(nil)
    }
    let here = timeline.zone.civil(at: now)
    guard here < end else { throw ActionError.pauseHasPassed(end) }
    // A running pause gets a new end.
    let current = timeline.alarm.pause.flatMap { $0.covers(here) ? $0 : nil }
    if isCautious, let current, current.until > end { return .unchanged }
    return .set(Pause(from: current?.from ?? here, until: end))
  }
}
