import BelfryCore
import BelfryTerminal

/// A page of the screen.
package enum Tab: Int, CaseIterable, Sendable {
  case alarms, month, history, stats, devices, partners, settings

  /// The title.
  package var title: String {
    switch self {
    case .alarms: "Alarms"
    case .month: "Month"
    case .history: "History"
    case .stats: "Stats"
    case .devices: "Devices"
    case .partners: "Partners"
    case .settings: "Settings"
    }
  }

  /// The part of the screen whose keys count.
  package var place: Place {
    switch self {
    case .alarms: .alarms
    case .month: .month
    default: .text
    }
  }
}

/// A line of a page.
package struct PageLine: Hashable, Sendable {
  /// The text, with escape sequences for colors.
  package let text: String
  /// The command that shows more about it, or changes it; nil if there is none.
  package let command: [String]?
  /// The value that the person can type; nil if there is none.
  package let edit: Edit?
  /// True for the line that is selected when the page is opened, such as the present week.
  package let isPresent: Bool

  package init(
    _ text: String, command: [String]? = nil, edit: Edit? = nil, isPresent: Bool = false
  ) {
    self.text = text
    self.command = command
    self.edit = edit
    self.isPresent = isPresent
  }

  /// True if enter does something with the line.
  package var isOpenable: Bool { command != nil || edit != nil }

  /// A value that a command changes: the typed text is the last argument.
  package struct Edit: Hashable, Sendable {
    package let label: String
    /// The sentence above the line that is typed, such as the form of the value.
    package let hint: String
    /// The words of the command before the value: `settings set snooze`.
    package let verb: String
    /// The present value.
    package let value: String

    package init(label: String, hint: String, verb: String, value: String) {
      self.label = label
      self.hint = hint
      self.verb = verb
      self.value = value
    }
  }
}

/// An alarm that rings, or is due but was not delivered.
package struct RingingAlarm: Hashable, Sendable {
  package let id: Identifier
  /// The title as it is shown.
  package let title: String
  /// False if this device has not rung.
  package let isDelivered: Bool

  package init(id: Identifier, title: String, isDelivered: Bool = true) {
    self.id = id
    self.title = title
    self.isDelivered = isDelivered
  }
}

/// The content of the list, made for a width.
package struct ListContent: Equatable, Sendable {
  package var rows: [ListRow]
  /// The alarms that ring, also those that the filter leaves out.
  package var ringing: [RingingAlarm] = []
  /// The next alarm, for the head of the screen: `next Rent in 12 min`.
  package var next: String
  /// The time: `09:41`.
  package var clock: String
  /// The problems, a sentence each.
  package var problems: [String]
  /// The text of an empty list.
  package var placeholder: String
  /// True if a key must be held to stop an alarm.
  package var holdsToStop: Bool
  /// True if nothing on the screen may move.
  package var isStill: Bool

  package init(
    rows: [ListRow] = [], next: String = "", clock: String = "", problems: [String] = [],
    placeholder: String = "", holdsToStop: Bool = false, isStill: Bool = false
  ) {
    self.rows = rows
    self.next = next
    self.clock = clock
    self.problems = problems
    self.placeholder = placeholder
    self.holdsToStop = holdsToStop
    self.isStill = isStill
  }
}
