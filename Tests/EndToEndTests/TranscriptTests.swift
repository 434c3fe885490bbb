import Foundation
import TestSupport
import Testing

/// Sessions of the command line as text: each command with everything that it prints.
///
/// A line `$ COMMAND` is a shell command, and `@ TIME` sets the clock. The lines below a command are its output. A line
/// of standard error starts with `! `, and `exit CODE` follows a command that failed. Identifiers and commits are
/// replaced by numbers in the order of their appearance. `BELFRY_RECORD=1` records the output again: review the
/// difference afterwards.
@Suite struct TranscriptTests {
  private static let folder =
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Transcripts")

  @Test(
    "The output of a session is as recorded",
    arguments: [
      "scheduler", "input", "schedules", "output", "courses", "undo", "words", "move", "calendar",
      "statistics", "bulk", "answers", "import", "phone", "follow", "commits",
    ])
  func session(_ name: String) async throws {
    let file = TranscriptTests.folder.appending(path: "\(name).txt")
    let recorded = try String(contentsOf: file, encoding: .utf8)
    let sandbox = try Sandbox()
    var session = Session(sandbox: sandbox, environment: try sandbox.systemd())
    for line in recorded.split(separator: "\n", omittingEmptySubsequences: false) {
      try await session.read(String(line))
    }
    let played = session.text
    if ProcessInfo.processInfo.environment["BELFRY_RECORD"] != nil {
      try played.write(to: file, atomically: true, encoding: .utf8)
    }
    let (old, new) = (recorded.split(separator: "\n"), played.split(separator: "\n"))
    let first = zip(old, new).first { $0 != $1 }
    #expect(
      played == recorded,
      "first: \(first.map { "recorded: \($0.0)\nplayed:   \($0.1)" } ?? "the end")")
  }

  /// A session that is played again.
  private struct Session {
    let sandbox: Sandbox
    let environment: [String: String]
    private(set) var text = ""
    private var now = "2026-11-23T10:00:00Z"
    private var names: [String: String] = [:]

    init(sandbox: Sandbox, environment: [String: String]) {
      self.sandbox = sandbox
      self.environment = environment
    }

    /// Reads a line of the record: runs a command, sets the clock, or keeps a comment. Skips recorded output.
    mutating func read(_ line: String) async throws {
      if line.hasPrefix("# ") {
        text += (text.isEmpty ? "" : "\n") + line + "\n"
      } else if line.hasPrefix("@ ") {
        now = String(line.dropFirst(2))
        text += "\n\(line)\n"
      } else if line.hasPrefix("$ ") {
        text += line + "\n"
        let variables = environment.merging(
          [
            "TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": now,
          ]
        ) { $1 }
        try sandbox.write(
          "#!/bin/sh\nexec '\(Sandbox.binary)' \"$@\"\n", to: "\(sandbox.root)/programs/belfry",
          mode: 0o755)
        let output = try await sandbox.run(
          "/bin/sh", ["-c", "cd '\(sandbox.root)'; \(line.dropFirst(2))"], environment: variables)
        text += masked(output.out)
        text += masked(output.err).split(separator: "\n").map { "! \($0)\n" }.joined()
        if output.status != 0 { text += "exit \(output.status)\n" }
      }
    }

    /// Returns true if the store has an object whose id starts with the digits.
    private func isObject(_ digits: String) -> Bool {
      let folder = "\(sandbox.store)/.git/objects/\(digits.prefix(2))"
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return names.contains { $0.hasPrefix(digits.dropFirst(2)) }
    }

    /// Returns the output with names for what differs in each run.
    private mutating func masked(_ output: String) -> String {
      var output = output.replacing(sandbox.root, with: "ROOT")
      let files = ["alarms", "devices"].flatMap { folder in
        (try? FileManager.default.contentsOfDirectory(atPath: "\(sandbox.store)/\(folder)")) ?? []
      }
      // A short identifier is the start of a file's name.
      let known = files.map { String($0.dropLast(5)) }
      for id in known { output = output.replacing(id, with: id.prefix(8)) }
      for match in output.matches(of: /\b[a-z0-9]{8}\b/) {
        let word = String(match.output)
        let isID = known.contains { $0.hasPrefix(word) }
        // Eight digits can be a commit, too.
        let isCommit =
          word.allSatisfy(\.isHexDigit) && (word.contains(where: \.isLetter) || isObject(word))
        if isID || isCommit, names[word] == nil {
          names[word] =
            (isID ? "alarm" : "commit").prefix(6) + String(repeating: "0", count: isID ? 2 : 1)
            + "\(names.count + 1)"
        }
      }
      for (word, name) in names { output = output.replacing(word, with: name) }
      return output
    }
  }
}
