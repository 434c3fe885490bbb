import BelfryCore

/// The fields of an alarm that a line of a list shows, in the memory of the alarm index.
///
/// It is valid only during the call of the closure that receives it. No field is copied or decoded before it is used,
/// because a list can have many thousands of alarms.
public struct AlarmLine {
  /// The layout of the memory.
  typealias Layout = AlarmIndexLayout.Summary

  /// The 26 characters of the alarm's id.
  public let id: UnsafeRawBufferPointer
  private let summary: UnsafeRawBufferPointer
  /// The range of the rule in the summary.
  let ruleRange: Range<Int>
  /// The state.
  public let state: AlarmStatus.State

  /// Creates a line. Returns nil if the summary is damaged.
  ///
  /// - Parameters:
  ///   - id: The characters of the alarm's id; empty if they are not needed.
  ///   - summary: A summary in the format of `AlarmSummaryWriter`.
  init?(
    id: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
    summary: UnsafeRawBufferPointer
  ) {
    guard summary.count >= Layout.size else { return nil }
    func length(_ offset: Int) -> Int {
      Int(summary.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
    let rule = Layout.size + length(Layout.titleLength) + length(Layout.zoneLength)
    let end = rule + length(Layout.ruleLength)
    let state = Int(summary[Layout.state])
    guard end <= summary.count, state < AlarmLine.states.count else { return nil }
    self.id = id
    self.summary = summary
    self.state = AlarmLine.states[state]
    ruleRange = rule..<end
  }

  private static let states = AlarmStatus.State.allCases

  private func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: summary[range])
  }

  private func number(_ offset: Int) -> Int64 {
    summary.loadUnaligned(fromByteOffset: offset, as: Int64.self)
  }

  private var titleEnd: Int {
    Layout.size
      + Int(summary.loadUnaligned(fromByteOffset: Layout.titleLength, as: UInt32.self))
  }

  /// The flags of the summary.
  var flags: Layout.Flags { Layout.Flags(rawValue: summary[Layout.flags]) }

  /// True if `id` is the id of an alarm.
  var hasValidID: Bool { id.count == Identifier.length && id.allSatisfy(Identifier.isCharacter) }
  /// The title in UTF-8.
  public var title: UnsafeRawBufferPointer { part(Layout.size..<titleEnd) }
  /// The name of the time zone of the alarm's times, or `floating`, in UTF-8.
  public var zone: UnsafeRawBufferPointer { part(titleEnd..<ruleRange.lowerBound) }
  /// True if the alarm is deleted.
  var isDeleted: Bool { flags.contains(.isDeleted) }
  /// True if the alarm is finished, see `AlarmStatus.isFinished`.
  var isFinished: Bool { flags.contains(.isFinished) }
  /// See `AlarmSummary.isPlain`.
  public var isPlain: Bool { flags.contains(.isPlain) }
  /// True if the alarm rings again after a snooze.
  var isSnoozed: Bool { flags.contains(.isSnoozed) }
  /// The time before which the status does not change.
  var validUntil: Instant { Instant(milliseconds: number(Layout.validUntil)) }

  /// The next occurrence; nil if there is none.
  public var next: Timeline.Occurrence? {
    guard let nextTime else { return nil }
    return Timeline.Occurrence(
      civil: CivilDateTime(minuteNumber: Int(number(Layout.nextCivil))), at: nextTime)
  }

  /// The time of the next occurrence; nil if there is none.
  var nextTime: Instant? {
    let next = number(Layout.next)
    return next == .max ? nil : Instant(milliseconds: next)
  }

  /// The rule of the schedule with its times of day; nil if it is damaged.
  public var rule: AlarmSummary.Rule? {
    var reader = AlarmSummaryReader(raw: part(ruleRange))
    return reader.rule()
  }
}
