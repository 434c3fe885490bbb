import BelfryCore
import BelfryTerminal

@testable import BelfryUI

/// A screen with a store that is only a list, and what the keys have asked for.
struct UIFixture {
  var state: UIState
  var alarms: [AlarmRow]
  /// False if the alarms that are due have not rung.
  var isDelivered = true
  var holdsToStop = false
  var isStill = false
  /// The number of times that the bell rang.
  var bells = 0
  /// The effects that change something.
  var asked: [UIEffect] = []

  init(
    _ count: Int = 12, size: Size = Size(80, 24), purpose: UIState.Purpose = .everything
  ) {
    state = UIState(size: size, purpose: purpose)
    alarms = (0..<count).map { UIFixture.row($0) }
    perform(state.begin())
  }

  static func row(_ number: Int, state: AlarmStatus.State = .active, title: String? = nil)
    -> AlarmRow
  {
    let title = title ?? "Alarm \(number)"
    return AlarmRow(
      id: Identifier(high: 1, low: UInt64(number)), title: title, state: state,
      line: TableLine("  \(title)  \u{1B}[2mdaily 09:00\u{1B}[0m"))
  }

  /// The list as a store would show it.
  func content(_ filter: String) -> ListContent {
    let shown = alarms.filter { filter.isEmpty || $0.title.contains(filter) }
    var rows: [ListRow] = []
    let now = shown.filter { [.ringing, .pending].contains($0.state) }
    if !now.isEmpty { rows += [.heading("Now (\(now.count))")] + now.map { .alarm($0) } }
    let rest = shown.filter { ![.ringing, .pending].contains($0.state) }
    if !rest.isEmpty { rows += [.heading("Tomorrow (\(rest.count))")] + rest.map { .alarm($0) } }
    var content = ListContent(
      rows: rows, next: "next Alarm 0 in 5 min", clock: "08:55", placeholder: "No alarm matches.",
      holdsToStop: holdsToStop, isStill: isStill)
    content.ringing = alarms.filter { $0.state == .ringing }
      .map { RingingAlarm(id: $0.id, title: $0.title, isDelivered: isDelivered) }
    return content
  }

  mutating func perform(_ effects: [UIEffect]) {
    for effect in effects {
      switch effect {
      case .readList(let filter, _): perform(state.update(.list(content(filter), filter: filter)))
      case .readDetails(let id, _):
        let title = alarms.first { $0.id == id }?.title ?? ""
        perform(
          state.update(.details(id, [title, "  daily 09:00"] + (0..<30).map { "  line \($0)" })))
      case .readPage(let tab, _, let month):
        perform(
          state.update(.page(tab, (0..<60).map { PageLine("\(tab.title) \(month), line \($0)") })))
      case .preview(let text, _):
        perform(state.update(.preview(text, ["means \(text)", "Tue 1 Dec"])))
      case .complete(let text): perform(state.update(.completions(text, ["done", "dismiss"])))
      case .readForm(let id): perform(state.update(.form(id, UIFixture.fields)))
      case .previewEdit(let words, _):
        perform(
          state.update(
            .previewedEdit(words, ["means \(words.dropFirst(2).joined(separator: " "))"])))
      case .endMarks, .repaint: break
      case .bell: bells += 1
      default: asked.append(effect)
      }
    }
  }

  /// The values that the form of each alarm shows.
  static let fields = [
    FormField("Title", "Rent", .option("--title", empty: "")),
    FormField("Schedule", "monthly 1st 09:00", .phrase),
    FormField("Tags", "home", .option("--tag", empty: "none")),
    FormField("Note", "", .option("--note", empty: "")),
    FormField("Ring until answered", "no", .choice(yes: "--persistent", no: "--no-persistent")),
  ]

  mutating func send(_ event: UIEvent, at now: Int64 = 0) { perform(state.update(event, at: now)) }

  /// Types keys by their names.
  mutating func press(_ names: String...) {
    for name in names { if let key = Key(named: name) { send(.input(.key(key))) } }
  }

  /// Types a text.
  mutating func type(_ text: String) {
    for character in text { send(.input(.key(Key(character)))) }
  }

  var lines: [String] { state.render().lines }
  var selected: String? { state.list.selectedRow?.title }
}
