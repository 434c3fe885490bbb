import Foundation
import TestSupport
import Testing

/// Tests of branches that plain git moves without updating the work tree.
@Suite struct MovedBranchTests {
  /// The methods by which plain git moves the checked-out branch without updating the work tree.
  enum MoveMethod: String, CaseIterable, Sendable {
    case reset, push, workTree
  }

  /// A laptop with the alarm Tea, and a server that has added Milk, moved Tea from 09:00 to 08:30 and synced.
  private func devices() async throws -> (Sandbox, server: String) {
    let sandbox = try await Sandbox.withTea(committing: true)
    let server = try await sandbox.secondDevice()
    for arguments in [
      ["add", "Milk", "--daily", "--at", "10:00"], ["edit", "tea", "--at", "08:30"], ["sync"],
    ] {
      let output = try await sandbox.run(
        Sandbox.binary, arguments,
        environment: [
          "TZ": "UTC", "BELFRY_DEVICE": "server", "BELFRY_STORE": server,
          "BELFRY_NOW": "2026-11-20T22:43:00Z",
        ])
      #expect(output.status == 0, "\(output.err)")
    }
    return (sandbox, server)
  }

  private func move(_ sandbox: Sandbox, _ method: MoveMethod, server: String) async throws {
    switch method {
    case .reset:
      _ = try await sandbox.git("fetch", "-q")
      #expect(try await sandbox.git("reset", "-q", "origin/main").status == 0)
    case .push:
      _ = try await sandbox.git("config", "receive.denyCurrentBranch", "ignore")
      let push = try await sandbox.git("push", "-q", sandbox.store, "main:main", in: server)
      #expect(push.status == 0, "\(push.err)")
    case .workTree:
      let other = sandbox.root + "/other"
      _ = try await sandbox.git("worktree", "add", "-q", "--force", other, "main")
      let pull = try await sandbox.git(
        "pull", "-q", "--ff-only", sandbox.root + "/remote.git", "main", in: other)
      #expect(pull.status == 0, "\(pull.err)")
    }
    // The work tree is outdated.
    #expect(try titlesOfFiles(sandbox) == ["Tea"])
  }

  private func titlesOfFiles(_ sandbox: Sandbox) throws -> [String] {
    let folder = sandbox.store + "/alarms"
    return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
      let data = Data(try sandbox.read("\(folder)/\(name)").utf8)
      return (try JSONSerialization.jsonObject(with: data) as? [String: Any])?["title"] as? String
    }.sorted()
  }

  @Test(
    "Alarms of a moved branch are listed, ring and are written to the work tree",
    arguments: MoveMethod.allCases
  )
  func movedBranchRings(method: MoveMethod) async throws {
    let (sandbox, server) = try await devices()
    try await move(sandbox, method, server: server)
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-20T22:50:00Z")
    #expect(list.otherErrors.isEmpty, "\(list.err)")
    let next = Dictionary(
      uniqueKeysWithValues: list.array.map {
        ($0["title"] as? String ?? "", $0["nextOccurrence"] as? String ?? "")
      })
    #expect(next == ["Milk": "2026-11-21T10:00", "Tea": "2026-11-21T08:30"])
    let show = try await sandbox.belfry("show", "milk", "--json", now: "2026-11-20T22:50:00Z")
    #expect(show.object["title"] as? String == "Milk", "\(show.err)")
    // A read changes neither the branch nor the work tree.
    #expect(try titlesOfFiles(sandbox) == ["Tea"])
    let head = try await sandbox.git("rev-parse", "main").out

    let first = try await sandbox.belfry("tick", now: "2026-11-21T08:30:00Z")
    #expect(first.status == 0 && first.err.isEmpty, "\(first.err)")
    #expect(sandbox.rings == ["Tea 2026-11-21T08:30"])
    #expect(try titlesOfFiles(sandbox) == ["Milk", "Tea"])
    _ = try await sandbox.belfry("done", "tea", now: "2026-11-21T08:31:00Z")
    _ = try await sandbox.belfry("tick", now: "2026-11-21T10:00:00Z")
    #expect(sandbox.rings == ["Tea 2026-11-21T08:30", "Milk 2026-11-21T10:00"])
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    let ancestor = try await sandbox.git(
      "merge-base", "--is-ancestor", String(head.prefix(40)), "main")
    #expect(ancestor.status == 0)
    // The log entries and the other device's record are present, too.
    let log = try await sandbox.belfry("log", "--json", now: "2026-11-21T10:01:00Z")
    #expect(
      log.array.contains {
        $0["action"] as? String == "created" && $0["title"] as? String == "Milk"
      })
    #expect(try await !sandbox.git("log", "--format=%s").out.contains("by hand"))
    #expect(try await sandbox.git("ls-files", "devices").out.split(separator: "\n").count == 2)
  }

  @Test("A sync updates the work tree to a moved branch", arguments: MoveMethod.allCases)
  func syncUpdatesWorkTree(method: MoveMethod) async throws {
    let (sandbox, server) = try await devices()
    try await move(sandbox, method, server: server)
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:50:00Z")
    #expect(sync.status == 0 && !sync.err.contains("restored"), "\(sync.err)")
    #expect(try titlesOfFiles(sandbox) == ["Milk", "Tea"])
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    #expect(
      try await sandbox.git("rev-parse", "main").out
        == sandbox.git("rev-parse", "main", in: sandbox.root + "/remote.git").out)
  }

  @Test("An edit after a branch move changes the branch's version of an alarm")
  func editAfterBranchMove() async throws {
    let (sandbox, server) = try await devices()
    try await move(sandbox, .push, server: server)
    let edit = try await sandbox.belfry(
      "edit", "tea", "--note", "green", now: "2026-11-20T22:50:00Z")
    #expect(edit.status == 0, "\(edit.err)")
    let show = try await sandbox.belfry("show", "tea", "--json", now: "2026-11-20T22:51:00Z")
    #expect(show.object["note"] as? String == "green")
    #expect(show.object["nextOccurrence"] as? String == "2026-11-21T08:30", "\(show.out)")
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test("After a branch move, hand edits are imported and files removed by hand are restored")
  func handEditsAfterBranchMove() async throws {
    let (sandbox, server) = try await devices()
    _ = try await sandbox.belfry(
      "add", "Bread", "--daily", "--at", "11:00", now: "2026-11-20T22:44:00Z")
    _ = try await sandbox.belfry("sync", now: "2026-11-20T22:45:00Z")
    _ = try await sandbox.belfry(
      "edit", "milk", "--note", "oat", now: "2026-11-20T22:46:00Z", store: server, device: "server")
    _ = try await sandbox.belfry(
      "add", "Eggs", "--daily", now: "2026-11-20T22:46:00Z", store: server, device: "server")
    _ = try await sandbox.belfry(
      "sync", now: "2026-11-20T22:47:00Z", store: server, device: "server")
    _ = try await sandbox.git("fetch", "-q")
    #expect(try await sandbox.git("reset", "-q", "origin/main").status == 0)
    for name in try FileManager.default.contentsOfDirectory(atPath: sandbox.store + "/alarms") {
      let file = "\(sandbox.store)/alarms/\(name)"
      let text = try sandbox.read(file)
      if text.contains("Bread") { try FileManager.default.removeItem(atPath: file) }
      if text.contains("\"Milk\"") {
        try sandbox.write(text.replacing("\"Milk\"", with: "\"Oat milk\""), to: file)
      }
    }
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-20T22:50:00Z")
    #expect(
      list.array.compactMap { $0["title"] as? String }.sorted()
        == ["Bread", "Eggs", "Oat milk", "Tea"])
    // The warning names only the removed file.
    #expect(list.err.components(separatedBy: "belfry delete").count == 2, "\(list.err)")
    _ = try await sandbox.belfry("tick", now: "2026-11-20T22:51:00Z")
    let show = try await sandbox.belfry("show", "oat", "--json", now: "2026-11-20T22:52:00Z")
    #expect(show.object["note"] as? String == "oat", "\(show.out)")
    #expect(try titlesOfFiles(sandbox) == ["Bread", "Eggs", "Oat milk", "Tea"])
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test("A hand edit committed in another work tree is imported as a hand edit")
  func handEditInAnotherWorkTree() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let other = sandbox.root + "/other"
    _ = try await sandbox.git("worktree", "add", "-q", "--force", other, "main")
    let file = try sandbox.alarmFile(store: other)
    try sandbox.write(try sandbox.read(file).replacing("09:00", with: "08:00"), to: file)
    _ = try await sandbox.git(
      "-c", "user.name=t", "-c", "user.email=t", "commit", "-qam", "By hand", in: other)
    _ = try await sandbox.belfry("tick", now: "2026-11-20T23:00:00Z")
    #expect(try await sandbox.git("log", "-1", "--format=%s").out == "Edited by hand: Tea\n")
    let record = try sandbox.read(try sandbox.alarmFile())
    #expect(record.contains("\"schedule\": \"2026-11-20T23:00:00.000Z-"), "\(record)")
    _ = try await sandbox.belfry("tick", now: "2026-11-21T08:00:00Z")
    #expect(sandbox.rings == ["Tea 2026-11-21T08:00"])
  }

  @Test(
    "After a reset and the loss of Belfry's last seen commit, the records are committed again",
    arguments: ["tick", "sync"])
  func resetWithoutSeenCommit(command: String) async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.secondDevice()
    _ = try await sandbox.belfry(
      "add", "Tea", "--daily", "--at", "09:00", now: "2026-11-20T22:43:00Z")
    _ = try await sandbox.git("reset", "-q", "HEAD~1")
    try FileManager.default.removeItem(atPath: sandbox.store + "/.git/belfry/seen")
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-20T22:50:00Z")
    #expect(list.array.count == 1)
    #expect(list.otherErrors.isEmpty, "\(list.err)")
    let output = try await sandbox.belfry(command, now: "2026-11-20T22:51:00Z")
    #expect(output.status == 0, "\(output.err)")
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    #expect(try await sandbox.git("ls-tree", "HEAD", "alarms/").out.contains(".json"))
    #expect(try await sandbox.git("ls-tree", "-r", "HEAD", "log/").out.contains(".json"))
    _ = try await sandbox.belfry("sync", now: "2026-11-20T22:52:00Z")
    let remote = try await sandbox.git(
      "ls-tree", "main", "alarms/", in: sandbox.root + "/remote.git")
    #expect(remote.out.contains(".json"))
  }

  @Test("A branch move is detected when the references are packed")
  func packedReferences() async throws {
    let (sandbox, server) = try await devices()
    try await move(sandbox, .push, server: server)
    _ = try await sandbox.git("pack-refs", "--all")
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-20T22:50:00Z")
    #expect(list.array.count == 2)
  }
}
