import BelfryCore
import BelfryStore
import Foundation
import Testing

@testable import BelfryPartners

extension Person {
  /// The only alarm.
  var alarm: Alarm {
    get throws { try #require(try alarms.first) }
  }

  /// Records a ring of the only alarm on this device, at 16:45 on the first day.
  func ring() throws {
    try store.commit(Event(.fired, CivilDateTime("2026-11-22T16:45")!), of: try alarm)
  }

  /// Responds to the only alarm.
  func answer(_ answer: Answer) throws {
    let store = try store
    try store.update(try alarm.id) { alarm in
      let transition = try store.timeline(alarm).answer(
        answer, to: nil, at: now, settings: settings, ledger: DeliveryLedger())
      return (store.change(transition), ())
    }
  }

  /// Edits the only alarm, with a payload as the command writes it.
  func edit(_ payload: LogPayload, _ body: (inout Alarm) -> Void) throws {
    let store = try store
    try store.update(try alarm.id) { before in
      var after = before
      body(&after)
      after = after.stamped(against: before, at: now, device: store.device)
      let entries = store.entries([Event(.edited, payload: payload)], of: after)
      let message = CommitMessage("Edited", device: store.device)
      return (Store.Change(alarms: [after], entries: entries, message: message), ())
    }
  }
}

extension Pair {
  /// Returns another device of Alex's, with the keys and its own store, which has not synced.
  func secondDevice() throws -> Person {
    let desk = try Person(mailbox, now: alex.now.rfc3339)
    let keys = try #require(PartnerStore.imported(PartnerStore.exported([try alex.partner])))
    try desk.book.change { $0 = keys }
    return desk
  }
}
