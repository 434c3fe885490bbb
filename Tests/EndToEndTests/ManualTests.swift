import Foundation
import TestSupport
import Testing

/// The commands in the README and in the manual, which must work as they are written.
@Suite struct ManualTests {
  /// A document and the commands that prepare its examples.
  struct Article: CustomTestStringConvertible, Sendable {
    let path: String
    /// The commands before those of the document.
    var setup: [String] = []
    /// The clock of the lines that begin with these words.
    var clocks: [String: String] = [:]
    /// The beginnings of lines that cannot run here.
    var skipped: Set<String> = []
    /// The parts of lines that name something that only users have, with their replacements.
    var replacements: [String: String] = [:]
    /// The exit codes of the lines that begin with these words.
    var statuses: [String: Int32] = [:]
    var testDescription: String { path }
  }

  /// The alarms of most examples, of which the first two ring at the examples' time.
  private static let alarms = [
    "belfry tier plus",
    "belfry add 'Rent reminder' --weekly mon,fri --at 09:00",
    "belfry add 'Take pills' --daily --at 09:00,21:00 --tag morning,home",
    "belfry add 'Clock in' --daily --at 10:00 --tag work",
  ]
  /// Writes a calendar with a holiday.
  private static let holidays =
    "printf '%s\\n' BEGIN:VCALENDAR VERSION:2.0 PRODID:test BEGIN:VEVENT UID:1 "
    + "DTSTART\\;VALUE=DATE:20261225 'SUMMARY:Christmas Day' END:VEVENT END:VCALENDAR > holidays.ics"
  /// The devices of the cascade's examples, as clones that sync with one remote.
  private static let devices =
    [
      "git init -q --bare -b main remote.git", "belfry tier premium",
      "belfry add 'EMEA Standup' --daily --at 05:00", "belfry remote add origin remote.git",
      "belfry sync",
    ]
    + ["Watch", "HomePod", "iPhone"].flatMap { name in
      [
        "BELFRY_DEVICE=\(name) belfry --store \(name) clone remote.git",
        name == "iPhone" ? "belfry --store iPhone device --owner Jen" : "true",
        "belfry --store \(name) sync",
      ]
    } + ["belfry sync"]

  /// A task of taskwarrior, as `task export` prints it.
  private static let task =
    #"[{"uuid":"5d1c2c6e-3c7a-4b0a-9f5e-0d0b8a1f2c3d","description":"Water the plants","#
    + #""due":"20261201T090000Z","recur":"weekly","status":"recurring","entry":"20261101T090000Z"}]"#
  /// Accepts an invitation on another person's device, and confirms the code on both.
  private static let acceptance = """
    alex() { BELFRY_STORE=$PWD/alex BELFRY_DEVICE=alex belfry "$@"; }; set -e; alex tier premium
    alex partner accept "$(grep -o 'belfry://pair?[^ ]*' invitation)" --yes --as Alex
    belfry partner sync; alex partner sync
    code=$(alex partner list --json | sed -n 's/.*"code": "\\([^"]*\\)".*/\\1/p')
    belfry partner confirm "$code"; alex partner confirm "$code"; belfry partner sync
    """

  /// All documents for users.
  static let articles = [
    Article(
      path: "README.md",
      clocks: [
        "belfry add \"Rent": "2026-11-21T10:00:00Z", "belfry add \"Take": "2026-11-22T10:00:00Z",
      ]),
    Article(
      path: manual + "GettingStarted.md",
      clocks: ["belfry add \"Take": "2026-11-22T10:00:00Z"], skipped: ["belfry ring"]),
    Article(
      path: manual + "Schedules.md",
      setup: ["belfry tier plus", holidays]),
    Article(
      path: manual + "Answering.md",
      setup: alarms + ["belfry add Gym every mon, wed, fri 18:00"]),
    // It needs a terminal.
    Article(path: manual + "FullScreen.md", skipped: ["belfry ui"]),
    Article(path: manual + "Scheduler.md"),
    Article(path: manual + "Channels.md", setup: ["belfry tier plus"]),
    Article(path: manual + "Battery.md"),
    Article(path: manual + "StatusBars.md"),
    Article(path: manual + "Settings.md"),
    Article(
      path: manual + "Store.md", setup: alarms + [holidays],
      replacements: ["task export": "printf '%s' '\(task)'"]),
    Article(
      path: manual + "Sync.md", setup: alarms,
      // The old device is in use.
      replacements: ["device adopt laptop": "device adopt laptop --force"]),
    Article(
      path: manual + "Cascade.md",
      setup: devices + ["umask 077; echo 1 >~/sip-password; echo 1 >~/token"],
      // It calls a number.
      skipped: ["belfry calls test"], replacements: ["AC…": "AC1"]),
    Article(
      path: manual + "Phone.md",
      setup: ["belfry tier plus", "belfry add Rent every month on the 1st 9:00"],
      // It needs a terminal.
      skipped: ["belfry phone setup"]),
    Article(
      path: manual + "Partners.md",
      setup: ["belfry tier premium", "git init -q --bare mailbox.git"],
      replacements: [
        "invite --remote ssh://you@host/srv/mailbox.git":
          "invite --remote \"$PWD/mailbox.git\" >invitation",
        "belfry partner accept 'belfry://pair?…'": acceptance,
      ]),
    Article(path: manual + "Scripting.md"),
    Article(
      path: manual + "Calendars.md",
      setup: [
        "belfry tier plus", "mkdir -p ~/.calendars/home", holidays,
        "cp holidays.ics ~/.calendars/home; cp holidays.ics ~/tasks.ics",
      ],
      skipped: ["belfry calendar follow https", "belfry calendar follow webcal"]),
    Article(path: manual + "RecordFormat.md"),
    Article(path: manual + "Architecture.md"),
    Article(path: manual + "Security.md"),
    // They find what a sandbox lacks.
    Article(
      path: manual + "Troubleshooting.md", setup: alarms,
      statuses: ["belfry doctor": 1, "belfry service status": 4]),
    Article(path: manual + "Glossary.md"),
    Article(path: manual + "Contributing.md"),
    Article(path: manual + "Documents.md"),
  ]

  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().appending(path: "../..").standardizedFileURL
  private static let manual = "Sources/belfry/belfry.docc/"

  @Test("Every command in a code block succeeds", arguments: ManualTests.articles)
  func commands(_ article: Article) async throws {
    let sandbox = try Sandbox()
    var environment = try sandbox.systemd()
    environment.merge(["TZ": "UTC", "BELFRY_DEVICE": "laptop"]) { $1 }
    try sandbox.write(
      "#!/bin/sh\nexec '\(Sandbox.binary)' \"$@\"\n", to: "\(sandbox.root)/programs/belfry",
      mode: 0o755)
    var unreplaced = Set(article.replacements.keys)
    func run(_ line: String, at now: String) async throws -> Sandbox.Output {
      var local = line.replacing("/mnt/share/", with: sandbox.root + "/")
        .replacing("belfry skip ", with: "belfry skip --yes ")
      for (part, replacement) in article.replacements {
        if local.contains(part) { unreplaced.remove(part) }
        local = local.replacing(part, with: replacement)
      }
      return try await sandbox.run(
        "/bin/bash", ["-c", "cd '\(sandbox.root)'; \(local)"],
        environment: environment.merging(["BELFRY_NOW": now]) { $1 })
    }
    for line in article.setup {
      let output = try await run(line, at: "2026-11-20T22:41:00Z")
      try #require(output.status == 0, "\(line)\n\(output.err)")
    }
    var unused = article.skipped
    for line in ManualTests.commands(in: try ManualTests.text(article.path)) {
      if let skipped = article.skipped.first(where: line.hasPrefix) {
        unused.remove(skipped)
        continue
      }
      if line.hasPrefix("belfry clone ") {
        // This line and the next ones are for another device.
        environment["BELFRY_STORE"] = sandbox.root + "/desktop"
        environment["BELFRY_DEVICE"] = "desktop"
      }
      let clock = article.clocks.first { line.hasPrefix($0.key) }?.value
      let output = try await run(line, at: clock ?? "2026-11-23T09:05:00Z")
      let status = article.statuses.first { line.hasPrefix($0.key) }?.value ?? 0
      #expect(output.status == status, "\(line)\n\(output.err)")
    }
    #expect(unreplaced.isEmpty, "these parts are no longer in the document: \(unreplaced)")
    #expect(unused.isEmpty, "these lines are no longer in the document: \(unused)")
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// Returns the commands in the code blocks of a document. A line that ends with `\` continues.
  private static func commands(in text: String) -> [String] {
    var (commands, isCode, isSession, continued) = ([String](), false, false, "")
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let line = line.trimmingCharacters(in: .whitespaces)
      if line.hasPrefix("```") {
        isCode.toggle()
        isSession = false
        continue
      }
      isSession = isSession || line.hasPrefix("$ ")
      // The other lines of a session are output.
      guard isCode, !isSession || line.hasPrefix("$ ") || !continued.isEmpty else { continue }
      let whole = continued + (line.hasPrefix("$ ") ? String(line.dropFirst(2)) : line)
      continued = ""
      if whole.hasSuffix("\\") {
        continued = whole.dropLast() + " "
      } else if whole.hasPrefix("belfry ") || whole.hasPrefix("git ")
        || whole.contains("| belfry ")
      {
        commands.append(whole)
      }
    }
    return commands
  }

  @Test("Every command and option in a code span exists")
  func spans() async throws {
    let sandbox = try Sandbox()
    let output = try await sandbox.belfry("--experimental-dump-help")
    let root = try #require(output.object["command"] as? [String: Any])
    for path in ManualTests.articles.map(\.path) {
      for span in try ManualTests.text(path).matches(of: /`belfry ([^`]+)`/) {
        for problem in ManualTests.problems(String(span.output.1), root) {
          Issue.record("\(path): `belfry \(span.output.1)`: \(problem)")
        }
      }
    }
  }

  @Test("Every command and option in the examples of the manual pages exists")
  func examples() async throws {
    let sandbox = try Sandbox()
    let output = try await sandbox.belfry("--experimental-dump-help")
    let root = try #require(output.object["command"] as? [String: Any])
    let lines = try ManualTests.text("Tests/Packaging/examples.txt").split(separator: "\n")
      .filter { !$0.hasPrefix("#") }
    #expect(lines.count > 30)
    for line in lines {
      let command = line.dropFirst("belfry ".count).split(separator: " # ").first ?? ""
      for problem in ManualTests.problems(String(command), root) {
        Issue.record("examples.txt: \(line): \(problem)")
      }
    }
  }

  /// Returns what does not exist in a command line, according to the tree of commands.
  private static func problems(_ line: String, _ root: [String: Any]) -> [String] {
    var command = root
    var isVerb = true
    for word in line.split(separator: " ").map(String.init) {
      let names = command["subcommands"] as? [[String: Any]] ?? []
      // The rest is for git, or for a shell.
      if ["git", "--generate-completion-script"].contains(word) { return [] }
      if isVerb, let next = names.first(where: { $0["commandName"] as? String == word }) {
        command = next
      } else if word.hasPrefix("--"), word != "--" {
        isVerb = false
        let name = word.dropFirst(2).split(separator: "=").first.map(String.init) ?? ""
        let arguments = command["arguments"] as? [[String: Any]] ?? []
        let known = arguments.flatMap { $0["names"] as? [[String: Any]] ?? [] }
        if !known.contains(where: { $0["name"] as? String == name }) {
          return ["\(command["commandName"] ?? "") has no option \(word)"]
        }
      } else if isVerb, command["commandName"] as? String == "belfry",
        word.first?.isLowercase == true
      {
        return ["there is no command \(word)"]
      } else {
        isVerb = false
      }
    }
    return []
  }

  @Test("Every path in the manual that names a part of the repository exists")
  func paths() throws {
    for path in ManualTests.articles.map(\.path) {
      let text = try ManualTests.text(path)
      for match in text.matches(of: /\]\(([^)#:]+)(#[^)]*)?\)/) {
        let target = URL(filePath: path, relativeTo: ManualTests.root)
          .deletingLastPathComponent().appending(path: String(match.output.1))
        #expect(
          FileManager.default.fileExists(atPath: target.path), "\(path): \(match.output.1)")
      }
      for match in text.matches(of: /`((Sources|Tests|hooks|\.ci)\/[A-Za-z0-9_.\/+-]+)`/) {
        let target = ManualTests.root.appending(path: String(match.output.1))
        #expect(
          FileManager.default.fileExists(atPath: target.path), "\(path): \(match.output.1)")
      }
    }
  }
}
