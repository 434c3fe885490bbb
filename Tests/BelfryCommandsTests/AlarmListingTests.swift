import BelfryCore
import Git
import TestSupport
import Testing

@testable import BelfryCommands
@testable import BelfryStore

/// Lists that are read from the alarm index only as far as their lines show it, compared with lists of whole summaries.
@Suite struct AlarmListingTests {
  private static let now = Instant(seconds: 1_795_426_200)
  private static let zones = ZoneLibrary(variable: "Europe/Berlin")

  /// Returns a random summary. Titles and times repeat, so that other parts decide about the order.
  private static func summary(_ number: Int, _ generator: inout SeededGenerator) -> AlarmSummary {
    let states: [AlarmStatus.State] = [
      .active, .active, .active, .active, .ringing, .snoozed, .missed, .pending, .paused,
      .disabled, .finished,
    ]
    let hour = Int64(generator.int(-30...400))
    let at = now.adding(seconds: hour * 3600)
    let zone = generator.pick(["floating", "floating", "Europe/Berlin", "Asia/Tokyo"])
    let civil = (zones.zone(recorded: zone) ?? zones.local).civil(at: at)
    let isPlain = generator.int(0...3) > 0
    var status = AlarmStatus(
      state: generator.pick(states),
      next: generator.int(0...5) > 0 ? .init(civil: civil, at: at) : nil)
    if !isPlain {
      switch generator.int(0...4) {
      case 0: status.skipped = [civil]
      case 1: status.pausedUntil = civil
      case 2: status.missed = [civil]
      case 3: status.pending = [.init(occurrence: civil, since: at)]
      default:
        status.snooze = .init(occurrence: civil, until: now.adding(seconds: 600), count: 1)
      }
    }
    if [.ringing, .missed, .pending].contains(status.state) { status.current = civil }
    let cadence = Recurrence.Cadence(
      interval: generator.int(1...2), start: CivilDate(dayNumber: 20_700))
    let rules: [Recurrence] = [
      .daily(cadence), .weekly([.monday, .friday], cadence),
      .weekly([.monday, .tuesday, .wednesday], cadence), .weekly(Weekday.allCases, cadence),
      .monthly([.day(1), .day(22)], cadence), .monthly([.weekday(1, .monday)], cadence),
      .annual(months: [2, 12], [.day(24)], cadence), .days(10, cadence),
      .once(CivilDate(dayNumber: 20_800 + number)),
    ]
    let times = (0..<generator.pick([1, 1, 2, 6])).compactMap {
      CivilTime(hour: 7 + 2 * $0, minute: 5)
    }
    return AlarmSummary(
      id: Identifier(high: UInt64(generator.int(0...9)) << 32, low: UInt64(number)),
      title: generator.pick(["Rent", "rent", "Tea", "Té", "薬 💊", "A\u{7}b", "Tea 2", ""]),
      note: nil, tags: isPlain ? [] : Set([try? AlarmTag("home")].compactMap(\.self)),
      badge: "daily", rule: AlarmSummary.Rule(generator.pick(rules), times: times), zone: zone,
      isDeleted: generator.int(0...9) == 0, hasCascade: generator.int(0...9) == 0, status: status)
  }

  /// Returns an index with a row of each summary, the last ones as changes.
  ///
  /// - Parameter damage: Changes the main file, of which the checksum is then set again.
  private static func index(
    _ summaries: [AlarmSummary], damage: (inout [UInt8]) -> Void = { _ in }
  ) throws -> AlarmIndexFile {
    func changes(_ summaries: some Sequence<AlarmSummary>) -> [Identifier: AlarmIndexFile.Change?] {
      summaries.reduce(into: [:]) { changes, summary in
        let row = AlarmIndexFile.Row(
          id: summary.id, signature: FileSignature(size: 1, modified: 2, changed: 3, inode: 4),
          blob: Repository.blobID([]), validFrom: now, validUntil: now)
        changes[summary.id] = .some((row, summary))
      }
    }
    func read(_ output: AlarmIndexFile.Output, _ main: [UInt8]) throws -> AlarmIndexFile {
      let changes = try #require(AlarmIndexTable(output.changes, .changes, written: 9))
      let main = try #require(AlarmIndexTable(main, .main, written: 9))
      let head = try #require(AlarmIndexHead(main.header, fingerprint: "f", changes))
      return try #require(AlarmIndexFile(main, head))
    }
    let folder = AlarmFolderState(signature: AlarmFolderState.unknown)
    let first = AlarmIndexFile.output(
      from: nil, replacing: changes(summaries.dropLast(20)), folder: folder, fingerprint: "f")
    var main = try #require(first.main)
    damage(&main)
    CacheCoding.set(
      AlarmIndexLayout.checksum(main), at: AlarmIndexLayout.Header.checksum, in: &main)
    let header = try #require(AlarmIndexHeader(main, .main))
    let empty = AlarmIndexTable.bytes(
      .changes, link: header.checksum, from: nil, replacing: [:], folder: folder)
    let second = AlarmIndexFile.output(
      from: try read(AlarmIndexFile.Output(main: nil, changes: empty), main),
      replacing: changes(summaries.suffix(20)), folder: folder, fingerprint: "f")
    return try read(second, second.main ?? main)
  }

  /// Returns the list of some summaries from an index in which some rows are not current, and the expected list.
  private static func lists(
    _ count: Int, seed: UInt64
  ) throws -> (listing: AlarmListing, expected: [AlarmSummary]) {
    var generator = SeededGenerator(seed: seed)
    let summaries = (0..<count).map { summary($0, &generator) }
    let file = try index(summaries)
    var replaced: Set<Int> = []
    var others: [AlarmSummary] = []
    for old in summaries.prefix(30) where generator.int(0...1) == 0 {
      replaced.insert(try #require(file.index(of: old.id)))
      others.append(
        AlarmSummary(
          id: old.id, title: old.title, note: "new", badge: "once", rule: old.rule,
          zone: old.zone, isDeleted: generator.int(0...3) == 0, status: old.status))
    }
    let changed = Set(others.map(\.id))
    return (
      AlarmListing(file, replaced: replaced, others: others),
      (summaries.filter { !changed.contains($0.id) } + others).filter { !$0.isDeleted }
    )
  }

  private static func urgency(_ state: AlarmStatus.State) -> Int {
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

  @Test("A list from the index has the alarms, their order and their periods", arguments: 1...20)
  func listing(_ seed: UInt64) throws {
    let (listing, expected) = try Self.lists(40 + Int(seed) * 40, seed: seed)
    #expect(Set(listing.summaries) == Set(expected) && listing.count == expected.count)
    for isFinished in [false, true] {
      #expect(
        Set(listing.finished(isFinished).summaries)
          == Set(expected.filter { $0.isFinished == isFinished }))
    }
    let sorted = expected.sorted { a, b in
      let ranks = (Self.urgency(a.state), Self.urgency(b.state))
      if ranks.0 != ranks.1 { return ranks.0 < ranks.1 }
      let times = (a.next?.at ?? .distantFuture, b.next?.at ?? .distantFuture)
      if times.0 != times.1 { return times.0 < times.1 }
      return a.title != b.title ? a.title < b.title : a.id < b.id
    }
    #expect(listing.sorted().summaries.map(\.id) == sorted.map(\.id))
    for hours in [0, 1, 24] {
      let end = Self.now.adding(seconds: Int64(hours) * 3600)
      let ringing = expected.filter {
        $0.nextRinging.map { $0.at > Self.now && $0.at <= end } ?? false
      }
      #expect(
        Set(listing.ringing(after: Self.now, until: end).map(\.id)) == Set(ringing.map(\.id)))
      #expect(listing.rings(after: Self.now, until: end) == !ringing.isEmpty)
      let summaries = AlarmListing(expected)
      #expect(summaries.rings(after: Self.now, until: end) == !ringing.isEmpty)
    }
  }

  @Test(
    "A table from the index is the table of the summaries",
    arguments: [
      ("C", nil, false), ("C", 70, true), ("en_US.UTF-8", 100, false), ("sv_SE.UTF-8", nil, true),
    ] as [(String, Int?, Bool)])
  func table(_ locale: String, _ width: Int?, _ isColored: Bool) throws {
    let style = Style(
      isColored: isColored, width: width, timeFormat: TimeFormat(locale: locale))
    let table = AlarmTable(AlarmOutput(now: Self.now, zones: Self.zones, style: style))
    for (seed, count) in [(UInt64(1), 30), (2, 700), (3, 1200)] {
      let (listing, expected) = try Self.lists(count, seed: seed)
      let text = table.text(listing.sorted())
      #expect(text == table.text(AlarmListing(expected).sorted()))
      // A heading for each group, and a line for each alarm.
      #expect(text.split(separator: "\n").count > expected.count)
    }
  }

  @Test("A damaged row is not listed, and the others are")
  func damage() throws {
    var generator = SeededGenerator(seed: 5)
    let summaries = (0..<60).map { Self.summary($0, &generator) }
    let row = AlarmIndexLayout.Header.size + 3 * AlarmIndexLayout.Row.size
    let file = try Self.index(summaries) { $0[row + AlarmIndexLayout.Row.name] = 0x1B }
    let listing = AlarmListing(file, replaced: [], others: [])
    #expect(listing.summaries.count == listing.count)
    #expect(listing.summaries.allSatisfy { summaries.contains($0) })
    #expect((0..<2).contains(summaries.count { !$0.isDeleted } - listing.count))
    // A length that exceeds the file.
    let long = try Self.index(summaries) { main in
      let row = AlarmIndexLayout.Header.size + 5 * AlarmIndexLayout.Row.size
      for offset in 0..<3 { main[row + AlarmIndexLayout.Row.summary + offset] = 0xFF }
    }
    let shorter = AlarmListing(long, replaced: [], others: []).sorted()
    #expect(shorter.summaries.allSatisfy { summaries.contains($0) })
    #expect((0..<2).contains(summaries.count { !$0.isDeleted } - shorter.count))
  }

  @Test("Numbers are sorted by their digits, and equal ones keep their order")
  func radixSort() {
    var generator = SeededGenerator(seed: 7)
    for bits in [1, 11, 12, 33, 60, 64] {
      for count in [0, 1, 2, 500] {
        let numbers = (0..<count).map { _ in
          UInt64.random(in: .min ... .max, using: &generator) >> UInt64(64 - bits)
        }
        let expected = numbers.indices.sorted {
          numbers[$0] != numbers[$1] ? numbers[$0] < numbers[$1] : $0 < $1
        }
        #expect(RadixSort.order(of: numbers) == expected)
      }
    }
  }
}
