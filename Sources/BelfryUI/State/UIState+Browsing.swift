import BelfryCore
import BelfryTerminal

/// The keys of the list and of the pages.
extension UIState {
  mutating func browse(_ key: Key) -> [UIEffect] {
    (answerable, successor) = ([], nil)
    if case .character(let character) = key.code, !key.isControl, !key.isAlt,
      let number = character.wholeNumberValue, let tab = Tab(rawValue: number - 1)
    {
      return show(tab)
    }
    guard let command = keys.command(key, in: place) else {
      let isOfAlarms = keys.command(key, in: .alarms) != nil
      message = Message(
        text: isOfAlarms
          ? "'\(key.name)' is for the page Alarms, which 1 opens."
          : "'\(key.name)' has no meaning here. \(keys.name(of: .help)) shows the keys.",
        isError: true)
      return []
    }
    return perform(command)
  }

  mutating func perform(_ command: UICommand) -> [UIEffect] {
    let page = max(1, layout.main.rows - 1)
    switch command {
    case .down: return scroll(by: 1)
    case .up: return scroll(by: -1)
    case .pageDown: return scroll(by: page)
    case .pageUp: return scroll(by: -page)
    case .top: return scroll(by: -1_000_000)
    case .bottom: return scroll(by: 1_000_000)
    case .nextTab: return show(Tab(rawValue: (tab.rawValue + 1) % Tab.allCases.count) ?? .alarms)
    case .previousTab:
      return show(
        Tab(rawValue: (tab.rawValue + Tab.allCases.count - 1) % Tab.allCases.count) ?? .alarms)
    case .earlier, .later:
      monthOffset = max(-1200, min(1200, monthOffset + (command == .later ? 1 : -1)))
      return [readPage(.month)]
    case .open: return open()
    case .back: return back()
    case .quit: return [.quit]
    case .suspend: return [.suspend]
    case .repaint: return [.repaint]
    case .filter: return begin(.filter, "")
    case .mark:
      guard let id = list.selected else { return [] }
      list.marked.formSymmetricDifference([id])
      return move(by: 1)
    case .markAll:
      let shown = Set(list.content.rows.compactMap(\.id))
      list.marked = shown.isSubset(of: list.marked) ? [] : list.marked.union(shown)
      return []
    case .help:
      mode = .help(LineEditor(), top: 0)
      return []
    case .commandLine: return begin(.command, "")
    case .add: return begin(.add, "")
    case .undo: return [.run(["undo"])]
    case .redo: return [.run(["redo"])]
    default: return change(command)
    }
  }

  /// Performs a command about the marked alarms, or the selected one.
  private mutating func change(_ command: UICommand) -> [UIEffect] {
    let targets = list.targets
    guard let first = targets.first else {
      message = Message(
        text: "No alarm is selected. \(keys.name(of: .add)) adds one.", isError: true)
      return []
    }
    let ids = targets.map(\.id)
    let words = ids.map(\.text)
    // Those among several that the answer fits. Without any, the reason is shown.
    let fitting = targets.filter {
      $0.state == .ringing || $0.state == .snoozed
        || command == .done && [.pending, .missed].contains($0.state)
    }
    let answered = fitting.isEmpty ? ids : fitting.map(\.id)
    if targets.count == 1, [.done, .stop, .snooze, .snoozeFor, .skip].contains(command) {
      expectAnswer(to: first)
    }
    if [.done, .stop, .snooze].contains(command) { leftOut = ids.count - answered.count }
    let title = targets.count == 1 ? first.title : "\(targets.count) alarms"
    switch command {
    case .done:
      if targets.count == 1, first.state == .active {
        return ask(
          "\(named(first)) has not rung yet. Mark its next occurrence as done?",
          .run(["done", first.id.text, "--early"]))
      }
      return [.answer(.done, answered)]
    case .stop:
      guard list.content.holdsToStop, targets.contains(where: { $0.state == .ringing }) else {
        return [.answer(.stop, answered)]
      }
      var holding = Holding(title: title, ids: answered)
      holding.hold.press(at: now)
      mode = .holding(holding)
      return []
    case .snooze: return [.answer(.snooze, answered)]
    case .skip: return skip(first, ids)
    case .snoozeFor:
      // The reason is shown before one types a time.
      if targets.allSatisfy({ [.pending, .missed].contains($0.state) }) {
        return [.answer(.snooze, answered)]
      }
      return begin(
        .words(label: "Snooze \(title)", verb: "snooze", ids), "",
        hint: ["How long? Such as: 20m, 2h, until 18:00"])
    case .move:
      return begin(
        .words(label: "Move \(title)", verb: "move", ids), "",
        hint: ["To when? Such as: tomorrow 15:00, 1h later. The word back undoes a move."])
    case .rename:
      return begin(.words(label: "New title", verb: "rename", [first.id]), first.title)
    case .edit:
      if targets.count == 1 { return [.readForm(first.id)] }
      return begin(
        .command, "edit " + targets.map { $0.id.short + " " }.joined() + "--yes ",
        hint: wrapped("For all \(targets.count), such as: --at 18:00, --tag +home, --warn 10m"))
    case .pause:
      if targets.allSatisfy(\.isPaused) { return [.run(["resume"] + words)] }
      return begin(
        .words(label: "Pause \(title)", verb: "pause", ids), "",
        hint: ["How long? Such as: 2 weeks, until friday"])
    case .enable:
      let isOff = targets.allSatisfy { $0.state == .disabled }
      return [.run([isOff ? "enable" : "disable"] + words)]
    case .ring: return openRinging(first.state == .ringing ? first.id : nil)
    case .editFile: return [.editFile(first.id)]
    case .delete:
      return ask(
        "Delete \(targets.count == 1 ? named(first) : title) on all devices?",
        .run(["delete"] + words + ["--yes"]))
    default: return []
    }
  }

  /// Asks a question, which y answers with an effect.
  private mutating func ask(_ text: String, _ effect: UIEffect) -> [UIEffect] {
    mode = .question(Question(text: text, effect: effect))
    return []
  }

  /// Returns the title of an alarm, with its id if another one has the same title.
  private func named(_ row: AlarmRow) -> String {
    let isShared = list.content.rows.contains { $0.alarm?.title == row.title && $0.id != row.id }
    return isShared ? "\(row.title) (\(row.id.short))" : row.title
  }

  /// Remembers the alarm that is selected after an answer to another one that waited for it.
  private mutating func expectAnswer(to row: AlarmRow) {
    successor = nil
    guard row.isOpen, let index = list.selectedIndex else { return }
    let rows = list.content.rows
    let others = Array(rows[(index + 1)...]) + rows[..<index].reversed()
    if let next = others.first(where: { $0.alarm?.needsAnswer == true })?.id {
      successor = Successor(of: row.id, next: next)
    }
  }

  /// Skips the next occurrence, or the one that rings. One that no longer rings stays, so that this is confirmed.
  private mutating func skip(_ row: AlarmRow, _ ids: [Identifier]) -> [UIEffect] {
    guard ids.count == 1 else { return [.answer(.skip, ids)] }
    switch row.state {
    case .missed:
      return ask("\(named(row)) was missed. Dismiss that?", .run(["dismiss", row.id.text]))
    case .pending:
      return ask(
        "\(named(row)) waits for done, and goes on waiting. Skip its next occurrence?",
        .run(["skip", row.id.text, "--yes"]))
    case .active, .ringing, .snoozed, .paused, .disabled, .finished:
      return [.answer(.skip, ids)]
    }
  }

  // MARK: A held key

  /// Counts a press of the key that is held. Another key ends the hold, and has its own meaning.
  mutating func hold(_ key: Key, _ holding: Holding) -> [UIEffect] {
    guard keys.command(key, in: place) == .stop else {
      mode = .browsing
      return key.closes && !holding.isAnswered ? [] : browse(key)
    }
    var holding = holding
    holding.hold.press(at: now)
    mode = .holding(holding)
    return checkHold()
  }

  /// Stops the alarms once the key was held long enough.
  mutating func checkHold() -> [UIEffect] {
    guard case .holding(var holding) = mode else { return [] }
    holding.hold.advance(to: now)
    if holding.hold.isComplete, !holding.isAnswered {
      holding.isAnswered = true
      mode = .holding(holding)
      return [.answer(.stop, holding.ids)]
    }
    mode = holding.hold.isHeld ? .holding(holding) : .browsing
    if !holding.hold.isHeld, !holding.isAnswered {
      message = Message(
        text: "Hold \(keys.name(of: .stop)) for 3 s to stop \(holding.title).", isError: false)
    }
    return []
  }

  mutating func open() -> [UIEffect] {
    if tab != .alarms {
      guard let page = pages[tab], let index = page.selected, page.lines.indices.contains(index)
      else { return [] }
      if let edit = page.lines[index].edit {
        return begin(
          .words(label: edit.label, verb: edit.verb, []), edit.value,
          hint: wrapped(edit.hint))
      }
      return page.lines[index].command.map { [.run($0)] } ?? []
    }
    guard let row = list.selectedRow else { return [] }
    if row.state == .ringing, !showsDetails { return openRinging(row.id) }
    showsDetails = true
    if details?.id != row.id { details = nil }
    details?.top = 0
    return readDetails()
  }

  /// Opens the screen of an alarm that rings, or of all. The list then says what was answered there.
  private mutating func openRinging(_ id: Identifier?) -> [UIEffect] {
    answerable = list.content.rows.compactMap(\.alarm).filter(\.isOpen)
    return [.runOnTerminal(["ring"] + (id.map { [$0.text] } ?? []))]
  }

  private mutating func back() -> [UIEffect] {
    if showsDetails {
      showsDetails = false
      scrollToSelection()
      return [readList] + readDetails()
    }
    if tab != .alarms { return show(.alarms) }
    if !list.marked.isEmpty {
      list.marked = []
      return []
    }
    guard !list.filter.isEmpty else { return [] }
    list.filter = ""
    return [readList]
  }
}

extension KeyTable {
  /// Returns the first key of a command, for texts.
  func name(of command: UICommand) -> String {
    bindings.first { $0.command == command }?.keys.first?.name ?? command.rawValue
  }
}
