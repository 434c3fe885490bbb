import BelfryCore
import BelfryStore

/// Words that select log entries: `done`, `+home`, the name of an alarm, or a part of a title.
///
/// | word | entries |
/// |---|---|
/// | `done`, `missed`, `skipped`, `snoozed`, `edited`, … | of the action; of any of several |
/// | `+home` | of the alarms that have the tag now |
/// | the name of an alarm, or the start of the id of a deleted one | of the alarm |
/// | names of several alarms | of any of them |
/// | any other text | whose title contains it |
public struct LogFilter: Sendable {
  /// The actions; empty for all.
  public private(set) var actions: Set<LogEntry.Action> = []
  /// The alarm; nil for all.
  public private(set) var alarm: Identifier?
  /// The alarms with all tags, or that several words name; nil for all.
  private var selected: Set<Identifier>?
  /// A part of the title, in lower case; nil for any title.
  private var text: String?
  /// The reason why the text names no alarm, to be reported if no title contains it either.
  public private(set) var unnamed: (any Error)?

  /// Creates a filter.
  ///
  /// - Parameters:
  ///   - words: The words.
  ///   - selector: The selector of alarms by their names.
  ///   - store: The store.
  /// - Throws: `SelectionError.badTag`, `StoreError`.
  public init(_ words: [String], _ selector: AlarmSelector, in store: Store) throws {
    if words.isEmpty { return }
    // A title can be the name of an action.
    let whole = words.joined(separator: " ")
    if let names = try? store.alarms(named: whole), names.rule == .whole,
      let found = try? selector.find(whole)
    {
      alarm = found.id
      return
    }
    var tags: [String] = []
    var rest: [String] = []
    for word in words {
      let action = LogEntry.Action(rawValue: word.lowercased())
      if LogEntry.Action.allCases.contains(action) {
        actions.insert(action)
      } else if word.hasPrefix("+"), word.count > 1 {
        tags.append(word)
      } else {
        rest.append(word)
      }
    }
    if !tags.isEmpty { selected = Set(try selector.select(tags).ids) }
    if rest.isEmpty { return }
    try find(rest.joined(separator: " "), selector, store)
    if alarm == nil, let named = LogFilter.named(rest, selector) {
      (text, unnamed) = (nil, nil)
      selected = selected?.intersection(named) ?? named
    }
  }

  /// Returns the alarms that each of several words names; nil if they are one, or a word names none.
  private static func named(_ words: [String], _ selector: AlarmSelector) -> Set<Identifier>? {
    guard words.count > 1, let selection = try? selector.select(words, readingOnly: true),
      selection.ids.count > 1
    else { return nil }
    return Set(selection.ids)
  }

  private mutating func find(_ name: String, _ selector: AlarmSelector, _ store: Store) throws {
    do {
      alarm = try selector.find(name).id
      return
    } catch StoreError.noSuchAlarm {
      unnamed = StoreError.noSuchAlarm(name)
    } catch let error as SelectionError {
      unnamed = error
    }
    alarm = LogFilter.deleted(name, store)
    if alarm == nil { text = name.lowercased() }
  }

  /// Returns the id of the only alarm in the log whose id starts with a text; nil for none or several.
  private static func deleted(_ text: String, _ store: Store) -> Identifier? {
    guard text.utf8.allSatisfy(Identifier.isCharacter) else { return nil }
    let matches = Set(store.history.log().lazy.map(\.alarm).filter { $0.text.hasPrefix(text) })
    return matches.count == 1 ? matches.first : nil
  }

  /// Returns true if an entry of the alarm matches all words.
  public func matches(_ entry: LogEntry) -> Bool {
    (actions.isEmpty || actions.contains(entry.action))
      && (selected.map { $0.contains(entry.alarm) } ?? true)
      && (text.map { entry.title.lowercased().contains($0) } ?? true)
  }
}
