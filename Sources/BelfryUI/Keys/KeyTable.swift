import BelfryTerminal

/// The keys and their meanings, as data. The help, the footer and the manual are made of it.
package struct KeyTable: Sendable {
  /// The keys of one command.
  package struct Binding: Sendable {
    package let command: UICommand
    package var keys: [Key]
    /// The effect as the help shows it, in the imperative.
    package let help: String
    /// The word in the footer; nil for a key that the footer leaves out.
    package let label: String?
    package let places: Set<Place>
  }

  /// The bindings, in the order of the help. The footer shows those with a label in this order.
  package private(set) var bindings: [Binding]

  /// The keys of a new installation. Each help fits beside the keys on 60 columns.
  package static let standard = KeyTable(
    bindings: [
      binding(.done, "d", "Mark as done", "done", [.alarms]),
      binding(.stop, "s", "Stop: pending until it is confirmed", "stop", [.alarms]),
      binding(.snooze, "z", "Snooze", "snooze", [.alarms]),
      binding(.skip, "S", "Skip, or dismiss what was missed", "skip", [.alarms]),
      binding(.add, "a", "Add an alarm", "add", [.alarms, .month]),
      binding(.filter, "/", "Show only what matches words", "filter", [.alarms]),
      binding(.undo, "u", "Undo the last action", "undo", Set(Place.allCases)),
      binding(.earlier, "left h", "Show the month before", "earlier", [.month]),
      binding(.later, "right l", "Show the next month", "later", [.month]),
      binding(.help, "? f1", "Show the keys", "keys", Set(Place.allCases)),
      binding(.quit, "q ctrl-c", "Quit", "quit", Set(Place.allCases)),
      binding(.open, "enter", "Show more, or answer what rings", nil, Set(Place.allCases)),
      binding(.snoozeFor, "Z", "Snooze for a time that you type", nil, [.alarms]),
      binding(.move, "m", "Move the next occurrence", nil, [.alarms]),
      binding(.pause, "p", "Pause, or resume", nil, [.alarms]),
      binding(.enable, "t", "Disable, or enable", nil, [.alarms]),
      binding(.rename, "r", "Give another title", nil, [.alarms]),
      binding(.edit, "e", "Edit the schedule and other values", nil, [.alarms]),
      binding(.editFile, "E", "Edit the record in $EDITOR", nil, [.alarms]),
      binding(.delete, "x delete", "Delete, after a question", nil, [.alarms]),
      binding(.ring, "R", "Open the screen of what rings", nil, [.alarms]),
      binding(.mark, "space", "Mark for one action on several", nil, [.alarms]),
      binding(.markAll, "v", "Mark all that are shown, or none", nil, [.alarms]),
      binding(.redo, "ctrl-r", "Take back the undo", nil, Set(Place.allCases)),
      binding(.down, "j down", "Go down", nil, Set(Place.allCases)),
      binding(.up, "k up", "Go up", nil, Set(Place.allCases)),
      binding(.pageDown, "pagedown ctrl-d ctrl-f", "Go down a page", nil, Set(Place.allCases)),
      binding(.pageUp, "pageup ctrl-u ctrl-b", "Go up a page", nil, Set(Place.allCases)),
      binding(.top, "g home", "Go to the top", nil, Set(Place.allCases)),
      binding(.bottom, "G end", "Go to the end", nil, Set(Place.allCases)),
      binding(.nextTab, "tab ]", "Show the next page", nil, Set(Place.allCases)),
      binding(.previousTab, "shift-tab [", "Show the page before", nil, Set(Place.allCases)),
      binding(.commandLine, ":", "Type a command of belfry", nil, Set(Place.allCases)),
      binding(.back, "esc", "Go back; end filter and marks", nil, Set(Place.allCases)),
      binding(.suspend, "ctrl-z", "Suspend", nil, Set(Place.allCases)),
      binding(.repaint, "ctrl-l", "Draw the screen again", nil, Set(Place.allCases)),
    ])

  private static func binding(
    _ command: UICommand, _ keys: String, _ help: String, _ label: String?, _ places: Set<Place>
  ) -> Binding {
    Binding(
      command: command, keys: keys.split(separator: " ").compactMap { Key(named: String($0)) },
      help: help, label: label, places: places)
  }

  /// Returns the command of a key at a place; nil if it has none.
  package func command(_ key: Key, in place: Place) -> UICommand? {
    bindings.first { $0.places.contains(place) && $0.keys.contains(key) }?.command
  }

  /// Returns the bindings of a place that contain a text in their keys or help.
  package func matching(_ text: String, in place: Place) -> [Binding] {
    let words = text.lowercased().split(separator: " ")
    return bindings.filter { binding in
      guard binding.places.contains(place), !binding.keys.isEmpty else { return false }
      let names = binding.keys.map(\.name)
      if text.count == 1, names.contains(text) { return true }
      let haystack = ([binding.help, binding.command.rawValue] + names).joined(separator: " ")
        .lowercased()
      return words.allSatisfy { haystack.contains($0) }
    }
  }

  // MARK: Other keys

  /// Returns the table with the keys of a person's file, and the reasons why lines of it do not count.
  ///
  /// A line is `command = key key …`, such as `done = D` or `skip =` for none. `#` begins a comment.
  package func reading(_ text: String) -> (table: KeyTable, problems: [String]) {
    var table = self
    var problems: [String] = []
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let line = line.drop { $0.isWhitespace }
      if line.isEmpty || line.first == "#" { continue }
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts[0].split(separator: " ").joined()
      guard parts.count == 2, let command = UICommand(rawValue: name),
        let index = table.bindings.firstIndex(where: { $0.command == command })
      else {
        problems.append("line \(number + 1): '\(name)' is no command")
        continue
      }
      let names = parts[1].replacing("\"", with: " ").split(whereSeparator: {
        $0.isWhitespace || $0 == ","
      })
      let keys = names.map { Key(named: String($0)) }
      if let bad = zip(names, keys).first(where: { $0.1 == nil })?.0 {
        problems.append("line \(number + 1): '\(bad)' is no key")
        continue
      }
      let chosen = keys.compactMap { $0 }
      // A key has one meaning at a place: the person's choice counts.
      let places = table.bindings[index].places
      for other in table.bindings.indices
      where other != index && !table.bindings[other].places.isDisjoint(with: places) {
        table.bindings[other].keys.removeAll { chosen.contains($0) }
      }
      table.bindings[index].keys = chosen
    }
    for command in [UICommand.quit, .help]
    where table.bindings.first(where: { $0.command == command })?.keys.isEmpty != false {
      problems.append("'\(command.rawValue)' has no key")
    }
    return (table, problems)
  }
}
