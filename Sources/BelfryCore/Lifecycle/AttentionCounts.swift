/// The numbers of alarms that need an answer of the person.
public struct AttentionCounts: Hashable, Sendable {
  /// The number of alarms that ring.
  public private(set) var ringing = 0
  /// The number of alarms with a missed occurrence.
  public private(set) var missed = 0
  /// The number of alarms with a pending occurrence.
  public private(set) var pending = 0

  /// Creates counts of no alarm.
  public init() {}

  /// Creates the counts of some alarms.
  public init(_ states: some Sequence<AlarmStatus.State>) {
    for state in states { add(state) }
  }

  /// Counts an alarm, or with -1, counts it no longer. Each alarm counts once, with its state.
  public mutating func add(_ state: AlarmStatus.State, _ count: Int = 1) {
    switch state {
    case .ringing: ringing += count
    case .missed: missed += count
    case .pending: pending += count
    case .active, .snoozed, .disabled, .finished, .paused: break
    }
  }
}
