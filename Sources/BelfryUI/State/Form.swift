import BelfryCore
import BelfryTerminal

/// A value of an alarm that the form can change, with the words of `belfry edit` for it.
package struct FormField: Hashable, Sendable {
  /// The words that give the alarm the value of a field.
  package enum Words: Hashable, Sendable {
    /// The words of the value themselves, such as a schedule.
    case phrase
    /// An option with the value. An empty value is written as another word.
    case option(String, empty: String)
    /// Options for yes and no, between which a key switches.
    case choice(yes: String, no: String)
  }

  package let label: String
  package let value: String
  package let words: Words

  package init(_ label: String, _ value: String, _ words: Words) {
    self.label = label
    self.value = value
    self.words = words
  }
}

/// The form for the values of an alarm.
package struct Form: Hashable, Sendable {
  /// The alarm.
  package let id: Identifier
  package let fields: [FormField]
  /// The values as they are typed.
  package private(set) var editors: [LineEditor]
  package private(set) var selected = 0
  /// The meaning of the values, or the reason why they are not valid.
  package internal(set) var preview: [String] = []
  /// True after the warning that another Esc discards the changes.
  package internal(set) var isLeaving = false
  /// True while a command saves the values.
  package internal(set) var isSaving = false

  package init(_ id: Identifier, _ fields: [FormField]) {
    self.id = id
    self.fields = fields
    editors = fields.map { LineEditor($0.value) }
  }

  /// The values of a field with a choice.
  static let choices = (yes: "yes", no: "no")

  /// Returns true if a field has another value than the alarm.
  func isChanged(_ index: Int) -> Bool { editors[index].text != fields[index].value }

  /// The words behind `belfry` that change the alarm; nil if nothing differs.
  var words: [String]? {
    let changed = fields.indices.filter(isChanged)
    if changed.isEmpty { return nil }
    var (phrase, options): ([String], [String]) = ([], [])
    for index in changed {
      let text = editors[index].text
      switch fields[index].words {
      case .phrase: phrase = text.split(separator: " ").map(String.init)
      case .option(let name, let empty): options.append("\(name)=\(text.isEmpty ? empty : text)")
      case .choice(let yes, let no): options.append(text == Form.choices.yes ? yes : no)
      }
    }
    return ["edit", id.text] + phrase + options
  }

  // MARK: Keys

  /// Goes to the next field, or another one.
  mutating func move(by steps: Int) {
    selected = (selected + steps + fields.count) % fields.count
  }

  mutating func select(_ index: Int) {
    if fields.indices.contains(index) { selected = index }
  }

  /// Takes a key into the selected field. Returns true if it has changed the field or its cursor.
  mutating func handle(_ key: Key) -> Bool {
    guard case .choice = fields[selected].words else { return editors[selected].handle(key) }
    let switches = [Key(" "), Key(.left), Key(.right)].contains(key)
    let (yes, no) = Form.choices
    let isYes = editors[selected].text == yes
    guard switches || key == Key("y") && !isYes || key == Key("n") && isYes else { return false }
    editors[selected] = LineEditor(isYes ? no : yes)
    return true
  }

  /// Takes pasted text into the selected field.
  mutating func insert(_ text: String) {
    if case .choice = fields[selected].words { return }
    editors[selected].insert(text)
  }
}

/// The keys of the form.
extension UIState {
  mutating func type(_ input: InputEvent, into form: Form) -> [UIEffect] {
    var form = form
    switch input {
    case .paste(let text): form.insert(text)
    case .click(_, let row):
      let index = FormView.field(at: row, form, layout)
      index.map { form.select($0) }
      mode = .form(form)
      return []
    case .key(let key):
      switch (key.code, key.isControl) {
      case (.escape, _) where form.words != nil && !form.isLeaving && !form.isSaving:
        form.isLeaving = true
        form.preview = wrapped(
          "The changes are not saved. Enter saves them, and esc leaves them out.")
        mode = .form(form)
        return []
      case (.escape, _), (.character("c"), true), (.character("g"), true):
        mode = .browsing
        let isChanged = form.words != nil
        message = isChanged ? Message(text: "Nothing was changed.", isError: false) : nil
        return []
      case (.enter, _), (.character("s"), true): return save(form)
      case (.character("z"), true): return [.suspend]
      case (.tab, _), (.down, _): form.move(by: 1)
      case (.backTab, _), (.up, _): form.move(by: -1)
      default: guard form.handle(key) else { return [] }
      }
    default: return []
    }
    form.isLeaving = false
    return show(form)
  }

  /// Shows a form, and asks what its values mean.
  mutating func show(_ form: Form) -> [UIEffect] {
    var form = form
    guard let words = form.words else {
      form.preview = []
      mode = .form(form)
      return []
    }
    mode = .form(form)
    return [.previewEdit(words, columns: size.columns - 2)]
  }

  private mutating func save(_ form: Form) -> [UIEffect] {
    guard let words = form.words else {
      mode = .browsing
      message = Message(text: "Nothing has changed.", isError: false)
      result = UIEvent.Outcome(lines: ["Nothing has changed."])
      return []
    }
    if form.isSaving { return [] }
    var form = form
    form.isSaving = true
    mode = .form(form)
    return [.run(words)]
  }
}
