/// The deliveries that reach the user in one notification.
///
/// Notifications of one kind that become due together are shown one by one up to `maxSeparate`. More of them share one
/// notification, one sound and one answer, because nobody reads a thousand notifications of one second. Each delivery
/// keeps its own entry in the ledger.
public struct DeliveryGroup: Hashable, Sendable {
  /// The first delivery.
  public let first: PendingDelivery
  /// The further deliveries, in the order in which they were due. They are of the same kind as the first.
  public let others: [PendingDelivery]

  /// The maximum number of notifications of one kind that are shown one by one.
  public static let maxSeparate = 10

  /// Creates a group of one delivery.
  public init(_ delivery: PendingDelivery) {
    first = delivery
    others = []
  }

  /// Creates a group of deliveries of one kind; nil without any.
  public init?(_ deliveries: [PendingDelivery]) {
    guard let first = deliveries.first else { return nil }
    self.first = first
    others = Array(deliveries.dropFirst())
  }

  /// All deliveries, in the order in which they were due.
  public var deliveries: [PendingDelivery] { [first] + others }

  /// The identities of all deliveries.
  public var ids: [DeliveryID] { deliveries.map(\.id) }

  /// The number of deliveries.
  public var count: Int { 1 + others.count }

  /// Returns the group of the deliveries with some identities; nil if it has none of them.
  public func only(_ isIncluded: (DeliveryID) -> Bool) -> DeliveryGroup? {
    if others.isEmpty { return isIncluded(first.id) ? self : nil }
    return DeliveryGroup(deliveries.filter { isIncluded($0.id) })
  }

  /// The possible answers, in order of display. An answer to several alarms silences them or asks again. It neither
  /// confirms nor skips: that is decided for each obligation.
  public var actions: [Notification.Action] {
    if others.isEmpty { return first.notification.actions }
    let common: [Notification.Action] = [.stop, .snooze, .remind]
    return common.filter { action in
      deliveries.allSatisfy { $0.notification.actions.contains(action) }
    }
  }

  /// The name of the sound; nil for the device's. Of several alarms, it is that of the first with a sound of its own.
  public var sound: String? {
    deliveries.lazy.compactMap { $0.notification.content?.sound }.first
  }

  /// Returns the groups of some deliveries, in the order of their first ones.
  static func groups(of deliveries: [PendingDelivery]) -> [DeliveryGroup] {
    var shared: [DeliveryKey.OccurrenceKind: [PendingDelivery]] = [:]
    for delivery in deliveries {
      if let kind = delivery.sharedKind { shared[kind, default: []].append(delivery) }
    }
    var groups: [DeliveryGroup] = []
    for delivery in deliveries {
      guard let kind = delivery.sharedKind, shared[kind]?.count ?? 0 > maxSeparate else {
        groups.append(DeliveryGroup(delivery))
        continue
      }
      if shared[kind]?.first == delivery, let group = shared[kind].flatMap(DeliveryGroup.init) {
        groups.append(group)
      }
    }
    assert(
      groups.allSatisfy { group in
        group.others.allSatisfy { $0.sharedKind == group.first.sharedKind }
      }, "a group has deliveries of one kind")
    return groups
  }
}

extension PendingDelivery {
  /// The kind of notifications that this one may be shown with; nil if it is always shown by itself. Follow-ups of all
  /// numbers ask the same question.
  fileprivate var sharedKind: DeliveryKey.OccurrenceKind? {
    switch key {
    case .occurrence(_, .followUp): .followUp(1)
    case .occurrence(_, let kind): kind
    case .rehearsal, .battery, .missedSummary, .message: nil
    }
  }
}
