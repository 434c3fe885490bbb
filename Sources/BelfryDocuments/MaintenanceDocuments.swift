import BelfryActions
import BelfryCore
import BelfryExchange

/// The result of an import: the document of `import`.
package struct ImportDocument: JSONDocument {
  /// The number of imported alarms, or of merged records of an export.
  let imported: Int
  /// The number of alarms or records that are already in the store.
  let unchanged: Int
  /// The number of alarms of an earlier import that were changed; 0 for an export.
  let updated: Int
  /// The number of alarms of an earlier import that were deleted; 0 for an export.
  let removed: Int
  /// The items that were left out.
  let leftOut: [LeftOut]
  /// The occurrences that were moved; none for an export.
  let moves: [Move]

  /// A moved occurrence.
  package struct Move: Encodable {
    /// The id of the alarm.
    let alarm: String
    /// The title of the alarm.
    let title: String
    /// The occurrence, by its own time.
    let occurrence: String
    /// The civil time at which it rings; its own time if it was moved back.
    let time: String
  }

  /// An item that was left out.
  package struct LeftOut: Encodable {
    /// The title.
    let title: String
    /// The reason, as text.
    let reason: String
  }

  package init(
    imported: Int, unchanged: Int, updated: Int = 0, removed: Int = 0, leftOut: [Remark],
    moves: [ImportedMove] = []
  ) {
    self.imported = imported
    self.unchanged = unchanged
    self.updated = updated
    self.removed = removed
    self.leftOut = leftOut.map { LeftOut(title: $0.title, reason: $0.reason) }
    self.moves = moves.map {
      Move(
        alarm: $0.alarm.text, title: $0.title, occurrence: $0.occurrence.description,
        time: $0.time.description)
    }
  }
}

/// A holiday calendar: the document of `calendar show`, `import` and `remove`, and an element of `calendar list`.
package struct HolidayCalendarDocument: JSONDocument {
  /// The name.
  let name: String
  /// The holidays, ascending; empty for a removed calendar.
  let holidays: [Holiday]

  /// A holiday.
  package struct Holiday: Encodable {
    /// The date, such as `2026-12-25`.
    let date: String
    /// The name.
    let name: String
  }

  package init(_ calendar: HolidayCalendar) {
    name = calendar.name
    holidays = calendar.holidays.sorted { $0.key < $1.key }.map {
      Holiday(date: $0.key.description, name: $0.value)
    }
  }
}

/// A git hook or the merge driver: an element of `hooks status`, `install` and `uninstall`.
package struct HookDocument: JSONDocument {
  /// The name of the hook, or `merge driver`.
  let hook: String
  /// The state or the result, as text.
  let result: String

  package init(hook: String, result: String) {
    self.hook = hook
    self.result = result
  }
}

/// A record that is not valid: an element of `hooks check`.
package struct InvalidRecordDocument: JSONDocument {
  /// The path in the store.
  let path: String
  /// The reason, as text.
  let reason: String

  package init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }
}
