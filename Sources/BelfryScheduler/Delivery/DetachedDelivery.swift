import BelfryCore
import BelfryStore
import Files
import Glibc
import Subprocess
import Synchronization
import SystemPackage

/// Delivers through a helper process in a session of its own, which outlives this process and stays with notifications
/// until they are answered.
///
/// ```
/// tick ──{number, snooze, deliveries}──▶ belfry attend ──▶ hooks
///      ◀──{number, outcome}───────────
/// ```
///
/// Each message is one line. Neither process waits for the other to read.
public final class DetachedDelivery: NotificationDelivery {
  /// A group without an outcome.
  private struct Waiting {
    let continuation: CheckedContinuation<DeliveryOutcome, Never>
    let timer: TimerThread.Timer
  }
  private struct State {
    /// The pipe to the helper; nil before it starts.
    var input: PipeWriter?
    var waiting: [Int: Waiting] = [:]
    var lastNumber = 0
    /// The reason why the helper has ended; nil while it runs.
    var failure: String?
  }
  private let state = Mutex(State())
  private let command: String
  private let arguments: [String]
  private let timeout: Int

  /// The default time that the helper may take for one delivery, in seconds: longer than all hooks together.
  public static let defaultTimeout = 180

  /// Creates a delivery. The helper starts with the first notification.
  ///
  /// - Parameters:
  ///   - command: the path of the `belfry` binary.
  ///   - arguments: the arguments of the helper.
  ///   - timeout: the time that the helper may take for one delivery, in seconds.
  public init(
    command: String, arguments: [String], timeout: Int = DetachedDelivery.defaultTimeout
  ) {
    self.command = command
    self.arguments = arguments
    self.timeout = timeout
  }

  /// Delivers through the helper, and returns the outcome that it reports.
  public func deliver(_ group: DeliveryGroup, snooze: Int64) async -> DeliveryOutcome {
    await withCheckedContinuation { continuation in
      let request: (input: PipeWriter, number: Int)? = state.withLock { state in
        if state.input == nil, state.failure == nil { start(&state) }
        guard let input = state.input, state.failure == nil else { return nil }
        state.lastNumber += 1
        let number = state.lastNumber
        let timer = TimerThread.shared.run(after: .seconds(timeout)) { [self, timeout] in
          finish(number, .undelivered(["the delivery helper timed out after \(timeout) s"]))
        }
        state.waiting[number] = Waiting(continuation: continuation, timer: timer)
        return (input, number)
      }
      guard let (input, number) = request else {
        let reason = state.withLock { $0.failure } ?? ""
        return continuation.resume(returning: .undelivered([reason]))
      }
      // Without the lock, which the timer thread needs: a full pipe can block here if no thread is left.
      input.send(
        JSON.object([
          "number": .integer(Int64(number)), "snooze": .integer(snooze),
          "deliveries": .array(group.deliveries.map(\.json)),
        ]).line)
    }
  }

  private func finish(_ number: Int, _ outcome: DeliveryOutcome) {
    guard let waiting = state.withLock({ $0.waiting.removeValue(forKey: number) }) else { return }
    TimerThread.shared.cancel(waiting.timer)
    waiting.continuation.resume(returning: outcome)
  }

  /// Fails all current and future deliveries.
  private func fail(_ reason: String) {
    let numbers = state.withLock { state in
      if state.failure == nil { state.failure = reason }
      return Array(state.waiting.keys)
    }
    for number in numbers { finish(number, .undelivered([reason])) }
  }

  private func start(_ state: inout State) {
    do {
      try Descriptors.ensure()
      let pipe = try FileDescriptor.pipe()
      // Another child process must not keep the pipe open.
      _ = fcntl(pipe.writeEnd.rawValue, F_SETFD, FD_CLOEXEC)
      state.input = PipeWriter(pipe.writeEnd) {
        self.fail("the delivery helper does not read its input")
      }
      Task.detached { await self.run(pipe.readEnd) }
    } catch {
      state.failure = "\(error)"
    }
  }

  /// Runs the helper until it or this process ends.
  private func run(_ input: FileDescriptor) async {
    var options = PlatformOptions()
    options.createSession = true
    var failure = "the delivery helper has ended"
    do {
      _ = try await Subprocess.run(
        .path(FilePath(command)), arguments: Arguments(arguments), platformOptions: options,
        input: .fileDescriptor(input, closeAfterSpawningProcess: true), output: .sequence,
        error: .discarded
      ) { execution in
        // A reason may contain other line breaks.
        let lines = execution.standardOutput.strings(
          separatedBy: .unicodeScalarSequence(["\n"]), bufferingPolicy: .unbounded)
        for try await line in lines { self.receive(line) }
      }
    } catch {
      failure = "\(command): \(error)"
    }
    fail(failure)
  }

  private func receive(_ line: String) {
    guard let json = try? JSON(parsing: Array(line.utf8)), let number = json["number"]?.integer,
      let outcome = json["outcome"]
    else { return }
    finish(Int(number), DeliveryOutcome(json: outcome))
  }
}
