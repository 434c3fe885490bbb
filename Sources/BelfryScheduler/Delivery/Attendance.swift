import Synchronization

/// The deliveries that go on in this process: notifications that wait for a button, sounds that play.
public final class Attendance: Sendable {
  /// What a person has answered, or that a delivery is over.
  public enum News: Sendable {
    case answered(Notice, DeliveredAnswer)
    /// A hook that stayed has given up by itself.
    case failed(Notice)
    /// One way to tell it did not work, while another did, and why.
    case wayFailed(Notice, [String])
    case ended(Notice)
  }

  private struct State {
    var running: [Int: (notice: Notice, task: Task<Void, Never>)] = [:]
    var last = 0
  }
  private let state = Mutex(State())
  private let tell: @Sendable (News) -> Void

  /// - Parameter tell: is told of answers and ends, in any thread.
  public init(_ tell: @escaping @Sendable (News) -> Void) {
    self.tell = tell
  }

  /// What goes on now.
  public var notices: Set<Notice> { state.withLock { Set($0.running.values.map(\.notice)) } }

  /// Runs something that goes on for a notice; it is cancelled when the notice is no longer wanted.
  func begin(_ notice: Notice, _ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    state.withLock { state in
      state.last += 1
      let number = state.last
      let task = Task.detached {
        await work()
        self.end(number)
      }
      state.running[number] = (notice, task)
      return task
    }
  }

  private func end(_ number: Int) {
    let over: Notice? = state.withLock { state in
      guard let ended = state.running.removeValue(forKey: number)?.notice else { return nil }
      return state.running.values.contains { $0.notice == ended } ? nil : ended
    }
    if let over { tell(.ended(over)) }
  }

  func answered(_ notice: Notice, _ answer: DeliveredAnswer) {
    tell(.answered(notice, answer))
    withdraw { $0 == notice }
  }

  func failed(_ notice: Notice) { tell(.failed(notice)) }

  func wayFailed(_ notice: Notice, _ reasons: [String]) { tell(.wayFailed(notice, reasons)) }

  /// Ends what nobody needs to be told any more.
  public func withdraw(_ isUnwanted: (Notice) -> Bool) {
    let tasks = state.withLock { state in
      state.running.values.filter { isUnwanted($0.notice) }.map(\.task)
    }
    for task in tasks { task.cancel() }
  }

  /// Ends all, and waits until it has.
  public func close() async {
    let tasks = state.withLock { $0.running.values.map(\.task) }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }

  /// Waits until nothing goes on any more.
  public func idle() async {
    while let task = state.withLock({ $0.running.values.first?.task }) { await task.value }
  }
}
