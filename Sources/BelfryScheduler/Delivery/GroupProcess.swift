import Git
import Glibc
import Subprocess
import Synchronization
import SystemPackage

/// One run of a program in a process group of its own.
///
/// A cancelled task sends SIGTERM to the whole group, and SIGKILL once the grace period is over.
/// Until then its output is read and dropped: a shell that says on standard error that its child was terminated must
/// not be ended by SIGPIPE before its own trap runs.
struct GroupProcess: Sendable {
  enum Ending: Sendable {
    /// The status as a shell tells it, and what it wrote on standard error.
    case exited(Int32, error: [UInt8])
    /// It was ended, as the task was cancelled.
    case stopped
    /// It wrote more than the limit, and was ended.
    case wroteTooMuch
    /// It could not be started or followed.
    case failed(String)
  }

  let executable: Executable
  let arguments: [String]
  let environment: Subprocess.Environment
  let input: [UInt8]
  /// The time between SIGTERM and SIGKILL.
  var grace = Duration.seconds(2)
  /// The most that it may write to standard output, in bytes.
  var outputLimit = GroupProcess.errorLimit

  /// The most that it may write to standard error, in bytes.
  static let errorLimit = 64 << 10

  /// Runs it to its end.
  ///
  /// - Parameters:
  ///   - started: is called with the leader of the group.
  ///   - output: gets what it writes to standard output, piece by piece.
  func run(
    started: @escaping @Sendable (pid_t) -> Void = { _ in },
    output: @escaping @Sendable ([UInt8]) -> Void
  ) async -> Ending {
    let group = Group(grace)
    // A task that is cancelled would close the pipes at once.
    let task = Task.detached { await self.follow(group, started, output) }
    group.abandon = { task.cancel() }
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      group.stop(because: .stopped)
    }
  }

  private func follow(
    _ group: Group, _ started: @Sendable (pid_t) -> Void,
    _ output: @escaping @Sendable ([UInt8]) -> Void
  ) async -> Ending {
    do {
      try Descriptors.ensure()
    } catch {
      return .failed("\(error)")
    }
    guard let file = MemoryFile.holding(input) else {
      return .failed("its input could not be written: \(MemoryFile.reason)")
    }
    var options = PlatformOptions()
    options.processGroupID = 0
    // Where it cannot be followed.
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
      group.end()
      return group.reason ?? .failed("\(error)")
    }
    await group.endRest()
    return group.reason ?? .exited(status, error: errors.bytes)
  }

  /// A process group, and who ends it.
  private final class Group: Sendable {
    private struct State {
      var leader: pid_t?
      /// Why it is being ended.
      var reason: Ending?
      var deadline: ContinuousClock.Instant?
      /// Its leader has ended, and its number may be another process's.
      var isOver = false
      /// Stops following the process.
      var abandon: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())
    private let grace: Duration

    init(_ grace: Duration) {
      self.grace = grace
    }

    /// Why it was ended; nil when it was not.
    var reason: Ending? { state.withLock { $0.reason } }

    /// Stops following the process, whose output another process that left the group may hold open.
    var abandon: (@Sendable () -> Void)? {
      get { state.withLock { $0.abandon } }
      set { state.withLock { $0.abandon = newValue } }
    }

    /// The time between SIGKILL and the end of reading.
    private static let margin = Duration.milliseconds(500)

    func begin(_ leader: pid_t) {
      state.withLock { state in
        state.leader = leader
        if state.reason != nil { _ = kill(-leader, SIGTERM) }
      }
    }

    /// Asks the group to end, and makes it once the grace period is over.
    func stop(because reason: Ending) {
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

    func end() { state.withLock { $0.isOver = true } }

    /// Gives the others in the group the rest of the grace period when the leader was asked to end, and has.
    func endRest() async {
      let (leader, deadline) = state.withLock { state in
        state.isOver = true
        return (state.leader, state.deadline)
      }
      guard let leader, let deadline else { return }
      // The number stays taken as long as the group has a member.
      while kill(-leader, 0) == 0 {
        if ContinuousClock.now >= deadline {
          _ = kill(-leader, SIGKILL)
          return
        }
        do { try await Task.sleep(for: .milliseconds(50)) } catch { return }
      }
    }

    /// Reads to the end, and hands on what comes before it is asked to end.
    func read(
      _ sequence: SubprocessOutputSequence, _ limit: Int, _ take: ([UInt8]) -> Void
    ) async throws {
      var count = 0
      for try await buffer in sequence {
        if reason != nil { continue }
        let bytes = buffer.withUnsafeBytes { Array($0) }
        count += bytes.count
        if count > limit {
          stop(because: .wroteTooMuch)
        } else {
          take(bytes)
        }
      }
    }
  }
}

/// The output of a process, read in pieces.
final class CollectedBytes: Sendable {
  private let content = Mutex<[UInt8]>([])

  var bytes: [UInt8] { content.withLock { $0 } }

  func append(_ bytes: [UInt8]) { content.withLock { $0 += bytes } }
}
