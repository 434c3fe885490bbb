import BelfryCore
import BelfryStore

/// An answer that a notification has got and the daemon has accepted.
struct GivenAnswer: Sendable {
  /// The number of the answer, which no other answer of the process has.
  let number: Int
  /// The answer.
  let answer: DeliveredAnswer
  /// The deliveries.
  let deliveries: [PendingDelivery]
  /// The time of the answer.
  let at: Instant

  /// The answered occurrences.
  var occurrences: [OccurrenceID] {
    deliveries.compactMap { delivery in
      if case .occurrence(let id, _) = delivery.key { id } else { nil }
    }
  }

  /// Returns an alarm after the answer. An answer that the alarm's state does not permit changes nothing.
  func applied(
    to alarm: Alarm, in store: Store, _ settings: Settings, ledger: DeliveryLedger
  ) -> Alarm {
    guard case .answer(let answer) = answer else { return alarm }
    return occurrences.filter { $0.alarm == alarm.id }.reduce(alarm) { alarm, id in
      // The command that records the answer reports the reason.
      let transition = try? store.timeline(alarm).answer(
        answer, to: id.occurrence, at: at, settings: settings, ledger: ledger)
      return transition?.alarm ?? alarm
    }
  }
}
