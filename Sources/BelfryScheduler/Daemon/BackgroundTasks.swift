import Synchronization

/// The tasks that the daemon's event loop has started. Each reports one result as an event.
final class BackgroundTasks: Sendable {
  private let running = Atomic<Int>(0)
  private let send: @Sendable (DaemonEvent) -> Void

  /// Creates an empty set.
  ///
  /// - Parameter send: receives the events, on any thread.
  init(send: @escaping @Sendable (DaemonEvent) -> Void) {
    self.send = send
  }

  /// The number of tasks whose results were not handled yet.
  var count: Int { running.load(ordering: .relaxed) }

  /// Starts a task.
  func start(_ work: @escaping @Sendable () async -> DaemonEvent.TaskResult) {
    running.add(1, ordering: .relaxed)
    let send = send
    Task.detached { send(.completed(await work())) }
  }

  /// Records that the result of a task is being handled.
  func complete() { running.subtract(1, ordering: .relaxed) }

  /// Reports an event that ends no task.
  func report(_ event: DaemonEvent) { send(event) }
}
