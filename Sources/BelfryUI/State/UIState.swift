import BelfryCore
import BelfryTerminal

/// Everything that the screen shows, and what the person is doing.
package struct UIState: Sendable {
  package internal(set) var size: Size
  package internal(set) var tab = Tab.alarms
  package internal(set) var list = ListState()
  /// The pages of text.
  package internal(set) var pages: [Tab: Page] = [:]
  /// The number of months from the present one.
  package internal(set) var monthOffset = 0
  /// The details of an alarm beside or instead of the list; nil before they are read.
  package internal(set) var details: Details?
  /// True if the details take the whole screen.
  package internal(set) var showsDetails = false
  package internal(set) var mode = Mode.browsing
  /// The result of the last action; nil for none.
  package internal(set) var message: Message?
  /// The last command of a prompt; nil once it has ended.
  package internal(set) var refusable: Refusable?
  /// The alarms that waited for an answer when the screen of what rings was opened, until an answer there was reported.
  var answerable: [AlarmRow] = []
  /// The next alarm that waits for an answer, while one is being answered.
  var successor: Successor?
  /// The number of marked alarms that the answer being given does not fit.
  var leftOut = 0
  /// The command that runs; nil for none.
  package internal(set) var running: String?
  /// The time of the last event, in milliseconds since any moment.
  package internal(set) var now: Int64 = 0
  /// The lines that were typed at the prompts.
  package internal(set) var history = PromptHistory()
  package let keys: KeyTable
  package let purpose: Purpose
  /// The end of the only action of a screen with one purpose; nil before it, and without one.
  package internal(set) var result: UIEvent.Outcome?
  /// True once the screen with one purpose has shown its form.
  var hasOpened = false

  package init(size: Size, keys: KeyTable = .standard, purpose: Purpose = .everything) {
    self.size = size
    self.keys = keys
    self.purpose = purpose
  }

  /// The purpose of the screen.
  package enum Purpose: Hashable, Sendable {
    /// All pages.
    case everything
    /// Only the prompt of a new alarm, with a text to begin with.
    case add(String)
    /// Only the form of an alarm.
    case edit(Identifier, title: String)
  }

  /// True once the first frame has something to show.
  var isReady: Bool { purpose == .everything ? list.isLoaded : hasOpened }

  /// True if nothing is left to do for a screen with one purpose.
  var isOver: Bool {
    guard purpose != .everything, hasOpened, running == nil, case .browsing = mode else {
      return false
    }
    return true
  }

  /// The list of alarms.
  package struct ListState: Equatable, Sendable {
    package internal(set) var content = ListContent()
    /// The selected alarm; nil if there is none.
    package internal(set) var selected: Identifier?
    /// The first row that is shown.
    package internal(set) var top = 0
    package internal(set) var marked: Set<Identifier> = []
    /// The words of the filter.
    package internal(set) var filter = ""
    /// The filter of the content; nil before the list was read.
    package internal(set) var loadedFilter: String?
    /// The keys that were typed before the list was read, or that of a new filter.
    package internal(set) var waitingKeys: [Key] = []
    /// The alarms that something else has changed a moment ago.
    package internal(set) var changed: Set<Identifier> = []

    /// True once the list was read.
    package var isLoaded: Bool { loadedFilter != nil }

    /// The place of the selected alarm among the rows.
    package var selectedIndex: Int? {
      selected.flatMap { id in content.rows.firstIndex { $0.id == id } }
    }

    /// The selected alarm.
    package var selectedRow: AlarmRow? { selectedIndex.flatMap { content.rows[$0].alarm } }

    /// The alarms of an action: the marked ones, or else the selected one.
    package var targets: [AlarmRow] {
      if marked.isEmpty { return selectedRow.map { [$0] } ?? [] }
      return content.rows.compactMap(\.alarm).filter { marked.contains($0.id) }
    }
  }

  /// A page of text.
  package struct Page: Hashable, Sendable {
    package internal(set) var lines: [PageLine]
    package internal(set) var top = 0
    /// The selected line, of a page whose lines can be opened.
    package internal(set) var selected: Int?

    init(_ lines: [PageLine]) { self.lines = lines }

    init(lines: [String]) { self.init(lines.map { PageLine($0) }) }

    /// The lines that can be opened.
    var openable: [Int] { lines.indices.filter { lines[$0].isOpenable } }
  }

  /// The details of an alarm.
  package struct Details: Hashable, Sendable {
    package let id: Identifier
    package internal(set) var lines: [String]
    package internal(set) var top = 0
  }

  /// The result of an action.
  package struct Message: Hashable, Sendable {
    /// The lines. The last one stands in the line of messages, and the others above it.
    package let lines: [String]
    package let isError: Bool

    /// The greatest number of lines.
    static let maxLines = 6

    init(lines: [String], isError: Bool) {
      self.lines = Array(lines.suffix(Message.maxLines))
      self.isError = isError
    }

    init(text: String, isError: Bool) { self.init(lines: [text], isError: isError) }

    /// Returns the message for another width.
    func wrapped(to columns: Int) -> Message {
      let text = lines.joined(separator: " ")
      return Message(lines: TextWidth.wrapped(text, to: max(8, columns)), isError: isError)
    }

    /// Returns the text of a result in a width, on one line if that has room; none if there is no text. The line of messages
    /// has a color of its own.
    static func lines(of outcome: UIEvent.Outcome, columns: Int) -> [String] {
      let lines = outcome.lines.map(StyledText.plain)
      let joined = lines.joined(separator: " ")
      if joined.isEmpty { return [] }
      return TextWidth.of(joined) <= columns
        ? [joined] : lines.flatMap { TextWidth.wrapped($0, to: max(8, columns)) }
    }
  }

  /// The meaning of the keys.
  package enum Mode: Sendable {
    case browsing
    case prompt(Prompt)
    case form(Form)
    case question(Question)
    /// A key is held to stop what rings.
    case holding(Holding)
    /// The list of the keys, with the words that select some of them.
    case help(LineEditor, top: Int)
    /// The output of a command.
    case output(title: String, Page)
  }

  /// A line that is being typed.
  package struct Prompt: Sendable {
    /// The purpose of the line.
    package enum Purpose: Hashable, Sendable {
      case filter, add, command
      /// Words behind a command about some alarms, such as `snooze ID` and `1h`. Without alarms, one word, such as `10m`
      /// behind `settings set snooze`.
      case words(label: String, verb: String, [Identifier])
    }

    package let purpose: Purpose
    package internal(set) var editor: LineEditor
    /// Lines about what can be typed.
    package var hint: [String] = []
    /// The meaning of the text, shown above the line.
    package internal(set) var preview: [String] = []
    /// The words that can complete the text.
    package internal(set) var completions: [String] = []
    /// The number of earlier lines that were gone back; 0 for the line that is being typed.
    var recalled = 0
    /// The line that was being typed when an earlier one was recalled.
    var draft = ""
  }

  /// A command of a prompt, which comes back with its text if the command is refused.
  package struct Refusable: Sendable {
    package let words: [String]
    package let prompt: Prompt
  }

  /// The alarm to select once another one was answered.
  struct Successor: Sendable {
    let of: Identifier
    let next: Identifier
  }

  /// A question that is answered with y or n.
  package struct Question: Sendable {
    package let text: String
    package let effect: UIEffect
  }

  /// A key that is held for a while to stop alarms.
  package struct Holding: Sendable {
    package let title: String
    package let ids: [Identifier]
    package internal(set) var hold = Hold(seesReleases: false)
    /// True once the alarms were stopped. The key that is still held then has no meaning.
    package internal(set) var isAnswered = false
  }

  /// The part of the screen whose keys count.
  package var place: Place {
    if case .output = mode { return .text }
    if tab == .alarms, showsDetails { return .alarms }
    return tab.place
  }

  /// The alarms that ring and are not on the screen: the filter leaves them out, or another page is shown.
  package var hiddenRinging: [RingingAlarm] {
    if list.content.ringing.isEmpty { return [] }
    let shown = tab == .alarms ? Set(list.content.rows.compactMap(\.id)) : []
    return list.content.ringing.filter { !shown.contains($0.id) }
  }

  /// The time until the screen changes without an event, in milliseconds; nil if it does not.
  package var untilTick: Int? {
    if case .holding = mode { UIState.holdInterval } else { nil }
  }

  /// The time between two looks at a held key, in milliseconds.
  private static let holdInterval = 100

  /// The areas of the screen.
  package var layout: Layout { Layout(self) }

  /// Returns the lines of a text between the margins of the screen.
  func wrapped(_ text: String) -> [String] {
    TextWidth.wrapped(text, to: max(8, size.columns - 2))
  }

  /// True if the screen is too small for anything but the words that say so.
  var isTooSmall: Bool {
    size.columns < Layout.least.columns || size.rows < Layout.least.rows
  }
}

/// Something that happens.
package enum UIEvent: Sendable {
  case input(InputEvent)
  case resized(Size)
  /// The list was read.
  case list(ListContent, filter: String)
  case details(Identifier, [String])
  case page(Tab, [PageLine])
  case preview(String, [String])
  /// The values of an alarm for the form; none if they cannot be read.
  case form(Identifier, [FormField])
  /// The meaning of the words of a form.
  case previewedEdit([String], [String])
  case completions(String, [String])
  /// An action or a command has ended.
  case ended(Outcome)
  /// The store was changed, here or elsewhere.
  case changed
  /// A minute has passed, or an alarm is due.
  case time
  /// The time of `UIState.untilTick` has passed.
  case tick
  /// The marks of changes end.
  case marksEnded

  /// The end of an action or a command.
  package struct Outcome: Sendable {
    package let title: String
    package let lines: [String]
    package let isError: Bool
    /// A command that did nothing, because it needs the terminal; nil for any other end.
    package let terminalCommand: [String]?

    package init(
      title: String = "", lines: [String] = [], isError: Bool = false,
      terminalCommand: [String]? = nil
    ) {
      self.title = title
      self.lines = lines
      self.isError = isError
      self.terminalCommand = terminalCommand
    }

    /// Returns the end of an answer to marked alarms, with the number of those that it did not fit.
    func noting(leftOut: Int) -> Outcome {
      guard leftOut > 0, !isError, title.isEmpty, let last = lines.last else { return self }
      let note =
        leftOut == 1 ? "The other one needs no answer." : "\(leftOut) others need no answer."
      return Outcome(lines: lines.dropLast() + ["\(last) \(note)"])
    }
  }
}

/// Something that the runner has to do.
package enum UIEffect: Hashable, Sendable {
  /// Read the list with a filter, for a width.
  case readList(filter: String, columns: Int)
  case readDetails(Identifier, columns: Int)
  case readPage(Tab, Size, month: Int)
  /// Find out what a phrase means.
  case preview(String, columns: Int)
  case complete(String)
  case readForm(Identifier)
  /// Find out what the words of a form change.
  case previewEdit([String], columns: Int)
  /// Perform an answer to alarms.
  case answer(UIAnswer, [Identifier])
  /// Run a command of belfry, and show what it prints. Empty output is a success.
  case run([String])
  /// Run a command that needs the terminal for itself, such as an editor.
  case runOnTerminal([String])
  /// Open the record of an alarm in the person's editor.
  case editFile(Identifier)
  /// Remove the marks of changes in a moment.
  case endMarks
  /// Ring the terminal's bell.
  case bell
  case repaint, suspend, quit
}

/// An answer to the occurrence of an alarm.
package enum UIAnswer: String, Hashable, Sendable {
  case done, stop, snooze, skip
}
