import BelfryCore
import TestSupport
import Testing

@testable import BelfryCommands
@testable import BelfryStore
@testable import BelfryTerminal

/// The selection and the order of lists, and their tables.
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

  private static func summaries(_ count: Int, seed: UInt64) -> [AlarmSummary] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { summary($0, &generator) }.filter { !$0.isDeleted }
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

  @Test("A list has an order, finished alarms and periods", arguments: 1...20)
  func listing(_ seed: UInt64) throws {
    let expected = Self.summaries(40 + Int(seed) * 40, seed: seed)
    let listing = AlarmListing(expected)
    for isFinished in [false, true] {
      #expect(
        listing.finished(isFinished).summaries == expected.filter { $0.isFinished == isFinished })
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
      #expect(listing.ringing(after: Self.now, until: end).summaries == ringing)
    }
  }

  @Test(
    "The row of a plain alarm is that of any other one",
    arguments: [
      ("C", nil, false), ("C", 70, true), ("en_US.UTF-8", 100, false), ("sv_SE.UTF-8", nil, true),
    ] as [(String, Int?, Bool)])
  func table(_ locale: String, _ width: Int?, _ isColored: Bool) throws {
    let style = Style(
      isColored: isColored, width: width, timeFormat: TimeFormat(locale: locale))
    let table = AlarmTable(AlarmOutput(now: Self.now, zones: Self.zones, style: style))
    for (seed, count) in [(UInt64(1), 30), (2, 700), (3, 1200)] {
      // Only a title in ASCII has the row of a plain alarm.
      let (ascii, other) = ("Title", "Títle")
      func titled(_ title: String) -> AlarmListing {
        AlarmListing(
          Self.summaries(count, seed: seed).map { old in
            AlarmSummary(
              id: old.id, title: title, note: nil, tags: old.tags, badge: old.badge,
              rule: old.rule, zone: old.zone, isDeleted: false, hasCascade: old.hasCascade,
              status: old.status)
          })
      }
      let text = table.text(titled(ascii).sorted())
      #expect(text.replacing(ascii, with: other) == table.text(titled(other).sorted()))
      // A heading for each group, and a line for each alarm.
      #expect(text.split(separator: "\n").count > titled(ascii).count)
    }
  }
}
