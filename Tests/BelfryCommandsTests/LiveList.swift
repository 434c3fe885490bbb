import BelfryActions
import BelfryCore
import BelfryInput
import BelfryScheduler
import BelfryStore

/// A small second front end: a live list of the alarms, in which keys answer the selected one.
///
/// It shows that a front end needs no rule of its own: it reads summaries, performs actions, and redraws when the store
/// changes.
struct LiveList {
  /// Something that happens to the list.
  enum Event {
    case key(Character)
    case changed(Set<StoreChanges.Kind>)
  }

  /// Opens the store at the present time.
  private let open: @Sendable () throws -> Store
  private var alarms: [AlarmSummary] = []
  private var selected: Identifier?
  private var message = ""

  init(_ open: @escaping @Sendable () throws -> Store) throws {
    self.open = open
    try reload()
  }

  /// Runs the list until the keys end. Returns its frames.
  static func frames(
    _ keys: AsyncStream<Character>, _ open: @escaping @Sendable () throws -> Store
  ) throws -> AsyncStream<[String]> {
    let (events, continuation) = AsyncStream.makeStream(of: Event.self)
    let changes = try StoreChanges(of: open())
    let list = try LiveList(open)
    Task {
      for await key in keys { continuation.yield(.key(key)) }
      continuation.finish()
    }
    let watching = Task { for await kinds in changes.sets { continuation.yield(.changed(kinds)) } }
    return AsyncStream { frames in
      frames.yield(list.frame)
      Task { [list] in
        var list = list
        for await event in events {
          try? list.handle(event)
          frames.yield(list.frame)
        }
        watching.cancel()
        withExtendedLifetime(changes) {}
        frames.finish()
      }
    }
  }

  mutating func handle(_ event: Event) throws {
    switch event {
    case .changed: try reload()
    case .key("j"): select(+1)
    case .key("k"): select(-1)
    case .key("d"): try answer(.done(early: true))
    case .key("s"): try answer(.stop)
    case .key("u"):
      message = "Undid: \(try UndoLastAction().perform(in: open()).subject)"
      try reload()
    case .key: message = "j, k: select; d: done; s: stop; u: undo"
    }
  }

  private mutating func reload() throws {
    alarms = try open().overview().summaries.sorted { ($0.title, $0.id) < ($1.title, $1.id) }
    if !alarms.contains(where: { $0.id == selected }) { selected = alarms.first?.id }
  }

  private mutating func select(_ step: Int) {
    guard let index = alarms.firstIndex(where: { $0.id == selected }) else { return }
    selected = alarms[max(0, min(alarms.count - 1, index + step))].id
  }

  private mutating func answer(_ answer: Answer) throws {
    guard let selected else { return }
    let store = try open()
    do {
      let action = AnswerAlarms(answer, to: [selected], settings: try store.settings().settings)
      message = try action.perform(in: store).map(LiveList.text).joined(separator: "; ")
      try reload()
    } catch let ActionError.refused(_, alarm, reason) {
      message = "\(alarm.title): \(reason)"
    }
  }

  private static func text(_ change: AlarmChange) -> String {
    let next = change.status.next.map { "next \($0.civil)" } ?? "no next occurrence"
    return "\(change.events.last?.action.label ?? "Unchanged"): \(change.alarm.title), \(next)"
  }

  /// The lines of the list, and the message about the last key.
  var frame: [String] {
    alarms.map { alarm in
      let next = alarm.next.map { " \($0.civil)" } ?? ""
      return "\(alarm.id == selected ? ">" : " ") \(alarm.state.rawValue) \(alarm.title)\(next)"
    } + [message]
  }
}
