import BelfryExchange

/// A component of an iCalendar document with everything in it, in the order of the file.
struct TaskComponent: Hashable, Sendable {
  /// A line or a component inside of a component.
  enum Item: Hashable, Sendable {
    case line(ContentLine)
    case component(TaskComponent)
  }

  /// The name in capitals, such as `VTODO`.
  let name: String
  var items: [Item] = []

  init(_ name: String) { self.name = name }

  /// The lines of the component itself.
  var lines: [ContentLine] {
    items.compactMap { if case .line(let line) = $0 { line } else { nil } }
  }

  /// Returns the first line with a name.
  func first(_ name: String) -> ContentLine? {
    for case .line(let line) in items where line.name == name { return line }
    return nil
  }

  /// Returns the lines with a name.
  func all(_ name: String) -> [ContentLine] { lines.filter { $0.name == name } }

  /// Returns the components with a name.
  func components(_ name: String) -> [TaskComponent] {
    items.compactMap { item in
      if case .component(let component) = item, component.name == name { component } else { nil }
    }
  }

  /// Replaces the first line with a name, and removes the others. Without one, the line is added behind the lines.
  mutating func set(_ label: String, _ value: String) {
    let line = ContentLine(label, value)
    let name = line.name
    var isSet = false
    items = items.compactMap { item in
      guard case .line(let old) = item, old.name == name else { return item }
      defer { isSet = true }
      return isSet ? nil : .line(line)
    }
    if isSet { return }
    let end = items.lastIndex { if case .line = $0 { true } else { false } }
    items.insert(.line(line), at: end.map { $0 + 1 } ?? 0)
  }

  /// Removes the lines with a name.
  mutating func remove(_ name: String) {
    items.removeAll { if case .line(let line) = $0 { line.name == name } else { false } }
  }

  /// Appends the component's lines.
  func append(to bytes: inout [UInt8]) {
    ContentLine("BEGIN", name).append(to: &bytes)
    for item in items {
      switch item {
      case .line(let line): line.append(to: &bytes)
      case .component(let component): component.append(to: &bytes)
      }
    }
    ContentLine("END", name).append(to: &bytes)
  }
}

/// An iCalendar document as a file in the folder: one calendar, nearly always with one task.
struct TaskDocument: Hashable, Sendable {
  /// The calendar.
  var calendar: TaskComponent

  /// The reason why a document cannot be read.
  enum ReadError: Error, Hashable, Sendable {
    /// It is no iCalendar document, or its end is missing.
    case notACalendar
    /// Its components are nested too deeply.
    case tooDeep
    /// It has no task.
    case noTask
  }

  /// The maximum depth of components: a calendar has tasks, and a task has alarms.
  private static let maxDepth = 8

  /// Creates a calendar without tasks.
  init() {
    calendar = TaskComponent("VCALENDAR")
    calendar.set("VERSION", "2.0")
    calendar.set("PRODID", "-//Belfry//belfry phone//EN")
  }

  /// Parses a document.
  init(_ bytes: [UInt8]) throws(ReadError) {
    let text = String(decoding: CalendarText.normalized(bytes), as: UTF8.self)
    var open: [TaskComponent] = []
    for line in text.split(whereSeparator: { $0 == "\r\n" || $0 == "\n" || $0 == "\r" }) {
      let line = ContentLine(line: line)
      switch line.name {
      case "BEGIN":
        guard open.count < TaskDocument.maxDepth else { throw .tooDeep }
        open.append(TaskComponent(line.value.uppercased()))
      case "END":
        guard let ended = open.popLast(), ended.name == line.value.uppercased() else {
          throw .notACalendar
        }
        guard let parent = open.indices.last else {
          guard ended.name == "VCALENDAR" else { throw .notACalendar }
          calendar = ended
          return
        }
        open[parent].items.append(.component(ended))
      default:
        guard let current = open.indices.last else { throw .notACalendar }
        open[current].items.append(.line(line))
      }
    }
    throw .notACalendar
  }

  /// The bytes of the file.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(1024)
    calendar.append(to: &bytes)
    return bytes
  }

  /// The position of the task: the one that Belfry has written, or else the first one that is no change of another.
  var taskIndex: Int? {
    let tasks = calendar.items.indices.filter { index in
      if case .component(let component) = calendar.items[index] {
        component.name == "VTODO"
      } else {
        false
      }
    }
    func first(where condition: (TaskComponent) -> Bool) -> Int? {
      tasks.first { index in
        if case .component(let component) = calendar.items[index] {
          condition(component)
        } else {
          false
        }
      }
    }
    return first { TaskProperty.identity(of: $0) != nil }
      ?? first { $0.first("RECURRENCE-ID") == nil } ?? tasks.first
  }

  /// The task.
  var task: TaskComponent? {
    get {
      guard let taskIndex, case .component(let task) = calendar.items[taskIndex] else { return nil }
      return task
    }
    set {
      guard let newValue else { return }
      if let taskIndex {
        calendar.items[taskIndex] = .component(newValue)
      } else {
        calendar.items.append(.component(newValue))
      }
    }
  }
}
