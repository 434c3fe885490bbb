import Files
import Glibc
import Subprocess
import Synchronization
import SystemPackage

/// One run of a program in its own process group.
///
/// If the task is canceled, the whole group gets SIGTERM, and SIGKILL after the grace period. In between, the output is
/// read and dropped: a shell that reports on standard error that its child was terminated must not get SIGPIPE before
/// its own trap runs.
struct GroupProcess: Sendable {
  /// The reason why a run ended.
  enum Termination: Sendable {
    /// The program exited, with the status as in a shell (128 + n for signal n) and its standard error.
    case exited(Int32, error: [UInt8])
    /// The group was terminated, because the task was canceled.
    case stopped
    /// The group was terminated, because its output exceeded the limit.
    case outputLimitExceeded
    /// The program could not be started or its output could not be read, with the reason.
    case failed(String)
  }

  /// The program.
  let executable: Executable
  /// The arguments after the program's name.
  let arguments: [String]
  /// The environment variables.
  let environment: Subprocess.Environment
  /// The content of standard input.
  let input: [UInt8]
  /// The grace period between SIGTERM and SIGKILL.
  var grace = Duration.seconds(2)
  /// The maximum size of standard output, in bytes.
  var outputLimit = GroupProcess.errorLimit

  /// The maximum size of standard error, in bytes.
  static let errorLimit = 64 << 10

  /// Runs the program until it ends.
  ///
  /// - Parameters:
  ///   - started: called with the process id of the group's leader.
  ///   - output: called with each piece of standard output.
  func run(
    started: @escaping @Sendable (pid_t) -> Void = { _ in },
    output: @escaping @Sendable ([UInt8]) -> Void
  ) async -> Termination {
    let group = Group(grace)
    // A detached task: a canceled task would close the pipes immediately.
    let task = Task.detached { await self.follow(group, started, output) }
    group.abandon = { task.cancel() }
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      group.stop(because: .stopped)
    }
  }

  /// The number of attempts to start a program that another process has open for writing, such as an editor that saves a
  /// hook, and the time between two of them.
  private static let maxAttempts = 20
  private static let attemptInterval = Duration.milliseconds(50)

  private func follow(
    _ group: Group, _ started: @Sendable (pid_t) -> Void,
    _ output: @escaping @Sendable ([UInt8]) -> Void, attempt: Int = 1
  ) async -> Termination {
    do {
      try Descriptors.ensure()
    } catch {
      return .failed("\(error)")
    }
    guard let file = MemoryFile.holding(input) else {
      return .failed("its input could not be prepared: \(MemoryFile.lastError)")
    }
    var options = PlatformOptions()
    options.processGroupID = 0
    // This applies only when the run is abandoned.
    options.teardownSequence = [
      .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: grace)
    ]
    let (outputLimit, errors) = (outputLimit, CollectedBytes())
    let status: Int32
    do {
      let result = try await Subprocess.run(
        Configuration(
          executable: executable, arguments: Arguments(arguments), environment: environment,
          platformOptions: options),
        input: .fileDescriptor(file, closeAfterSpawningProcess: true), output: .sequence,
        error: .sequence
      ) { execution in
        group.begin(execution.processIdentifier.value)
        started(execution.processIdentifier.value)
        let (standardOutput, standardError) = (execution.standardOutput, execution.standardError)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
          tasks.addTask { try await group.read(standardOutput, outputLimit, output) }
          tasks.addTask {
            try await group.read(standardError, GroupProcess.errorLimit) { errors.append($0) }
          }
          try await tasks.waitForAll()
        }
      }
      status = result.terminationStatus.shellStatus
    } catch {
      if (error as? SubprocessError)?.underlyingError == .textFileBusy,
        attempt < GroupProcess.maxAttempts, group.reason == nil
      {
        do { try await Task.sleep(for: GroupProcess.attemptInterval) } catch {}
        return await follow(group, started, output, attempt: attempt + 1)
      }
      group.end()
      return group.reason ?? .failed("\(error)")
    }
    await group.endRest()
    return group.reason ?? .exited(status, error: errors.bytes)
  }

  /// A process group and its termination.
  private final class Group: Sendable {
    private struct State {
      var leader: pid_t?
      /// The reason of the termination; nil while the group has not been asked to end.
      var reason: Termination?
      /// The end of the grace period.
      var deadline: ContinuousClock.Instant?
      /// True if the leader has ended. Another process may have its process id.
      var isOver = false
      /// Stops waiting for the process.
      var abandon: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())
    private let grace: Duration

    init(_ grace: Duration) {
      self.grace = grace
    }

    /// The reason of the termination; nil if the group ended by itself.
    var reason: Termination? { state.withLock { $0.reason } }

    /// Stops waiting for the process. A process that left the group can keep the output open.
    var abandon: (@Sendable () -> Void)? {
      get { state.withLock { $0.abandon } }
      set { state.withLock { $0.abandon = newValue } }
    }

    /// The time between SIGKILL and the end of waiting.
    private static let margin = Duration.milliseconds(500)

    /// Sets the leader. If the run was canceled before the start, the group is terminated.
    func begin(_ leader: pid_t) {
      state.withLock { state in
        state.leader = leader
        if state.reason != nil { _ = kill(-leader, SIGTERM) }
      }
    }

    /// Sends SIGTERM to the group, and SIGKILL after the grace period.
    func stop(because reason: Termination) {
      let isFirst = state.withLock { state in
        if state.reason != nil || state.isOver { return false }
        state.reason = reason
        state.deadline = .now + grace
        if let leader = state.leader { _ = kill(-leader, SIGTERM) }
        return true
      }
      guard isFirst else { return }
      Task.detached { [self, grace] in
        do { try await Task.sleep(for: grace) } catch {}
        state.withLock { state in
          if let leader = state.leader, !state.isOver { _ = kill(-leader, SIGKILL) }
        }
        do { try await Task.sleep(for: Group.margin) } catch {}
        if !state.withLock({ $0.isOver }) { abandon?() }
      }
    }

    /// Records that the leader has ended.
    func end() { state.withLock { $0.isOver = true } }

    /// Waits for the other processes of a terminated group until the end of the grace period, and kills the rest.
    func endRest() async {
      let (leader, deadline) = state.withLock { state in
        state.isOver = true
        return (state.leader, state.deadline)
      }
      guard let leader, let deadline else { return }
      // The process id is not reused while the group has a member.
      while kill(-leader, 0) == 0 {
        if ContinuousClock.now >= deadline {
          _ = kill(-leader, SIGKILL)
          return
        }
        do { try await Task.sleep(for: .milliseconds(50)) } catch { return }
      }
    }

    /// Reads output to its end. Output after the start of the termination is dropped.
    func read(
      _ sequence: SubprocessOutputSequence, _ limit: Int, _ take: ([UInt8]) -> Void
    ) async throws {
      var count = 0
      for try await buffer in sequence {
        if reason != nil { continue }
        let bytes = buffer.withUnsafeBytes { Array($0) }
        count += bytes.count
        if count > limit {
          stop(because: .outputLimitExceeded)
        } else {
          take(bytes)
        }
      }
    }
  }
}

/// A buffer that collects the output of a process.
final class CollectedBytes: Sendable {
  private let content = Mutex<[UInt8]>([])

  var bytes: [UInt8] { content.withLock { $0 } }

  func append(_ bytes: [UInt8]) { content.withLock { $0 += bytes } }
}
