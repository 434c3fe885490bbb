import Git
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
    var options = PlatformOptions()
    options.processGroupID = 0
    options.teardownSequence = [
      .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: .seconds(grace))
    ]
    var environment: [Environment.Key: String?] = [:]
    for (name, value) in variables {
      if let key = Environment.Key(rawValue: name) { environment[key] = value }
    }
    let configuration = Configuration(
      executable: executable, arguments: Arguments(arguments),
      environment: .inherit.updating(environment), platformOptions: options)
    do {
      try Descriptors.ensure()
    } catch {
      return .failed("\(error)")
    }
    guard let file = MemoryFile.holding(bytes) else {
      return .failed("its input could not be written: \(MemoryFile.reason)")
    }
    return await withTaskGroup(of: Outcome?.self) { group in
      group.addTask {
        do {
          let result = try await Subprocess.run(
            configuration, input: .fileDescriptor(file, closeAfterSpawningProcess: true),
            output: .bytes(limit: limit), error: .string(limit: 64 << 10))
          return .ended(
            status: result.terminationStatus.shellStatus, output: result.standardOutput,
            error: result.standardError)
        } catch {
          return .failed("\(error)")
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
