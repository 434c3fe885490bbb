import BelfryTerminal

/// The form: a line for each value, and what the changes mean.
enum FormView {
  /// The most lines below the fields.
  private static let maxPreview = 6

  static func draw(_ form: Form, _ layout: Layout, _ buffer: inout Buffer) {
    let area = layout.main
    let top = top(form, area)
    let width = min(
      area.columns * 3 / 5, (form.fields.map { $0.label.count }.max() ?? 0) + 4)
    for index in form.fields.indices.dropFirst(top).prefix(shownFields(form, area)) {
      let row = area.row + index - top
      let isSelected = index == form.selected
      let mark = form.isChanged(index) ? "*" : " "
      buffer.put(mark, column: area.column, row: row, mark == " " ? .plain : .bold)
      buffer.put(
        form.fields[index].label, column: area.column + 1, row: row,
        isSelected ? .bold : .faint, until: area.column + width)
      let start = area.column + width
      guard isSelected else {
        buffer.put(form.editors[index].text, column: start, row: row, until: area.columns)
        continue
      }
      PromptView.draw(form.editors[index], column: start, row: row, until: area.columns, &buffer)
      if case .choice = form.fields[index].words {
        buffer.put(
          "space switches", column: start + 6, row: row, .faint, until: area.columns)
      }
    }
    let rows = shownFields(form, area) + 1
    for (offset, line) in form.preview.prefix(max(0, area.rows - rows)).enumerated() {
      buffer.put(styled: line, column: area.column + 1, row: area.row + rows + offset)
    }
  }

  /// Returns the field in a row of the screen; nil if there is none.
  static func field(at row: Int, _ form: Form, _ layout: Layout) -> Int? {
    let offset = row - layout.main.row
    guard (0..<shownFields(form, layout.main)).contains(offset) else { return nil }
    return top(form, layout.main) + offset
  }

  /// Returns the number of fields for which there is room above the preview.
  private static func shownFields(_ form: Form, _ area: Area) -> Int {
    let preview = form.preview.isEmpty ? 0 : min(maxPreview, form.preview.count, area.rows / 2) + 1
    return max(1, min(form.fields.count, area.rows - preview))
  }

  /// Returns the first field that is shown.
  private static func top(_ form: Form, _ area: Area) -> Int {
    max(0, form.selected - shownFields(form, area) + 1)
  }
}
