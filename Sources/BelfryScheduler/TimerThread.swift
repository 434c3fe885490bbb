import BelfryStore
import Dispatch
import Glibc
import Synchronization

/// A thread that runs actions at their times, and sleeps until the first of them.
///
/// A canceled timer is gone at once, while `Task.sleep` wakes the process at the end of its time even after a
/// cancellation. Dispatch's timers keep three file descriptors and need a new thread when they fire, see
/// `BackgroundThread`; this thread needs nothing that the system may refuse then.
public final class TimerThread: Sendable {
  /// A timer of this thread.
  public struct Timer: Hashable, Sendable {
    fileprivate let number: Int
  }

  private struct Entry {
    let timer: Timer
    let due: DispatchTime
    let action: @Sendable () -> Void
  }
  private struct State {
    /// The waiting timers, in descending order of their time.
    var entries: [Entry] = []
    /// The number of the last timer.
    var last = 0
    var isRunning = false
    /// True while `change` is entered: the thread waits, or is about to.
    var isWaiting = false
  }
  private let state = Mutex(State())
  /// Is left when the first timer has changed. A `DispatchSemaphore` would follow changes of the wall clock.
  private let change = DispatchGroup()

  /// The thread that the whole process shares.
  public static let shared = TimerThread()

  /// Creates a timer thread. The thread starts with the first timer, and never ends.
  init() {}

  /// The number of timers that neither fired nor were canceled.
  var count: Int { state.withLock { $0.entries.count } }

  /// Sets a timer.
  ///
  /// The process ends if the system refuses the thread: no timeout would be kept.
  ///
  /// - Parameters:
  ///   - delay: the time until the timer fires, while the machine is awake.
  ///   - action: called once on the timer thread. It must not block.
  @discardableResult
  public func run(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Timer {
    let due = DispatchTime.now() + .nanoseconds(TimerThread.nanoseconds(max(delay, .zero)))
    let (timer, starts) = state.withLock { state in
      var (low, high) = (0, state.entries.count)
      while low < high {
        let middle = (low + high) / 2
        if state.entries[middle].due > due { low = middle + 1 } else { high = middle }
      }
      state.last += 1
      let timer = Timer(number: state.last)
      state.entries.insert(Entry(timer: timer, due: due, action: action), at: low)
      if low == state.entries.count - 1 { wake(&state) }
      defer { state.isRunning = true }
      return (timer, !state.isRunning)
    }
    if starts, !BackgroundThread.tryStart({ [self] in loop() }) {
      fatalError("no thread can be started: \(String(cString: strerror(EAGAIN)))")
    }
    return timer
  }

  /// Cancels a timer. Has no effect if it has fired. If it fires at this moment, its action can run after the return.
  public func cancel(_ timer: Timer) {
    // Its action is released without the lock, because that can run any code.
    let canceled: Entry? = state.withLock { state in
      guard let index = state.entries.lastIndex(where: { $0.timer == timer }) else { return nil }
      let entry = state.entries.remove(at: index)
      // Otherwise the thread would wake at the time of this timer.
      if index == state.entries.count { wake(&state) }
      return entry
    }
    withExtendedLifetime(canceled) {}
  }

  /// Wakes the thread, because the first timer has changed.
  private func wake(_ state: inout State) {
    guard state.isWaiting else { return }
    state.isWaiting = false
    change.leave()
  }

  /// Suspends the current task, or throws `CancellationError` as soon as it is canceled.
  static func sleep(for duration: Duration) async throws {
    let hasElapsed = FirstValue<Bool>()
    try await withTaskCancellationHandler {
      let timer = shared.run(after: duration) { hasElapsed.set(true) }
      defer { shared.cancel(timer) }
      guard await hasElapsed.value else { throw CancellationError() }
    } onCancel: {
      hasElapsed.set(false)
    }
  }

  // MARK: The thread

  private func loop() {
    while true {
      _ = change.wait(timeout: runDueActions() ?? .distantFuture)
    }
  }

  /// Runs the actions that are due. Returns the time of the next one, or nil if there is none.
  private func runDueActions() -> DispatchTime? {
    let now = DispatchTime.now()
    let (due, next) = state.withLock { state in
      let end = (state.entries.lastIndex { $0.due > now } ?? -1) + 1
      let due = state.entries[end...].reversed().map(\.action)
      state.entries.removeSubrange(end...)
      if !state.isWaiting { change.enter() }
      state.isWaiting = true
      return (due, state.entries.last?.due)
    }
    for action in due { action() }
    return next
  }

  private static func nanoseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    // Limited to more than the lifetime of a process, so that it cannot overflow.
    return Int(min(seconds, 1 << 32) * 1_000_000_000 + attoseconds / 1_000_000_000)
  }
}
