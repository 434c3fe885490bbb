import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryStore
import BelfryTerminal

struct TagCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tag",
    abstract: "Add tags to alarms, or remove them.",
    discussion: """
      +TAG adds a tag, and -TAG or --remove TAG removes one. The other words are alarms, states or due:week. Without \
      tags to change, the tags of the alarms are shown; without words, those of all alarms.

        belfry tag +kids bins gym
        belfry tag -kids bins            # the same as --remove kids
        belfry tag +home -work disabled
        belfry tag --clear bins
        belfry edit +kids --tag +family  # the alarms with a tag
      """)

  @Argument(
    help: "+TAG, -TAG, and the alarms, a state or due:week.", completion: .selections)
  var words: [String] = []

  @Option(help: ArgumentHelp("Remove these tags: kids,home.", valueName: "tags"), completion: .tags)
  var remove: [String] = []

  @Flag(help: "Remove all tags.")
  var clear = false

  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  /// Returns the arguments with `-kids` as `--remove kids`. The parser would read it as several options of one letter.
  ///
  /// - Parameter arguments: The arguments behind `tag`.
  static func removals(in arguments: ArraySlice<String>) -> [String] {
    let isEnded = arguments.firstIndex(of: "--") ?? arguments.endIndex
    return arguments.indices.flatMap { index -> [String] in
      let word = arguments[index]
      let name = word.dropFirst()
      guard index < isEnded, word.hasPrefix("-"), let first = name.first, first.isLetter,
        !name.allSatisfy({ "ynh".contains($0) })
      else { return [word] }
      return ["--remove", String(name)]
    }
  }

  /// The changes, such as `+kids,-home`; empty if there are none.
  private var changes: String {
    let added = words.filter { $0.hasPrefix("+") }
    let removed = remove.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
    return (added + removed.map { "-\($0)" }).joined(separator: ",")
  }

  private var alarms: [String] { words.filter { !$0.hasPrefix("+") } }

  func validate() throws {
    if clear, !changes.isEmpty {
      throw ValidationError(
        "--clear removes all tags, so that no tag is added or removed beside it.")
    }
    if alarms.isEmpty, clear || !changes.isEmpty {
      throw ValidationError(
        changes.hasPrefix("+") && remove.isEmpty
          ? "Name the alarms to tag. To list those with a tag: belfry list \(words[0])"
          : "Name the alarms whose tags change.")
    }
  }

  func run() throws {
    let edit: TagEdit?
    do throws(TagEditError) {
      edit = clear ? .replace([]) : changes.isEmpty ? nil : try TagEdit(changes)
    } catch {
      throw TagOptions.error(error, of: nil)
    }
    guard !alarms.isEmpty else {
      return try TagList(common.context(root), json: common.json).show([])
    }
    let context = try common.context(root)
    let store = try context.open(edit == nil ? .reading : .writing)
    let editing = try AlarmEditing(alarms, in: store, context, confirmation, json: common.json)
    guard let edit else { return try show(editing, context) }
    guard let changes = try editing.run(.tagging(editing.selection.ids, edit)), !editing.isBulk,
      let change = changes.first
    else { return }
    if common.json { return try editing.write(changes) }
    let title = Printable.text(change.alarm.title)
    let tags = change.alarm.tags.isEmpty ? "none" : change.alarm.tags.text
    Console.line(
      change.fields.isEmpty ? "\(title) is unchanged: \(tags)." : "Tags of \(title): \(tags).")
  }

  /// Shows the tags of the alarms.
  private func show(_ editing: AlarmEditing, _ context: CommandContext) throws {
    if common.json { return try editing.writeAlarms() }
    for summary in editing.selection.summaries {
      let tags = summary.tags.isEmpty ? "none" : summary.tags.text
      Console.line("\(Printable.text(summary.title)): \(tags)")
    }
  }
}

struct TagsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tags",
    abstract: "List the tags with the number of their alarms.",
    discussion: """
        belfry tags
        belfry tags disabled
      """)

  @Argument(help: "Alarms, or +tag, a state, due:week (default: all).", completion: .selections)
  var words: [String] = []

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    try TagList(common.context(root), json: common.json).show(words)
  }
}

/// The list of tags.
private struct TagList {
  private let context: CommandContext
  private let json: Bool

  init(_ context: CommandContext, json: Bool) {
    self.context = context
    self.json = json
  }

  func show(_ words: [String]) throws {
    let store = try words.isEmpty ? context.openIfAny() : context.open(.reading)
    let tags = try store.map { TagUse.all(of: try context.listed(words, in: $0)) } ?? []
    if json { return try Console.write(tags.map(TagDocument.init)) }
    if tags.isEmpty {
      return Console.line("No alarm has a tag. To add one: belfry tag +home ALARM")
    }
    let width = tags.map { TextWidth.of($0.tag.text) }.max() ?? 0
    for use in tags {
      let padding = String(repeating: " ", count: width - TextWidth.of(use.tag.text))
      let finished = use.finished > 0 ? ", \(use.finished) finished" : ""
      let count = "\(use.unfinished) alarm\(use.unfinished == 1 ? "" : "s")"
      Console.line("\(Printable.text(use.tag.text))\(padding)  \(count)\(finished)")
    }
  }
}
