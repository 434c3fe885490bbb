import BelfryCore
import Git
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

/// A way to reach a person.
public protocol NoticeDelivery: Sendable {
  /// Brings a notice to the person.
  ///
  /// - Parameter snooze: how long a snooze lasts that is answered without a length, in seconds.
  func deliver(_ notice: Notice, snooze: Int64) async -> DeliveryOutcome
}

/// What came of bringing a notice to a person.
public enum DeliveryOutcome: Hashable, Sendable {
  case delivered(DeliveredAnswer?)
  /// Every way was tried; the reason of each, in words.
  case undelivered([String])
}

/// Reaches a person through executables: the user's own first, then the shipped one.
public struct HookDelivery: NoticeDelivery {
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

  /// Hands a notice to the hooks for it: the first that works counts.
  ///
  /// - Parameter snooze: how long a snooze lasts that a hook answers without a length, in seconds.
  public func deliver(_ notice: Notice, snooze: Int64) async -> DeliveryOutcome {
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
    let outcome = await TimedProcess.run(
      .path(FilePath(path)), arguments, input: input, variables: variables, seconds: timeout)
    switch outcome {
    case .ended(0, let output, _):
      return .success(String(decoding: output.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    case .ended(let status, _, let error):
      let words = error.split(separator: "\n").last.map(String.init)
      return .failure(Failure(path: path, words: words ?? "it ended with \(status)"))
    case .timedOut:
      return .failure(Failure(path: path, words: "it did not end within \(timeout) seconds"))
    case .failed(let reason): return .failure(Failure(path: path, words: reason))
    }
  }

  // MARK: Looking at the hooks

  /// A hook's file, and what keeps it from working.
  public struct HookFile: Hashable, Sendable {
    public enum Fault: Hashable, Sendable {
      case notExecutable
      /// The program that its first line names.
      case interpreterMissing(String)
      /// No delivery has this name.
      case unknownName
    }
    public let path: String
    public let fault: Fault?
  }

  /// The names of the hooks.
  static let names = ["notify", "follow-up"]

  /// The files in the folder of the user's own hooks.
  public func ownHooks() -> [HookFile] {
    guard let own else { return [] }
    return DurableFile.names(in: own).sorted().map { name in
      let path = "\(own)/\(name)"
      var fault: HookFile.Fault?
      if !HookDelivery.names.contains(name) {
        fault = .unknownName
      } else if access(path, X_OK) != 0 {
        fault = .notExecutable
      } else if let program = HookDelivery.interpreter(of: path), access(program, X_OK) != 0 {
        fault = .interpreterMissing(program)
      }
      return HookFile(path: path, fault: fault)
    }
  }

  /// The first of the folders with shipped hooks that has any; nil when none has.
  public var shippedFolder: String? {
    shipped.first { folder in
      HookDelivery.names.contains { access("\(folder)/\($0)", X_OK) == 0 }
    }
  }

  /// The program that runs a script, by its first line; nil for a binary.
  private static func interpreter(of path: String) -> String? {
    guard let file = (try? DurableFile.read(path, limit: 1 << 20)) ?? nil,
      file.bytes.starts(with: "#!".utf8)
    else { return nil }
    let line = String(
      decoding: file.bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    return line.split(separator: " ").first.map(String.init)
  }
}
