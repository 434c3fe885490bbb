import Foundation
import TestSupport
import Testing

/// Sessions of a robot at the full screen: each verb ends with the same store as on the command line.
///
/// A session has two sandboxes with the same alarms. Each step is done on the command line of one, and on the screen of the
/// other, which has to show what the command prints. In the end, the records, the logs and the commits are equal.
@Suite struct FullScreenVerbTests {
  /// A step of a session.
  struct Step: Sendable {
    /// The command; empty for a step that changes nothing.
    var words: [String]
    /// The keys on the screen; nil to type the command behind a colon.
    var keys: String?
    /// The title of the alarm to select first; nil for none.
    var selection: String?
    /// A question on the terminal, and the keys that answer it.
    var question: (text: String, keys: String)?
    /// The words on the command line, if they differ from those that are typed.
    var line: [String]?
    /// A text on the screen behind the step; nil for the start of what the command prints.
    var shows: String?
    /// The exit status of the command.
    var status: Int32 = 0
    /// A shell script on the side of the command line before the command.
    var script: String?

    /// A command that is typed behind a colon.
    static func line(_ words: String...) -> Step { Step(words: words) }
    /// Keys on an alarm.
    static func keys(_ keys: String, on alarm: String, _ words: String..., shows: String? = nil)
      -> Step
    {
      Step(words: words, keys: keys, selection: alarm, shows: shows)
    }
    /// Keys.
    static func keys(_ keys: String, _ words: String..., shows: String? = nil) -> Step {
      Step(words: words, keys: keys, shows: shows)
    }
    /// A command that asks on the terminal. `--yes` answers on the command line.
    static func asks(_ words: String..., question: String, keys: String = "y\r") -> Step {
      Step(words: words, question: (question, keys), line: words + ["--yes"])
    }
    /// The same with another exit status.
    func fails(_ status: Int32) -> Step {
      var step = self
      step.status = status
      return step
    }
  }

  /// The alarms of both sandboxes. It is Monday.
  private static let alarms: [(String, [String])] = [
    ("08:00", ["tier", "premium"]),
    ("08:00", ["add", "Rent", "every", "mon,fri", "at", "9am", "--note", "Pay landlord"]),
    ("08:00", ["add", "Tea", "daily", "at", "9:00", "+m"]),
    ("08:00", ["add", "Milk", "daily", "at", "9:00", "+m", "--persistent"]),
    ("08:00", ["add", "Pills", "daily", "at", "8:30"]),
    ("08:00", ["add", "Gym", "every", "mon,thu", "18:00"]),
    ("08:00", ["add", "Bins", "every", "tue", "19:00"]),
    ("08:00", ["add", "Anchor", "2027-06-01", "9:00"]),
    ("08:31", ["tick"]), ("08:31", ["stop", "pills"]), ("09:00", ["tick"]),
    ("09:01", ["snooze", "tea", "20m"]),
  ]

  private static let now = "2026-11-23T09:01:30Z"

  private static func sandbox() async throws -> Sandbox {
    let sandbox = try Sandbox()
    for (time, words) in alarms {
      try await sandbox.prepare(words, now: "2026-11-23T\(time):00Z")
    }
    // The editor of both sides.
    _ = try sandbox.script("editor", "sed -i 's/18:00/18:30/' \"$1\"\n")
    for name in ["work.ics", "holidays.ics"] {
      let day = name == "work.ics" ? "20261130T090000" : "20261225"
      let kind = name == "work.ics" ? "DTSTART:" : "DTSTART;VALUE=DATE:"
      try sandbox.write(
        """
        BEGIN:VCALENDAR\r
        VERSION:2.0\r
        PRODID:-//Test//EN\r
        BEGIN:VEVENT\r
        UID:1@test\r
        DTSTAMP:20261101T000000Z\r
        SUMMARY:Visit\r
        \(kind)\(day)\r
        END:VEVENT\r
        END:VCALENDAR\r

        """, to: "\(sandbox.root)/\(name)")
    }
    try sandbox.write("secret\n", to: sandbox.root + "/secret", mode: 0o600)
    return sandbox
  }

  // MARK: The sessions

  /// The steps by the name of the session. `ROOT` stands for the sandbox's folder.
  static let sessions: [String: [Step]] = [
    "keys about what rings": [
      .keys("d", on: "Pills", "done", "pills"), .keys("u", "undo"),
      .keys("\u{12}", "redo"),
      .keys("s", on: "Tea", "stop", "tea"), .keys("z", on: "Rent", "snooze", "rent"),
      .keys("Z1h\r", on: "Rent", "snooze", "rent", "1h"),
      .keys("\r", on: "Milk", shows: "[s] stop"),
      .keys("s", "stop", "milk", shows: "pending  Milk"),
      .keys("/\u{15}+m\r", shows: "filter: +m"),
      .keys("vd", "done", "milk", "tea", shows: "Done: 2 alarms."),
    ],
    "keys about what comes": [
      .keys("mtomorrow 15:00\r", on: "Gym", "move", "gym", "tomorrow", "15:00"),
      .keys("S", on: "Bins", "skip", "bins", "--yes"),
      .keys("p2 weeks\r", on: "Bins", "pause", "bins", "2", "weeks"),
      .keys("p", on: "Bins", "resume", "bins"),
      .keys("t", on: "Bins", "disable", "bins"), .keys("t", on: "Bins", "enable", "bins"),
      .keys("r\u{15}Old bins\r", on: "Bins", "rename", "bins", "Old bins"),
      .keys("xn", on: "bins", shows: "filter: bins"),
      .keys("xy", on: "bins", "delete", "bins", "--yes"),
      .keys("/\u{15}gym\r", shows: "filter: gym"),
      Step(
        words: ["show", "gym"], keys: "E", shows: "18:30",
        script:
          "sh editor home/.local/share/belfry/alarms/$(basename $(grep -l '\"Gym\"' home/.local/share/belfry/alarms/*))"
      ),
      .keys("\u{1B}", shows: "Anchor"),
      .keys(" ", on: "", shows: "1 marked"), .keys("v", shows: "Anchor"),
      .keys(
        "aWater plants every friday at 18:00 +home\r", "add",
        "Water plants every friday at 18:00 +home"),
      .keys("R", "list", shows: "[s] stop"), .keys("q", shows: "Anchor"),
    ],
    "alarms": [
      .line("add", "Vet", "24 dec 10:00"), .line("at", "17:00", "Call"),
      .line("in", "2h", "Oven"), .line("when", "every other tue 7pm"), .line("list", "rent"),
      .line("next", "-n", "3"), Step(words: ["month"], shows: "November 2026"),
      .keys("1", shows: "Anchor"), .line("week"),
      .line("year"),
      .line("show", "rent"), .line("edit", "rent", "--at", "11:30", "--title", "Pay rent"),
      .line("edit", "bins", "every", "other", "tue", "8pm"), .line("rename", "rent", "Rent"),
      .line("note", "rent", "call first"), .line("tag", "+home", "gym"), .line("tags"),
      .line("disable", "gym"), .line("enable", "gym"), .line("pause", "gym", "2", "weeks"),
      .line("resume", "gym"), .asks("tag", "+x", "gym", "bins", question: "Change 2 alarms? [y/N]"),
      .asks("delete", "bins", question: "[y/N]"),
      .line("delete", "gym", "--yes"),
      Step(
        words: ["edit", "tea"], question: ("Title", "\u{3}"), line: ["list", "tea"],
        shows: "Anchor"),
    ],
    "responding": [
      .line("stop", "rent"), .line("done", "rent"), .line("snooze", "milk", "10m"),
      .line("pending"), .line("skip", "gym", "--yes"), .line("unskip", "gym"),
      .asks("skip", "gym", question: "[y/N]"), .line("move", "bins", "to", "tomorrow", "20:00"),
      Step(words: ["move", "bins", "back"], shows: "Moved Bins from Tue 24 Nov 2026, 20:00"),
      .line("undo"), .line("redo"), .line("why", "bins"),
      .line("dismiss", "rent").fails(4), .line("done", "nonsense").fails(3),
      .line("nonsense").fails(2), .line("tick"),
      Step(
        words: ["ring"], question: ("nothing", ""), line: ["ring"], shows: "Nothing rings.",
        status: 4),
    ],
    "cascades and calls": [
      .line("cascade", "add", "gym", "person", "Jen", "--address", "https://ntfy.sh/jen"),
      .line("cascade", "on", "gym"),
      .line("cascade", "add", "gym", "phone", "5551234567", "--message", "Room 412."),
      .line("cascade", "move", "gym", "1", "2"), .line("cascade", "list", "gym"),
      .line("cascade", "preview", "gym"), .line("cascade", "status"),
      .line("cascade", "test", "gym"), .asks("cascade", "remove", "gym", "1", question: "[y/N]"),
      .line("cascade", "off", "gym"), .line("calls"), .line("calls", "show"),
      .line(
        "calls", "sip", "--server", "sip.example.org", "--user", "me", "--password-file",
        "ROOT/secret"),
      .line(
        "calls", "http", "--url", "https://sip.example.org", "--account", "me", "--token-file",
        "ROOT/secret", "--from", "+15551234567"),
      .line("calls", "hook").fails(4), .line("calls", "off"),
      .line("calls", "test", "5551234567").fails(4),
    ],
    "sync": [
      Step(
        words: ["remote", "add", "origin", "ROOT/remote.git"], question: ("[y/N]", "y\r"),
        line: ["remote", "add", "origin", "ROOT/remote.git", "--create"]),
      .line("sync"), .line("remote", "list"), Step(words: ["status"], shows: "belfry status"),
      .line("device", "--owner", "Ada"), .line("device", "show"),
      .line("device", "adopt", "laptop").fails(2),
      .line("conflicts"), .line("conflicts", "list"), .line("conflicts", "restore", "1").fails(4),
      .line("explain", "rent"), .line("hooks", "install"), .line("hooks", "status"),
      .line("hooks", "uninstall"), .line("log", "-n", "3"), .line("stats", "rent"),
      Step(words: ["git", "--", "log", "--oneline", "-n", "1"], shows: "Update the device laptop"),
      .line("git", "--", "config", "core.abbrev", "9"),
      .line("doctor"), .line("backup"), .line("backup", "ROOT/copy"),
      .line("export", "ROOT/all.json"), .line("import", "ROOT/all.json"),
      .line("import", "ROOT/work.ics"), .line("sync"), .line("remote", "remove", "origin"),
    ],
    "settings": [
      .line("settings", "show"), .line("settings", "get", "snooze"),
      .line("settings", "set", "snooze", "12m"), .line("settings", "set", "openScreen", "on"),
      .line("settings", "unset", "snooze"), .line("tier"), .line("tier", "plus"),
      .line("calendar", "import", "home", "ROOT/holidays.ics"), .line("calendar", "list"),
      .line("calendar", "show", "home"), .asks("calendar", "remove", "home", question: "[y/N]"),
      .line("calendar", "follow", "ROOT/work.ics", "--name", "work", "--all"),
      .line("calendar", "refresh"),
      .asks("calendar", "unfollow", "work", question: "[y/N]"),
      .line("sounds"), .line("sounds", "list"),
      .line("battery"), .line("battery", "status"),
      .line("battery", "predict", "--level", "34", "--drain", "8", "--hours", "6"),
    ],
    "phone, partners and the service": [
      .line("phone", "setup", "--folder", "ROOT/tasks", "--yes"), .line("phone", "status"),
      .line("phone", "sync"), .asks("phone", "remove", question: "[y/N]"),
      .line("partner", "list"), .line("partner", "log"), .line("partner", "alarms"),
      .line("partner", "sync"), .line("partner", "keys", "export").fails(4),
      .line("service", "install", "--no-linger"), .line("service", "status").fails(4),
      .line("service", "uninstall"),
    ],
  ]

  /// The verbs without a session, each with the reason.
  static let excused: [String: String] = [
    "ui": "the screen itself; it says that it is open",
    "daemon": "runs until Ctrl-C, on the terminal that the screen leaves to it",
    "completion": "prints a script for a shell to read",
    "clone": "needs a device without a store: clone()",
    "sounds play": "plays a sound on the machine of the tests: SoundTests",
    "hooks check": "git calls it",
    "partner invite": "a dialogue with a second person, on the terminal: PartnerTests",
    "partner accept": "a dialogue with a second person, on the terminal: PartnerTests",
    "partner confirm": "needs a second person: PartnerTests",
    "partner send": "needs a second person: PartnerTests",
    "partner recall": "needs a second person: PartnerTests",
    "partner reply": "needs a second person: PartnerTests",
    "partner limits": "needs a second person: PartnerTests",
    "partner mute": "needs a second person: PartnerTests",
    "partner unmute": "needs a second person: PartnerTests",
    "partner rename": "needs a second person: PartnerTests",
    "partner remove": "needs a second person: PartnerTests",
    "partner keys import": "reads keys from standard input, on the terminal: PartnerTests",
  ]

  @Test("Each verb that belfry lists has a session, or a reason why not")
  func verbs() async throws {
    let sandbox = try Sandbox()
    let help = try await sandbox.belfry("--experimental-dump-help").object
    var verbs: [String] = []
    func walk(_ command: [String: Any], _ path: [String]) {
      if command["shouldDisplay"] as? Bool == false { return }
      let subcommands = (command["subcommands"] as? [[String: Any]] ?? [])
        .filter { $0["commandName"] as? String != "help" }
      for subcommand in subcommands {
        walk(subcommand, path + [subcommand["commandName"] as? String ?? ""])
      }
      if subcommands.isEmpty { verbs.append(path.joined(separator: " ")) }
    }
    walk(help["command"] as? [String: Any] ?? [:], [])
    #expect(verbs.count > 80)
    let typed = Self.sessions.values.joined().map { $0.words.joined(separator: " ") + " " }
    for verb in verbs {
      let isCovered = typed.contains { $0.hasPrefix(verb + " ") }
      #expect(isCovered != (Self.excused[verb] != nil), "\(verb): no session, or one and a reason")
    }
    #expect(Set(Self.excused.keys).subtracting(verbs).isEmpty)
  }

  // MARK: The robot

  @Test("A session ends with the store of the command line", arguments: sessions.keys.sorted())
  func session(_ name: String) async throws {
    let (screen, line) = (try await Self.sandbox(), try await Self.sandbox())
    let services = (try screen.systemd(), try line.systemd())
    func editor(_ sandbox: Sandbox) -> [String: String] { ["EDITOR": sandbox.root + "/editor"] }
    let robot = try Robot(
      screen, now: Self.now, environment: services.0.merging(editor(screen)) { $1 })
    try await robot.waitFor("Anchor")
    for step in Self.sessions[name] ?? [] {
      if let script = step.script { _ = try await line.run("/bin/sh", ["-c", script]) }
      var (shown, title) = (step.shows, String?.none)
      if !step.words.isEmpty {
        let words = (step.line ?? step.words).map { $0.replacing("ROOT", with: line.root) }
        let output = try await line.belfry(words, now: Self.now, environment: services.1)
        #expect(output.status == step.status, "\(words): \(output.out)\(output.err)")
        let count = (output.out + output.otherErrors).split(separator: "\n").count
        if step.keys == nil, step.question == nil, count > 2 {
          // A page with the command as its title.
          let words = step.words.joined(separator: " ").replacing("ROOT", with: screen.root)
          title = String("belfry \(words)".prefix(70))
        }
        shown = shown ?? Self.news(output, robot.lines, line, screen)
      }
      do {
        try await Self.perform(step, robot, screen, shown)
        if step.shows == nil, let title {
          // While the command runs, its name is shown, too.
          try await robot.wait(for: title) { lines in
            lines.contains { $0.contains(title) } && lines.last?.contains("enter close") == true
          }
        }
      } catch {
        Issue.record("\(step.words) \(step.keys ?? ""): \(error)")
        return
      }
    }
    #expect(try await robot.end(":quit\r") == 0)
    let (after, expected) = (try await screen.contents(), try await line.contents())
    #expect(after == expected, "\(after.difference(from: expected))")
  }

  private static func perform(
    _ step: Step, _ robot: Robot, _ screen: Sandbox, _ shown: String?
  ) async throws {
    if let title = step.selection {
      if robot.lines[23].contains("enter close") {
        robot.type("\r")
        try await robot.waitForEnd(of: "enter close")
      }
      robot.type("/\u{15}\(title)\r")
      try await robot.wait(for: "only \(title)") { lines in
        let lines = lines.dropFirst().dropLast(2)
        return title.isEmpty
          || lines.contains { $0.contains(title) } && !lines.contains { $0.contains("Anchor") }
      }
    }
    let words = step.words.map { word in
      let word = word.replacing("ROOT", with: screen.root)
      return word.contains(" ") ? "'\(word)'" : word
    }
    robot.type(step.keys ?? ":" + words.joined(separator: " ") + "\r")
    if let (text, keys) = step.question, !keys.isEmpty {
      try await robot.waitFor(text)
      robot.type(keys)
      try await robot.waitFor("Press Enter to go back.")
      // The output of the command is on the terminal, and not on the screen.
      if step.shows == nil, let shown { try await robot.waitFor(shown) }
      robot.type("\r")
      try await robot.waitForEnd(of: "Press Enter")
      if step.shows == nil { return }
    }
    if let shown { try await robot.waitFor(shown) }
  }

  /// Returns the start of the first line of an output that the screen does not show yet; nil if there is none.
  private static func news(
    _ output: Sandbox.Output, _ lines: [String], _ line: Sandbox, _ screen: Sandbox
  ) -> String? {
    let all = (output.out + output.otherErrors).replacing(line.root, with: screen.root)
      .split(separator: "\n").prefix(15)
    let starts = all.map { text in
      // Times until something differ by the duration of the session.
      let end =
        text.firstRange(of: #/[;:,(\[\/]| in \d|  +|\d\d:\d\d/#)?.lowerBound
        ?? text.endIndex
      return String(text[..<end].prefix(30)).trimmingCharacters(in: .whitespaces)
    }
    return starts.first { start in start.count > 3 && !lines.contains { $0.contains(start) } }
  }

  // MARK: A device without a store

  @Test(
    "A screen without a store shows the alarms of a clone, and follows the store wherever it goes")
  func clone() async throws {
    let (screen, line) = (try Sandbox(), try await Self.sandbox())
    try await line.prepare(["remote", "add", "origin", line.root + "/remote.git", "--create"])
    try await line.prepare(["sync"], now: Self.now)
    let robot = try Robot(screen, now: Self.now)
    try await robot.waitFor("No alarms yet.")
    robot.type(":clone \(line.root)/remote.git\r")
    try await robot.waitFor("Cloned 7 alarms")
    robot.type("\r")
    try await robot.waitFor("Anchor")
    // A store that another one replaces, that is missing, and that comes back.
    let (store, away) = (screen.store, screen.root + "/away")
    try FileManager.default.moveItem(atPath: store, toPath: away)
    try await robot.waitFor("The store is missing")
    try await screen.prepare(["add", "Other", "daily", "at", "7pm"], now: Self.now)
    try await robot.waitFor("Other")
    try await robot.waitForEnd(of: "Anchor")
    try FileManager.default.moveItem(atPath: store, toPath: store + ".2")
    try FileManager.default.moveItem(atPath: away, toPath: store)
    try await robot.waitFor("Anchor")
    // A change in it is seen.
    try await screen.prepare(["add", "Third", "daily", "at", "7pm"], now: Self.now)
    try await robot.waitFor("Third")
    #expect(try await robot.end("q") == 0)
  }

  @Test("The screen shows at once that the scheduler has started and ended")
  func scheduler() async throws {
    let sandbox = try Sandbox()
    try await sandbox.prepare(["add", "Anchor", "2027-06-01", "9:00"])
    let robot = try Robot(sandbox, now: Self.now)
    try await robot.waitFor("The scheduler does not run")
    async let daemon = sandbox.run(
      "/usr/bin/timeout", ["-s", "KILL", "60", Sandbox.binary, "daemon"],
      environment: ["TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": Self.now])
    try await robot.waitForEnd(of: "The scheduler does not run")
    let lock = try sandbox.read(sandbox.store + "/.git/belfry/daemon.lock")
    let process = try #require(
      lock.firstMatch(of: #/process (\d+)/#).flatMap { Int32($0.output.1) })
    kill(process, SIGKILL)
    try await robot.waitFor("The scheduler does not run")
    _ = try await daemon
    #expect(try await robot.end("q") == 0)
  }

  @Test(
    "Ctrl-C ends a command on the terminal and not the screen; :! gives the terminal to any command"
  )
  func terminal() async throws {
    let sandbox = try await Self.sandbox()
    let robot = try Robot(sandbox, now: Self.now)
    try await robot.waitFor("Anchor")
    robot.type(":daemon\r")
    try await robot.waitFor("watching 7 alarms")
    robot.type("\u{3}")
    try await robot.waitFor("Press Enter")
    robot.type("\r")
    try await robot.waitFor("Anchor")
    robot.type(":!list rent\r")
    try await robot.waitFor("Press Enter")
    robot.type("\r")
    try await robot.waitFor("Anchor")
    robot.type(":ui\r")
    try await robot.waitFor("The full screen is open".lowercased())
    robot.type(":git -- -c user.name=a -c user.email=a@example.org commit --amend\r")
    try await robot.waitFor(":!git commit")
    #expect(try await robot.end(":quit\r") == 0)
  }
}
