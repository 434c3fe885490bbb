import BelfryCore
import BelfryTerminal

/// The list of alarms as lines for a screen reader: no boxes, no columns, nothing that is drawn over.
struct PlainList {
  private var rows: [AlarmRow] = []

  /// The reason why there are no alarms; nil if there are some.
  private var placeholder: String?

  init() {}

  /// The alarms by their numbers, which begin with 1. A number stays with its alarm until the list is printed again.
  private var numbers: [Identifier] = []

  /// - Parameter before: The list whose numbers go on; nil to number the alarms anew.
  init(_ content: ListContent, after before: PlainList? = nil) {
    rows = content.rows.compactMap(\.alarm)
    numbers = before?.numbers ?? []
    let known = Set(numbers)
    numbers += rows.map(\.id).filter { !known.contains($0) }
    placeholder = rows.isEmpty ? StyledText.plain(content.placeholder) : nil
  }

  /// Returns a line for each alarm, with its number: `1: Rent, pending, since 08:00, monthly 1st 08:00`.
  var lines: [String] {
    placeholder.map { [$0] }
      ?? rows.map { "\(number($0.id)): \(PlainList.text($0))" }
  }

  /// Returns a line for each alarm that is new, gone, or different from an earlier list.
  func changes(since before: PlainList) -> [String] {
    let old = Dictionary(before.rows.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    let now = Set(rows.map(\.id))
    return rows.compactMap { row in
      let line = PlainList.text(row)
      guard let earlier = old[row.id] else { return "New \(number(row.id)): \(line)" }
      return PlainList.text(earlier) == line ? nil : "Changed \(number(row.id)): \(line)"
    } + before.rows.filter { !now.contains($0.id) }.map { "Gone: \($0.title)" }
  }

  /// Returns the words of a typed command, with the id of an alarm instead of its number behind the verb.
  func command(_ text: String) -> [String] {
    var words = ShellWords.split(text)
    if words.first == "belfry" { words.removeFirst() }
    if words.count == 1, let id = alarm(words[0]) { return ["show", id.text] }
    guard words.count > 1, let id = alarm(words[1]) else { return words }
    words[1] = id.text
    return words
  }

  private func alarm(_ word: String) -> Identifier? {
    guard let number = Int(word), numbers.indices.contains(number - 1) else { return nil }
    return numbers[number - 1]
  }

  private func number(_ id: Identifier) -> Int { (numbers.firstIndex(of: id) ?? -1) + 1 }

  /// Returns an alarm in words: its title first, then the state and the times of the line.
  private static func text(_ row: AlarmRow) -> String {
    let parts = StyledText.plain(row.line.text).split(separator: "  ").map { $0.drop { $0 == " " } }
      .filter {
        !$0.isEmpty
      }
    let state = row.state == .active ? nil : row.state.rawValue
    let rest = parts.filter { $0 != row.title && $0 != state ?? "" }
    return ([row.title] + [state].compactMap { $0 } + rest.map(String.init)).joined(separator: ", ")
  }
}
