import BelfryStore
import CLinux
import Glibc
import Synchronization

/// A thread that runs actions at their times, and sleeps until the first of them.
///
/// A canceled timer is gone at once, while `Task.sleep` wakes the process at the end of its time even after a
/// cancellation. Waiting needs no file descriptor.
public final class TimerThread: Sendable {
  /// A timer of this thread.
  public struct Timer: Hashable, Sendable {
    fileprivate let number: Int
  }

  private struct Entry {
    let timer: Timer
    /// The time on the monotonic clock, in nanoseconds.
    let due: Int64
    let action: @Sendable () -> Void
  }
  private struct State {
    /// The waiting timers, in descending order of their time.
    var entries: [Entry] = []
    /// The number of the last timer.
    var last = 0
    var isRunning = false
  }
  private let state = Mutex(State())
  /// Is signaled when the first timer has changed.
  private let changed = Semaphore()

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
    let due = TimerThread.now + TimerThread.nanoseconds(max(delay, .zero))
    let (timer, isFirst, starts) = state.withLock { state in
      var (low, high) = (0, state.entries.count)
      while low < high {
        let middle = (low + high) / 2
        if state.entries[middle].due > due { low = middle + 1 } else { high = middle }
      }
      state.last += 1
      let timer = Timer(number: state.last)
      state.entries.insert(Entry(timer: timer, due: due, action: action), at: low)
      defer { state.isRunning = true }
      return (timer, low == state.entries.count - 1, !state.isRunning)
    }
    if starts {
      guard BackgroundThread.tryStart({ [self] in loop() }) else {
        fatalError("no thread can be started: \(String(cString: strerror(EAGAIN)))")
      }
    } else if isFirst {
      changed.signal()
    }
    return timer
  }

  /// Cancels a timer. Has no effect if it has fired. If it fires at this moment, its action can run after the return.
  public func cancel(_ timer: Timer) {
    // Its action is released without the lock, because that can run any code.
    let canceled: (entry: Entry, wasFirst: Bool)? = state.withLock { state in
      guard let index = state.entries.lastIndex(where: { $0.timer == timer }) else { return nil }
      let entry = state.entries.remove(at: index)
      return (entry, index == state.entries.count)
    }
    // Otherwise the thread would wake at the time of this timer.
    if let canceled, canceled.wasFirst { changed.signal() }
  }

  /// Suspends the current task, or throws `CancellationError` as soon as it is canceled.
  static func sleep(for duration: Duration) async throws {
    let sleeper = Sleeper()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { sleeper.begin($0, duration) }
    } onCancel: {
      sleeper.cancel()
    }
  }

  /// A task that sleeps.
  private final class Sleeper: Sendable {
    private enum State {
      case new
      case asleep(CheckedContinuation<Void, any Error>, Timer)
      case over
    }
    private let state = Mutex(State.new)

    func begin(_ continuation: CheckedContinuation<Void, any Error>, _ duration: Duration) {
      let isCanceled = state.withLock { state in
        guard case .new = state else { return true }
        let timer = TimerThread.shared.run(after: duration) { self.end()?.resume() }
        state = .asleep(continuation, timer)
        return false
      }
      if isCanceled { continuation.resume(throwing: CancellationError()) }
    }

    func cancel() { end()?.resume(throwing: CancellationError()) }

    /// Ends the sleep. Returns the continuation, or nil if the task does not sleep.
    private func end() -> CheckedContinuation<Void, any Error>? {
      state.withLock { state in
        defer { state = .over }
        guard case .asleep(let continuation, let timer) = state else { return nil }
        TimerThread.shared.cancel(timer)
        return continuation
      }
    }
  }

  // MARK: The thread

  private func loop() {
    while true {
      if let next = runDueActions() {
        changed.wait(nanoseconds: next - TimerThread.now)
      } else {
        changed.wait()
      }
    }
  }

  /// Runs the actions that are due. Returns the time of the next one, or nil if there is none.
  private func runDueActions() -> Int64? {
    let now = TimerThread.now
    let (due, next) = state.withLock { state in
      let end = (state.entries.lastIndex { $0.due > now } ?? -1) + 1
      let due = state.entries[end...].reversed().map(\.action)
      state.entries.removeSubrange(end...)
      return (due, state.entries.last?.due)
    }
    for action in due { action() }
    return next
  }

  private static func nanoseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    // Limited to more than the lifetime of a process, so that it cannot overflow.
    return min(seconds, 1 << 32) * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
