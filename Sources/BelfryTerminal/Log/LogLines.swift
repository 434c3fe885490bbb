import BelfryCore

/// Log entries from the newest to the oldest, also within one timestamp.
///
/// The entries of one timestamp are in the order of an alarm's life: it is created before an occurrence fires, and
/// fires before it is answered.
package struct NewestFirst<Base: Sequence>: Sequence, IteratorProtocol
where Base.Element == LogEntry {
  private var base: Base.Iterator
  /// The entries of one timestamp, in reverse order.
  private var run: [LogEntry] = []
  private var lookahead: LogEntry?

  /// - Parameter base: entries in descending order of their timestamps.
  package init(_ base: Base) {
    self.base = base.makeIterator()
    lookahead = self.base.next()
  }

  package mutating func next() -> LogEntry? {
    if let entry = run.popLast() { return entry }
    guard let first = lookahead else { return nil }
    var entries: [LogEntry] = []
    while let entry = lookahead, entry.at == first.at {
      entries.append(entry)
      lookahead = base.next()
    }
    if entries.count == 1 { return first }
    // The sort is stable only with the place in the base as the last criterion.
    run = entries.enumerated()
      .sorted { a, b in
        let (x, y) = (Self.rank(a.element), Self.rank(b.element))
        return x == y ? a.offset > b.offset : x < y
      }
      .map(\.element)
    return run.popLast()
  }

  private static func rank(_ entry: LogEntry) -> (Int, Int, Int) {
    let step =
      switch entry.action {
      case .created: 0
      case .edited, .enabled, .resumed: 1
      case .fired: 2
      case .called: 3
      case .stopped, .snoozed, .exhausted: 4
      case .reminded: 5
      case .done, .skipped, .missed: 6
      case .moved, .unskipped, .dismissed, .cleared: 7
      case .disabled, .paused, .rehearsed, .unknown: 8
      case .undone: 9
      case .deleted: 10
      }
    let part = step < 2 ? 0 : step < 8 ? 1 : 2
    return (part, part == 1 ? entry.occurrence?.minuteNumber ?? 0 : 0, step)
  }
}

/// Lines of the log: the reports of several devices about one occurrence, and the entries of one action on several
/// alarms, are one line.
package struct LogLines<Base: Sequence>: Sequence, IteratorProtocol where Base.Element == LogEntry {
  private var base: Base.Iterator
  private var isAtEnd = false
  /// The lines that may get further entries, the newest first, and the number of lines before them.
  private var open: [[LogEntry]] = []
  private var emitted = 0
  /// The line that gets the further reports about an occurrence.
  private var reports: [Report: Reported] = [:]
  /// The line, counted from the first one, that gets the other entries of an action.
  private var bulk: (key: Bulk, line: Int)?

  private struct Report: Hashable {
    let alarm: Identifier
    let occurrence: CivilDateTime
    let action: LogEntry.Action
    let auto: Bool
    /// The number of a follow-up.
    let number: Int
  }

  /// An event in a line.
  private struct Reported {
    /// The number of the line, counted from the first one.
    let line: Int
    /// The devices that have reported the event.
    var devices: Set<Identifier>
  }

  private struct Bulk: Hashable {
    let at: Instant
    let device: Identifier
    let action: LogEntry.Action
    let auto: Bool
    let payload: LogPayload?
    /// The time of completion, which a row names.
    let effective: Instant?
  }

  /// The time in which devices report the same event, in seconds.
  private static var window: Int64 { 86_400 }

  /// - Parameter base: entries, the newest first.
  package init(_ base: Base) { self.base = base.makeIterator() }

  /// Returns the entries of the next line, the newest first.
  package mutating func next() -> [LogEntry]? {
    while !isAtEnd {
      guard let entry = base.next() else {
        isAtEnd = true
        break
      }
      add(entry)
      if let first = open.first?.first, first.at.seconds(since: entry.at) > Self.window { break }
    }
    if open.isEmpty { return nil }
    let line = open.removeFirst()
    for entry in line {
      if let key = Self.report(entry), reports[key]?.line == emitted { reports[key] = nil }
    }
    emitted += 1
    return line
  }

  private mutating func add(_ entry: LogEntry) {
    let report = Self.report(entry)
    if let report, let reported = reports[report], reported.line >= emitted,
      !reported.devices.contains(entry.device)
    {
      reports[report]?.devices.insert(entry.device)
      return open[reported.line - emitted].append(entry)
    }
    // The schedules of created alarms differ, as after an import.
    let key = Bulk(
      at: entry.at, device: entry.device, action: entry.action, auto: entry.auto,
      payload: entry.action == .created ? nil : entry.payload, effective: entry.effective)
    let line: Int
    if Self.isBulk(entry), let bulk, bulk.key == key, bulk.line >= emitted,
      entry.action != .edited
        || !open[bulk.line - emitted].contains(where: { $0.alarm == entry.alarm })
    {
      line = bulk.line
      open[line - emitted].append(entry)
    } else {
      line = emitted + open.count
      open.append([entry])
      if Self.isBulk(entry) { bulk = (key, line) }
    }
    if let report { reports[report] = Reported(line: line, devices: [entry.device]) }
  }

  /// Returns the key of an event that several devices can report.
  private static func report(_ entry: LogEntry) -> Report? {
    guard let occurrence = entry.occurrence else { return nil }
    var number = 0
    if case .followUp(let followUp, _, _) = entry.payload { number = followUp }
    switch entry.action {
    case .fired, .stopped, .done, .skipped, .missed, .reminded, .exhausted, .cleared:
      return Report(
        alarm: entry.alarm, occurrence: occurrence, action: entry.action, auto: entry.auto,
        number: number)
    default: return nil
    }
  }

  /// Returns true for an action that can apply to several alarms or occurrences at once, by a user or, for occurrences
  /// that were missed while the device was off, by the clock.
  private static func isBulk(_ entry: LogEntry) -> Bool {
    switch entry.action {
    case .created, .edited, .enabled, .disabled, .deleted, .paused, .resumed, .stopped, .snoozed,
      .skipped, .moved, .unskipped, .done, .dismissed, .cleared, .undone:
      !entry.auto
    case .missed: true
    default: false
    }
  }
}
