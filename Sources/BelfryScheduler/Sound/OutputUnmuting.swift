import Files
import Glibc

/// The unmuting of the sound output while an alarm sounds.
///
/// Each output is unmuted once, so that it stays muted if the user mutes it, unless the sound server restarts. The levels
/// before are recorded in a file: if the process is killed, the next one restores them. Whoever changes the file holds the
/// lock of `SoundLoop`.
public struct OutputUnmuting: Sendable {
  private let output: @Sendable () -> SoundOutput
  private let path: String
  /// The levels to restore.
  private var before: [SoundOutput.Level]
  /// The outputs that need no more attention.
  private var checked: Set<String> = []

  private static let maxSize = 64 << 10

  /// Creates it, with the levels that a killed process has recorded.
  ///
  /// - Parameters:
  ///   - path: the path of the file with the levels.
  ///   - output: returns the output of the moment. The sound server may start or end while the alarm sounds.
  public init(path: String, _ output: @escaping @Sendable () -> SoundOutput) {
    self.path = path
    self.output = output
    before = OutputUnmuting.read(path)
  }

  /// True if there are levels to restore.
  public var isPending: Bool { !before.isEmpty }

  /// Reads the levels again that other processes have recorded.
  mutating func reload() { before = OutputUnmuting.read(path) }

  /// Checks all outputs again, after a failure: the sound server may have restarted, and muted them.
  mutating func forgetChecks() { checked = [] }

  /// Makes the output audible, unless it was checked before.
  mutating func check() async {
    let output = output()
    guard case .success(let level) = await output.level, !checked.contains(level.name) else {
      return
    }
    if level.state.isInaudible {
      if !before.contains(where: { $0.tool == level.tool && $0.name == level.name }) {
        before.append(level)
        // The change can be lost; the sound cannot.
        write()
      }
      await output.makeAudible(level)
      // A failed command is repeated at the next check.
      if await output.state.isInaudible { return }
    }
    checked.insert(level.name)
  }

  /// Restores the levels. Those of a server that does not respond stay recorded.
  mutating func restore() async {
    if before.isEmpty { return }
    let output = output()
    var rest: [SoundOutput.Level] = []
    for level in before where await !output.restore(level) { rest.append(level) }
    before = rest
    write()
  }

  // MARK: The file

  /// Writes a line for each level: the client, the identifier, `muted` or `-`, the volume or `-`, and the name, with
  /// tabs in between. An error is ignored, as the alarm has to sound.
  private func write() {
    if before.isEmpty {
      _ = unlink(path)
      return
    }
    let lines = before.map { level in
      [
        level.tool.rawValue, level.id, level.isMuted ? "muted" : "-",
        level.volume.map { "\($0)" } ?? "-", level.name,
      ].joined(separator: "\t") + "\n"
    }
    try? DurableFile.makeFolder(DurableFile.parent(of: path))
    _ = try? DurableFile.write(Array(lines.joined().utf8), to: path, temporary: path + ".new")
  }

  private static func read(_ path: String) -> [SoundOutput.Level] {
    guard let file = (try? DurableFile.read(path, limit: maxSize)) ?? nil else { return [] }
    return String(decoding: file.bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 5, let tool = SoundOutput.Tool(rawValue: fields[0]) else { return nil }
      return SoundOutput.Level(
        tool: tool, id: fields[1], name: fields[4], isMuted: fields[2] == "muted",
        volume: Int(fields[3]))
    }
  }
}
