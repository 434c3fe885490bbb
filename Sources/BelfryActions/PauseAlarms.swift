import BelfryCore
import BelfryStore

/// The start of a pause, or its end.
public struct PauseAlarms: AlarmAction {
  /// The alarms of the action.
  public let alarms: [Identifier]
  /// The beginning of the pause; nil for now.
  private let start: CivilDateTime?
  /// The end of the pause; nil to resume.
  private let end: CivilDateTime?
  /// False to leave out disabled alarms, which a person has not named.
  private let isNamed: Bool
  /// True to leave longer pauses, or alarms that are not paused, as they are.
  private let isCautious: Bool
  private let settings: Settings

  private init(
    _ alarms: [Identifier], from start: CivilDateTime?, until end: CivilDateTime?, isNamed: Bool,
    isCautious: Bool, _ settings: Settings
  ) {
    self.alarms = alarms
    self.start = start
    self.end = end
    self.isNamed = isNamed
    self.isCautious = isCautious
    self.settings = settings
  }

  /// Returns an action that pauses alarms from now, or from a later time, until a time in their zones.
  ///
  /// An alarm has one pause. If it is running, it gets the new end; if it is still to come, the new pause replaces it. A
  /// new pause that does not overlap it is refused.
  ///
  /// - Parameters:
  ///   - start: The beginning; nil, or a time in the past, for now.
  ///   - isNamed: False to leave out disabled alarms, which a person has not named.
  ///   - keepingLonger: True to lengthen the pauses of alarms, and never shorten them.
  public static func pausing(
    _ alarms: [Identifier], from start: CivilDateTime? = nil, until end: CivilDateTime,
    isNamed: Bool, keepingLonger: Bool, settings: Settings
  ) -> PauseAlarms {
    PauseAlarms(
      alarms, from: start, until: end, isNamed: isNamed, isCautious: keepingLonger, settings)
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
    PauseAlarms(
      alarms, from: nil, until: nil, isNamed: isNamed, isCautious: onlyPaused, settings)
  }

  /// The result of a pause.
  public struct Result: Sendable {
    /// The alarms whose pause has changed.
    public let changes: [AlarmChange]
    /// The alarms whose only occurrence is during the pause. They are not paused.
    public let unpausable: [Alarm]
    /// The alarms that have another pause, which does not overlap the new one. They keep theirs.
    public let otherwisePaused: [Alarm]
  }

  /// Returns the alarms whose pause changes.
  public func plan(_ alarms: [Alarm], in store: Store) throws -> ActionPlan<Result> {
    let (now, device) = (store.context.now, store.device)
    let ledger = store.ledger.read()
    let status = try store.statusReader()
    var (unpausable, otherwisePaused): ([Alarm], [Alarm]) = ([], [])
    var changes: [AlarmChange] = []
    for before in alarms where isNamed || before.enabled {
      let timeline = store.timeline(before)
      let pause: Pause?
      switch try wish(for: timeline, at: now) {
      case .unchanged: continue
      case .refused:
        otherwisePaused.append(before)
        continue
      case .set(let wished): pause = wished
      }
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
    if isNamed, self.alarms.count == 1, let alarm = otherwisePaused.first, let pause = alarm.pause {
      throw ActionError.otherPause(alarm, pause)
    }
    // The others are only stamped again.
    let changed = changes.filter { $0.before?.pause != $0.alarm.pause }
    return ActionPlan(
      store.change(changes),
      Result(changes: changed, unpausable: unpausable, otherwisePaused: otherwisePaused))
  }

  /// The pause that the action gives an alarm.
  private enum Wish {
    /// The pause stays as it is.
    case unchanged
    /// The pause stays as it is, although the new one covers other times.
    case refused
    /// Another pause; nil for none.
    case set(Pause?)
  }

  private func wish(for timeline: Timeline, at now: Instant) throws -> Wish {
    guard let end else {
      return isCautious && timeline.alarm.pause == nil ? .unchanged : .set(nil)
    }
    let here = timeline.zone.civil(at: now)
    guard here < end else { throw ActionError.pauseHasPassed(end) }
    let from = start.map { max($0, here) } ?? here
    guard from < end else { throw ActionError.pauseEndsFirst(from: from, until: end) }
    guard let current = timeline.alarm.pause, here < current.until else {
      return .set(Pause(from: from, until: end))
    }
    let overlaps = from <= current.until && current.from <= end
    guard overlaps else { return .refused }
    if isCautious, current.from <= from, current.until > end { return .unchanged }
    if isCautious {
      return .set(Pause(from: min(current.from, from), until: max(current.until, end)))
    }
    let start = current.isAhead(of: here) ? from : min(current.from, from)
    return .set(Pause(from: start, until: end))
  }
}
