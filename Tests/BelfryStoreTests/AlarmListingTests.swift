import BelfryCore
import Testing

@testable import BelfryStore

/// The selection and the order of the alarms of a list.
@Suite struct AlarmListingTests {
  private func summary(
    _ number: Int, _ title: String, next: Int64? = nil, state: AlarmStatus.State = .active
  ) -> AlarmSummary {
    var status = AlarmStatus(state: state, validUntil: .distantFuture)
    status.next = next.map {
      Timeline.Occurrence(
        civil: CivilDateTime(minuteNumber: 29_600_000), at: Instant(seconds: $0))
    }
    return AlarmSummary(
      id: CachedAlarmTests.identifier(number), title: title, note: nil, badge: "daily",
      rule: CachedAlarmTests.entry(1).summary.rule, zone: "floating", isDeleted: false,
      status: status)
  }

  private func row(_ summary: AlarmSummary) -> CachedAlarm {
    let example = CachedAlarmTests.entry(1).row
    return CachedAlarm(
      id: summary.id, signature: example.signature, readAt: example.readAt, blob: example.blob,
      validFrom: example.validFrom, validUntil: example.validUntil, summary: summary)
  }

  private var examples: [AlarmSummary] {
    [
      summary(1, "Zebra", next: 200), summary(2, "apple", next: 100),
      summary(3, "Étude", next: 100), summary(4, "Apple", next: 100),
      summary(5, "Never"), summary(6, "Off", state: .disabled),
      summary(7, "Rings", next: 900, state: .ringing), summary(8, "Waits", state: .pending),
      summary(9, "Apple", next: 100),
    ]
  }

  @Test("The most urgent come first, then the next occurrence, the title and the id")
  func order() {
    let expected = ["Rings", "Waits", "Apple", "Apple", "apple", "Étude", "Zebra", "Never", "Off"]
    for rows in [0, 4, 9] {
      let listing = AlarmListing(
        rows: examples.prefix(rows).map(row), Array(examples.dropFirst(rows)))
      let sorted = listing.sorted().summaries
      #expect(sorted.map(\.title) == expected)
      #expect(sorted[2].id < sorted[3].id)
    }
  }

  @Test("A list that several cores sort has the order of the whole")
  func longList() {
    let summaries = (0..<5000).map { number in
      summary(number, "Alarm \(number * 7 % 613)", next: Int64(number * 31 % 97))
    }
    let sorted = AlarmListing(rows: summaries.map(row), []).sorted().summaries
    let expected = summaries.sorted { a, b in
      let (one, two) = (a.next?.at ?? .distantFuture, b.next?.at ?? .distantFuture)
      if one != two { return one < two }
      return a.title != b.title ? a.title < b.title : a.id < b.id
    }
    #expect(sorted.map(\.id) == expected.map(\.id))
  }

  @Test("Titles that differ only in case name several alarms")
  func ambiguous() {
    let names = { (numbers: [Int]) in Set(numbers.map(CachedAlarmTests.identifier)) }
    #expect(AlarmListing(examples).ambiguous == names([2, 4, 9]))
    #expect(AlarmListing(rows: examples.map(row), []).ambiguous == names([2, 4, 9]))
    #expect(AlarmListing([summary(1, "Étude"), summary(2, "Etude")]).ambiguous.isEmpty)
    #expect(AlarmListing([summary(1, "Étude"), summary(2, "étude")]).ambiguous == names([1, 2]))
  }

  @Test("The alarms that ring first, also a single one")
  func ringingFirst() {
    let listing = AlarmListing(rows: examples.map(row), [])
    #expect(listing.ringingFirst(1).map(\.id) == [CachedAlarmTests.identifier(2)])
    #expect(listing.ringingFirst(5).map(\.title) == ["apple", "Étude", "Apple", "Apple", "Zebra"])
    #expect(AlarmListing([summary(1, "Never")]).ringingFirst(1).isEmpty)
  }
}
