import BelfryCore
import Glibc
import Subprocess
import SystemPackage

/// What a person answered through the delivery that reached them.
public enum DeliveredAnswer: Hashable, Sendable {
  case answer(Answer)
  /// Ask again, as was planned.
  case remind

  /// Reads the line that a hook prints: `done`, `stop`, `skip`, `snooze 10m`, `remind`.
  ///
  /// - Parameter snooze: how long a snooze without a length lasts, in seconds.
  init?(_ line: String, snooze: Int64) {
    let words = line.split(separator: " ").map(String.init)
    switch (words.first, words.count) {
    case ("done", 1): self = .answer(.done())
    case ("stop", 1): self = .answer(.stop)
    case ("skip", 1): self = .answer(.skip())
    case ("remind", 1): self = .remind
    case ("snooze", 1): self = .answer(.snooze(seconds: snooze))
    case ("snooze", 2):
      guard let seconds = Span.parse(words[1]) else { return nil }
      self = .answer(.snooze(seconds: seconds))
    default: return nil
    }
  }
}

/// Reaches a person through executables: the user's own first, then the shipped one.
public struct HookDelivery: Sendable {
  /// The folder of the user's own hooks: executables named as the delivery is.
  public let own: String?
  /// The folders that the shipped ones may be in.
  public let shipped: [String]
  /// What hooks get beside the notice: `BELFRY_COMMAND`, `BELFRY_STORE`.
  public let variables: [String: String]
  /// How long a hook may take, in seconds.
  public let timeout: Int

  public init(
    own: String?, shipped: [String], variables: [String: String] = [:], timeout: Int = 30
  ) {
    self.own = own
    self.shipped = shipped
    self.variables = variables
    self.timeout = timeout
  }

  public enum Outcome: Hashable, Sendable {
    case delivered(DeliveredAnswer?)
    /// Every way was tried; the reason of each, in words.
    case undelivered([String])
  }

  /// Hands a notice to the hooks for it: the first that works counts.
  ///
  /// - Parameter snooze: how long a snooze lasts that a hook answers without a length, in seconds.
  public func deliver(_ notice: Notice, snooze: Int64) async -> Outcome {
    // Who is reached by a way of their own for firings is to be reached by it for questions too.
    let own = self.own.map { folder in [notice.hook, "notify"].map { "\(folder)/\($0)" } } ?? []
    let paths = own + shipped.map { "\($0)/\(notice.hook)" }
    var reasons: [String] = []
    for (index, path) in paths.enumerated()
    where paths.firstIndex(of: path) == index && access(path, F_OK) == 0 {
      switch await run(
        path, input: notice.json.document, notice.variables.merging(variables) { $1 })
      {
      case .success(let line): return .delivered(DeliveredAnswer(line, snooze: snooze))
      case .failure(let failure): reasons.append(failure.reason)
      }
    }
    return .undelivered(
      reasons.isEmpty ? ["there is none of \(paths.joined(separator: ", "))"] : reasons)
  }

  /// How a person would be reached now, without reaching anybody.
  public enum Reach: Hashable, Sendable {
    /// In words: `desktop notifications (dunst 1.9.0)`.
    case reachable(String)
    case unreachable(String)
  }

  /// Asks the first hook for firings; one of the user's own is taken at its word.
  public func reach() async -> Reach {
    let paths = ([own].compactMap { $0 } + shipped).map { "\($0)/notify" }
    guard let path = paths.first(where: { access($0, F_OK) == 0 }) else {
      return .unreachable("there is none of \(paths.joined(separator: ", "))")
    }
    guard access(path, X_OK) == 0 else { return .unreachable("\(path) is not executable") }
    if let own, path.hasPrefix(own) { return .reachable("your own hook, \(path)") }
    switch await run(path, ["--check"], input: [], [:]) {
    case .success(let line): return .reachable(line.isEmpty ? path : line)
    case .failure(let failure): return .unreachable(failure.words)
    }
  }

  struct Failure: Error {
    let path: String
    let words: String
    var reason: String { "\(path): \(words)" }
  }

  /// Runs one hook, and returns the first line that it printed.
  private func run(
    _ path: String, _ arguments: [String] = [], input: [UInt8], _ variables: [String: String]
  ) async -> Result<String, Failure> {
    var options = PlatformOptions()
    // A group of its own, so that what it starts ends with it.
    options.processGroupID = 0
    options.teardownSequence = [
      .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: .seconds(1))
    ]
    var environment: [Environment.Key: String?] = [:]
    for (name, value) in variables {
      if let key = Environment.Key(rawValue: name) { environment[key] = value }
    }
    let configuration = Configuration(
      executable: .path(FilePath(path)), arguments: Arguments(arguments),
      environment: .inherit.updating(environment), platformOptions: options)
    guard let file = MemoryFile.holding(input) else {
      let reason = String(cString: strerror(errno))
      return .failure(Failure(path: path, words: "its input could not be written: \(reason)"))
    }
    return await withTaskGroup(of: Result<String, Failure>?.self) { group in
      group.addTask {
        do {
          let result = try await Subprocess.run(
            configuration, input: .fileDescriptor(file, closeAfterSpawningProcess: true),
            output: .bytes(limit: 64 << 10),
            error: .string(limit: 64 << 10))
          if result.terminationStatus.isSuccess {
            let line = result.standardOutput.prefix { $0 != UInt8(ascii: "\n") }
            return .success(String(decoding: line, as: UTF8.self))
          }
          let words = result.standardError.split(separator: "\n").last.map(String.init)
          return .failure(
            Failure(path: path, words: words ?? "it ended with \(result.terminationStatus)"))
        } catch {
          return .failure(Failure(path: path, words: "\(error)"))
        }
      }
      group.addTask { [timeout] in
        do {
          try await Task.sleep(for: .seconds(timeout))
          return .failure(
            Failure(path: path, words: "it did not end within \(timeout) seconds"))
        } catch {
          return nil
        }
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first ?? .failure(Failure(path: path, words: "it was given up"))
    }
  }
}
