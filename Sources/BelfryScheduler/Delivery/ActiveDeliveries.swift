import BelfryCore
import BelfryTerminal
import Synchronization

/// The deliveries in progress in this process: running channels, visible notifications, playing sounds; and the running
/// actions.
public final class ActiveDeliveries: Sendable {
  /// A change of a delivery after its outcome.
  public enum Change: Sendable {
    /// The user has given an answer, and the receiver has to decide about it.
    case answerGiven(DeliveryGroup, DeliveredAnswer, AnswerDecision)
    /// The user has answered, and the answer was accepted.
    case answered(DeliveryGroup, DeliveredAnswer)
    /// A channel failed while another one delivered, or after it had delivered, with the reasons.
    case channelFailed(DeliveryGroup, [String])
    /// The last channel has ended, or the deliveries were withdrawn from a notification that stays for others.
    case ended(DeliveryGroup)
    /// The action of a firing has ended, with the reason if it failed.
    case actionEnded(PendingDelivery, ActionName, ActionFolder.Failure?)
  }

  private struct State {
    var active: [Int: ActiveDelivery] = [:]
    var actions: [Int: Task<Void, Never>] = [:]
    var lastNumber = 0
    var isClosed = false
  }
  private let state = Mutex(State())
  private let report: @Sendable (Change) -> Void

  /// Creates an empty set.
  ///
  /// - Parameter report: receives the changes, on any thread.
  public init(_ report: @escaping @Sendable (Change) -> Void) {
    self.report = report
  }

  /// The identities of the deliveries in progress, including those that wait for their turn.
  public var identities: Set<DeliveryID> {
    active.reduce(into: []) { $0.formUnion($1.wanted) }
  }

  private var active: [ActiveDelivery] { state.withLock { Array($0.active.values) } }

  /// Starts a delivery: runs `work`, which starts further channels. The delivery ends with its last channel.
  func begin(
    _ group: DeliveryGroup, _ work: @escaping @Sendable (ActiveDelivery) async -> Void
  ) {
    let delivery = state.withLock { state in
      state.lastNumber += 1
      let number = state.lastNumber
      let delivery = ActiveDelivery(group) { self.end(number) }
      if state.isClosed { delivery.withdraw() }
      state.active[number] = delivery
      return delivery
    }
    // The caller waits for an outcome, even of a withdrawn delivery.
    delivery.start(evenIfOver: true) { await work(delivery) }
  }

  /// Runs the action of a firing. It continues after an answer, unlike the channels.
  func begin(
    _ action: ActionName, of pending: PendingDelivery, in folder: ActionFolder,
    _ rendered: RenderedNotification
  ) {
    state.withLock { state in
      if state.isClosed { return }
      state.lastNumber += 1
      let number = state.lastNumber
      state.actions[number] = Task.detached {
        let failure = await folder.run(
          action, input: rendered.document, variables: rendered.variables)
        self.report(.actionEnded(pending, action, failure))
        self.state.withLock { $0.actions[number] = nil }
      }
    }
  }

  /// True if an action runs.
  var runsActions: Bool { state.withLock { !$0.actions.isEmpty } }

  private func end(_ number: Int) {
    let ended: DeliveryGroup? = state.withLock { state in
      guard let delivery = state.active.removeValue(forKey: number) else { return nil }
      let ended = delivery.wanted
      return delivery.group.only { id in
        ended.contains(id) && !state.active.values.contains { $0.contains(id) }
      }
    }
    if let ended { report(.ended(ended)) }
  }

  /// Returns true if an answer is accepted. Until then, the channels continue.
  func accepts(_ answer: DeliveredAnswer, to delivery: ActiveDelivery) async -> Bool {
    guard let group = delivery.wantedGroup, !delivery.isOver else { return false }
    let decision = AnswerDecision()
    report(.answerGiven(group, answer, decision))
    return await decision.wait()
  }

  func answered(_ delivery: ActiveDelivery, _ answer: DeliveredAnswer) {
    if let group = delivery.wantedGroup { report(.answered(group, answer)) }
    delivery.withdraw()
  }

  func channelFailed(_ delivery: ActiveDelivery, _ reasons: [String]) {
    report(.channelFailed(delivery.group, reasons))
  }

  /// Ends the deliveries that fulfill a condition. A notification stays until all its deliveries are withdrawn.
  public func withdraw(_ isUnwanted: (DeliveryID) -> Bool) {
    for delivery in active {
      if let ended = delivery.withdraw(isUnwanted) { report(.ended(ended)) }
    }
  }

  /// Ends all deliveries and actions, and waits until they have ended. A delivery that starts later ends at once.
  public func close() async {
    let actions = state.withLock { state in
      state.isClosed = true
      return Array(state.actions.values)
    }
    for action in actions { action.cancel() }
    withdraw { _ in true }
    await idle()
  }

  /// Waits until no delivery is in progress, and no action runs.
  public func idle() async {
    while let delivery = active.first {
      await delivery.wait()
      await Task.yield()
    }
    while let action = state.withLock({ $0.actions.values.first }) {
      await action.value
      await Task.yield()
    }
  }
}

/// One notification with all its channels. It owns the fact that the notification is answered or no longer needed.
///
/// Every channel registers before it waits or starts anything, so that no channel can start after the answer: `start`
/// and `withdraw` exclude each other.
final class ActiveDelivery: Sendable {
  private struct State {
    var channels: [Int: Task<Void, Never>] = [:]
    var lastNumber = 0
    var isOver = false
    /// The deliveries that were not withdrawn before the others of their notification.
    var wanted: Set<DeliveryID>
  }
  private let state: Mutex<State>
  /// The deliveries of the notification, including those that were withdrawn since.
  let group: DeliveryGroup
  private let ended: @Sendable () -> Void

  /// Creates a delivery.
  ///
  /// - Parameter ended: is called when its last channel has ended.
  init(_ group: DeliveryGroup, ended: @escaping @Sendable () -> Void) {
    self.group = group
    self.ended = ended
    state = Mutex(State(wanted: Set(group.ids)))
  }

  /// The identities of the deliveries that the notification still stands for.
  var wanted: Set<DeliveryID> { state.withLock { $0.wanted } }

  /// The deliveries that the notification still stands for; nil if there are none.
  var wantedGroup: DeliveryGroup? {
    let wanted = wanted
    return group.only(wanted.contains)
  }

  /// Returns true if the notification still stands for a delivery.
  func contains(_ id: DeliveryID) -> Bool { state.withLock { $0.wanted.contains(id) } }

  /// True after an answer or a withdrawal. No further channel may be tried.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// Runs a channel, which is canceled once the delivery is over. Returns nil, and runs nothing, if it is over already.
  ///
  /// A channel is started by another channel that still runs; the delivery ends with the last.
  @discardableResult func start(
    evenIfOver: Bool = false, _ work: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never>? {
    state.withLock { state in
      if state.isOver, !evenIfOver { return nil }
      state.lastNumber += 1
      let number = state.lastNumber
      let task = Task.detached {
        await work()
        self.end(number)
      }
      state.channels[number] = task
      if state.isOver { task.cancel() }
      return task
    }
  }

  private func end(_ number: Int) {
    let isLast = state.withLock { state in
      state.channels[number] = nil
      return state.channels.isEmpty
    }
    if isLast { ended() }
  }

  /// Withdraws the deliveries that fulfill a condition. Ends the channels if no other delivery needs them.
  ///
  /// - Returns: the deliveries that have ended with that, while others continue; nil if there are none. All deliveries
  ///   of a notification that ends are reported with its last channel.
  func withdraw(_ isUnwanted: (DeliveryID) -> Bool) -> DeliveryGroup? {
    let unwanted = wanted.filter(isUnwanted)
    if unwanted.isEmpty { return nil }
    let isOver = state.withLock { state in
      if state.wanted.isSubset(of: unwanted) { return true }
      state.wanted.subtract(unwanted)
      return false
    }
    guard isOver else { return group.only(unwanted.contains) }
    withdraw()
    return nil
  }

  /// Ends all channels, and prevents others from starting.
  func withdraw() {
    let channels = state.withLock { state in
      state.isOver = true
      return Array(state.channels.values)
    }
    for channel in channels { channel.cancel() }
  }

  /// Waits until one of the channels has ended.
  func wait() async {
    await state.withLock { $0.channels.values.first }?.value
  }
}
