import BelfryCore
import BelfryTerminal

/// The screen as a pure function of the state.
extension UIState {
  /// Draws the screen.
  package func render() -> Buffer {
    var buffer = Buffer(size)
    if isTooSmall {
      let text = "Belfry needs \(Layout.least.columns) columns and \(Layout.least.rows) rows."
      for (row, line) in TextWidth.wrapped(text, to: max(8, size.columns)).enumerated() {
        buffer.put(line, column: 0, row: row)
      }
      return buffer
    }
    let layout = layout
    if purpose != .everything {
      PurposeView.draw(self, layout, &buffer)
      FooterView.draw(self, more: 0, in: layout.footer, &buffer)
      return buffer
    }
    HeadView.draw(self, in: layout.head, &buffer)
    var more = 0
    switch mode {
    case .help(let editor, let top): more = HelpView.draw(self, editor, top, layout, &buffer)
    case .output(_, let page): more = PageView.draw(page, in: layout.main, &buffer)
    case .form(let form): FormView.draw(form, layout, &buffer)
    default: more = drawTab(layout, &buffer)
    }
    PromptView.draw(self, layout, &buffer)
    FooterView.draw(self, more: more, in: layout.footer, &buffer)
    return buffer
  }

  /// Draws the page. Returns the number of lines below it.
  private func drawTab(_ layout: Layout, _ buffer: inout Buffer) -> Int {
    guard tab == .alarms else {
      return PageView.draw(pages[tab], in: layout.main, &buffer)
    }
    if showsDetails {
      return PageView.draw(details?.lines, details?.top ?? 0, in: layout.main, &buffer)
    }
    let more = ListView.draw(self, in: layout.main, &buffer)
    guard let side = layout.side else { return more }
    for row in side.row..<side.row + side.rows {
      buffer.put("│", column: side.column - 1, row: row, .faint)
    }
    // The details of the alarm before stay until the next ones are read, so that little changes on a slow line.
    guard list.selected != nil else { return more }
    let below = PageView.draw(details?.lines, details?.top ?? 0, in: side, &buffer)
    if below > 0 {
      let row = side.row + side.rows - 1
      let column = buffer.putMore(below, before: side.column + side.columns, row: row)
      buffer.clear(Area(column: column - 1, row: row, columns: 1, rows: 1))
    }
    return more
  }
}

extension Buffer {
  /// Draws the number of lines that are not shown, if there are any. Returns the column at which it begins.
  mutating func putMore(_ count: Int, before end: Int, row: Int) -> Int {
    let note = count > 0 ? " \(count) more " : ""
    put(note, column: end - note.count, row: row, CellStyle.faint.with(.reverse))
    return end - note.count
  }

  /// Shows a row of an area as selected.
  mutating func select(row: Int, of area: Area) {
    let line = Area(column: area.column, row: row, columns: area.columns, rows: 1)
    restyle(line) {
      // What has a color stands out in the selection, too.
      $0 = $0.foreground == .standard ? CellStyle().with(.reverse) : .bold.with(.reverse)
    }
  }
}
