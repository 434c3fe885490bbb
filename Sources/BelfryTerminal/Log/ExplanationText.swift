import BelfryCore
import BelfryStore

/// The origin of an alarm's values as a table.
///
/// ```
/// Rent (k3v0a1b2)
///   title  * Pay rent  laptop  Fri 23:00  3a25f117  Edited: Rent
///          - Miete     server  Fri 22:00
///            kept because it was edited later
///   note     IBAN      server  Fri 22:01  9f0c2d11  Edited: Rent
/// ```
package struct ExplanationText {
  package let times: TimeText
  package let names: [Identifier: String]
  package let style: Style

  package init(times: TimeText, names: [Identifier: String], style: Style) {
    self.times = times
    self.names = names
    self.style = style
  }

  /// Field, mark, value, device, time, commit, subject.
  private static let columns = [
    TextColumns.Column(limit: 16), TextColumns.Column(limit: 1), TextColumns.Column(limit: 48),
    TextColumns.Column(limit: 20), TextColumns.Column(limit: 24),
    TextColumns.Column(limit: 8), TextColumns.Column(limit: 60, isOptional: true),
  ]
  private static let (value, device) = (2, 3)
  private static let reductions = [
    TextColumns.Reduction(value, to: 24), TextColumns.Reduction(device, to: 10),
    TextColumns.Reduction(value, to: 14),
  ]

  /// A row, and a sentence below it.
  private struct Row {
    let cells: [TextColumns.Cell]
    var reason: String?
  }

  /// Returns the table: the alarm's title, its fields, and each occurrence under a heading.
  package func table(_ explanation: Explanation) -> String {
    let fields = explanation.fields.flatMap { rows(ofField: $0, explanation.alarm) }
    let occurrences = explanation.occurrences.map { civil, parts in
      (civil: civil, rows: rows(ofStates: parts))
    }
    var natural = ExplanationText.columns.map { _ in 0 }
    for row in fields + occurrences.flatMap(\.rows) {
      for (index, cell) in row.cells.enumerated() {
        natural[index] = max(natural[index], TextWidth.of(cell.text))
      }
    }
    let columns = TextColumns(
      ExplanationText.columns, natural: natural, ExplanationText.reductions, style)
    // The sentence starts below the value.
    let indent = String(repeating: " ", count: min(natural[0], 16) + 2 + 2 + 3)
    var text =
      style.paint(Printable.text(explanation.alarm.title), .bold)
      + " (\(explanation.alarm.id.short))\n"
    func append(_ rows: [Row]) {
      for row in rows {
        columns.append(row.cells, to: &text)
        if let reason = row.reason { text += style.paint(indent + reason, .faint) + "\n" }
      }
    }
    append(fields)
    for (civil, rows) in occurrences {
      text += style.paint(times.full(civil), .bold) + "\n"
      if rows.isEmpty { text += "  open: nothing is recorded yet\n" }
      append(rows)
    }
    return text
  }

  /// Returns the row of a field's value, and the rows of a merge's decision about it.
  private func rows(ofField part: Explanation.Part, _ alarm: Alarm) -> [Row] {
    let device = part.stamp?.device ?? part.origin?.device
    let time = part.stamp?.time ?? part.origin?.time
    let text =
      part.name == Alarm.Field.schedule.rawValue
      ? FieldText(times.schedule(alarm.schedule, zone: alarm.zone.text)) : part.text
    func field(mark: String) -> Row {
      row(part.name, mark, text, device, time, part.origin)
    }
    guard let decision = part.decision else { return [field(mark: "")] }
    if decision.subject.name == part.name { return [field(mark: "*"), aside(decision)] }
    // The decision is about one part of a cascade, or about one tag.
    let kept = row(
      decision.subject.fieldText.text(names), "*", decision.keptText, decision.keptStamp?.device,
      decision.keptStamp?.time, nil)
    return [field(mark: ""), kept, aside(decision)]
  }

  /// Returns the rows of an occurrence's states. A state that a merge set aside has a row already, if the history
  /// contains its commit.
  private func rows(ofStates parts: [Explanation.Part]) -> [Row] {
    let discarded = Set(parts.compactMap { $0.decision?.discarded })
    return parts.flatMap { part in
      let mark = part.decision != nil ? "*" : discarded.contains(part.value) ? "-" : ""
      var state = row("", mark, part.text, part.origin?.device, part.origin?.time, part.origin)
      guard let decision = part.decision else { return [state] }
      if !parts.contains(where: { $0.value == decision.discarded }) {
        return [state, aside(decision)]
      }
      state.reason = reason(decision)
      return [state]
    }
  }

  /// Returns the row of a value that a merge set aside, with the reason.
  private func aside(_ decision: MergeDecision) -> Row {
    var row = row(
      "", "-", decision.discardedText, decision.discardedStamp?.device,
      decision.discardedStamp?.time, nil)
    row.reason = reason(decision)
    return row
  }

  private func reason(_ decision: MergeDecision) -> String {
    "* kept because \(decision.rule.text)"
  }

  private func row(
    _ label: String, _ mark: String, _ text: FieldText, _ device: Identifier?, _ time: Instant?,
    _ origin: SetAside.Origin?
  ) -> Row {
    let value = Printable.text(times.value(text.text(names), of: label))
    let color: Style.Color? =
      mark == "-" || value.isEmpty ? .faint : mark == "*" ? .bold : nil
    return Row(cells: [
      TextColumns.Cell(Printable.text(label)), TextColumns.Cell(mark, color),
      TextColumns.Cell(value.isEmpty ? "none" : value, color),
      TextColumns.Cell(device.map { Printable.text(names[$0] ?? $0.short) } ?? "", color),
      TextColumns.Cell(time.map { times.relative($0) } ?? "", .faint),
      TextColumns.Cell(origin?.commit.short ?? "", .faint),
      TextColumns.Cell(origin.map { Printable.text($0.subject) } ?? "", .faint),
    ])
  }
}
