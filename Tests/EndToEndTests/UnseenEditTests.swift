import Foundation
import TestSupport
import Testing

/// Two devices that change one alarm apart: neither the clock of one of them nor an undo overrides what a person said on
/// the other.
@Suite struct UnseenEditTests {
  private let sandbox: Sandbox
  private let server: String

  init() async throws {
    sandbox = try Sandbox()
    _ = try await sandbox.belfry("tier", "premium", now: "2026-11-20T08:00:00Z")
    try await sandbox.belfry(
      "add", "Pills", "--daily", "--at", "09:00", now: "2026-11-20T08:00:00Z"
    ).expectSuccess()
    server = try await sandbox.secondDevice(now: "2026-11-20T08:01:00Z")
  }

  /// Runs a command on the first device, by default, at a time of the day.
  @discardableResult
  private func run(
    _ time: String, _ arguments: String..., on store: String? = nil
  ) async throws -> Sandbox.Output {
    let output = try await sandbox.belfry(
      arguments, now: "2026-11-20T\(time):00Z", store: store,
      device: store == nil ? "laptop" : "server")
    try output.expectSuccess()
    return output
  }

  private func state(_ time: String, on store: String? = nil) async throws -> String? {
    let list = try await run(time, "list", "--json", on: store)
    return list.array.first { $0["title"] as? String == "Pills" }?["state"] as? String
  }

  private func sync(_ time: String) async throws {
    for store in [nil, server, nil, server] { try await run(time, "sync", on: store) }
  }

  @Test("An alarm that was resumed elsewhere rings, although a clock skipped it in the pause")
  func resumed() async throws {
    try await run("08:02", "pause", "Pills", "--until", "2026-11-25")
    try await sync("08:03")
    try await run("08:10", "resume", "Pills", on: server)
    try await run("09:00", "tick")
    try await run("09:00", "tick", on: server)
    try await sync("09:05")
    #expect(try await state("09:06") == "ringing")
    #expect(try await state("09:06", on: server) == "ringing")
    let text = try await run("09:06", "explain", "Pills", "2026-11-20T09:00").out
    #expect(text.contains("does not count, because another device had edited pause"), "\(text)")
    let why = try await run("09:06", "why", "Pills", "2026-11-20").out
    #expect(why.contains("did not know of an edit (pause)"), "\(why)")
  }

  @Test(
    "A response counts, although a clock skipped the occurrence", arguments: ["stop", "snooze"])
  func responded(_ command: String) async throws {
    try await run("08:02", "pause", "Pills", "--until", "2026-11-25")
    try await sync("08:03")
    try await run("08:10", "resume", "Pills", on: server)
    try await run("09:00", "tick")
    try await run("09:00", "tick", on: server)
    try await run("09:01", command, "Pills", on: server)
    try await sync("09:05")
    let expected = command == "stop" ? "pending" : "snoozed"
    #expect(try await state("09:06") == expected)
    #expect(try await state("09:06", on: server) == expected)
  }

  @Test(
    "A miss does not count if the alarm was to ring longer",
    arguments: [["edit", "Pills", "--persistent"], ["settings", "set", "ringTimeout", "3h"]])
  func ringsLonger(_ command: [String]) async throws {
    try await sandbox.belfry(
      command, now: "2026-11-20T08:30:00Z", store: server, device: "server"
    ).expectSuccess()
    try await run("09:00", "tick")
    try await run("09:00", "tick", on: server)
    try await run("10:00", "tick")
    #expect(try await state("10:00") == "missed")
    try await sync("10:02")
    #expect(try await state("10:03") == "ringing")
    #expect(try await state("10:03", on: server) == "ringing")
  }

  @Test("A value that is set again wins over an earlier edit of another device")
  func setAgain() async throws {
    try await run("08:02", "settings", "set", "snooze", "20m")
    try await run("08:02", "edit", "Pills", "--tag", "+home", "--note", "x")
    try await sync("08:03")
    try await run("08:10", "settings", "set", "snooze", "5m")
    try await run("08:10", "tier", "plus")
    try await run("08:10", "disable", "Pills")
    try await run("08:10", "pause", "Pills", "--until", "2026-11-25")
    try await run("08:10", "edit", "Pills", "--tag", "-home", "--note", "y", "--sound", "chime")
    try await run("08:20", "settings", "set", "snooze", "20m", on: server)
    try await run("08:20", "tier", "premium", on: server)
    try await run("08:20", "enable", "Pills", on: server)
    try await run("08:20", "resume", "Pills", on: server)
    try await run("08:20", "edit", "Pills", "--tag", "+home", "--note", "x", on: server)
    try await sync("08:30")
    for store in [nil, server] {
      #expect(try await run("08:31", "settings", "get", "snooze", on: store).out == "20m\n")
      #expect(try await run("08:31", "tier", "--json", on: store).out.contains("premium"))
      let alarm = try #require(try await run("08:31", "list", "--json", on: store).array.first)
      #expect(alarm["state"] as? String == "active")
      #expect(alarm["note"] as? String == "x")
      #expect(alarm["tags"] as? [String] == ["home"])
    }
    // The statement can be undone like any other edit.
    try await run("08:32", "settings", "set", "snooze", "20m")
    try await run("08:33", "undo")
    #expect(try await run("08:34", "settings", "get", "snooze").out == "20m\n")
  }

  @Test(
    "A response of another device stays after an undo here", arguments: ["09:01", "09:03"])
  func undone(_ time: String) async throws {
    for store in [nil, server] { try await run("09:00", "tick", on: store) }
    try await run("09:01", "done", "Pills")
    try await run("09:02", "undo")
    try await run(time, "done", "Pills", on: server)
    try await sync("09:04")
    for store in [nil, server] {
      #expect(try await state("09:05", on: store) == "active")
      let conflicts = try await run("09:05", "conflicts", on: store).out
      #expect(!conflicts.contains("Pills"), "\(conflicts)")
      let stats = try await run("09:05", "stats", "Pills", "--json", on: store).out
      #expect(stats.replacing(" ", with: "").contains("\"done\":1"), "\(stats)")
    }
  }

  @Test("A repair after a clock was ahead keeps the responses of another device")
  func repaired() async throws {
    // The clock of the laptop is three hours ahead.
    try await run("11:30", "tick")
    try await run("11:30", "edit", "Pills", "--at", "09:00,11:00")
    try await sync("08:40")
    let doctor = try await sandbox.belfry("doctor", now: "2026-11-20T08:41:00Z")
    #expect(doctor.out.contains("a clock that was ahead"), "\(doctor.out)")
    try await run("08:50", "skip", "Pills", "--yes", on: server)
    try await run("11:00", "tick", on: server)
    try await run("11:01", "done", "Pills", on: server)
    // Other findings depend on the machine.
    _ = try await sandbox.belfry("doctor", "--repair", now: "2026-11-20T08:45:00Z")
    try await sync("11:05")
    for store in [nil, server] {
      #expect(try await state("11:06", on: store) == "active")
      let next = try await run("11:06", "list", "--json", on: store).out
      #expect(next.contains("2026-11-21T09:00"), "\(next)")
    }
  }

  @Test("An edit by a clock that is hours ahead silences no occurrence")
  func clockAhead() async throws {
    try await run("11:30", "edit", "Pills", "--at", "09:00,11:00,23:00", "--persistent")
    try await run("11:31", "disable", "Pills")
    try await run("11:32", "enable", "Pills")
    try await sync("08:40")
    for store in [nil, server] {
      try await run("09:00", "tick", on: store)
      #expect(try await state("09:01", on: store) == "ringing")
    }
  }

  @Test("A device whose clock is hours behind takes back no response")
  func clockBehind() async throws {
    try await run("09:00", "tick")
    try await run("09:05", "done", "Pills")
    try await run("09:05", "sync")
    for command in ["sync", "tick", "sync"] { try await run("04:06", command, on: server) }
    let why = try await run("04:06", "why", "Pills", on: server).out
    #expect(why.contains("does not count here before it has rung"), "\(why)")
    try await sync("09:06")
    try await run("09:06", "tick")
    #expect(try await state("09:06") == "active")
    let list = try await run("09:06", "log", "Pills", "--json")
    #expect(list.array.compactMap { $0["action"] as? String }.filter { $0 == "fired" }.count == 1)
    // That device rings at its time. Its miss changes nothing either.
    try await run("09:00", "tick", on: server)
    #expect(try await state("09:01", on: server) == "ringing")
    for time in ["09:31", "09:32"] { try await run(time, "tick", on: server) }
    #expect(try await state("09:33", on: server) == "active")
    try await sync("09:40")
    #expect(try await state("09:41") == "active")
    let stats = try await run("09:41", "stats", "Pills", "--json").out
    #expect(stats.contains("\"missed\": 0") && stats.contains("\"done\": 1"), "\(stats)")
  }

  @Test("Records of a newer version stay on the remote, and the last readable ones stay in use")
  func newerFormat() async throws {
    let newer = sandbox.root + "/newer"
    func git(_ arguments: String...) async throws {
      try await sandbox.run(
        "/usr/bin/git", ["-C", newer, "-c", "user.name=A", "-c", "user.email=a@b"] + arguments
      ).expectSuccess()
    }
    try await run("08:02", "settings", "set", "snooze", "20m")
    try await sync("08:03")
    try await sandbox.git(
      "clone", "-q", sandbox.root + "/remote.git", newer, in: sandbox.root
    ).expectSuccess()
    for path in [try sandbox.alarmFile(store: newer), newer + "/settings.json"] {
      let text = try sandbox.read(path)
      try sandbox.write(
        text.replacing("\"format\": 1", with: "\"format\": 2,\n  \"more\": 1"), to: path)
    }
    try await git("commit", "-q", "-a", "-m", "Newer")
    try await git("push", "-q", "origin", "HEAD:main")
    // Both devices have edits of their own, so that they merge.
    try await run("08:10", "edit", "Pills", "--note", "laptop")
    try await run("08:10", "edit", "Pills", "--note", "server", on: server)
    try await run("08:10", "add", "Tea", "--daily", "--at", "10:00")
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T08:11:00Z")
    #expect(sync.err.contains("kept without reading it"), "\(sync.err)")
    try await self.sync("08:12")
    let head = try await sandbox.git("rev-parse", "HEAD").out
    #expect(try await sandbox.git("rev-parse", "HEAD", in: server).out == head)
    try await git("pull", "-q", "--ff-only", "origin", "main")
    for path in [try sandbox.alarmFile(store: newer), newer + "/settings.json"] {
      // The alarms are in the order of their random names.
      let folder = newer + "/alarms"
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      let texts =
        path.hasSuffix("settings.json")
        ? [try sandbox.read(path)] : try names.map { try sandbox.read("\(folder)/\($0)") }
      #expect(texts.contains { $0.contains("\"format\": 2") }, "\(path)")
    }
    // The alarm still rings, and the settings still apply.
    #expect(try await state("09:01", on: server) == "ringing")
    #expect(try await run("09:01", "settings", "get", "snooze", on: server).out == "20m\n")
  }
}
