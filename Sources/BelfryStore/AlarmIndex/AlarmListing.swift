import BelfryCore
import Glibc

/// The alarms of a list. Most of them are rows of the alarm index, of which only the shown parts are read.
public struct AlarmListing: Sendable {
  private let file: AlarmIndexFile?
  /// The alarms that have no current row.
  private let others: [AlarmSummary]
  /// The alarms of the list: the numbers of their rows, and then, from the number of rows on, those of `others`.
  private let members: [Int]

  private var rowCount: Int { file?.count ?? 0 }

  /// Creates the list of the alarms that are not deleted.
  ///
  /// - Parameters:
  ///   - file: The index; nil for none.
  ///   - replaced: The rows that are not current.
  ///   - others: The alarms without a current row.
  init(_ file: AlarmIndexFile?, replaced: Set<Int>, others: [AlarmSummary]) {
    self.file = file
    self.others = others
    let rows = file.map { file in
      Chunks.map(file.count, parallelFrom: Chunks.lightWork) { range in
        file.withLines { lines in
          range.filter { row in
            file.isUsed(row) && (replaced.isEmpty || !replaced.contains(row))
              && lines.line(row).map { !$0.isDeleted && $0.hasValidID } ?? false
          }
        }
      }
    }
    let count = file?.count ?? 0
    members = (rows ?? []) + others.indices.filter { !others[$0].isDeleted }.map { count + $0 }
  }

  private init(_ listing: AlarmListing, members: [Int]) {
    file = listing.file
    others = listing.others
    self.members = members
  }

  /// Creates a list of alarms in their order.
  public init(_ summaries: [AlarmSummary]) {
    file = nil
    others = summaries
    members = Array(summaries.indices)
  }

  /// The number of alarms.
  public var count: Int { members.count }
  /// True if there is no alarm.
  public var isEmpty: Bool { members.isEmpty }

  /// Returns the summary of an alarm; nil if its row is damaged.
  public func summary(_ index: Int) -> AlarmSummary? {
    let member = members[index]
    return member < rowCount ? file?.summary(member) : others[member - rowCount]
  }

  /// The summaries of all alarms.
  public var summaries: [AlarmSummary] {
    Chunks.map(count, parallelFrom: Chunks.lightWork) { range in range.compactMap { summary($0) } }
  }

  /// Calls a closure with the number of each alarm in a range, and the fields of its row. They are nil for an alarm
  /// without a current row, whose summary is then used.
  public func forEachLine(in range: Range<Int>, _ body: (Int, AlarmLine?) -> Void) {
    let rows = rowCount
    guard let file else {
      for index in range { body(index, nil) }
      return
    }
    file.withLines { lines in
      for index in range {
        body(index, members[index] < rows ? lines.line(members[index]) : nil)
      }
    }
  }

  // MARK: Selection

  /// Returns the alarms that are finished, or all others.
  public func finished(_ isFinished: Bool) -> AlarmListing {
    var kept: [Int] = []
    kept.reserveCapacity(count)
    forEachLine(in: 0..<count) { index, line in
      let state = line?.isFinished ?? summary(index)?.isFinished
      if state == isFinished { kept.append(members[index]) }
    }
    return AlarmListing(self, members: kept)
  }

  /// Returns true if an alarm rings next in a period.
  ///
  /// - Parameters:
  ///   - start: The start of the period, exclusive.
  ///   - end: The end of the period, inclusive.
  public func rings(after start: Instant, until end: Instant) -> Bool {
    !numbers(ringingAfter: start, until: end, limit: 1).isEmpty
  }

  /// Returns the ids of the alarms that ring next in a period, and their next times.
  ///
  /// - Parameters:
  ///   - start: The start of the period, exclusive.
  ///   - end: The end of the period, inclusive.
  public func ringing(
    after start: Instant, until end: Instant
  ) -> [(id: Identifier, nextRinging: Timeline.Occurrence?)] {
    numbers(ringingAfter: start, until: end, limit: .max)
      .compactMap { index in summary(index).map { ($0.id, $0.nextRinging) } }
  }

  /// Returns the numbers of the alarms that ring next in a period, up to a limit.
  private func numbers(
    ringingAfter start: Instant, until end: Instant, limit: Int
  ) -> [Int] {
    var found: [Int] = []
    forEachLine(in: 0..<count) { index, line in
      guard found.count < limit else { return }
      let isRead = line.map { !$0.isSnoozed } ?? false
      let next = isRead ? line?.nextTime : summary(index)?.nextRinging?.at
      if let next, next > start, next <= end { found.append(index) }
    }
    return found
  }

  // MARK: Order

  /// Returns the alarms with the most urgent first, then by the next occurrence, title and id.
  public func sorted() -> AlarmListing {
    let keys = Chunks.map(count, parallelFrom: Chunks.lightWork) { range in
      var keys: [UInt64] = []
      keys.reserveCapacity(range.count)
      forEachLine(in: range) { index, line in
        let summary = line == nil ? summary(index) : nil
        let state = line?.state ?? summary?.state ?? .finished
        keys.append(AlarmListing.key(state, line?.nextTime ?? summary?.next?.at))
      }
      return keys
    }
    let order = RadixSort.order(of: keys)
    let sorted = Chunks.map(count, parallelFrom: Chunks.lightWork) { range in
      // The alarms of one key belong to the part in which they begin.
      var start = range.lowerBound
      while start > 0, start < count, keys[order[start]] == keys[order[start - 1]] { start += 1 }
      var sorted: [Int] = []
      sorted.reserveCapacity(range.count)
      withLines { lines in
        while start < range.upperBound {
          var end = start + 1
          while end < count, keys[order[end]] == keys[order[start]] { end += 1 }
          append(order[start..<end], to: &sorted, lines)
          start = end
        }
      }
      return sorted
    }
    return AlarmListing(self, members: sorted.map { members[$0] })
  }

  /// Appends alarms of one key in the order of their titles and ids.
  private func append(_ group: ArraySlice<Int>, to sorted: inout [Int], _ lines: AlarmLines?) {
    if group.count == 1 { return sorted.append(contentsOf: group) }
    var titled = group.map { title(of: $0, lines) }
    AlarmListing.setPrefixes(&titled)
    titled.sort(by: AlarmListing.precedes)
    for element in titled { sorted.append(element.index) }
  }

  /// The title and the id of an alarm, by which alarms of the same time are ordered.
  private struct Titled {
    let index: Int
    /// Eight bytes of the title as a number, for a fast comparison; 0 if the titles are not in ASCII.
    var prefix: UInt64 = 0
    /// The title in the memory of the index, if it is there and in ASCII.
    var bytes: UnsafeRawBufferPointer?
    /// The title otherwise.
    var title = ""
    /// The id in the memory of the index; nil for an alarm without a row.
    var id: UnsafeRawBufferPointer?
    /// The id of an alarm without a row.
    var identifier: Identifier?
  }

  /// Sets the prefixes to the bytes behind the beginning that all titles share.
  private static func setPrefixes(_ titled: inout [Titled]) {
    guard let first = titled.first?.bytes else { return }
    var shared = first.count
    for element in titled {
      guard let bytes = element.bytes else { return }
      var same = 0
      while same < min(shared, bytes.count), first[same] == bytes[same] { same += 1 }
      shared = same
    }
    for index in titled.indices {
      guard let bytes = titled[index].bytes else { continue }
      var prefix: UInt64 = 0
      for offset in shared..<(shared + 8) {
        prefix = prefix << 8 | (offset < bytes.count ? UInt64(bytes[offset]) : 0)
      }
      titled[index].prefix = prefix
    }
  }

  private func withLines(_ body: (AlarmLines?) -> Void) {
    if let file { file.withLines { body($0) } } else { body(nil) }
  }

  private func title(of index: Int, _ lines: AlarmLines?) -> Titled {
    guard members[index] < rowCount, let line = lines?.line(members[index]) else {
      let summary = summary(index)
      return Titled(index: index, title: summary?.title ?? "", identifier: summary?.id)
    }
    let title = line.title
    return title.reduce(0, { $0 | $1 }) < 0x80
      ? Titled(index: index, bytes: title, id: line.id)
      : Titled(index: index, title: String(decoding: title, as: UTF8.self), id: line.id)
  }

  private static func precedes(_ a: Titled, _ b: Titled) -> Bool {
    if a.prefix != b.prefix { return a.prefix < b.prefix }
    if let first = a.bytes, let second = b.bytes {
      // The order of texts in ASCII is that of their bytes.
      let order = compare(first, second)
      if order != 0 { return order < 0 }
    } else {
      let (first, second) = (text(a), text(b))
      if first != second { return first < second }
    }
    if let first = a.id, let second = b.id { return compare(first, second) < 0 }
    return idText(a) < idText(b)
  }

  private static func text(_ titled: Titled) -> String {
    titled.bytes.map { String(decoding: $0, as: UTF8.self) } ?? titled.title
  }

  private static func idText(_ titled: Titled) -> String {
    titled.id.map { String(decoding: $0, as: UTF8.self) } ?? titled.identifier?.text ?? ""
  }

  /// Compares bytes. The result is negative if the first ones come first.
  private static func compare(
    _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer
  ) -> Int {
    guard let first = a.baseAddress, let second = b.baseAddress else { return a.count - b.count }
    let order = Int(memcmp(first, second, min(a.count, b.count)))
    return order != 0 ? order : a.count - b.count
  }

  /// Returns a number that orders alarms by their urgency, and then by their next occurrence.
  private static func key(_ state: AlarmStatus.State, _ next: Instant?) -> UInt64 {
    let latest: UInt64 = 1 << 60 - 1
    let time = next.map { min(UInt64(max(0, $0.milliseconds)), latest - 1) } ?? latest
    return UInt64(rank(state)) << 60 | time
  }

  private static func rank(_ state: AlarmStatus.State) -> Int {
    switch state {
    case .ringing: 0
    case .snoozed: 1
    case .missed: 2
    case .pending: 3
    case .active, .paused: 4
    case .disabled: 5
    case .finished: 6
    }
  }
}
