import BelfryCore
import BelfryStore

/// The answer to occurrences of alarms: stop, done, snooze, skip, unskip or dismiss.
public struct AnswerAlarms: AlarmAction {
  /// The answered occurrences.
  private enum Targets {
    /// The current occurrence of each alarm, or every one that is open. If an alarm cannot be answered, none is.
    case current(everyOpen: Bool)
    /// A certain occurrence of the only alarm.
    case occurrence(CivilDateTime)
    /// Certain occurrences. Those that cannot be answered any more are left out.
    case possible([Identifier: CivilDateTime])
  }

  /// The answer.
  public let answer: Answer
  /// The alarms of the action.
  public let alarms: [Identifier]
  private let targets: Targets
  private let settings: Settings
  /// The time of the answer; nil for now.
  private let time: Instant?
  /// The time of the log entries; nil for that of the answer.
  private let logTime: Instant?

  /// Creates an answer to the current occurrences of alarms. If it is not possible for one of them, it fails as a whole.
  ///
  /// - Parameters:
  ///   - everyOpen: True if `done` settles all occurrences that ring or are pending, and not only the latest.
  ///   - settings: The settings of the store, with those of this device.
  ///   - time: The time at which the answer was given; nil for now.
  public init(
    _ answer: Answer, to alarms: [Identifier], everyOpen: Bool = false, settings: Settings,
    at time: Instant? = nil
  ) {
    self.init(answer, alarms, .current(everyOpen: everyOpen), settings, time, nil)
  }

  /// Creates an answer to one alarm.
  ///
  /// - Parameter occurrence: The occurrence; nil for the current one.
  public init(
    _ answer: Answer, to alarm: Identifier, occurrence: CivilDateTime?, settings: Settings,
    at time: Instant? = nil
  ) {
    self.init(
      answer, [alarm], occurrence.map { .occurrence($0) } ?? .current(everyOpen: false), settings,
      time, nil)
  }

  /// Creates an answer to certain occurrences, such as those of a notification. Those that cannot be answered any more are
  /// left out.
  ///
  /// - Parameter logTime: The time of the log entries; nil for that of the answer.
  public init(
    _ answer: Answer, toPossible occurrences: [OccurrenceID], settings: Settings,
    at time: Instant? = nil, logTime: Instant? = nil
  ) {
    let byAlarm = Dictionary(
      occurrences.map { ($0.alarm, $0.occurrence) }, uniquingKeysWith: { $1 })
    self.init(answer, Array(byAlarm.keys), .possible(byAlarm), settings, time, logTime)
  }

  private init(
    _ answer: Answer, _ alarms: [Identifier], _ targets: Targets, _ settings: Settings,
    _ time: Instant?, _ logTime: Instant?
  ) {
    self.answer = answer
    self.alarms = alarms
    self.targets = targets
    self.settings = settings
    self.time = time
    self.logTime = logTime
  }

  /// True for certain occurrences, whose alarm may be gone already.
  public var isLenient: Bool { if case .possible = targets { true } else { false } }

  /// Returns the alarms that are answered. Those that are left out have no change.
  public func plan(_ alarms: [Alarm], in store: Store) throws -> ActionPlan<[AlarmChange]> {
    let ledger = store.ledger.read()
    let status = try store.statusReader()
    let changes = try alarms.compactMap { before -> AlarmChange? in
      guard let after = try answered(before, ledger, in: store), !after.events.isEmpty else {
        return nil
      }
      return AlarmChange(
        before: before, alarm: after.alarm, events: after.events, status: status(after.alarm))
    }
    return ActionPlan(store.change(changes, at: logTime ?? time), changes)
  }

  /// Returns an alarm after the answer; nil if it is left out.
  private func answered(
    _ alarm: Alarm, _ ledger: DeliveryLedger, in store: Store
  ) throws -> Transition? {
    let occurrence: CivilDateTime? =
      switch targets {
      case .current: nil
      case .occurrence(let civil): civil
      case .possible(let occurrences): occurrences[alarm.id]
      }
    let everyOpen = if case .current(let every) = targets { every } else { false }
    do throws(LifecycleError) {
      return try store.timeline(alarm).answer(
        answer, to: occurrence, everyOpen: everyOpen, at: time ?? store.context.now,
        settings: settings, ledger: ledger)
    } catch {
      if isLenient { return nil }
      throw ActionError.refused(answer, alarm, error)
    }
  }
}
