import Git
import Glibc
import Subprocess
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

  /// The most that a hook may write, in bytes.
  private static let mostOutput = 64 << 10
  /// How long a hook may take to end when it is asked to, in seconds.
  private static let mercy = 2

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

  private struct Flood: Error {}

  /// Runs it to its end. When the task is cancelled, the group is asked to end, and made to two seconds later.
  ///
  /// - Parameter heard: is told each line as it comes.
  func run(_ heard: @Sendable (Substring) -> Void) async -> Ending {
    var options = PlatformOptions()
    options.processGroupID = 0
    options.teardownSequence = [
      .send(
        signal: .terminate, toProcessGroup: true,
        allowedDurationToNextStep: .seconds(HookProcess.mercy))
    ]
    let environment =
      HookProcess.inherited.filter { variables[$0.name] == nil }.map(\.entry)
      + variables.map { Array("\($0)=\($1)".utf8) + [0] }
    let configuration = Configuration(
      executable: .path(FilePath(path)), arguments: Arguments(arguments),
      environment: .custom(environment), platformOptions: options)
    do {
      try Descriptors.ensure()
    } catch {
      return .failed("\(error)")
    }
    guard let file = MemoryFile.holding(input) else {
      return .failed("its input could not be written: \(MemoryFile.reason)")
    }
    do {
      let result = try await Subprocess.run(
        configuration, input: .fileDescriptor(file, closeAfterSpawningProcess: true),
        output: .sequence, error: .string(limit: HookProcess.mostOutput)
      ) { execution in
        let note = notes?.begin(execution.processIdentifier.value)
        defer { note?.end() }
        var failure: (any Error)?
        do {
          try await HookProcess.read(execution.standardOutput, heard)
          // An output that is waited for in vain ends like one that is over.
          try Task.checkCancellation()
        } catch {
          failure = error
        }
        guard let failure else { return }
        await execution.teardown(using: options.teardownSequence)
        // What its leader has left behind.
        _ = kill(-execution.processIdentifier.value, SIGKILL)
        throw failure
      }
      if Task.isCancelled { return .failed("it was ended") }
      // What went wrong, and what to do next.
      let lines = result.standardError.split(separator: "\n").suffix(2)
      let words = lines.isEmpty ? nil : lines.joined(separator: " ")
      return .exited(result.terminationStatus.shellStatus, words: words)
    } catch is Flood {
      return .failed("it wrote more than \(HookProcess.mostOutput >> 10) KiB")
    } catch {
      return .failed(Task.isCancelled ? "it was ended" : "\(error)")
    }
  }

  private static func read(
    _ output: SubprocessOutputSequence, _ heard: @Sendable (Substring) -> Void
  ) async throws {
    var line: [UInt8] = []
    var count = 0
    func end() {
      heard(Substring(decoding: line, as: UTF8.self))
      line.removeAll()
    }
    for try await buffer in output {
      buffer.withUnsafeBytes { bytes in
        count += bytes.count
        for byte in bytes {
          if byte == UInt8(ascii: "\n") { end() } else { line.append(byte) }
        }
      }
      if count > mostOutput { throw Flood() }
      try Task.checkCancellation()
    }
    if !line.isEmpty { end() }
  }
}
