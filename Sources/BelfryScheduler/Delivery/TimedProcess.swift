import Subprocess

/// Runs a program of its own process group for a limited time: what it has started ends with it.
public enum TimedProcess {
  public enum Outcome: Sendable {
    /// It ended: the status as a shell tells it, 128 + n for signal n.
    case ended(status: Int32, output: [UInt8], error: String)
    /// It did not end in time, and was ended.
    case timedOut
    /// It could not be started, or what it wrote was too long.
    case failed(String)
  }

  /// - Parameters:
  ///   - seconds: how long it may take.
  ///   - limit: how much it may write, in bytes.
  ///   - grace: how long it has to end itself when it is cancelled or out of time, in seconds.
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
        let ending = await process.run { output.append($0) }
        switch ending {
        case .exited(let status, let error):
          return .ended(
            status: status, output: output.bytes,
            error: String(decoding: error, as: UTF8.self))
        case .stopped: return .failed("it was given up")
        case .wroteTooMuch: return .failed("it wrote too much")
        case .failed(let reason): return .failed(reason)
        }
      }
      group.addTask {
        do {
          try await Task.sleep(for: .seconds(seconds))
          return .timedOut
        } catch {
          return nil
        }
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first ?? .failed("it was given up")
    }
  }
}
