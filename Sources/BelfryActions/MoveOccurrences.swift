import BelfryCore
import BelfryInput
import BelfryStore

/// The move of one occurrence of each alarm to another time.
public struct MoveOccurrences: AlarmAction {
  /// The new time of an occurrence.
  public enum Time: Sendable {
    /// A moment by the alarm's wall clock. A date alone keeps the time of day; a time alone keeps the date if it is ahead,
    /// and is the next such time otherwise.
    case moment(Moment)
    /// A number of seconds after the time at which the occurrence would ring; negative for before.
    case shift(Int64)
    /// The occurrence's own time.
    case back
  }

  /// The alarms of the action.
  public let alarms: [Identifier]
  private let occurrence: CivilDateTime?
  private let time: Time
  private let settings: Settings

  /// Creates the move of one occurrence of each alarm.
  ///
  /// - Parameters:
  ///   - occurrence: The occurrence of the only alarm; nil for the one that a person means: see
  ///     `Timeline.occurrenceToMove`. To move back, it is the first one that was moved.
  ///   - settings: The settings of the store, with those of this device.
  public init(
    _ alarms: [Identifier], occurrence: CivilDateTime? = nil, to time: Time, settings: Settings
  ) {
    self.alarms = alarms
    self.occurrence = occurrence
    self.time = time
    self.settings = settings
  }

  /// Returns the change of each alarm. If one cannot be moved, none is.
  ///
  /// - Throws: `ActionError.notMovable`.
  public func plan(_ alarms: [Alarm], in store: Store) throws -> ActionPlan<[AlarmChange]> {
    let ledger = store.ledger.read()
    let status = try store.statusReader()
    let now = store.context.now
    let changes = try alarms.map { before -> AlarmChange in
      let timeline = store.timeline(before)
      do throws(MoveError) {
        let civil = try target(timeline, at: now, ledger)
        let moved = try timeline.moving(
          civil, to: newTime(of: civil, timeline, at: now), at: now, device: store.device,
          settings: settings, ledger: ledger)
        return AlarmChange(
          before: before, alarm: moved.alarm, events: moved.events, status: status(moved.alarm))
      } catch {
        throw ActionError.notMovable(before, error)
      }
    }
    return ActionPlan(store.change(changes), changes)
  }

  private func target(
    _ timeline: Timeline, at now: Instant, _ ledger: DeliveryLedger
  ) throws(MoveError) -> CivilDateTime {
    if let occurrence { return occurrence }
    if case .back = time,
      let moved = timeline.status(at: now, settings: settings, ledger: ledger).moved.keys.min()
    {
      return moved
    }
    return try timeline.occurrenceToMove(at: now, settings: settings, ledger: ledger)
  }

  private func newTime(
    of civil: CivilDateTime, _ timeline: Timeline, at now: Instant
  ) -> CivilDateTime {
    let (current, zone) = (timeline.occurrence(civil), timeline.zone)
    switch time {
    case .back: return civil
    case .shift(let seconds): return zone.civil(at: current.at.adding(seconds: seconds))
    case .moment(.date(let date)): return CivilDateTime(date, current.time.time)
    case .moment(.time(let time)):
      let sameDay = CivilDateTime(current.time.date, time)
      if zone.instant(of: sameDay) > now { return sameDay }
      return Moment.time(time).civil(.future, in: InputContext(instant: now, zone: zone))
    case .moment(let moment):
      return moment.civil(.future, in: InputContext(instant: now, zone: zone))
    }
  }
}
