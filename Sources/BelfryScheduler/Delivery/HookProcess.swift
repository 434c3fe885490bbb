import BelfryCore
import Glibc
import Subprocess
import Synchronization
import SystemPackage

/// One run of a hook in its own process group. The hook reports its progress in lines on standard output.
struct HookProcess: Sendable {
  /// The reason why a run ended.
  enum Termination: Sendable {
    /// The hook exited, with the status as in a shell and the last two lines of standard error.
    case exited(Int32, message: String?)
    /// The hook could not be started, exceeded the output limit, or was terminated, with the reason.
    case failed(String)
  }

  /// The path of the executable.
  let path: String
  /// The arguments.
  var arguments: [String] = []
  /// The content of standard input.
  let input: [UInt8]
  /// Environment variables that override those of this process.
  let variables: [String: String]
  /// The registry of running hooks; nil to register nothing.
  var registry: HookRegistry?
  /// The deliveries that the hook works for.
  var deliveries: [DeliveryID] = []

  /// The environment variables of this process, as null-terminated entries. They are read once for all hooks. Invalid
  /// entries are skipped, because a process cannot be started with them.
  private static let inherited: [(name: String, entry: [UInt8])] = {
    var result: [(name: String, entry: [UInt8])] = []
    var pointer = environ
    while let entry = pointer.pointee {
      let text = String(cString: entry)
      let name = String(text.prefix { $0 != "=" })
      if text.contains("="), let first = name.first, !("0"..."9").contains(first) {
        result.append((name, Array(text.utf8) + [0]))
      }
      pointer += 1
    }
    return result
  }()

  /// The maximum length of a line of standard error in a message, in characters.
  private static let maxLineLength = 1000

  /// Runs the hook until it ends. If the task is canceled, the group gets SIGTERM, and SIGKILL two seconds later.
  ///
  /// - Parameter onLine: called with each line of standard output.
  func run(_ onLine: @escaping @Sendable (Substring) -> Void) async -> Termination {
    let environment =
      HookProcess.inherited.filter { variables[$0.name] == nil }.map(\.entry)
      + variables.map { Array("\($0)=\($1)".utf8) + [0] }
    let process = GroupProcess(
      executable: .path(FilePath(path)), arguments: arguments, environment: .custom(environment),
      input: input)
    let lines = LineSplitter(onLine)
    let entry = Mutex<HookRegistry.Entry?>(nil)
    let termination = await process.run { leader in
      entry.withLock { $0 = registry?.register(leader, for: deliveries) }
    } output: {
      lines.append($0)
    }
    entry.withLock { $0 }?.remove()
    switch termination {
    case .exited(let status, let error):
      lines.end()
      // Two lines: the failure and its hint.
      let last = String(decoding: error, as: UTF8.self).split(separator: "\n").suffix(2)
      let message = last.map { $0.prefix(HookProcess.maxLineLength) }.joined(separator: " ")
      return .exited(status, message: last.isEmpty ? nil : message)
    case .stopped: return .failed("it was terminated")
    case .outputLimitExceeded:
      return .failed("its output exceeded \(GroupProcess.errorLimit >> 10) KiB")
    case .failed(let reason): return .failed(reason)
    }
  }

  /// A splitter of output into lines.
  private final class LineSplitter: Sendable {
    private let line = Mutex<[UInt8]>([])
    private let onLine: @Sendable (Substring) -> Void

    init(_ onLine: @escaping @Sendable (Substring) -> Void) {
      self.onLine = onLine
    }

    func append(_ bytes: [UInt8]) {
      let lines = line.withLock { line in
        line += bytes
        let parts = line.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        line = parts.last.map(Array.init) ?? []
        return parts.dropLast()
      }
      for line in lines { onLine(Substring(decoding: line, as: UTF8.self)) }
    }

    /// Passes on the last line if it has no newline.
    func end() {
      let rest = line.withLock { $0 }
      if !rest.isEmpty { onLine(Substring(decoding: rest, as: UTF8.self)) }
    }
  }
}
