import BelfryCore

/// The alarms of a list. They are selected and sorted by their outlines, and their summaries are decoded when they are
/// needed.
public struct AlarmListing: Sendable {
  /// An alarm of a list.
  private struct Entry: Sendable {
    let outline: AlarmSummary.Outline
    let source: Source

    var summary: AlarmSummary? {
      switch source {
      case .row(let row): row.summary
      case .summary(let summary): summary
      }
    }

    var id: Identifier {
      switch source {
      case .row(let row): row.id
      case .summary(let summary): summary.id
      }
    }

    /// The title in UTF-8.
    var titleBytes: ArraySlice<UInt8> {
      switch source {
      case .row(let row): row.titleBytes
      case .summary(let summary): Array(summary.title.utf8)[...]
      }
    }
  }

  private enum Source: Sendable {
    /// A row of the alarm index.
    case row(CachedAlarm)
    case summary(AlarmSummary)
  }

  private let entries: [Entry]

  private init(_ entries: [Entry]) { self.entries = entries }

  /// Creates a list of alarms in their order.
  public init(_ summaries: [AlarmSummary]) { self.init(rows: [], summaries) }

  /// Creates a list of rows of the alarm index, followed by other alarms.
  init(rows: [CachedAlarm], _ summaries: [AlarmSummary]) {
    entries =
      rows.map { Entry(outline: $0.outline, source: .row($0)) }
      + summaries.map { Entry(outline: $0.outline, source: .summary($0)) }
  }

  /// The summaries of all alarms.
  public var summaries: [AlarmSummary] { entries.compactMap(\.summary) }
  /// The number of alarms.
  public var count: Int { entries.count }
  /// True if there is no alarm.
  public var isEmpty: Bool { entries.isEmpty }

  /// Returns the summary of the alarm at a position; nil if its row in the index is not valid.
  public subscript(position: Int) -> AlarmSummary? { entries[position].summary }

  // MARK: Selection

  /// The alarms that are not deleted.
  var present: AlarmListing { selecting { !$0.isDeleted } }

  /// Returns the alarms that are finished, or all others.
  public func finished(_ isFinished: Bool) -> AlarmListing {
    selecting { $0.isFinished == isFinished }
  }

  /// The alarms that ring.
  public var ringing: AlarmListing { selecting { $0.state == .ringing } }

  /// Returns the alarms that ring next in a period.
  ///
  /// - Parameters:
  ///   - start: The start of the period, exclusive.
  ///   - end: The end of the period, inclusive.
  public func ringing(after start: Instant, until end: Instant) -> AlarmListing {
    selecting { outline in outline.nextRinging.map { $0 > start && $0 <= end } ?? false }
  }

  private func selecting(_ isSelected: (AlarmSummary.Outline) -> Bool) -> AlarmListing {
    AlarmListing(entries.filter { isSelected($0.outline) })
  }

  /// Returns the alarms with the earliest next occurrences, in their order.
  ///
  /// - Parameter limit: The maximum number of alarms.
  public func ringingFirst(_ limit: Int) -> [AlarmSummary] {
    let times = entries.compactMap(\.outline.next)
    guard let last = limit == 1 ? times.min() : times.sorted().prefix(limit).last else {
      return []
    }
    let first = selecting { outline in outline.next.map { $0 <= last } ?? false }.summaries
    let sorted = first.sorted { a, b in
      guard let one = a.next?.at, let two = b.next?.at, one != two else { return a.id < b.id }
      return one < two
    }
    return Array(sorted.prefix(limit))
  }

  // MARK: Titles

  /// The alarms whose title is also that of another alarm, without regard to case.
  public var ambiguous: Set<Identifier> {
    let hashes = entries.map { AlarmListing.hash($0.titleBytes) }
    let sorted = hashes.sorted()
    let alike = Set(zip(sorted, sorted.dropFirst()).filter { $0 == $1 }.map(\.0))
    if alike.isEmpty { return [] }
    let summaries = zip(entries, hashes).filter { alike.contains($1) }.compactMap(\.0.summary)
    let titles = Dictionary(grouping: summaries) { $0.title.lowercased() }
    return Set(titles.values.filter { $0.count > 1 }.joined().map(\.id))
  }

  /// Returns a number that is equal for titles that differ only in the case of their letters. Letters beyond ASCII do
  /// not count.
  private static func hash(_ title: ArraySlice<UInt8>) -> UInt64 {
    // FNV-1a.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in title where byte < 0x80 {
      let isUpper = byte >= 0x41 && byte <= 0x5A
      hash = (hash ^ UInt64(isUpper ? byte | 0x20 : byte)) &* 0x100_0000_01b3
    }
    return hash
  }

  // MARK: Order

  /// The sort key of an alarm: its rank, then its title.
  private struct Key: Sendable {
    let rank: Int64
    let title: String
    let position: Int
  }

  /// Returns the alarms with the most urgent first, then by the next occurrence, title and id.
  public func sorted() -> AlarmListing {
    let keys = Chunks.map(count, parallelFrom: Chunks.lightWork) { range in
      range.map { position in
        let entry = entries[position]
        return Key(
          rank: AlarmListing.rank(entry.outline),
          title: String(decoding: entry.titleBytes, as: UTF8.self), position: position)
      }
    }
    let sorted = keys.sorted { a, b in
      if a.rank != b.rank { return a.rank < b.rank }
      if a.title != b.title { return a.title < b.title }
      return entries[a.position].id < entries[b.position].id
    }
    return AlarmListing(sorted.map { entries[$0.position] })
  }

  /// Returns the place of an alarm among others: its urgency, then its next occurrence, in one number.
  private static func rank(_ outline: AlarmSummary.Outline) -> Int64 {
    let urgency: Int64 =
      switch outline.state {
      case .ringing: 0
      case .snoozed: 1
      case .missed: 2
      case .pending: 3
      case .active, .paused: 4
      case .disabled: 5
      case .finished: 6
      }
    let latest = Instant.distantFuture.milliseconds
    let next = min(max(outline.next?.milliseconds ?? latest, 0), latest)
    return urgency * (latest + 1) + next
  }
}
