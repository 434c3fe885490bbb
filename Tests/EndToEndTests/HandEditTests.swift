import Foundation
import TestSupport
import Testing

@Suite struct HandEditTests {
  @Test func handEditIsImported() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let file = try sandbox.alarmFile()
    try sandbox.write(
      try sandbox.read(file).replacing("\"Tea\"", with: "\"Green tea\"").replacing(
        "09:00", with: "08:00"), to: file)
    // The list shows the edit at once. The next tick commits it, with a stamp for each changed field.
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-20T23:00:00Z")
    #expect(list.array[0]["title"] as? String == "Green tea")
    #expect(list.array[0]["nextOccurrence"] as? String == "2026-11-21T08:00")
    _ = try await sandbox.belfry("tick", now: "2026-11-20T23:00:00Z")
    #expect(try await sandbox.git("log", "-1", "--format=%s").out == "Edited by hand: Green tea\n")
    let record = try sandbox.read(file)
    #expect(record.contains("\"title\": \"2026-11-20T23:00:00.000Z-"))
    #expect(record.contains("\"zone\": \"2026-11-20T22:41:00.000Z-"))
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    let log = try await sandbox.belfry("log", "--json")
    let payload = log.array[0]["payload"] as? [String: Any]
    #expect(payload?["kind"] as? String == "fields")
    #expect(payload?["fields"] as? [String] == ["schedule", "title"])
  }

  @Test func handEditAndCommandAreMerged() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let file = try sandbox.alarmFile()
    try sandbox.write(try sandbox.read(file).replacing("\"Tea\"", with: "\"Green tea\""), to: file)
    _ = try await sandbox.belfry("edit", "tea", "--note", "Sencha", now: "2026-11-20T23:00:00Z")
    let alarm = try await sandbox.belfry("list", "--json").array[0]
    #expect(alarm["title"] as? String == "Green tea")
    #expect(alarm["note"] as? String == "Sencha")
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test func handWrittenAlarmIsImported() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let id = "handaaaaaaaaaaaaaaaaaaaaaa"
    try sandbox.write(
      "{\"format\": 1, \"id\": \"\(id)\", \"title\": \"By hand\", \"schedule\": {\"kind\": \"daily\", \"start\": \"2026-11-20\", \"times\": [\"08:00\"]}}",
      to: sandbox.store + "/alarms/\(id).json")
    _ = try await sandbox.belfry("tick", now: "2026-11-20T23:00:00Z")
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    let tick = try await sandbox.belfry("tick", "--json", now: "2026-11-21T08:00:00Z")
    #expect((tick.object["fired"] as? [[String: Any]])?.first?["title"] as? String == "By hand")
  }

  @Test func removedRecordIsRestored() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let file = try sandbox.alarmFile()
    _ = try await sandbox.run("/bin/rm", [file])
    let list = try await sandbox.belfry("list", "--json")
    #expect(list.array.count == 1)
    #expect(list.err.contains("belfry delete"))
    _ = try await sandbox.belfry("tick")
    #expect(try sandbox.read(file).contains("Tea"))
    // A removal committed with git is reverted too.
    _ = try await sandbox.git("rm", "-q", file)
    _ = try await sandbox.git("-c", "user.name=t", "-c", "user.email=t", "commit", "-qm", "gone")
    _ = try await sandbox.belfry("tick")
    #expect(try await sandbox.belfry("list", "--json").array.count == 1)
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test func removedAlarmsFolderIsRestored() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    _ = try await sandbox.run("/bin/rm", ["-r", sandbox.store + "/alarms"])
    let tick = try await sandbox.belfry("tick", "--json", now: "2026-11-21T09:00:00Z")
    #expect((tick.object["fired"] as? [Any])?.count == 1)
    #expect(tick.err.contains("belfry delete"))
    #expect(try sandbox.read(try sandbox.alarmFile()).contains("Tea"))
  }

  @Test func editedSettingsAreImported() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let file = sandbox.store + "/settings.json"
    try sandbox.write("{\"format\": 1, \"tier\": \"plus\"}", to: file)
    _ = try await sandbox.belfry("tick")
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    #expect(try sandbox.read(file).contains("\"tier\": \"2026-11-20T22:41:00.000Z-"))
    try sandbox.write(try sandbox.read(file).replacing("plus", with: "premium"), to: file)
    _ = try await sandbox.belfry("tick", now: "2026-11-20T23:00:00Z")
    #expect(try sandbox.read(file).contains("\"tier\": \"2026-11-20T23:00:00.000Z-"))
    #expect(try await sandbox.git("log", "-1", "--format=%s").out == "Edited by hand: settings\n")
    let head = try await sandbox.git("rev-parse", "HEAD").out
    _ = try await sandbox.belfry("tick", now: "2026-11-20T23:01:00Z")
    #expect(try await sandbox.git("rev-parse", "HEAD").out == head)
  }

  @Test func missingIndexIsRebuilt() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    _ = try await sandbox.run("/bin/rm", [sandbox.store + "/.git/index"])
    _ = try await sandbox.belfry("add", "Milk", "--daily", "--at", "10:00")
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test func plainGitPullIsImported() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let other = sandbox.root + "/other"
    _ = try await sandbox.git("clone", "-q", sandbox.store, other, in: sandbox.root)
    _ = try await sandbox.belfry(
      "edit", "tea", "--title", "Green tea", now: "2026-11-20T23:00:00Z", store: other)
    _ = try await sandbox.git("pull", "-q", "--ff-only", other, "main")
    let list = try await sandbox.belfry("list", "--json")
    #expect(list.array[0]["title"] as? String == "Green tea")
    _ = try await sandbox.belfry("tick", now: "2026-11-20T23:01:00Z")
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    #expect(try await sandbox.git("log", "-1", "--format=%s").out == "Edited: Green tea\n")
  }

  /// Returns a store whose writer died or failed after the alarm's file and before the log entry, and the path of the
  /// log entry.
  private func interruptedWriteStore(refused: Bool) async throws -> (Sandbox, entry: String) {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let head = String(try await sandbox.git("rev-parse", "HEAD").out.prefix(40))
    let journal = try sandbox.journal()
    _ = try await sandbox.belfry(
      "edit", "tea", "--title", "Green tea", now: "2026-11-20T22:42:00Z")
    let entry = try await sandbox.git(
      "diff", "--name-only", "--diff-filter=A", head, "HEAD", "--", "log"
    ).out.trimmingCharacters(in: .newlines)
    _ = try await sandbox.git("reset", "-q", "--mixed", head)
    _ = try await sandbox.run("/bin/rm", ["\(sandbox.store)/\(entry)"])
    try sandbox.write(head, to: sandbox.store + "/.git/belfry/seen")
    try await sandbox.interruptWrites(since: journal, isRefused: refused)
    // The writer held the lock of the branch.
    try sandbox.write("", to: sandbox.store + "/.git/refs/heads/main.lock")
    return (sandbox, entry)
  }

  @Test func interruptedWriteIsCompleted() async throws {
    let (sandbox, entry) = try await interruptedWriteStore(refused: false)
    let add = try await sandbox.belfry(
      "add", "Milk", "--daily", "--at", "10:00", now: "2026-11-20T22:43:00Z")
    #expect(add.status == 0, "\(add.err)")
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    #expect(try await sandbox.git("log", "-2", "--format=%s").out.contains("Edited: Green tea"))
    #expect(try await sandbox.git("grep", "-c", "Green tea", "HEAD", "--", "alarms").status == 0)
    // The commit contains the log entry, which was not written before.
    #expect(try await sandbox.git("show", "HEAD~1", "--name-only").out.contains(entry))
  }

  @Test func failedRollbackIsCompletedByNextCommand() async throws {
    let (sandbox, _) = try await interruptedWriteStore(refused: true)
    let add = try await sandbox.belfry(
      "add", "Milk", "--daily", "--at", "10:00", now: "2026-11-20T22:43:00Z")
    #expect(add.status == 0, "\(add.err)")
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    let list = try await sandbox.belfry("list", "--json")
    #expect(list.array.compactMap { $0["title"] as? String }.sorted() == ["Milk", "Tea"])
    #expect(try await sandbox.git("log", "--format=%s").out.split(separator: "\n").count == 3)
  }
}

@Suite struct DeliveryTests {
  @Test func hookReceivesJSONAndVariables() async throws {
    let sandbox = try Sandbox()
    try sandbox.write(
      "#!/bin/sh\ncat > '\(sandbox.root)/given'\nenv | grep ^BELFRY_ | sort > '\(sandbox.root)/variables'\n",
      to: sandbox.home + "/.config/belfry/hooks/deliver/notify", mode: 0o755)
    let title = "<b>x</b> $(id) --help"
    _ = try await sandbox.belfry("add", title, "--daily", "--at", "09:00", "--note", "`id`; %s")
    #expect(try await sandbox.belfry("tick", now: "2026-11-21T09:02:00Z").status == 0)
    let given = try sandbox.read(sandbox.root + "/given")
    #expect(given.contains("\"title\": \"<b>x</b> $(id) --help\""))
    #expect(given.contains("\"note\": \"`id`; %s\""))
    #expect(given.contains("\"late\": true"))
    let variables = try sandbox.read(sandbox.root + "/variables")
    #expect(variables.contains("BELFRY_TITLE=\(title)\n"))
    #expect(variables.contains("BELFRY_WHEN=Sat 21 Nov 2026, 09:00\n"))
  }

  @Test(arguments: [
    "#!/bin/sh\necho no >&2; exit 3\n", "#!/bin/nowhere\n", "not a program", "#!/bin/sh\nyes\n",
  ])
  func failingHookFallsBackToShippedHook(_ script: String) async throws {
    let sandbox = try Sandbox()
    // A copy of the binary with a folder for shipped hooks.
    let prefix = sandbox.root + "/prefix"
    _ = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        "mkdir -p \(prefix)/bin \(prefix)/libexec/belfry/hooks/deliver; cp \(Sandbox.binary) \(prefix)/bin/belfry",
      ])
    let environment = ["TZ": "UTC", "BELFRY_NOW": "2026-11-20T22:41:00Z"]
    let due = ["TZ": "UTC", "BELFRY_NOW": "2026-11-21T09:00:00Z"]
    try sandbox.write(script, to: sandbox.hooks + "/notify", mode: 0o755)
    try sandbox.write("#!/bin/sh\nexit 1\n", to: sandbox.hooks + "/ring", mode: 0o755)
    _ = try await sandbox.run(
      prefix + "/bin/belfry", ["add", "Tea", "--daily", "--at", "09:00"], environment: environment)
    let alone = try await sandbox.run(prefix + "/bin/belfry", ["tick"], environment: due)
    #expect(alone.out.contains("Fired: Tea"))
    #expect(alone.err.contains("no notification could be shown for Tea"))
    try sandbox.write(
      "#!/bin/sh\necho second > '\(sandbox.root)/second'\n",
      to: prefix + "/libexec/belfry/hooks/deliver/notify", mode: 0o755)
    try sandbox.write("#!/bin/sh\n", to: sandbox.hooks + "/ring", mode: 0o755)
    let next = try await sandbox.run(
      prefix + "/bin/belfry", ["tick"],
      environment: ["TZ": "UTC", "BELFRY_NOW": "2026-11-22T09:00:00Z"])
    #expect(!next.err.contains("no notification"))
    // The sound has delivered, and a helper goes on with the notification.
    for _ in 0..<200 where !FileManager.default.fileExists(atPath: sandbox.root + "/second") {
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(try sandbox.read(sandbox.root + "/second") == "second\n")
  }
}

/// Invalid files in place of a record. They are reported with line and reason and never overwritten, and their
/// alarms stay armed.
@Suite struct BadRecordTests {
  @Test(arguments: [
    // The replaced text of a valid record, the replacement, and the reported reason.
    ("\"Tea\",", "\"Tea\", \"title\": \"Two\",", "duplicate object key"),
    ("\"enabled\": true", "\"enabled\": \"yes\"", "line 5: 'enabled' is not true or false"),
    ("\"kind\": \"daily\"", "\"kind\": \"hourly\"", "line 13: 'schedule.kind' is 'hourly'"),
    ("\"09:00\"", "\"25:00\"", "'schedule.times' is not a list of times of day"),
    (
      "\"title\": \"Tea\"", "\"title\": \"a\\u001bb\"",
      "line 27: the title contains the control character U+001B"
    ),
    ("\"format\": 1", "\"format\": 99", "this version of Belfry reads up to 1"),
    ("\"interval\": 1", "\"interval\": 0", "'schedule' is not valid: an interval of 0"),
    ("{", "<<<<<<< HEAD\n{", "it contains git conflict markers"),
    ("}", "", "line 3"),
  ])
  func invalidContentIsReportedAndKept(_ good: String, _ bad: String, _ words: String) async throws
  {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let file = try sandbox.alarmFile()
    let text = try sandbox.read(file)
    let range = try #require(text.range(of: good))
    try sandbox.write(text.replacingCharacters(in: range, with: bad), to: file)
    try await expectReportedAndKept(sandbox, words)
  }

  @Test(arguments: [
    (": > F", "the file is empty"),
    ("printf '\\377\\376' > F", "unable to decode byte 0xff"),
    ("printf '\"a\"' > F", "'[' or '{' expected"),
    ("rm F; mkdir F", "it is a folder"),
    ("mv F F~; ln -s F~ F", "it is a symbolic link"),
    ("rm F; mkfifo F", "it is not a regular file"),
    ("truncate -s 50M F", "it is larger than any record: the limit is 1024 KiB"),
    ("printf '%0100000d' 0 | tr 0 '[' > F", "maximum parsing depth reached"),
  ])
  func invalidFileIsReportedAndKept(_ command: String, _ words: String) async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let file = try sandbox.alarmFile()
    _ = try await sandbox.run("/bin/sh", ["-c", command.replacing("F", with: file)])
    try await expectReportedAndKept(sandbox, words)
  }

  private func expectReportedAndKept(_ sandbox: Sandbox, _ words: String) async throws {
    let file = try sandbox.alarmFile()
    let lying = try await sandbox.run(
      "/bin/sh", ["-c", "ls -ld '\(file)'; [ -f '\(file)' ] && sha1sum '\(file)'"]
    ).out
    _ = try await sandbox.belfry("add", "Milk", "--daily", "--at", "09:00")
    let tick = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z")
    #expect(tick.status == 0)
    #expect(tick.err.contains(words), "\(tick.err)")
    #expect(tick.err.contains("alarms/"))
    #expect(tick.err.split(separator: "\n").count == 2, "\(tick.err)")
    #expect(sandbox.rings.sorted() == ["Milk 2026-11-21T09:00", "Tea 2026-11-21T09:00"])
    let done = try await sandbox.belfry("done", "tea", now: "2026-11-21T09:01:00Z")
    #expect(done.status == 1)
    #expect(done.err.contains(words), "\(done.err)")
    #expect(try await sandbox.belfry("done", "milk", now: "2026-11-21T09:02:00Z").status == 0)
    let after = try await sandbox.run(
      "/bin/sh", ["-c", "ls -ld '\(file)'; [ -f '\(file)' ] && sha1sum '\(file)'"]
    ).out
    #expect(after == lying)
  }
}
