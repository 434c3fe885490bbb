import BelfryTerminal

/// The keys that are used most, as many as fit, and the number of lines below those that are shown.
enum FooterView {
  static func draw(_ state: UIState, more: Int, in area: Area, _ buffer: inout Buffer) {
    let room = buffer.putMore(more, before: area.columns, row: area.row)
    var shown = keys(state)
    func width() -> Int {
      shown.reduce(0) { $0 + TextWidth.of($1.0) + TextWidth.of($1.1) + 3 } - 1
    }
    // The last two, for help and the end, are always shown.
    while shown.count > 2, width() > room - 1 { shown.remove(at: shown.count - 3) }
    var column = 1
    for (key, label) in shown {
      column = buffer.put(key, column: column, row: area.row, .bold, until: room) + 1
      column = buffer.put(label, column: column, row: area.row, .faint, until: room) + 2
    }
  }

  private static func keys(_ state: UIState) -> [(String, String)] {
    switch state.mode {
    case .prompt(let prompt):
      var keys = [("enter", prompt.purpose == .add ? "add" : "accept"), ("esc", "cancel")]
      if prompt.purpose == .command { keys.append(("tab", "complete")) }
      return keys
    case .form: return [("tab", "next"), ("enter", "save"), ("esc", "cancel")]
    case .holding(let holding) where !holding.isAnswered: return [("esc", "let it ring")]
    case .question: return [("y", "yes"), ("n", "no")]
    case .help: return [("type", "to search"), ("up down", "scroll"), ("esc", "close")]
    case .output: return [("enter", "close"), ("j k", "scroll")]
    case .holding, .browsing:
      let help = state.keys.bindings.filter {
        $0.label != nil && $0.places.contains(state.place) && !$0.keys.isEmpty
      }
      var keys = help.map { ($0.keys[0].name, $0.label ?? "") }
      if state.showsDetails { keys.insert(("esc", "back"), at: 0) }
      if state.tab != .alarms, state.pages[state.tab]?.selected != nil {
        keys.insert((state.keys.name(of: .open), "open"), at: 0)
      }
      return keys
    }
  }
}
