import Subprocess

/// A program that runs in its own process group with a timeout. The whole group ends with it.
public enum TimedProcess {
  /// The outcome of a run.
  public enum Outcome: Sendable {
    /// The program exited, with the status as in a shell: 128 + n for signal n.
    case ended(status: Int32, output: [UInt8], error: String)
    /// The program was terminated after the timeout.
    case timedOut
    /// The program could not be started, was canceled, or exceeded the output limit, with the reason.
    case failed(String)
  }

  /// Runs a program.
  ///
  /// - Parameters:
  ///   - bytes: the content of standard input.
  ///   - variables: environment variables that override those of this process.
  ///   - seconds: the timeout, in seconds.
  ///   - limit: the maximum size of standard output, in bytes.
  ///   - grace: the time between SIGTERM and SIGKILL after a cancellation or timeout, in seconds.
  public static func run(
    _ executable: Executable, _ arguments: [String], input bytes: [UInt8] = [],
    variables: [String: String] = [:], seconds: Int, limit: Int = 64 << 10, grace: Int = 1
  ) async -> Outcome {
    var environment: [Environment.Key: String?] = [:]
    for (name, value) in variables {
      if let key = Environment.Key(rawValue: name) { environment[key] = value }
    }
    let process = GroupProcess(
      executable: executable, arguments: arguments, environment: .inherit.updating(environment),
      input: bytes, grace: .seconds(grace), outputLimit: limit)
    let output = CollectedBytes()
    return await withTaskGroup(of: Outcome?.self) { group in
      group.addTask {
        let termination = await process.run { output.append($0) }
        switch termination {
        case .exited(let status, let error):
          return .ended(
            status: status, output: output.bytes,
            error: String(decoding: error, as: UTF8.self))
        case .stopped: return .failed("it was canceled")
        case .outputLimitExceeded: return .failed("its output exceeded the limit")
        case .failed(let reason): return .failed(reason)
        }
      }
      group.addTask {
        do {
          try await TimerThread.sleep(for: .seconds(seconds))
          return .timedOut
        } catch {
          return nil
        }
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first ?? .failed("it was canceled")
    }
  }
}
