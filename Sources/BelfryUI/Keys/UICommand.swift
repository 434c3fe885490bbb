/// An action that a key can start.
package enum UICommand: String, CaseIterable, Sendable {
  // The place.
  case down, up, pageDown, pageUp, top, bottom
  case nextTab, previousTab, later, earlier
  case open, back, quit, suspend, repaint
  // The list.
  case filter, mark, markAll
  // Answers and changes.
  case done, stop, snooze, snoozeFor, skip, move, pause, enable, ring, delete
  case add, rename, edit, editFile, undo, redo
  // Everything else.
  case commandLine, help
}

/// A part of the screen in which keys have a meaning.
package enum Place: Hashable, CaseIterable, Sendable {
  /// The list of alarms.
  case alarms
  /// The month, which moves in time.
  case month
  /// A page of text: the history, statistics, devices, partners, settings, the output of a command.
  case text
}
