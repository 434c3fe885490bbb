import Foundation
import TestSupport
import Testing

/// Actions: executables of the user's that alarms run by name when they fire, and when they are done.
@Suite struct ActionTests {
  private func folder(_ sandbox: Sandbox) -> String { sandbox.home + "/.config/belfry/actions" }

  /// Writes an action that records its input and its environment.
  private func write(
    _ name: String, _ sandbox: Sandbox, mode: Int = 0o755, ending: String = ""
  ) throws {
    try FileManager.default.createDirectory(
      atPath: folder(sandbox), withIntermediateDirectories: true)
    try sandbox.write(
      """
      #!/bin/sh
      cat > '\(sandbox.root)/\(name).json'
      printf '%s\\n' "$BELFRY_KIND $BELFRY_TITLE $BELFRY_OCCURRENCE $#" >> '\(sandbox.root)/\(name)'
      \(ending)
      """, to: "\(folder(sandbox))/\(name)", mode: mode)
  }

  private func lines(_ name: String, _ sandbox: Sandbox) -> [String] {
    ((try? sandbox.read("\(sandbox.root)/\(name)")) ?? "").split(separator: "\n").map(String.init)
  }

  private func sandbox(_ options: String...) async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    let add = try await sandbox.belfry(
      ["add", "Lamp; rm -rf $HOME", "--daily", "--at", "09:00"] + options,
      now: "2026-11-23T08:00:00Z")
    #expect(add.status == 0, "\(add.err)")
    return sandbox
  }

  @Test func aTickRunsTheActionOnce() async throws {
    let sandbox = try await sandbox("--run", "light")
    try write("light", sandbox)
    for minute in ["00", "01", "02"] {
      _ = try await sandbox.belfry("tick", now: "2026-11-23T09:\(minute):00Z")
    }
    #expect(try await sandbox.waitForHelpers())
    #expect(lines("light", sandbox) == ["firing Lamp; rm -rf $HOME 2026-11-23T09:00 0"])
    let input = try sandbox.read(sandbox.root + "/light.json")
    #expect(
      input.contains("\"kind\": \"firing\"") && input.contains("2026-11-23T09:00"), "\(input)")
    // A snooze rings again, without another run.
    _ = try await sandbox.belfry("snooze", "lamp", "10m", now: "2026-11-23T09:03:00Z")
    _ = try await sandbox.belfry("tick", now: "2026-11-23T09:13:00Z")
    #expect(try await sandbox.waitForHelpers())
    #expect(sandbox.rings.count == 2 && lines("light", sandbox).count == 1)
    // The next occurrence runs it again.
    _ = try await sandbox.belfry("tick", now: "2026-11-24T09:00:00Z")
    #expect(try await sandbox.waitForHelpers())
    #expect(lines("light", sandbox).count == 2)
  }

  @Test func aFailingActionChangesNoDelivery() async throws {
    let sandbox = try await sandbox("--run", "light")
    try write("light", sandbox, ending: "echo no lamp >&2; exit 3")
    let tick = try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z")
    #expect(tick.out.contains("Fired: Lamp"), "\(tick.out)\(tick.err)")
    #expect(try await sandbox.waitForHelpers())
    #expect(sandbox.rings == ["Lamp; rm -rf $HOME 2026-11-23T09:00"])
    #expect(lines("light", sandbox).count == 1)
  }

  @Test("If no channel delivers, the retries do not run the action again")
  func retries() async throws {
    let sandbox = try await sandbox("--run", "light")
    try write("light", sandbox)
    for name in ["notify", "ring"] {
      try sandbox.write("#!/bin/sh\nexit 1\n", to: "\(sandbox.hooks)/\(name)", mode: 0o755)
    }
    for second in ["00", "40"] {
      _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:\(second)Z")
      #expect(try await sandbox.waitForHelpers())
    }
    #expect(lines("light", sandbox).count == 1)
  }

  @Test func doneRunsItsAction() async throws {
    let sandbox = try await sandbox("--run-done", "tell", "--tag", "home")
    try write("tell", sandbox)
    _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z")
    let stop = try await sandbox.belfry("stop", "lamp", now: "2026-11-23T09:01:00Z")
    #expect(stop.status == 0 && lines("tell", sandbox).isEmpty)
    let done = try await sandbox.belfry("done", "lamp", "--json", now: "2026-11-23T09:02:00Z")
    #expect(done.object["action"] as? String == "done" && done.err.isEmpty, "\(done.err)")
    #expect(lines("tell", sandbox) == ["done Lamp; rm -rf $HOME 2026-11-23T09:00 0"])
    let input =
      try JSONSerialization.jsonObject(
        with: Data(sandbox.read(sandbox.root + "/tell.json").utf8)) as? [String: Any]
    #expect(input?["doneAt"] as? String == "2026-11-23T09:02:00Z")
    #expect(input?["tags"] as? [String] == ["home"])
    // Skip and undo run nothing.
    _ = try await sandbox.belfry("skip", "--yes", "lamp", "--yes", now: "2026-11-23T09:03:00Z")
    _ = try await sandbox.belfry("undo", now: "2026-11-23T09:04:00Z")
    #expect(lines("tell", sandbox).count == 1)
    // An answer to a notification is another way to mark it as done.
    try sandbox.write("#!/bin/sh\necho done\n", to: sandbox.hooks + "/notify", mode: 0o755)
    _ = try await sandbox.belfry("tick", now: "2026-11-24T09:00:00Z")
    #expect(try await sandbox.waitForHelpers())
    #expect(lines("tell", sandbox).last == "done Lamp; rm -rf $HOME 2026-11-24T09:00 0")
    #expect(lines("tell", sandbox).count == 2)
  }

  @Test func aFailureAfterDoneIsAWarning() async throws {
    let sandbox = try await sandbox("--run-done", "tell")
    try write("tell", sandbox, ending: "echo no network >&2; exit 1")
    let done = try await sandbox.belfry("done", "lamp", "--early", now: "2026-11-23T08:30:00Z")
    #expect(done.status == 0 && done.out.hasPrefix("Done: Lamp"), "\(done.out)")
    #expect(
      done.err.contains(
        "warning: the action tell of Lamp; rm -rf $HOME failed: \(folder(sandbox))/tell: no network."
      ),
      "\(done.err)")
  }

  @Test func theDaemonRunsAndLogsActions() async throws {
    let sandbox = try await sandbox("--run", "light", "--run-done", "tell")
    try write("light", sandbox, ending: "echo dark >&2; exit 1")
    try write("tell", sandbox, ending: "exit 2")
    try sandbox.write("#!/bin/sh\nsleep 1\necho done\n", to: sandbox.hooks + "/notify", mode: 0o755)
    let log = sandbox.root + "/daemon.log"
    try sandbox.write(
      """
      \(sandbox.waitFor)
      '\(Sandbox.binary)' daemon --no-sync 2>'\(log)' & daemon=$!
      wait_for grep -q 'the action tell of' '\(log)'
      kill $daemon; wait $daemon
      """, to: sandbox.root + "/script")
    _ = try await sandbox.run(
      "/usr/bin/timeout", ["400", "sh", sandbox.root + "/script"],
      environment: ["BELFRY_NOW": "2026-11-23T08:59:58Z", "TZ": "UTC", "BELFRY_DEVICE": "laptop"])
    let text = try sandbox.read(log)
    #expect(text.contains("the action light failed: Lamp; rm -rf $HOME ("), "\(text)")
    #expect(text.contains("  \(folder(sandbox))/light: dark"), "\(text)")
    #expect(text.contains("the action tell of Lamp; rm -rf $HOME failed: "), "\(text)")
    #expect(lines("light", sandbox).count == 1 && lines("tell", sandbox).count == 1)
  }

  @Test func aDeviceWithoutTheActionSaysSo() async throws {
    let sandbox = try await sandbox("--run", "light")
    let path = "\(folder(sandbox))/light"
    let missing = "warning: the action light cannot run on this device: \(path) does not exist."
    for arguments in [["show", "lamp"], ["edit", "lamp", "--note", "x"]] {
      #expect(try await sandbox.belfry(arguments).err.contains(missing))
    }
    let list = try await sandbox.belfry("list", "--json")
    let problems = list.array.first?["actionProblems"] as? [[String: String]]
    #expect(problems == [["name": "light", "path": path, "reason": "missing"]], "\(list.out)")
    let doctor = try await sandbox.belfry("doctor")
    #expect(
      doctor.out.contains("cannot run the action light: \(path) does not exist."), "\(doctor.out)")
    for (mode, reason) in [(0o644, "notExecutable"), (0o757, "writableByOthers")] {
      try write("light", sandbox, mode: mode)
      let show = try await sandbox.belfry("show", "lamp", "--json")
      let problem = (show.object["actionProblems"] as? [[String: String]])?.first
      #expect(problem?["reason"] == reason)
      _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z")
      #expect(try await sandbox.waitForHelpers())
      #expect(lines("light", sandbox).isEmpty)
    }
    try write("light", sandbox)
    let show = try await sandbox.belfry("show", "lamp")
    #expect(
      show.otherErrors.isEmpty && show.out.contains("  runs        light\n"),
      "\(show.out)\(show.err)")
    let none = try await sandbox.belfry("edit", "lamp", "--run", "none", "--json")
    #expect((none.object["delivery"] as? [String: Any])?["run"] == nil && none.otherErrors.isEmpty)
  }

  @Test(arguments: [
    "../light", "a/b", ".light", "-x", " light", String(repeating: "x", count: 65),
  ])
  func anotherNameIsRefused(_ name: String) async throws {
    let sandbox = try Sandbox()
    let add = try await sandbox.belfry("add", "Lamp", "--daily", "--run=\(name)")
    #expect(add.status == 2 && add.err.contains("is not the name of an action"), "\(add.err)")
    // A record with such a name is invalid, and its last valid version stays armed.
    _ = try await sandbox.belfry("add", "Lamp", "--daily", "--at", "09:00", "--run", "light")
    let file = try sandbox.alarmFile()
    let text = try sandbox.read(file)
    try sandbox.write(text.replacing("\"light\"", with: "\"\(name)\""), to: file)
    let list = try await sandbox.belfry("list")
    #expect(list.err.contains("'delivery.run' is not the name of an action"), "\(list.err)")
  }
}
