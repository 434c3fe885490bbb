import Git
import Glibc
import Subprocess
import Synchronization
import SystemPackage

/// One run of a hook: a process group of its own that says line by line what comes of it.
struct HookProcess: Sendable {
  enum Ending: Sendable {
    /// The status as a shell tells it, and the last two lines of what it complained of.
    case exited(Int32, words: String?)
    /// It was not started, or wrote more than anybody reads, or was ended.
    case failed(String)
  }

  let path: String
  var arguments: [String] = []
  let input: [UInt8]
  let variables: [String: String]
  /// Where it is noted as long as it runs; nil where that is nowhere.
  var notes: HookNotes?

  /// This process's own variables, read once: of two hundred hooks each would otherwise. Without what is no variable, with
  /// which no process is started.
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

  /// The longest reason that is passed on, in characters.
  private static let longestReason = 1000

  /// Runs it to its end. When the task is cancelled, the group is asked to end, and made to two seconds later.
  ///
  /// - Parameter heard: is told each line as it comes.
  func run(_ heard: @escaping @Sendable (Substring) -> Void) async -> Ending {
    let environment =
      HookProcess.inherited.filter { variables[$0.name] == nil }.map(\.entry)
      + variables.map { Array("\($0)=\($1)".utf8) + [0] }
    let process = GroupProcess(
      executable: .path(FilePath(path)), arguments: arguments, environment: .custom(environment),
      input: input)
    let lines = Lines(heard)
    let note = Mutex<HookNotes.Note?>(nil)
    let ending = await process.run { leader in
      note.withLock { $0 = notes?.begin(leader) }
    } output: {
      lines.append($0)
    }
    note.withLock { $0 }?.end()
    switch ending {
    case .exited(let status, let error):
      lines.end()
      // What went wrong, and what to do next.
      let last = String(decoding: error, as: UTF8.self).split(separator: "\n").suffix(2)
      let words = last.map { $0.prefix(HookProcess.longestReason) }.joined(separator: " ")
      return .exited(status, words: last.isEmpty ? nil : words)
    case .stopped: return .failed("it was ended")
    case .wroteTooMuch:
      return .failed("it wrote more than \(GroupProcess.errorLimit >> 10) KiB")
    case .failed(let reason): return .failed(reason)
    }
  }

  /// Makes lines of what comes in pieces.
  private final class Lines: Sendable {
    private let line = Mutex<[UInt8]>([])
    private let heard: @Sendable (Substring) -> Void

    init(_ heard: @escaping @Sendable (Substring) -> Void) {
      self.heard = heard
    }

    func append(_ bytes: [UInt8]) {
      let lines = line.withLock { line in
        line += bytes
        let parts = line.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        line = parts.last.map(Array.init) ?? []
        return parts.dropLast()
      }
      for line in lines { heard(Substring(decoding: line, as: UTF8.self)) }
    }

    /// Hands on the last line, if it has no end.
    func end() {
      let rest = line.withLock { $0 }
      if !rest.isEmpty { heard(Substring(decoding: rest, as: UTF8.self)) }
    }
  }
}
