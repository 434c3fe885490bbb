import BelfryTerminal

/// The keys of the present place.
enum HelpView {
  /// Draws the keys. Returns the number of those below.
  static func draw(
    _ state: UIState, _ editor: LineEditor, _ top: Int, _ layout: Layout, _ buffer: inout Buffer
  ) -> Int {
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
    return max(0, bindings.count - top - area.rows)
  }

  private static func names(_ binding: KeyTable.Binding) -> String {
    binding.keys.map(\.name).joined(separator: " ")
  }
}
