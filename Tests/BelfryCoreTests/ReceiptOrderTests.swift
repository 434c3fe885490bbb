import BelfryCore
import TestSupport
import Testing

private let request = Identifier("requestaaaaaaaaaaaaaaaaaaa")!

/// The state of a request for any arrival order of its receipts.
@Suite struct ReceiptOrderTests {
  private static let due = instant("2026-11-22T16:45:00Z")

  /// Returns a receipt of the 16:45 occurrence, a number of seconds after that time.
  private func receipt(
    _ state: PartnerReceipt.State, _ seconds: Int64, due: Instant? = ReceiptOrderTests.due,
    revision: Int = 0
  ) -> PartnerReceipt {
    PartnerReceipt(
      state, of: request, at: ReceiptOrderTests.due.adding(seconds: seconds), due: due,
      revision: revision)
  }

  /// Expects the same state for every order of some receipts.
  private func expect(
    _ receipts: [PartnerReceipt], repeats: Bool = false, _ expected: PartnerReceipt,
    _ location: SourceLocation = #_sourceLocation
  ) {
    var generator = SeededGenerator(seed: 14)
    for _ in 0..<50 {
      let shuffled = receipts.shuffled(using: &generator)
      #expect(
        PartnerReceipt.current(in: shuffled, repeats: repeats) == expected,
        sourceLocation: location)
    }
  }

  @Test("A response stays in effect if another device reports a ring later")
  func anAnswerStands() {
    let done = receipt(.acknowledged, 60)
    expect(
      [
        receipt(.scheduled, -600, due: nil), receipt(.scheduled, 300, due: nil),
        receipt(.rung, 0), done, receipt(.rung, 240), receipt(.missed, 1800),
        receipt(.stopped, 2000), receipt(.snoozed, 2100), receipt(.expired, 2200, due: nil),
      ], done)
  }

  @Test("Outcomes have the same order in receipts as in joined records")
  func theOrderOfOutcomes() {
    let states: [PartnerReceipt.State] = [
      .rung, .missed, .snoozed, .stopped, .skipped, .acknowledged,
    ]
    for index in states.indices {
      // Each is earlier than all outcomes that it overrides.
      let receipts = states[...index].enumerated().map { receipt($1, 50 - Int64($0)) }
      expect(receipts, receipts[index])
    }
  }

  @Test("A snoozed request rings again, and a ring without knowledge of the snooze does not count")
  func ringingAgain() {
    let snoozed = receipt(.snoozed, 120)
    expect([receipt(.rung, 0), snoozed, receipt(.rung, 130)], snoozed)
    let again = receipt(.rung, 660)
    expect([receipt(.rung, 0), snoozed, again], again)
  }

  @Test("An undone response no longer counts, and the next one does")
  func takenBack() {
    let done = receipt(.acknowledged, 60)
    let undone = receipt(.changed, 90, revision: 1)
    expect([receipt(.rung, 0), done, undone], undone)
    let again = receipt(.rung, 100)
    expect([receipt(.rung, 0), done, undone, again], again)
    let stopped = receipt(.stopped, 110, revision: 1)
    expect([receipt(.rung, 0), done, undone, again, stopped], stopped)
  }

  @Test("The latest occurrence of a repeated request counts, even after an early response")
  func repeated() {
    let next = ReceiptOrderTests.due.adding(seconds: 86_400)
    let rung = receipt(.rung, 86_400, due: next)
    expect([receipt(.rung, 0), receipt(.acknowledged, 60), rung], repeats: true, rung)
    let early = receipt(.acknowledged, 86_000, due: next)
    expect([receipt(.acknowledged, 60), early, rung], repeats: true, early)
  }

  @Test("A deleted request can return, and an answered one-time alarm can be deleted")
  func deletedAndBack() {
    let scheduled = receipt(.scheduled, -600, due: nil)
    let deleted = receipt(.withdrawn, -300, due: nil)
    expect([scheduled, deleted], deleted)
    let back = receipt(.scheduled, -200, due: nil)
    expect([scheduled, deleted, back], back)
    let done = receipt(.acknowledged, 60)
    let later = receipt(.withdrawn, 600, due: nil)
    expect([scheduled, done, later], done)
    expect([scheduled, done, later], repeats: true, later)
    let recalled = receipt(.recalled, 700, due: nil)
    expect([scheduled, done, later, recalled], recalled)
  }

  @Test(
    "A request is accepted if any device accepts it, even if another refuses it or finds it expired"
  )
  func setByOneDevice() {
    let scheduled = receipt(.scheduled, -600, due: nil)
    expect([receipt(.refused, -500, due: nil), scheduled], scheduled)
    expect([receipt(.expired, 900, due: nil), scheduled], scheduled)
  }
}
