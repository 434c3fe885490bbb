import BelfryCore
import BelfryTerminal

/// The input of text: prompts, answers to questions, the search in the help; and the output of commands.
extension UIState {
  /// Begins a prompt.
  ///
  /// - Parameter hint: Lines about what can be typed.
  mutating func begin(
    _ purpose: Prompt.Purpose, _ text: String, hint: [String] = []
  ) -> [UIEffect] {
    let prompt = Prompt(purpose: purpose, editor: LineEditor(text), hint: hint, preview: hint)
    mode = .prompt(prompt)
    hasOpened = true
    return effects(of: prompt)
  }

  mutating func changePrompt(_ change: (inout Prompt) -> Void) -> [UIEffect] {
    guard case .prompt(var prompt) = mode else { return [] }
    change(&prompt)
    mode = .prompt(prompt)
    return []
  }

  mutating func type(_ input: InputEvent, into prompt: Prompt) -> [UIEffect] {
    var prompt = prompt
    switch input {
    case .paste(let text): prompt.editor.insert(text)
    case .key(let key):
      switch (key.code, key.isControl) {
      case (.escape, _), (.character("c"), true), (.character("g"), true): return cancel(prompt)
      // The end of input.
      case (.character("d"), true) where prompt.editor.text.isEmpty: return cancel(prompt)
      case (.enter, _): return accept(prompt)
      case (.character("z"), true): return [.suspend]
      case (.tab, _):
        guard let completed = prompt.completed else { return [] }
        prompt.editor = LineEditor(completed)
      case (.up, _), (.character("p"), true):
        guard prompt.recall(1, from: history) else { return [] }
      case (.down, _), (.character("n"), true):
        guard prompt.recall(-1, from: history) else { return [] }
      default:
        let before = prompt.editor.text
        guard prompt.editor.handle(key) else { return [] }
        if before == prompt.editor.text {
          mode = .prompt(prompt)
          return []
        }
      }
    default: return []
    }
    switch prompt.purpose {
    case .filter, .command: prompt.preview = []
    // The reason of a refusal is about the text before.
    case .words: prompt.preview = prompt.hint
    case .add: break
    }
    prompt.completions = []
    mode = .prompt(prompt)
    return effects(of: prompt)
  }

  /// Returns what follows from the text as it is typed.
  private mutating func effects(of prompt: Prompt) -> [UIEffect] {
    let text = prompt.editor.text
    switch prompt.purpose {
    case .filter:
      list.filter = text
      return [readList]
    case .add: return text.isEmpty ? [] : [.preview(text, columns: size.columns - 2)]
    case .command: return [.complete(text)]
    case .words: return []
    }
  }

  private mutating func cancel(_ prompt: Prompt) -> [UIEffect] {
    mode = .browsing
    // What was typed comes back with the key for earlier lines.
    if prompt.purpose == .add { history.add(prompt.editor.text, to: .add) }
    guard prompt.purpose == .filter, !list.filter.isEmpty else { return [] }
    list.filter = ""
    return [readList]
  }

  private mutating func accept(_ prompt: Prompt) -> [UIEffect] {
    mode = .browsing
    let text = prompt.editor.text
    history.add(text, to: prompt.purpose)
    let words = ShellWords.split(text)
    switch prompt.purpose {
    case .filter: return []
    case .add: return words.isEmpty ? [] : run(["add"] + words, of: prompt)
    case .command:
      let line = text.drop { $0.isWhitespace }
      // As in vi, an exclamation mark gives the terminal to the command.
      let onTerminal = line.first == "!"
      var words = onTerminal ? ShellWords.split(String(line.dropFirst())) : words
      if words.first == "belfry" { words.removeFirst() }
      if onTerminal { return words.isEmpty ? [] : [.runOnTerminal(words)] }
      if ["q", "quit", "exit"].contains(words.first) { return [.quit] }
      if let tab = Tab.allCases.first(where: { $0.title.lowercased() == words.first }),
        words.count == 1, tab != .settings
      {
        return show(tab)
      }
      return words.isEmpty ? [] : [.run(words)]
    case .words(_, let verb, let ids):
      if words.isEmpty { return [] }
      let takesText = verb == "rename" || ids.isEmpty
      let verbs = verb.split(separator: " ").map(String.init)
      // No word of the time may name another alarm.
      return run(
        verbs + ids.map(\.text) + (takesText ? [text] : ["--when=" + text]), of: prompt)
    }
  }

  /// Runs the command of a prompt. If it is refused, the prompt comes back.
  private mutating func run(_ words: [String], of prompt: Prompt) -> [UIEffect] {
    refusable = Refusable(words: words, prompt: prompt)
    return [.run(words)]
  }

  mutating func answer(_ key: Key, _ question: Question) -> [UIEffect] {
    mode = .browsing
    return key == Key("y") ? [question.effect] : []
  }

  // MARK: Help and output

  mutating func readHelp(_ key: Key, _ editor: LineEditor, _ top: Int) -> [UIEffect] {
    var editor = editor
    let count = keys.matching(editor.text, in: place).count
    let page = layout.main.rows - 1
    func scrolled(_ steps: Int) -> Int { clamped(top + steps, count) }
    switch (key.code, key.isControl) {
    case (.escape, _), (.character("c"), true): mode = .browsing
    // Every letter is part of a word that is searched for: `quit` must neither close this nor go on as keys of the list.
    case (.character("?"), false) where editor.text.isEmpty: mode = .browsing
    case (.down, _): mode = .help(editor, top: scrolled(1))
    case (.up, _): mode = .help(editor, top: scrolled(-1))
    case (.pageDown, _): mode = .help(editor, top: scrolled(page))
    case (.pageUp, _): mode = .help(editor, top: scrolled(-page))
    case (.enter, _):
      mode = .browsing
      // The only key that is left is performed.
      let left = keys.matching(editor.text, in: place)
      if left.count == 1, !editor.text.isEmpty { return perform(left[0].command) }
    default: if editor.handle(key) { mode = .help(editor, top: 0) }
    }
    return []
  }

  mutating func read(_ key: Key, _ title: String, _ page: Page) -> [UIEffect] {
    var page = page
    let rows = layout.main.rows - 1
    switch keys.command(key, in: .text) {
    case .down: page.top += 1
    case .up: page.top -= 1
    case .pageDown: page.top += rows
    case .pageUp: page.top -= rows
    case .top: page.top = 0
    case .bottom: page.top = page.lines.count
    case .suspend: return [.suspend]
    case .repaint: return [.repaint]
    case .commandLine: return begin(.command, "")
    case .back, .quit:
      mode = .browsing
      return []
    default:
      if key.code == .enter || key.code == .character(" ") { mode = .browsing }
      return []
    }
    page.top = clamped(page.top, page.lines.count)
    mode = .output(title: title, page)
    return []
  }
}

extension UIState.Prompt {
  /// The text with its only completion, or with the common beginning of several; nil if nothing is added.
  var completed: String? {
    guard let first = completions.first else { return nil }
    let text = editor.text
    let start = text.lastIndex(of: " ").map { text.index(after: $0) } ?? text.startIndex
    if completions.count == 1 { return text[..<start] + first + " " }
    let common = completions.dropFirst().reduce(first) { common, word in
      String(zip(common, word).prefix { $0.0 == $0.1 }.map(\.0))
    }
    let typed = text[start...]
    guard common.count > typed.count, common.lowercased().hasPrefix(typed.lowercased()) else {
      return nil
    }
    return text[..<start] + common
  }
}

/// Text as a shell divides it into words.
package enum ShellWords {
  /// Returns the words. Quotes keep spaces, and a backslash keeps the next character; nothing else has a meaning.
  package static func split(_ text: String) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var rest = text[...]
    while let character = rest.popFirst() {
      if character == quote {
        quote = nil
      } else if character == "\\", quote != "'", let next = rest.popFirst() {
        word = (word ?? "") + String(next)
      } else if quote == nil, character == "\"" || character == "'",
        isOpening(character, word, rest)
      {
        quote = character
        word = word ?? ""
      } else if quote == nil, character.isWhitespace {
        if let word { words.append(word) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    if let word { words.append(word) }
    return words
  }

  /// Returns false for an apostrophe, as in `don't`, and for a quote without an end.
  private static func isOpening(_ quote: Character, _ word: String?, _ rest: Substring) -> Bool {
    rest.contains(quote) && (word == nil || quote == "\"" || word?.last == "=")
  }
}
