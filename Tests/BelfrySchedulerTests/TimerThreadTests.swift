import Synchronization
import Testing

@testable import BelfryScheduler

/// Timers and pauses that leave nothing behind when they are canceled.
@Suite struct TimerThreadTests {
  private let timers = TimerThread()

  @Test("Timers fire in the order of their times, also one that is set later and due earlier")
  func order() async {
    let (fired, sender) = AsyncStream.makeStream(of: Int.self)
    timers.run(after: .seconds(600)) { sender.yield(600) }
    timers.run(after: .seconds(1)) {
      sender.yield(1)
      sender.finish()
    }
    timers.run(after: .seconds(-1)) { sender.yield(0) }
    var order: [Int] = []
    for await number in fired { order.append(number) }
    #expect(order == [0, 1])
    #expect(timers.count == 1)
  }

  @Test("A canceled timer is gone at once and never fires")
  func cancellation() async {
    let hasFired = Mutex(false)
    let canceled = timers.run(after: .seconds(1)) { hasFired.withLock { $0 = true } }
    timers.cancel(canceled)
    #expect(timers.count == 0)
    await withCheckedContinuation { continuation in
      timers.run(after: .milliseconds(1100)) { continuation.resume() }
    }
    #expect(hasFired.withLock { $0 } == false)
    timers.cancel(canceled)
  }

  @Test("Delays beyond the range of the clock are kept")
  func longDelays() {
    let timer = timers.run(after: .seconds(Int64.max)) {}
    #expect(timers.count == 1)
    timers.cancel(timer)
  }

  @Test("A sleep ends at its time, and with an error at once if the task is canceled")
  func sleep() async throws {
    try await TimerThread.sleep(for: .milliseconds(1))
    let sleeping = Task { try await TimerThread.sleep(for: .seconds(600)) }
    let early = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await TimerThread.sleep(for: .seconds(600))
    }
    await #expect(throws: CancellationError.self) { try await early.value }
    sleeping.cancel()
    await #expect(throws: CancellationError.self) { try await sleeping.value }
  }
}
