import BelfryCore

/// An alarm in a list on the screen.
package struct AlarmRow: Equatable, Sendable {
  package let id: Identifier
  /// The title as it is shown.
  package let title: String
  /// The state.
  package let state: AlarmStatus.State
  /// The line.
  package let line: TableLine
  /// True for a pause that has begun, also while an earlier occurrence rings or is pending.
  package let isPaused: Bool

  /// True if somebody has to answer it: it rings, was missed, or waits for confirmation.
  package var needsAnswer: Bool { [.ringing, .missed, .pending].contains(state) }

  /// True if it is in the group *Now*: it needs an answer, or is snoozed.
  package var isOpen: Bool { needsAnswer || state == .snoozed }

  package init(
    id: Identifier, title: String, state: AlarmStatus.State, line: TableLine = TableLine(""),
    isPaused: Bool = false
  ) {
    self.isPaused = isPaused
    self.id = id
    self.title = title
    self.state = state
    self.line = line
  }
}

/// A line of a list on the screen.
package enum ListRow: Equatable, Sendable {
  case heading(String)
  case alarm(AlarmRow)

  /// The alarm; nil for a heading.
  package var alarm: AlarmRow? { if case .alarm(let row) = self { row } else { nil } }
  /// The id of the alarm; nil for a heading.
  package var id: Identifier? { if case .alarm(let row) = self { row.id } else { nil } }
}
