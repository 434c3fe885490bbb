import BelfryCore
import BelfryTerminal

/// The screen as a pure function of the state.
extension UIState {
  /// Draws the screen.
  package func render() -> Buffer {
    var buffer = Buffer(size)
    guard size.columns >= Layout.least.columns, size.rows >= Layout.least.rows else {
      let text = "Belfry needs \(Layout.least.columns) columns and \(Layout.least.rows) rows."
      for (row, line) in TextWidth.wrapped(text, to: max(8, size.columns)).enumerated() {
        buffer.put(line, column: 0, row: row)
      }
      return buffer
    }
    let layout = layout
    HeadView.draw(self, in: layout.head, &buffer)
    switch mode {
    case .help(let editor, let top): HelpView.draw(self, editor, top, layout, &buffer)
    case .output(_, let page): PageView.draw(page, in: layout.main, &buffer)
    default: drawTab(layout, &buffer)
    }
    PromptView.draw(self, layout, &buffer)
    FooterView.draw(self, in: layout.footer, &buffer)
    return buffer
  }

  private func drawTab(_ layout: Layout, _ buffer: inout Buffer) {
    guard tab == .alarms else {
      return PageView.draw(pages[tab], in: layout.main, &buffer)
    }
    if showsDetails {
      return PageView.draw(details?.lines, details?.top ?? 0, in: layout.main, &buffer)
    }
    ListView.draw(self, in: layout.main, &buffer)
    guard let side = layout.side else { return }
    for row in side.row..<side.row + side.rows {
      buffer.put("│", column: side.column - 1, row: row, .faint)
    }
    if list.selected == details?.id {
      PageView.draw(details?.lines, details?.top ?? 0, in: side, &buffer)
    }
  }
}

extension Buffer {
  /// Shows a row of an area as selected.
  fileprivate mutating func select(row: Int, of area: Area) {
    let line = Area(column: area.column, row: row, columns: area.columns, rows: 1)
    restyle(line) { $0 = CellStyle().with(.reverse) }
  }
}

/// The line of tabs, with the clock and the next alarm.
enum HeadView {
  static func draw(_ state: UIState, in area: Area, _ buffer: inout Buffer) {
    var column = area.column
    for (tab, range) in ranges(state) {
      let isShown = tab == state.tab
      let label = label(tab, state)
      column = range.upperBound
      buffer.put(
        label, column: range.lowerBound, row: area.row,
        isShown ? CellStyle.bold.with(.reverse) : .faint)
    }
    let clock = state.list.content.clock
    let room = area.columns - column - 2
    let texts = [state.list.content.next, ""].map { $0.isEmpty ? clock : "\($0)  \(clock)" }
    guard let text = texts.first(where: { TextWidth.of($0) <= room }) else { return }
    buffer.put(text, column: area.columns - TextWidth.of(text) - 1, row: area.row)
  }

  /// Returns the tab in a column; nil if there is none.
  static func tab(at column: Int, _ state: UIState) -> Tab? {
    ranges(state).first { $0.1.contains(column) }?.0
  }

  /// Returns the columns of each tab. Without room, only the shown one has a title.
  private static func ranges(_ state: UIState) -> [(Tab, Range<Int>)] {
    var column = 0
    return Tab.allCases.map { tab in
      let start = column
      column += TextWidth.of(label(tab, state))
      return (tab, start..<column)
    }
  }

  private static func label(_ tab: Tab, _ state: UIState) -> String {
    let number = tab.rawValue + 1
    let needed = Tab.allCases.reduce(0) { $0 + $1.title.count + 4 }
    return state.size.columns >= needed + 8 || tab == state.tab
      ? " \(number) \(tab.title) " : " \(number) "
  }
}

/// The list of alarms.
enum ListView {
  static func draw(_ state: UIState, in area: Area, _ buffer: inout Buffer) {
    let list = state.list
    if list.content.rows.isEmpty {
      let lines = list.content.placeholder.split(separator: "\n").map(String.init)
      return PageView.draw(list.isLoaded ? lines : nil, 0, in: area, &buffer)
    }
    for offset in 0..<min(area.rows, max(0, list.content.rows.count - list.top)) {
      let row = area.row + offset
      let limit = area.column + area.columns
      switch list.content.rows[list.top + offset] {
      case .heading(let text):
        buffer.put(styled: text, column: area.column + 1, row: row, .bold, until: limit)
      case .alarm(let alarm):
        let mark =
          list.marked.contains(alarm.id) ? "*" : list.changed.contains(alarm.id) ? "+" : " "
        buffer.put(
          mark, column: area.column, row: row, .bold)
        // The lines of the list begin with two spaces.
        buffer.put(styled: alarm.line, column: area.column + 1, row: row, until: limit)
        guard alarm.id == list.selected else { continue }
        buffer.select(row: row, of: area)
      }
    }
  }
}

/// Lines of text, with a mark where there is more.
enum PageView {
  static func draw(_ page: UIState.Page?, in area: Area, _ buffer: inout Buffer) {
    draw(page?.lines, page?.top ?? 0, in: area, &buffer) { $0.text }
    guard let page, let row = page.selected.map({ $0 - page.top }), (0..<area.rows).contains(row)
    else {
      return
    }
    buffer.select(row: area.row + row, of: area)
  }

  static func draw(_ lines: [String]?, _ top: Int, in area: Area, _ buffer: inout Buffer) {
    draw(lines, top, in: area, &buffer) { $0 }
  }

  private static func draw<Line>(
    _ lines: [Line]?, _ top: Int, in area: Area, _ buffer: inout Buffer, text: (Line) -> String
  ) {
    guard let lines else {
      buffer.put(
        "Reading …", column: area.column + 1, row: area.row, .faint,
        until: area.column + area.columns)
      return
    }
    let limit = area.column + area.columns
    for (offset, line) in lines.dropFirst(top).prefix(area.rows).enumerated() {
      buffer.put(
        styled: text(line), column: area.column + 1, row: area.row + offset, until: limit)
    }
    let more = lines.count - top - area.rows
    if more > 0 {
      let text = " \(more) more "
      buffer.put(
        text, column: limit - text.count, row: area.row + area.rows - 1,
        CellStyle.faint.with(.reverse), until: limit)
    }
  }
}

/// The keys of the present place.
enum HelpView {
  static func draw(
    _ state: UIState, _ editor: LineEditor, _ top: Int, _ layout: Layout, _ buffer: inout Buffer
  ) {
    let area = layout.main
    let bindings = state.keys.matching(editor.text, in: state.place)
    let width = min(24, (bindings.map { names($0).count }.max() ?? 0) + 2)
    if bindings.isEmpty {
      buffer.put("No key matches.", column: area.column + 1, row: area.row, .faint)
    }
    for (offset, binding) in bindings.dropFirst(top).prefix(area.rows).enumerated() {
      let row = area.row + offset
      buffer.put(
        names(binding), column: area.column + 1, row: row, .bold, until: area.column + 1 + width)
      buffer.put(binding.help, column: area.column + 1 + width, row: row, until: area.columns)
    }
  }

  private static func names(_ binding: KeyTable.Binding) -> String {
    binding.keys.map(\.name).joined(separator: " ")
  }
}

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
      buffer.put(
        "\(question.text) y/n", column: 1, row: area.row,
        .bold)
    case .output(let title, _):
      buffer.put("belfry \(title)", column: 1, row: area.row, .faint)
    case .browsing: drawMessage(state, area, &buffer)
    }
  }

  private static func drawMessage(_ state: UIState, _ area: Area, _ buffer: inout Buffer) {
    if let message = state.message {
      let style = message.isError ? CellStyle(.palette(1), on: .standard, .bold) : .plain
      buffer.put(TextWidth.cut(message.text, to: area.columns - 2), column: 1, row: area.row, style)
      return
    }
    var notes: [String] = []
    if !state.list.marked.isEmpty { notes.append("\(state.list.marked.count) marked") }
    if state.tab == .alarms, !state.list.filter.isEmpty {
      notes.append("filter: \(state.list.filter)")
    }
    if !notes.isEmpty {
      buffer.put(
        TextWidth.cut(notes.joined(separator: ", "), to: area.columns - 2), column: 1,
        row: area.row, .faint)
    } else if let problem = state.list.content.problems.first {
      buffer.put(
        TextWidth.cut(problem, to: area.columns - 2), column: 1, row: area.row,
        .bold)
    }
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
    // The part around the cursor is shown.
    let before = String(editor.characters[..<editor.cursor])
    var shown = editor.characters[...]
    var offset = TextWidth.of(before)
    while offset >= area.columns - start - 1, let first = shown.popFirst() {
      offset -= max(1, TextWidth.of(first))
    }
    buffer.put(String(shown), column: start, row: area.row)
    buffer.cursor = Buffer.Cursor(column: min(area.columns - 1, start + offset), row: area.row)
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

/// The keys that are used most, as many as fit.
enum FooterView {
  static func draw(_ state: UIState, in area: Area, _ buffer: inout Buffer) {
    var shown = keys(state)
    func width() -> Int {
      shown.reduce(0) { $0 + TextWidth.of($1.0) + TextWidth.of($1.1) + 3 } - 1
    }
    // The last two, for help and the end, are always shown.
    while shown.count > 2, width() > area.columns - 1 { shown.remove(at: shown.count - 3) }
    var column = 1
    for (key, label) in shown {
      column = buffer.put(key, column: column, row: area.row, .bold) + 1
      column = buffer.put(label, column: column, row: area.row, .faint) + 2
    }
  }

  private static func keys(_ state: UIState) -> [(String, String)] {
    switch state.mode {
    case .prompt(let prompt):
      var keys = [("enter", prompt.purpose == .add ? "add" : "accept"), ("esc", "cancel")]
      if prompt.purpose == .command { keys.append(("tab", "complete")) }
      return keys
    case .question: return [("y", "yes"), ("n", "no")]
    case .help: return [("type", "to search"), ("up down", "scroll"), ("esc", "close")]
    case .output: return [("enter", "close"), ("j k", "scroll")]
    case .browsing:
      let help = state.keys.bindings.filter {
        $0.label != nil && $0.places.contains(state.place) && !$0.keys.isEmpty
      }
      var keys = help.map { ($0.keys[0].name, $0.label ?? "") }
      if state.showsDetails { keys.insert(("esc", "back"), at: 0) }
      return keys
    }
  }
}
