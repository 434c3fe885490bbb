import BelfryCore
import BelfryTerminal

/// The reducer: a pure function of the state and an event. Nothing is read or written here.
extension UIState {
  /// Changes the state after an event. Returns what the runner has to do.
  ///
  /// - Parameter now: The time, in milliseconds since any moment. Only held keys depend on it.
  package mutating func update(_ event: UIEvent, at now: Int64 = 0) -> [UIEffect] {
    self.now = now
    var effects = effects(of: event)
    for case .run(let words) in effects { running = words.joined(separator: " ") }
    if isOver { effects.append(.quit) }
    return effects
  }

  private mutating func effects(of event: UIEvent) -> [UIEffect] {
    switch event {
    case .input(let input): return handle(input)
    case .resized(let size):
      self.size = size
      message = message?.wrapped(to: size.columns - 2)
      return readShown()
    case .list(let content, let filter):
      guard filter == list.filter else { return [] }
      var effects = take(content)
      let keys = list.waitingKeys
      list.waitingKeys = []
      for key in keys { effects += handle(.key(key)) }
      return effects
    case .details(let id, let lines):
      if details?.id == id {
        details?.lines = lines
      } else if id == list.selected {
        details = Details(id: id, lines: lines)
      }
      scrollDetails(0)
      return []
    case .page(let tab, let lines):
      take(lines, tab)
      return []
    case .preview(let text, let lines):
      return changePrompt { if $0.editor.text == text { $0.preview = lines } }
    case .completions(let text, let words):
      return changePrompt { if $0.editor.text == text { $0.completions = words } }
    case .form(let id, let fields):
      hasOpened = true
      guard !fields.isEmpty, case .browsing = mode, id == list.selected || purpose != .everything
      else { return [] }
      mode = .form(Form(id, fields))
      return []
    case .previewedEdit(let words, let lines):
      guard case .form(var form) = mode, form.words == words else { return [] }
      form.preview = lines
      mode = .form(form)
      return []
    case .ended(let outcome): return end(outcome)
    case .changed: return readShown()
    case .time: return (list.content.ringing.isEmpty ? [] : [.bell]) + readShown()
    case .tick: return checkHold()
    case .marksEnded:
      list.changed = []
      return []
    }
  }

  /// Returns the effects of the start.
  package mutating func begin() -> [UIEffect] {
    switch purpose {
    case .everything: readShown()
    case .add(let text): begin(.add, text)
    case .edit(let id, _): [.readForm(id)]
    }
  }

  // MARK: Reading

  /// Reads everything that is shown, and the list, which the head of the screen needs.
  private func readShown() -> [UIEffect] {
    if purpose != .everything { return [] }
    return [readList] + readDetails() + (tab == .alarms ? [] : [readPage(tab)])
  }

  var readList: UIEffect { .readList(filter: list.filter, columns: layout.listColumns) }

  /// Reads the details if they are shown.
  func readDetails() -> [UIEffect] {
    guard tab == .alarms, showsDetails || layout.side != nil, let id = list.selected else {
      return []
    }
    return [.readDetails(id, columns: layout.detailColumns)]
  }

  func readPage(_ tab: Tab) -> UIEffect {
    .readPage(tab, Size(size.columns - 2, layout.main.rows), month: monthOffset)
  }

  /// Shows a list that was read. The selection stays on its alarm, or goes to the one that took its place.
  private mutating func take(_ content: ListContent) -> [UIEffect] {
    let before = list
    list.content = content
    list.loadedFilter = list.filter
    if !list.marked.isEmpty { list.marked.formIntersection(content.rows.compactMap(\.id)) }
    if list.selectedIndex == nil {
      let rows = content.rows
      let after = rows.indices.dropFirst(before.selectedIndex ?? 0).first { rows[$0].id != nil }
      list.selected = (after ?? rows.lastIndex { $0.id != nil }).flatMap { rows[$0].id }
    }
    if list.selected == nil { showsDetails = false }
    selectSuccessor()
    scrollToSelection()
    reportAnswers()
    var effects = list.selected == before.selected ? [] : readDetails()
    let rang = Set(before.content.ringing.map(\.id))
    if before.isLoaded, content.ringing.contains(where: { !rang.contains($0.id) }) {
      effects.append(.bell)
    }
    if before.isLoaded, before.loadedFilter == list.filter {
      let new = UIState.changes(in: content, since: before.content)
      // A new width changes every line.
      if !new.isEmpty, new.count < max(2, content.rows.count { $0.id != nil }) {
        list.changed.formUnion(new)
        effects.append(.endMarks)
      }
    }
    return effects
  }

  /// Selects the next alarm that waits for an answer, once the selected one was answered, so that the same key again does not
  /// answer its next occurrence.
  private mutating func selectSuccessor() {
    guard let wanted = successor else { return }
    if wanted.of != list.selected || showsDetails {
      successor = nil
      return
    }
    let rows = list.content.rows.compactMap(\.alarm)
    guard let answered = rows.first(where: { $0.id == wanted.of }), !answered.needsAnswer else {
      return
    }
    successor = nil
    if rows.contains(where: { $0.id == wanted.next && $0.needsAnswer }) {
      list.selected = wanted.next
    }
  }

  /// Says what was answered on the screen of what rings.
  private mutating func reportAnswers() {
    if answerable.isEmpty { return }
    let states = Dictionary(
      list.content.rows.compactMap(\.alarm).map { ($0.id, $0.state) }, uniquingKeysWith: { $1 })
    let answers = answerable.compactMap { row -> String? in
      switch states[row.id] {
      case row.state, .ringing: nil
      case .pending: "\(row.title) is pending."
      case .snoozed: "\(row.title) is snoozed."
      case .missed: "\(row.title) was missed."
      case .active, .paused, .disabled, .finished, nil: "\(row.title) is answered."
      }
    }
    if answers.isEmpty { return }
    answerable = []
    let lines = Message.lines(of: .init(lines: answers), columns: size.columns - 2)
    message = Message(lines: lines, isError: false)
  }

  /// Returns the alarms that are new or look different. In a new minute, the times until they ring do not count.
  private static func changes(in content: ListContent, since before: ListContent) -> [Identifier] {
    let (old, new) = (before.rows, content.rows)
    // Most changes are about few lines, so that what is equal at the start and at the end is left out.
    let common = min(old.count, new.count)
    let start = (0..<common).first { old[$0] != new[$0] } ?? common
    let end = (0..<common - start).first { old[old.count - 1 - $0] != new[new.count - 1 - $0] }
    let count = end ?? common - start
    let known = Dictionary(
      old[start..<old.count - count].compactMap(\.alarm).map { ($0.id, $0) },
      uniquingKeysWith: { $1 })
    let isNewMinute = before.clock != content.clock
    return new[start..<new.count - count].compactMap(\.alarm).filter { row in
      guard let known = known[row.id] else { return true }
      return known.title != row.title || known.state != row.state
        || known.line != row.line && !isNewMinute
    }.map(\.id)
  }

  /// Shows a prompt again whose command was refused, with the reason. Returns nil after any other end.
  private mutating func takeRefused(_ outcome: UIEvent.Outcome) -> [UIEffect]? {
    guard let refused = refusable,
      outcome.terminalCommand == refused.words
        || outcome.title == refused.words.joined(separator: " ")
    else { return nil }
    refusable = nil
    // A new alarm is described in the prompt rather than by answers to questions.
    let isUnfinished = outcome.terminalCommand != nil && refused.prompt.purpose == .add
    guard outcome.isError || isUnfinished, case .browsing = mode else { return nil }
    var prompt = refused.prompt
    let reason = outcome.lines.map(StyledText.plain)
    if case .words(_, _, let ids) = prompt.purpose, !ids.isEmpty {
      // The prompt has examples of its own, instead of those of the command line.
      prompt.preview = prompt.hint + reason.prefix { !$0.hasPrefix("hint:") }.flatMap(wrapped)
    } else {
      prompt.preview = reason.flatMap(wrapped)
    }
    mode = .prompt(prompt)
    return readShown()
      + (isUnfinished ? [.preview(prompt.editor.text, columns: size.columns - 2)] : [])
  }

  /// Shows the end of an action: as a page if it is long, and otherwise as a message. Nothing takes the place of what the person
  /// types meanwhile.
  private mutating func end(_ outcome: UIEvent.Outcome) -> [UIEffect] {
    running = nil
    let outcome = outcome.noting(leftOut: leftOut)
    if outcome.title.isEmpty { leftOut = 0 }
    if let again = takeRefused(outcome) { return again }
    if outcome.isError { successor = nil }
    if let words = outcome.terminalCommand {
      guard case .form(var form) = mode, form.isSaving else { return [.runOnTerminal(words)] }
      // The preview has the readings of what is not clear.
      form.isSaving = false
      mode = form.preview.isEmpty ? .browsing : .form(form)
      return form.preview.isEmpty ? [.runOnTerminal(words)] : []
    }
    var isSaved = false
    if case .form(let form) = mode, form.isSaving {
      if outcome.isError { return refuse(form, outcome.lines) }
      (mode, isSaved) = (.browsing, true)
    }
    if purpose != .everything {
      result = outcome
      return []
    }
    let lines = Message.lines(of: outcome, columns: size.columns - 2)
    let isPage =
      switch mode {
      // The values of a form were seen before they were saved.
      case .browsing, .output: lines.count > Message.maxLines || !isSaved && outcome.lines.count > 2
      case .prompt, .form, .question, .holding, .help: false
      }
    if isPage {
      mode = .output(title: outcome.title, Page(lines: outcome.lines))
    } else {
      message = lines.isEmpty ? nil : Message(lines: lines, isError: outcome.isError)
    }
    // A sync that ends meanwhile is about no alarm.
    if !outcome.isError, outcome.title != "sync" { list.marked = [] }
    return readShown()
  }

  /// Shows a form again whose values were refused, with the reason.
  private mutating func refuse(_ form: Form, _ reason: [String]) -> [UIEffect] {
    var form = form
    form.isSaving = false
    form.preview = reason.flatMap(wrapped)
    mode = .form(form)
    return readShown()
  }

  // MARK: Input

  private mutating func handle(_ input: InputEvent) -> [UIEffect] {
    if case .repeated(let key) = input { return handle(.key(key)) }
    // Nobody would see what another key does.
    if isTooSmall, input != .key(Key(.character("c"), control: true)), input != .key(Key("q")) {
      return []
    }
    switch (mode, input) {
    case (.form(let form), _): return type(input, into: form)
    case (.holding(let holding), .key(let key)): return hold(key, holding)
    case (.prompt(let prompt), _): return type(input, into: prompt)
    case (.help(let editor, let top), .key(let key)): return readHelp(key, editor, top)
    case (.question(let question), .key(let key)): return answer(key, question)
    case (.output(let title, let page), .key(let key)): return read(key, title, page)
    // There is no selection yet, or it is that of the list before. A key that was typed ahead must not act on it.
    case (.browsing, .key(let key))
    where tab == .alarms && list.loadedFilter != list.filter
      && key != Key(.character("c"), control: true):
      list.waitingKeys.append(key)
    case (.browsing, .key(let key)):
      // What is drawn again is the same.
      if keys.command(key, in: place) != .repaint { message = nil }
      return browse(key)
    case (.browsing, .click(let column, let row)): return click(column, row)
    case (.browsing, .wheel(let steps, _, _)): return scroll(by: steps * 3)
    case (.help(let editor, let top), .wheel(let steps, _, _)):
      let count = keys.matching(editor.text, in: place).count
      mode = .help(editor, top: clamped(top + steps * 3, count))
    case (.output(let title, var page), .wheel(let steps, _, _)):
      page.top = clamped(page.top + steps * 3, page.lines.count)
      mode = .output(title: title, page)
    default: break
    }
    return []
  }

  /// Returns a first line with which a page ends on the screen at the latest.
  func clamped(_ top: Int, _ count: Int) -> Int {
    max(0, min(top, count - layout.main.rows))
  }

  private mutating func click(_ column: Int, _ row: Int) -> [UIEffect] {
    message = nil
    let layout = layout
    if layout.head.contains(column: column, row: row) {
      return HeadView.tab(at: column, self).map { show($0) } ?? []
    }
    if tab != .alarms { return clickPage(row - layout.main.row) }
    guard !showsDetails, layout.main.contains(column: column, row: row),
      case let index = list.top + row - layout.main.row, list.content.rows.indices.contains(index),
      let alarm = list.content.rows[index].alarm
    else { return [] }
    // A second click opens.
    if alarm.id == list.selected { return open() }
    return select(alarm.id)
  }

  private mutating func clickPage(_ row: Int) -> [UIEffect] {
    guard var page = pages[tab], row >= 0, row < layout.main.rows, case let index = page.top + row,
      page.lines.indices.contains(index), page.lines[index].isOpenable
    else { return [] }
    if page.selected == index { return open() }
    page.selected = index
    pages[tab] = page
    return []
  }
}
