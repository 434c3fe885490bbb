import BelfryTerminal

/// The screen with one purpose: a title, the line or the fields that are typed, and what they mean.
enum PurposeView {
  /// Examples of new alarms, shown while nothing is typed.
  private static let examples = [
    "Rent every month on the 1st at 9am", "Dentist 24 dec 18:00 +health",
    "Water filter 90 days after done at 18:00",
  ]

  static func draw(_ state: UIState, _ layout: Layout, _ buffer: inout Buffer) {
    let title =
      switch state.purpose {
      case .everything, .add: "A new alarm"
      case .edit(_, let title): title
      }
    let room = state.size.columns - 2
    buffer.put(
      TextWidth.cut(title, to: room), column: 1, row: layout.head.row, .bold.with(.reverse))
    switch state.mode {
    case .prompt(let prompt): draw(prompt, layout.main, &buffer)
    case .form(let form): FormView.draw(form, layout, &buffer)
    default: break
    }
    if state.running != nil {
      buffer.put("Saving …", column: 1, row: layout.message.row, .faint)
    }
  }

  private static func draw(
    _ prompt: UIState.Prompt, _ area: Area, _ buffer: inout Buffer
  ) {
    PromptView.draw(
      prompt.editor, column: area.column + 1, row: area.row, until: area.columns, &buffer)
    let isEmpty = prompt.editor.text.isEmpty
    let lines = isEmpty ? ["Such as:"] + examples.map { "  \($0)" } : prompt.preview
    for (offset, line) in lines.prefix(max(0, area.rows - 2)).enumerated() {
      buffer.put(
        styled: line, column: area.column + 1, row: area.row + 2 + offset,
        isEmpty ? .faint : .plain, until: area.columns)
    }
  }
}
