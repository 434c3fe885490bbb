import Synchronization

/// The deliveries that go on in this process: those that are tried, notifications that wait for a button, sounds that
/// play.
public final class ActiveDeliveries: Sendable {
  /// What a person has answered, or that a delivery is over.
  public enum News: Sendable {
    case answered(Notification, DeliveredAnswer)
    /// A hook that stayed has given up by itself.
    case failed(Notification)
    /// One way to tell it did not work, while another did, and why.
    case wayFailed(Notification, [String])
    case ended(Notification)
  }

  private struct State {
    var active: [Int: ActiveDelivery] = [:]
    var last = 0
    var isClosed = false
  }
  private let state = Mutex(State())
  private let tell: @Sendable (News) -> Void

  /// - Parameter tell: is told of answers and ends, in any thread.
  public init(_ tell: @escaping @Sendable (News) -> Void) {
    self.tell = tell
  }

  /// The notices whose delivery goes on now, also if all that it does is to wait for its turn.
  public var notifications: Set<Notification> { Set(active.map(\.notification)) }

  private var active: [ActiveDelivery] { state.withLock { Array($0.active.values) } }

  /// Begins a delivery: runs `work`, which runs further parts of it. It goes on until the last part has ended.
  func begin(
    _ notification: Notification, _ work: @escaping @Sendable (ActiveDelivery) async -> Void
  ) {
    let delivery = state.withLock { state in
      state.last += 1
      let number = state.last
      let delivery = ActiveDelivery(notification) { self.end(number) }
      if state.isClosed { delivery.withdraw() }
      state.active[number] = delivery
      return delivery
    }
    // The caller waits for an outcome, also of one that is over already.
    delivery.start(evenIfOver: true) { await work(delivery) }
  }

  private func end(_ number: Int) {
    let over: Notification? = state.withLock { state in
      guard let ended = state.active.removeValue(forKey: number)?.notification else { return nil }
      return state.active.values.contains { $0.notification == ended } ? nil : ended
    }
    if let over { tell(.ended(over)) }
  }

  func answered(_ notification: Notification, _ answer: DeliveredAnswer) {
    tell(.answered(notification, answer))
    withdraw { $0 == notification }
  }

  func failed(_ notification: Notification) { tell(.failed(notification)) }

  func wayFailed(_ notification: Notification, _ reasons: [String]) {
    tell(.wayFailed(notification, reasons))
  }

  /// Ends what nobody needs to be told any more.
  public func withdraw(_ isUnwanted: (Notification) -> Bool) {
    for delivery in active where isUnwanted(delivery.notification) { delivery.withdraw() }
  }

  /// Ends all, and waits until it has; what is begun later ends at once.
  public func close() async {
    state.withLock { $0.isClosed = true }
    withdraw { _ in true }
    await idle()
  }

  /// Waits until nothing goes on any more.
  public func idle() async {
    while let delivery = active.first {
      await delivery.wait()
      await Task.yield()
    }
  }
}

/// The delivery of one notice, by all its channels: the one owner of the fact that nobody needs it any more.
///
/// Every part registers before it waits or starts anything, so that no part can begin after the answer: `start`
/// and `withdraw` exclude each other.
final class ActiveDelivery: Sendable {
  private struct State {
    var parts: [Int: Task<Void, Never>] = [:]
    var last = 0
    var isOver = false
  }
  private let state = Mutex(State())
  let notification: Notification
  private let ended: @Sendable () -> Void

  /// - Parameter ended: is called when its last part has ended.
  init(_ notification: Notification, ended: @escaping @Sendable () -> Void) {
    self.notification = notification
    self.ended = ended
  }

  /// Returns true once it was answered, or is not wanted any more: no further channel may be tried.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// Runs a part of the delivery, which is cancelled once the delivery is over. Returns nil, and runs nothing, if it is
  /// over already.
  ///
  /// A part is started by another part that still runs; the delivery ends with the last.
  @discardableResult func start(
    evenIfOver: Bool = false, _ work: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never>? {
    state.withLock { state in
      if state.isOver, !evenIfOver { return nil }
      state.last += 1
      let number = state.last
      let task = Task.detached {
        await work()
        self.end(number)
      }
      state.parts[number] = task
      if state.isOver { task.cancel() }
      return task
    }
  }

  private func end(_ number: Int) {
    let isLast = state.withLock { state in
      state.parts[number] = nil
      return state.parts.isEmpty
    }
    if isLast { ended() }
  }

  /// Ends all its parts, and lets no other begin.
  func withdraw() {
    let parts = state.withLock { state in
      state.isOver = true
      return Array(state.parts.values)
    }
    for part in parts { part.cancel() }
  }

  /// Waits until one of its parts has ended.
  func wait() async {
    await state.withLock { $0.parts.values.first }?.value
  }
}
