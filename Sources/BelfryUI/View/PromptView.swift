import BelfryTerminal

/// The line above the keys: what is typed, a question, or the result of the last action.
enum PromptView {
  static func draw(_ state: UIState, _ layout: Layout, _ buffer: inout Buffer) {
    let area = layout.message
    switch state.mode {
    case .prompt(let prompt):
      let lines =
        prompt.preview
        + (prompt.completions.isEmpty ? [] : [prompt.completions.joined(separator: "  ")])
      drawPreview(lines, above: area, &buffer)
      draw(label(prompt.purpose), prompt.editor, area, &buffer)
    case .help(let editor, _): draw("keys:", editor, area, &buffer)
    case .question(let question):
      let lines = TextWidth.wrapped("\(question.text) y/n", to: max(8, area.columns - 2))
      drawPreview(lines.dropLast(), above: area, &buffer)
      buffer.put(lines.last ?? "", column: 1, row: area.row, .bold)
    case .output(let title, _):
      buffer.put("belfry \(title)", column: 1, row: area.row, .faint)
    case .holding(let holding) where !holding.isAnswered:
      drawHold(holding, state, area, &buffer)
    case .form(let form):
      let title = state.list.content.rows.compactMap(\.alarm).first { $0.id == form.id }?.title
      let text = form.isSaving ? "Saving …" : title ?? ""
      buffer.put(TextWidth.cut(text, to: area.columns - 2), column: 1, row: area.row, .faint)
    case .holding, .browsing: drawMessage(state, area, &buffer)
    }
  }

  /// Draws the progress of a held key: a bar, or the seconds that are left if nothing may move.
  private static func drawHold(
    _ holding: UIState.Holding, _ state: UIState, _ area: Area, _ buffer: inout Buffer
  ) {
    let progress = holding.hold.progress(at: state.now)
    let left = Int((Double(Hold.length) / 1000 * (1 - progress)).rounded(.up))
    let width = 20
    let full = Int((progress * Double(width)).rounded())
    let bar =
      state.list.content.isStill
      ? "\(left) s"
      : "[" + String(repeating: "#", count: full) + String(repeating: "-", count: width - full)
        + "]"
    let label = "Hold \(state.keys.name(of: .stop)) to stop \(holding.title)"
    let room = max(0, area.columns - bar.count - 4)
    let end = buffer.put(
      TextWidth.cut(label, to: room), column: 1, row: area.row, .bold)
    buffer.put(bar, column: end + 2, row: area.row)
  }

  private static func drawMessage(_ state: UIState, _ area: Area, _ buffer: inout Buffer) {
    if let message = state.message {
      let style = message.isError ? CellStyle(.palette(1), on: .standard, .bold) : .plain
      drawPreview(message.lines.dropLast(), above: area, &buffer)
      let last = message.lines.last ?? ""
      buffer.put(styled: last, column: 1, row: area.row, style)
      // A filtered list must not look as if the others were lost.
      let column = area.columns - TextWidth.of(filter(of: state)) - 1
      if column > TextWidth.of(last) + 2 {
        buffer.put(filter(of: state), column: column, row: area.row, .faint)
      }
      return
    }
    var notes: [String] = []
    if !state.list.marked.isEmpty { notes.append("\(state.list.marked.count) marked") }
    if !filter(of: state).isEmpty { notes.append(filter(of: state)) }
    if let running = state.running { notes = ["belfry \(running) …"] }
    var column = 1
    if let text = ringingText(state, area) {
      column = buffer.put(text, column: column, row: area.row, CellStyle.plain.with(.red)) + 2
    }
    let text = notes.joined(separator: ", ")
    let room = area.columns - column - 1
    if !notes.isEmpty {
      buffer.put(TextWidth.cut(text, to: room), column: column, row: area.row, .faint)
    } else if column == 1, let problem = state.list.content.problems.first {
      buffer.put(cut(problem, to: room), column: column, row: area.row, .bold)
    }
  }

  /// Returns the note that the list is filtered; an empty text if it is not shown or not filtered.
  private static func filter(of state: UIState) -> String {
    state.tab == .alarms && !state.list.filter.isEmpty ? "filter: \(state.list.filter)" : ""
  }

  /// Returns a sentence that is cut before the command at its end, which says what to do.
  private static func cut(_ problem: String, to room: Int) -> String {
    guard TextWidth.of(problem) > room,
      let start = problem.ranges(of: ": belfry ").last?.lowerBound,
      case let left = room - TextWidth.of(String(problem[start...])), left >= 8
    else { return TextWidth.cut(problem, to: room) }
    return TextWidth.cut(String(problem[..<start]), to: left) + problem[start...]
  }

  /// Returns a sentence about what rings or is due and is not on the screen; nil if nothing does.
  private static func ringingText(_ state: UIState, _ area: Area) -> String? {
    let alarms = state.hiddenRinging
    // One that rings comes before one that is only due.
    guard let first = alarms.first(where: \.isDelivered) ?? alarms.first else { return nil }
    let (one, several) = first.isDelivered ? (" rings.", "ring.") : (" is due.", "are due.")
    let others = alarms.count > 1 ? " and \(alarms.count - 1) more \(several)" : one
    return TextWidth.cut(first.title, to: max(8, area.columns / 2 - others.count)) + others
  }

  private static func label(_ purpose: UIState.Prompt.Purpose) -> String {
    switch purpose {
    case .filter: "/"
    case .add: "Add:"
    case .command: ":"
    case .words(let label, _, _): "\(label):"
    }
  }

  private static func draw(
    _ label: String, _ editor: LineEditor, _ area: Area, _ buffer: inout Buffer
  ) {
    let room = area.columns - 2
    let label = TextWidth.cut(label, to: room / 2)
    let start = buffer.put(label, column: 1, row: area.row, .bold) + (label.count > 1 ? 1 : 0)
    draw(editor, column: start, row: area.row, until: area.columns, &buffer)
  }

  /// Draws a line that is being typed, with the cursor. The part around the cursor is shown.
  static func draw(
    _ editor: LineEditor, column start: Int, row: Int, until end: Int, _ buffer: inout Buffer
  ) {
    var shown = editor.characters[...]
    var offset = TextWidth.of(String(editor.characters[..<editor.cursor]))
    while offset >= end - start - 1, let first = shown.popFirst() {
      offset -= max(1, TextWidth.of(first))
    }
    buffer.put(String(shown), column: start, row: row, until: end)
    buffer.cursor = Buffer.Cursor(column: min(end - 1, start + offset), row: row)
  }

  private static func drawPreview(_ lines: [String], above area: Area, _ buffer: inout Buffer) {
    let shown = lines.prefix(max(0, area.row - 2))
    guard !shown.isEmpty else { return }
    let top = area.row - shown.count - 1
    buffer.clear(Area(column: 0, row: top, columns: area.columns, rows: shown.count + 1))
    buffer.put(String(repeating: "─", count: area.columns), column: 0, row: top, .faint)
    for (offset, line) in shown.enumerated() {
      buffer.put(styled: line, column: 1, row: top + 1 + offset)
    }
  }
}
