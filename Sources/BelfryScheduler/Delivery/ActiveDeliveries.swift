import BelfryCore
import Synchronization

/// The deliveries in progress in this process: running channels, visible notifications, playing sounds; and the running
/// actions.
public final class ActiveDeliveries: Sendable {
  /// A change of a delivery after its outcome.
  public enum Change: Sendable {
    /// The user has answered.
    case answered(PendingDelivery, DeliveredAnswer)
    /// A channel that had delivered has failed.
    case gaveUp(PendingDelivery)
    /// A channel failed while another one delivered, with the reasons.
    case channelFailed(PendingDelivery, [String])
    /// The last channel has ended.
    case ended(PendingDelivery)
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
  public var identities: Set<DeliveryID> { Set(active.map(\.pending.id)) }

  private var active: [ActiveDelivery] { state.withLock { Array($0.active.values) } }

  /// Starts a delivery: runs `work`, which starts further channels. The delivery ends with its last channel.
  func begin(
    _ pending: PendingDelivery, _ work: @escaping @Sendable (ActiveDelivery) async -> Void
  ) {
    let delivery = state.withLock { state in
      state.lastNumber += 1
      let number = state.lastNumber
      let delivery = ActiveDelivery(pending) { self.end(number) }
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
    let ended: PendingDelivery? = state.withLock { state in
      guard let ended = state.active.removeValue(forKey: number)?.pending else { return nil }
      return state.active.values.contains { $0.pending.id == ended.id } ? nil : ended
    }
    if let ended { report(.ended(ended)) }
  }

  func answered(_ pending: PendingDelivery, _ answer: DeliveredAnswer) {
    report(.answered(pending, answer))
    withdraw { $0 == pending.id }
  }

  func gaveUp(_ pending: PendingDelivery) { report(.gaveUp(pending)) }

  func channelFailed(_ pending: PendingDelivery, _ reasons: [String]) {
    report(.channelFailed(pending, reasons))
  }

  /// Ends the deliveries that fulfill a condition.
  public func withdraw(_ isUnwanted: (DeliveryID) -> Bool) {
    for delivery in active where isUnwanted(delivery.pending.id) { delivery.withdraw() }
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

/// One delivery with all its channels. It owns the fact that the notification is answered or no longer needed.
///
/// Every channel registers before it waits or starts anything, so that no channel can start after the answer: `start`
/// and `withdraw` exclude each other.
final class ActiveDelivery: Sendable {
  private struct State {
    var channels: [Int: Task<Void, Never>] = [:]
    var lastNumber = 0
    var isOver = false
  }
  private let state = Mutex(State())
  let pending: PendingDelivery
  private let ended: @Sendable () -> Void

  /// Creates a delivery.
  ///
  /// - Parameter ended: is called when its last channel has ended.
  init(_ pending: PendingDelivery, ended: @escaping @Sendable () -> Void) {
    self.pending = pending
    self.ended = ended
  }

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
