import Foundation
import TestSupport
import Testing

/// Two devices that share a store with a newer version of Belfry, whose records they cannot read.
@Suite struct NewerVersionTests {
  private let sandbox: Sandbox
  private let server: String
  /// The work tree of the newer version, a plain clone.
  private let newer: String

  init() async throws {
    sandbox = try Sandbox()
    try await sandbox.plus()
    try await sandbox.belfry(
      "add", "Pills", "--daily", "--at", "09:00", now: "2026-11-20T08:00:00Z"
    )
    .expectSuccess()
    server = try await sandbox.secondDevice(now: "2026-11-20T08:01:00Z")
    newer = sandbox.root + "/newer"
    try await sandbox.git(
      "clone", "-q", sandbox.root + "/remote.git", newer, in: sandbox.root
    ).expectSuccess()
  }

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

  private func sync(_ time: String) async throws {
    for store in [nil, server, nil, server] { try await run(time, "sync", on: store) }
  }

  private func git(_ arguments: String..., in folder: String? = nil) async throws -> String {
    let output = try await sandbox.run(
      "/usr/bin/git",
      ["-C", folder ?? newer, "-c", "user.name=A", "-c", "user.email=a@b"] + arguments)
    try output.expectSuccess()
    return output.out
  }

  /// Commits files of the newer version, and pushes them.
  private func publish(_ files: [String: String]) async throws {
    _ = try await git("pull", "-q", "--ff-only", "origin", "main")
    for (path, text) in files {
      let folder = "\(newer)/\(path)".split(separator: "/").dropLast().joined(separator: "/")
      try FileManager.default.createDirectory(
        atPath: "/" + folder, withIntermediateDirectories: true)
      try sandbox.write(text, to: "\(newer)/\(path)")
    }
    _ = try await git("add", "-A")
    _ = try await git("commit", "-q", "-m", "Newer")
    _ = try await git("push", "-q", "origin", "HEAD:main")
  }

  private func record(_ text: String) -> String { "{\"format\": 2, \"text\": \"\(text)\"}\n" }

  /// Lets both devices edit apart, so that they merge, and sync.
  private func merge(_ time: String, _ note: String) async throws {
    try await run(time, "edit", "Pills", "--note", note)
    try await run(time, "edit", "Pills", "--note", note + " too", on: server)
    try await sync(time)
  }

  @Test(
    "Records of a kind that only a newer version knows stay in every merge, and other files do not")
  func unknownKinds() async throws {
    let records = ["contacts/ada.json": record("a"), "plans/2026/11/x.json": record("b")]
    let others = ["evil.sh": "x", "notes/a.txt": "x", "notes/b.json": "{\"format\": 1}"]
    let attributes = "# format 2\n* -text\n"
    try await publish(records.merging(others) { $1 }.merging([".gitattributes": attributes]) { $1 })
    try await run("08:10", "edit", "Pills", "--note", "a")
    let first = try await run("08:11", "sync")
    for path in ["contacts/ada.json", "plans/2026/11/x.json", ".gitattributes"] {
      #expect(first.err.contains("kept without reading it: \(path)"), "\(first.err)")
    }
    for path in ["evil.sh", "notes"] {
      #expect(first.err.contains("left out of the sync: \(path)"), "\(first.err)")
    }
    try await merge("08:20", "b")
    for folder in [sandbox.store, server] {
      #expect(try sandbox.read(folder + "/contacts/ada.json") == record("a"))
      #expect(try sandbox.read(folder + "/plans/2026/11/x.json") == record("b"))
      #expect(try sandbox.read(folder + "/.gitattributes") == attributes)
      #expect(try await git("status", "--porcelain", in: folder).isEmpty)
    }
    let files = try await git(
      "ls-tree", "-r", "--name-only", "main", in: sandbox.root + "/remote.git")
    #expect(!files.contains("evil") && !files.contains("notes"), "\(files)")
    // The devices agree: a further sync has nothing to send.
    for store in [nil, server] {
      #expect(try await run("08:30", "sync", "--json", on: store).object["pushed"] as? Int == 0)
    }
    // A clone has them, and a commit without them does not remove them.
    let third = sandbox.root + "/third"
    try await sandbox.belfry(
      "clone", sandbox.root + "/remote.git", now: "2026-11-20T08:31:00Z", store: third
    ).expectSuccess()
    #expect(try sandbox.read(third + "/contacts/ada.json") == record("a"))
    _ = try await git("rm", "-q", "-r", "contacts", in: server)
    _ = try await git("commit", "-q", "-m", "Remove", in: server)
    try await run("08:32", "edit", "Pills", "--note", "c", on: server)
    #expect(try sandbox.read(server + "/contacts/ada.json") == record("a"))
    #expect(try await git("status", "--porcelain", in: server).isEmpty)
  }

  @Test("An edit by a newer version is not taken back", arguments: [["a", "b"], ["b", "a"]])
  func edits(texts: [String]) async throws {
    let path = "alarms/" + (try sandbox.alarmFile().split(separator: "/").last ?? "")
    for (number, text) in texts.enumerated() {
      try await publish([path: record(text), "contacts/ada.json": record(text)])
      try await run("08:1\(number)", "add", "Tea \(number)", "--daily", "--at", "10:00")
      try await run("08:1\(number)", "sync", on: server)
      try await sync("08:1\(number)")
    }
    _ = try await git("pull", "-q", "--ff-only", "origin", "main")
    for folder in [newer, sandbox.store, server] {
      #expect(try sandbox.read("\(folder)/\(path)") == record(texts[1]))
      #expect(try sandbox.read("\(folder)/contacts/ada.json") == record(texts[1]))
    }
  }

  @Test("Git brings a record of a newer version, and takes it from no work tree")
  func movedBranch() async throws {
    let path = "alarms/" + (try sandbox.alarmFile().split(separator: "/").last ?? "")
    let before = try await git("rev-parse", "HEAD", in: server)
    try await publish([path: record("a"), "contacts/ada.json": record("a")])
    // The device's own commits are on the remote. A push into the branch that is checked out moves it without the work tree.
    try await run("08:09", "sync", on: server)
    try await publish([path: record("b"), "contacts/ada.json": record("b")])
    _ = try await git(
      "push", "-q", "--receive-pack", "git -c receive.denyCurrentBranch=ignore receive-pack",
      server, "HEAD:main")
    try await run("08:10", "add", "Tea", "--daily", "--at", "10:00", on: server)
    for file in [path, "contacts/ada.json"] {
      #expect(try sandbox.read("\(server)/\(file)") == record("b"))
    }
    // Neither a reset nor the removal of the file loses it.
    _ = try await git(
      "reset", "-q", "--hard", before.trimmingCharacters(in: .whitespacesAndNewlines), in: server)
    try await run("08:11", "add", "Milk", "--daily", "--at", "11:00", on: server)
    #expect(try sandbox.read("\(server)/\(path)") == record("b"))
    try FileManager.default.removeItem(atPath: "\(server)/\(path)")
    try await run("08:12", "tick", on: server)
    #expect(try sandbox.read("\(server)/\(path)") == record("b"))
    #expect(try await git("status", "--porcelain", in: server).isEmpty)
    let head = try await git("show", "HEAD:contacts/ada.json", in: server)
    #expect(head == record("b"))
    // The alarm still rings, as this version last read it.
    try await run("09:00", "tick", on: server)
    let list = try await run("09:01", "list", "--json", on: server).array
    #expect(
      list.contains { $0["title"] as? String == "Pills" && $0["state"] as? String == "ringing" })
  }
}
