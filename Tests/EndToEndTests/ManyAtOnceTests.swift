import Foundation
import TestSupport
import Testing

/// Tests of more simultaneous notifications than a pipe or buffer holds.
@Suite struct ManyAtOnceTests {
  /// Adds `count` alarms that are due at 09:00 each day, with notes of the maximum length.
  private func add(_ count: Int, to sandbox: Sandbox) async throws {
    let note = String(repeating: "\u{1F514}", count: 2000)
    _ = try await sandbox.belfry("add", "Alarm", "--daily", "--at", "09:00", "--note", note)
    let file = try sandbox.alarmFile()
    let record = try JSONSerialization.jsonObject(
      with: Data(sandbox.read(file).utf8))
    var first = try #require(record as? [String: Any])
    let id = try #require(first["id"] as? String)
    let letters = Array("abcdefghijklmnopqrstuvwxyz234567")
    let alarms: [[String: Any]] = (1..<count).map { number in
      // A base-32 number replaces the first letters.
      let digits = String([letters[number / 1024], letters[number / 32 % 32], letters[number % 32]])
      first["id"] = digits + (id.dropFirst(3).first == "a" ? "b" : "a") + id.dropFirst(4)
      first["title"] = "Alarm \(number)"
      return first
    }
    let document: [String: Any] = [
      "belfry": "export", "format": 1, "alarms": alarms, "devices": [Any](), "log": [Any](),
    ]
    let path = sandbox.root + "/alarms.json"
    try JSONSerialization.data(withJSONObject: document).write(to: URL(filePath: path))
    let imported = try await sandbox.belfry("import", path)
    #expect(imported.status == 0, "\(imported.err)")
  }

  @Test("An answer to the notification of many alarms is recorded for each, in one commit")
  func answerToManyAlarms() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    try await add(12, to: sandbox)
    try sandbox.write(
      """
      #!/bin/sh
      \(sandbox.waitFor)
      echo "$BELFRY_HEADLINE" >> '\(sandbox.rang)'
      echo delivered
      wait_for [ -e '\(sandbox.root)/press' ]
      echo stop
      """, to: sandbox.hooks + "/notify", mode: 0o755)
    try sandbox.write(
      "#!/bin/sh\necho delivered\nexec sleep 600\n", to: sandbox.hooks + "/ring", mode: 0o755)
    let tick = try await sandbox.belfry("tick", "--json", now: "2026-11-23T09:00:00Z")
    #expect((tick.object["fired"] as? [Any])?.count == 12, "\(tick.err)")
    // One of them is answered elsewhere before the user presses the button.
    let done = try await sandbox.belfry("done", "Alarm 3", now: "2026-11-23T09:00:00.500Z")
    #expect(done.status == 0, "\(done.err)")
    try sandbox.write("", to: sandbox.root + "/press")
    #expect(try await sandbox.waitForHelpers())
    #expect(sandbox.rings == ["12 alarms ring"])
    let pending = try await sandbox.belfry("list", "pending", "--json", now: "2026-11-23T09:01:00Z")
    #expect(pending.array.count == 11, "\(pending.out)")
    let subjects = try await sandbox.run(
      "/usr/bin/git", ["-C", sandbox.store, "log", "--format=%s", "-3"])
    #expect(
      subjects.out == "Stopped: 11 alarms\nDone: Alarm 3 (2026-11-23 09:00)\nFired: 12 alarms\n",
      "\(subjects.out)")
  }

  @Test(
    "One tick delivers a thousand alarms with notes of the maximum length")
  func tickDeliversThousandAlarms() async throws {
    // In memory, because a delivery waits at most 2 s for the disk, and other tests can keep the disk busy for longer.
    let sandbox = try Sandbox(in: "/dev/shm")
    try await sandbox.plus()
    try await add(1000, to: sandbox)
    try sandbox.write(
      "#!/bin/sh\necho \"$BELFRY_TITLE\" >> '\(sandbox.rang)'\n", to: sandbox.hooks + "/notify",
      mode: 0o755)
    let tick = try await sandbox.run(
      "/usr/bin/timeout", ["500", Sandbox.binary, "tick", "--json"],
      environment: ["BELFRY_NOW": "2026-11-23T09:00:00Z", "TZ": "UTC", "BELFRY_DEVICE": "laptop"])
    #expect(tick.status == 0, "\(tick.err.suffix(1000))")
    #expect((tick.object["fired"] as? [Any])?.count == 1000)
    #expect(sandbox.rings == ["1000 alarms ring"])
    let again = try await sandbox.belfry("tick", "--json", now: "2026-11-23T09:00:30Z")
    #expect((again.object["fired"] as? [Any])?.isEmpty == true)
  }

  @Test(
    "A hook that exits before its tick counts as delivered and does not run again at the next tick")
  func hookThatExitsBeforeTickIsDelivered() async throws {
    let sandbox = try Sandbox()
    for title in ["Quick", "Slow"] {
      _ = try await sandbox.belfry("add", title, "--daily", "--at", "09:00")
    }
    // All hooks report "delivered"; those of one alarm exit long before the others report it.
    for (name, first) in [("notify", "echo \"$BELFRY_TITLE\" >> '\(sandbox.rang)'"), ("ring", ":")]
    {
      try sandbox.write(
        "#!/bin/sh\n\(first)\n[ \"$BELFRY_TITLE\" = Quick ] || sleep 2\necho delivered\n",
        to: sandbox.hooks + "/" + name, mode: 0o755)
    }
    for minute in 0...2 {
      let tick = try await sandbox.belfry("tick", now: "2026-11-23T09:0\(minute):00Z")
      #expect(tick.status == 0, "\(tick.err)")
      // The helper ends once it has recorded the end of all deliveries.
      #expect(try await sandbox.waitForHelpers())
    }
    #expect(sandbox.rings.sorted() == ["Quick", "Slow"])
  }
}
