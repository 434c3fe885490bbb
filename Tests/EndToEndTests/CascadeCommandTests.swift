import Foundation
import TestSupport
import Testing

/// Configuration, escalation, presence, rehearsals and calls of a cascade, run with the binary.
@Suite struct CascadeCommandTests {
  private static let now = "2026-11-22T20:00:00Z"

  /// Returns a laptop with an alarm at 05:00, and the folders of clones of its store by device name.
  private func cascadeDevices(
    _ devices: [String] = ["Watch", "HomePod"], tier: String = "plus"
  ) async throws -> (sandbox: Sandbox, stores: [String: String]) {
    let sandbox = try Sandbox()
    let now = CascadeCommandTests.now
    _ = try await sandbox.belfry("tier", tier, now: now)
    _ = try await sandbox.belfry("add", "EMEA Standup", "--daily", "--at", "05:00", now: now)
    let remote = sandbox.root + "/remote.git"
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", remote, in: sandbox.root)
    _ = try await sandbox.belfry("remote", "add", "origin", remote, now: now)
    _ = try await sandbox.belfry("sync", now: now)
    var stores: [String: String] = [:]
    for name in devices {
      let store = "\(sandbox.root)/\(name)"
      stores[name] = store
      let clone = try await sandbox.belfry("clone", remote, now: now, store: store, device: name)
      #expect(clone.status == 0, "\(clone.err)")
      _ = try await sandbox.belfry("sync", now: now, store: store, device: name)
    }
    _ = try await sandbox.belfry("sync", now: now)
    return (sandbox, stores)
  }

  private func cascade(
    _ sandbox: Sandbox, _ words: String..., now: String = CascadeCommandTests.now,
    store: String? = nil,
    device: String = "laptop"
  ) async throws -> Sandbox.Output {
    try await sandbox.run(
      Sandbox.binary, ["cascade"] + words,
      environment: [
        "TZ": "UTC", "BELFRY_DEVICE": device, "BELFRY_NOW": now,
        "BELFRY_STORE": store ?? sandbox.store,
      ])
  }

  private func sync(_ sandbox: Sandbox, _ stores: [String], now: String = CascadeCommandTests.now)
    async throws
  {
    for store in stores {
      let sync = try await sandbox.belfry("sync", now: now, store: store)
      #expect(sync.status == 0, "\(sync.err)")
    }
  }

  // MARK: Configuration

  @Test("The cascade of an alarm is off by default")
  func offByDefault() async throws {
    let (sandbox, _) = try await cascadeDevices([])
    let list = try await cascade(sandbox, "list", "emea", "--json")
    #expect(list.object["on"] as? Bool == false)
    #expect((list.object["targets"] as? [Any])?.isEmpty == true)
    let words = try await cascade(sandbox, "list", "emea")
    #expect(words.out.hasPrefix("The cascade of EMEA Standup is off."))
  }

  @Test("`cascade add` offers the known devices and people")
  func offeredTargets() async throws {
    let (sandbox, stores) = try await cascadeDevices(["Watch", "HomePod", "iPhone"])
    let phone = try #require(stores["iPhone"])
    _ = try await sandbox.belfry(
      "device", "--owner", "Jen", "--kind", "phone", now: CascadeCommandTests.now, store: phone,
      device: "iPhone")
    try await sync(sandbox, [phone, sandbox.store])
    let choice = try await cascade(sandbox, "add", "emea")
    #expect(choice.out.contains("device Watch"))
    #expect(choice.out.contains("device HomePod"))
    #expect(choice.out.contains("person Jen  (iPhone)"))
    #expect(choice.out.contains("(places a call)"))
    // The first device cannot be a step.
    #expect(!choice.out.contains("laptop"))
    let own = try await cascade(sandbox, "add", "emea", "device", "laptop")
    #expect(own.status == 2)
    #expect(own.err.contains("rings first"))
  }

  @Test("The preview lists the time and target of each step")
  func previewedSteps() async throws {
    let (sandbox, stores) = try await cascadeDevices(["Watch", "HomePod", "iPhone"])
    let phone = try #require(stores["iPhone"])
    _ = try await sandbox.belfry(
      "device", "--owner", "Jen", now: CascadeCommandTests.now, store: phone, device: "iPhone")
    try await sync(sandbox, [phone, sandbox.store])
    for words in [["device", "Watch"], ["device", "HomePod"], ["person", "jen"]] {
      let add = try await cascade(sandbox, "add", "emea", words[0], words[1])
      #expect(add.status == 0, "\(add.err)")
    }
    let preview = try await cascade(sandbox, "preview", "emea")
    #expect(
      preview.out.hasSuffix(
        "\n  5:02  Alarm on Watch\n  5:04  Alarm on HomePod\n  5:06  Alarm on Jen's iPhone\n"),
      "\(preview.out)")
    let json = try await cascade(sandbox, "preview", "emea", "--json")
    #expect(json.array.map { $0["time"] as? String } == ["5:02", "5:04", "5:06"])
    // The preview follows a changed order and interval.
    _ = try await cascade(sandbox, "move", "emea", "3", "1")
    let every = try await cascade(sandbox, "on", "emea", "--every", "90s")
    #expect(every.out.contains("on, a step every 1 min 30 s"), "\(every.out)")
    let moved = try await cascade(sandbox, "preview", "emea", "--json")
    #expect(
      moved.array.map { $0["action"] as? String } == [
        "Alarm on Jen's iPhone", "Alarm on Watch", "Alarm on HomePod",
      ])
    #expect(moved.array.map { $0["time"] as? String } == ["5:01:30", "5:03:00", "5:04:30"])
  }

  @Test("A phone number is shown formatted and with its action")
  func phoneTarget() async throws {
    let (sandbox, _) = try await cascadeDevices([])
    let add = try await cascade(sandbox, "add", "emea", "phone", "5551234567")
    #expect(
      add.out.contains("1  (555) 123-4567  Calls with automated backup message"), "\(add.out)")
    // The warning appears at setup, before the first call is due.
    #expect(add.err.contains("no device of this store can place calls"))
    // The owner of a device is part of the call's message.
    #expect(add.err.contains("laptop has none. On each: belfry device --owner NAME"), "\(add.err)")
    let again = try await cascade(sandbox, "add", "emea", "phone", "+1 (555) 123-4567")
    #expect(again.status == 2)
    #expect(again.err.contains("is already in the cascade"))
    let other = try await cascade(sandbox, "add", "emea", "phone", "+44 20 7946 0958")
    #expect(other.out.contains("2  +44 207 946 0958"))
    let owner = try await sandbox.belfry(
      "device", "--owner", "Chris", now: CascadeCommandTests.now)
    #expect(owner.status == 0, "\(owner.err)")
    let third = try await cascade(sandbox, "add", "emea", "phone", "+44 20 7946 0959")
    #expect(third.status == 0 && !third.err.contains("--owner"), "\(third.err)")
    for wrong in ["12", "911", "call me", "0301234567", "+999 1234567"] {
      let refused = try await cascade(sandbox, "add", "emea", "phone", wrong)
      #expect(refused.status == 2, "\(wrong)")
      #expect(refused.err.split(separator: "\n").count == 2, "\(refused.err)")
    }
    let list = try await cascade(sandbox, "list", "emea", "--json")
    #expect((list.object["targets"] as? [Any])?.count == 3)
  }

  @Test("Removing a target asks for confirmation on a terminal")
  func confirmedRemoval() async throws {
    let (sandbox, _) = try await cascadeDevices()
    _ = try await cascade(sandbox, "add", "emea", "device", "Watch")
    _ = try await cascade(sandbox, "add", "emea", "phone", "5551234567")
    let no = try await sandbox.onTerminal(
      "cascade", "remove", "emea", "Watch", input: "n\n", after: "[y/N]",
      now: CascadeCommandTests.now)
    #expect(no.out.contains("Remove Watch from the cascade of EMEA Standup?"), "\(no.out)")
    #expect(no.out.contains("nothing was changed"))
    let yes = try await sandbox.onTerminal(
      "cascade", "remove", "emea", "1", input: "y\n", after: "[y/N]", now: CascadeCommandTests.now)
    #expect(yes.out.contains("Removed Watch."), "\(yes.out)")
    let script = try await cascade(sandbox, "remove", "emea", "(555) 123-4567", "--yes", "--json")
    #expect((script.object["targets"] as? [Any])?.isEmpty == true, "\(script.out)\(script.err)")
    let gone = try await cascade(sandbox, "remove", "emea", "Watch", "--yes")
    #expect(gone.status == 2)
  }

  @Test("Targets added on two devices are merged, and each device undoes its own")
  func merged() async throws {
    let (sandbox, stores) = try await cascadeDevices()
    let watch = try #require(stores["Watch"])
    _ = try await cascade(sandbox, "add", "emea", "device", "Watch")
    try await sync(sandbox, [sandbox.store, watch])
    _ = try await cascade(sandbox, "add", "emea", "device", "HomePod", now: "2026-11-22T20:01:00Z")
    _ = try await cascade(
      sandbox, "add", "emea", "phone", "5551234567", now: "2026-11-22T20:02:00Z", store: watch,
      device: "Watch")
    try await sync(sandbox, [sandbox.store, watch, sandbox.store], now: "2026-11-22T20:03:00Z")
    let here = try await cascade(sandbox, "list", "emea", "--json")
    let there = try await cascade(sandbox, "list", "emea", "--json", store: watch)
    #expect(here.out == there.out)
    #expect(here.out.contains("+15551234567") && here.out.contains("HomePod"), "\(here.out)")
    let conflicts = try await sandbox.belfry("conflicts", now: "2026-11-22T20:04:00Z")
    #expect(conflicts.out == "No merge has set an edit aside.\n")
    // Undo removes only this device's target.
    let undo = try await sandbox.belfry("undo", now: "2026-11-22T20:05:00Z")
    #expect(undo.status == 0, "\(undo.err)")
    let left = try await cascade(sandbox, "list", "emea").out
    #expect(left.contains("555") && left.contains("Watch") && !left.contains("HomePod"), "\(left)")
  }

  @Test("A hand edit of the cascade is imported, and an invalid one is reported")
  func byHand() async throws {
    let (sandbox, _) = try await cascadeDevices()
    _ = try await cascade(sandbox, "add", "emea", "phone", "5551234567")
    let file = try sandbox.alarmFile()
    let text = try sandbox.read(file)
    try sandbox.write(text.replacing("+15551234567", with: "nobody"), to: file)
    let wrong = try await sandbox.belfry("list", now: CascadeCommandTests.now)
    #expect(
      wrong.err.contains("'cascade.targets'") || wrong.err.contains("'targets'"), "\(wrong.err)")
    try sandbox.write(text.replacing("+15551234567", with: "+442079460958"), to: file)
    let list = try await cascade(sandbox, "list", "emea", now: "2026-11-22T20:05:00Z")
    #expect(list.out.contains("+44 207 946 0958"), "\(list.out)\(list.err)")
  }

  @Test("Invalid arguments are refused with a reason and a hint")
  func words() async throws {
    let (sandbox, _) = try await cascadeDevices()
    #expect(try await cascade(sandbox, "emea").out.contains("The cascade of EMEA Standup is off"))
    #expect(try await cascade(sandbox, "list", "emea").status == 0)
    #expect(try await cascade(sandbox, "add", "emea", "device", "Watch").status == 0)
    for (words, code) in [
      (["foo", "emea"], 2), (["add", "emea", "fax", "12"], 2), (["list", "nosuch"], 3),
      (["move", "emea", "1", "9"], 2), (["remove", "emea", "9", "--yes"], 2),
      (["on", "emea", "--every", "1s"], 2), (["on", "emea", "--first", "Watch"], 2),
      (["add", "emea", "device", "Toaster"], 2), (["test", "emea", "--wait", "x"], 2),
      (["add", "emea", "phone"], 2), (["add", "emea", "device", "Watch", "--message", "x"], 2),
    ] as [([String], Int32)] {
      let output = try await sandbox.run(
        Sandbox.binary, ["cascade"] + words,
        environment: [
          "TZ": "UTC", "BELFRY_NOW": CascadeCommandTests.now, "BELFRY_DEVICE": "laptop",
        ])
      #expect(output.status == code, "\(words): \(output.err)")
      #expect(output.err.split(separator: "\n").count == 2, "\(words): \(output.err)")
    }
  }

  // MARK: Escalation

  /// Runs a tick on a device and returns the occurrences that it rang for.
  private func tick(
    _ sandbox: Sandbox, _ store: String, _ device: String, at now: String
  ) async throws -> [String] {
    let before = sandbox.rings
    let tick = try await sandbox.belfry("tick", now: now, store: store, device: device)
    #expect(tick.status == 0, "\(tick.err)")
    return Array(sandbox.rings.dropFirst(before.count))
  }

  /// Returns synced stores in which each of the devices is a step of the alarm's cascade.
  private func cascadeSteps(_ devices: [String] = ["Watch", "HomePod", "iPad"]) async throws
    -> (sandbox: Sandbox, stores: [String: String])
  {
    let (sandbox, stores) = try await cascadeDevices(devices)
    for device in devices {
      _ = try await cascade(sandbox, "add", "emea", "device", device)
    }
    try await sync(sandbox, [sandbox.store] + devices.compactMap { stores[$0] })
    return (sandbox, stores)
  }

  @Test(
    "Each step rings two minutes after the previous one is unanswered")
  func unansweredSteps() async throws {
    let (sandbox, stores) = try await cascadeSteps()
    let ring = "EMEA Standup 2026-11-23T05:00"
    for (device, turn) in [("Watch", "05:02:00"), ("HomePod", "05:04:00"), ("iPad", "05:06:00")] {
      let store = try #require(stores[device])
      let before = "2026-11-23T05:0\(Int(turn.dropFirst(3).prefix(2))! - 1):59Z"
      #expect(try await tick(sandbox, store, device, at: before) == [], "\(device)")
      #expect(
        try await tick(sandbox, store, device, at: "2026-11-23T\(turn)Z") == [ring], "\(device)")
    }
    // The log records that the cascade is exhausted.
    let store = try #require(stores["iPad"])
    _ = try await tick(sandbox, store, "iPad", at: "2026-11-23T05:09:00Z")
    let log = try await sandbox.belfry("log", "--json", now: "2026-11-23T05:09:30Z", store: store)
    let exhausted = try #require(log.array.first { $0["action"] as? String == "exhausted" })
    #expect((exhausted["payload"] as? [String: Any])?["count"] as? Int == 3)
    let text = try await sandbox.belfry("log", now: "2026-11-23T05:09:30Z", store: store)
    #expect(text.out.contains(", all 3 steps of the cascade were unanswered  "), "\(text.out)")
    // The missed summary says that the cascade was unanswered.
    _ = try await tick(sandbox, store, "iPad", at: "2026-11-23T05:45:00Z")
    #expect(try sandbox.read(sandbox.missed).contains("The whole cascade was unanswered."))
  }

  @Test("A stop on one device ends the cascade, and later steps do not ring")
  func stoppedStep() async throws {
    let (sandbox, stores) = try await cascadeSteps()
    let watch = try #require(stores["Watch"])
    #expect(try await tick(sandbox, watch, "Watch", at: "2026-11-23T05:02:00Z").count == 1)
    let stop = try await sandbox.belfry(
      "stop", "emea", now: "2026-11-23T05:03:00Z", store: watch, device: "Watch")
    #expect(stop.status == 0, "\(stop.err)")
    let others = ["HomePod", "iPad"].compactMap { stores[$0] }
    try await sync(sandbox, [watch] + others + [sandbox.store], now: "2026-11-23T05:03:05Z")
    for minute in ["04", "06", "30"] {
      for store in others {
        #expect(try await tick(sandbox, store, "x", at: "2026-11-23T05:\(minute):00Z") == [])
      }
    }
    // A stopped occurrence is pending, not done.
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-23T05:10:00Z")
    #expect(list.array.first?["state"] as? String == "pending")
  }

  @Test(
    "A snooze on one device delays the next step until that device has rung again")
  func snoozedStep() async throws {
    let (sandbox, stores) = try await cascadeSteps()
    let (watch, homepod) = (try #require(stores["Watch"]), try #require(stores["HomePod"]))
    #expect(try await tick(sandbox, watch, "Watch", at: "2026-11-23T05:02:00Z").count == 1)
    _ = try await sandbox.belfry(
      "snooze", "emea", now: "2026-11-23T05:03:00Z", store: watch, device: "Watch")
    try await sync(sandbox, [watch, homepod], now: "2026-11-23T05:03:05Z")
    #expect(try await tick(sandbox, homepod, "HomePod", at: "2026-11-23T05:05:00Z") == [])
    #expect(try await tick(sandbox, watch, "Watch", at: "2026-11-23T05:11:59Z") == [])
    #expect(try await tick(sandbox, watch, "Watch", at: "2026-11-23T05:12:00Z").count == 1)
    #expect(try await tick(sandbox, homepod, "HomePod", at: "2026-11-23T05:13:59Z") == [])
    #expect(try await tick(sandbox, homepod, "HomePod", at: "2026-11-23T05:14:00Z").count == 1)
  }

  @Test("All devices of a cascade use the time zone of the first device, even after it changes")
  func zones() async throws {
    let (sandbox, stores) = try await cascadeDevices(["Watch"])
    let watch = try #require(stores["Watch"])
    let california = "America/Los_Angeles"
    // 05:00 in California is 13:00 in UTC, the zone of the Watch.
    let add = try await sandbox.belfry(
      "cascade", "add", "emea", "device", "Watch", now: CascadeCommandTests.now, zone: california)
    #expect(add.status == 0, "\(add.err)")
    for command in ["preview", "status"] {
      let shown = try await sandbox.belfry(
        "cascade", command, "emea", now: CascadeCommandTests.now, zone: california)
      #expect(shown.out.contains("Mon 23 Nov 2026, 05:00 America/Los_Angeles"), "\(shown.out)")
    }
    let doctor = try await sandbox.belfry("doctor", now: CascadeCommandTests.now, zone: california)
    #expect(doctor.out.contains("05:00 America/Los_Angeles"), "\(doctor.out)")
    try await sync(sandbox, [sandbox.store, watch])
    let list = try await sandbox.belfry(
      "list", "--json", now: CascadeCommandTests.now, store: watch, device: "Watch")
    #expect(list.array.first?["next"] as? String == "2026-11-23T13:00:00Z", "\(list.out)")
    #expect(list.array.first?["cascadeZone"] as? String == california)
    let words = try await sandbox.belfry("list", now: CascadeCommandTests.now, store: watch)
    #expect(words.out.contains("05:00 America/Los_Angeles"), "\(words.out)")
    #expect(try await tick(sandbox, watch, "Watch", at: "2026-11-23T05:02:00Z") == [])
    // The occurrence is not due at 05:00 in the zone of the Watch, so the Watch cannot answer it.
    let stop = try await sandbox.belfry(
      "stop", "emea", now: "2026-11-23T05:03:00Z", store: watch, device: "Watch")
    #expect(stop.status == 4, "\(stop.out)")
    // The laptop moves to New York, three hours ahead, and its next tick records the zone.
    _ = try await sandbox.belfry("tick", now: "2026-11-23T06:00:00Z", zone: "America/New_York")
    try await sync(sandbox, [sandbox.store, watch], now: "2026-11-23T06:01:00Z")
    #expect(try await tick(sandbox, watch, "Watch", at: "2026-11-23T10:01:59Z") == [])
    #expect(try await tick(sandbox, watch, "Watch", at: "2026-11-23T10:02:00Z").count == 1)
    // A change of zone is not a user's edit, so undo does not offer it.
    let undo = try await sandbox.belfry("undo", now: "2026-11-23T10:03:00Z", zone: california)
    #expect(!undo.out.contains("Time zone"), "\(undo.out)")
  }

  @Test("A pause that begins while the first device rings stops the cascade")
  func pauseWhileRinging() async throws {
    let (sandbox, stores) = try await cascadeSteps(["Watch"])
    let watch = try #require(stores["Watch"])
    _ = try await sandbox.belfry("tick", now: "2026-11-23T05:00:00Z")
    let pause = try await sandbox.belfry(
      "pause", "emea", "--until", "2026-11-30", now: "2026-11-23T05:01:00Z")
    #expect(pause.status == 0, "\(pause.err)")
    try await sync(sandbox, [sandbox.store, watch], now: "2026-11-23T05:01:05Z")
    for minute in ["02", "04", "30"] {
      #expect(try await tick(sandbox, watch, "Watch", at: "2026-11-23T05:\(minute):00Z") == [])
    }
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-23T05:05:00Z", store: watch)
    #expect(list.array.first?["state"] as? String == "paused")
  }

  @Test("The notification of a cascade step states its reason and the time of the last sync")
  func reasons() async throws {
    let (sandbox, stores) = try await cascadeSteps(["Watch"])
    let watch = try #require(stores["Watch"])
    try sandbox.write(
      "#!/bin/sh\ncat >/dev/null\nprintf '%s|%s\\n' \"$BELFRY_CASCADE_STEP\" \"$BELFRY_BODY\" >> '\(sandbox.rang)'\n",
      to: sandbox.hooks + "/notify", mode: 0o755)
    let body = try await tick(sandbox, watch, "Watch", at: "2026-11-23T05:02:00Z")
    #expect(
      body.first
        == "1|Cascade step 1: not stopped on laptop. That is not certain: this device has not synced since 20:00.",
      "\(body)")
  }

  @Test("A cascade step reports an unreachable remote only after a failed sync")
  func unreachable() async throws {
    let (sandbox, stores) = try await cascadeSteps(["Watch"])
    let watch = try #require(stores["Watch"])
    try sandbox.write(
      "#!/bin/sh\ncat >/dev/null\nprintf '%s\\n' \"$BELFRY_BODY\" >> '\(sandbox.rang)'\n",
      to: sandbox.hooks + "/notify", mode: 0o755)
    try FileManager.default.moveItem(
      atPath: sandbox.root + "/remote.git", toPath: sandbox.root + "/away.git")
    let sync = try await sandbox.belfry(
      "sync", now: "2026-11-23T05:01:00Z", store: watch, device: "Watch")
    #expect(sync.status == 6)
    let body = try await tick(sandbox, watch, "Watch", at: "2026-11-23T05:02:00Z")
    #expect(body.first?.hasSuffix("the remote cannot be reached since 05:01.") == true, "\(body)")
  }

  @Test("The next step rings in the place of a device that is offline")
  func away() async throws {
    let (sandbox, stores) = try await cascadeSteps(["Watch", "HomePod"])
    let homepod = try #require(stores["HomePod"])
    // The sync finds no heartbeat of the Watch at the remote.
    try await sync(sandbox, [homepod], now: "2026-11-23T05:01:30Z")
    #expect(try await tick(sandbox, homepod, "HomePod", at: "2026-11-23T05:01:59Z") == [])
    #expect(try await tick(sandbox, homepod, "HomePod", at: "2026-11-23T05:02:00Z").count == 1)
  }

  @Test("Online steps driven by cron ring one after the other when the first device is offline")
  func cronOnly() async throws {
    let (sandbox, stores) = try await cascadeSteps(["Watch", "HomePod"])
    let cascades = try ["Watch", "HomePod"].map { ($0, try #require(stores[$0])) }
    // Without a daemon, heartbeats are half an hour apart.
    for (name, store) in cascades {
      _ = try await tick(sandbox, store, name, at: "2026-11-23T04:40:00Z")
      try await sync(sandbox, [store], now: "2026-11-23T04:40:00Z")
    }
    for (_, store) in cascades { try await sync(sandbox, [store], now: "2026-11-23T05:01:30Z") }
    let minutes = ["02", "04"]
    for (turn, (name, _)) in cascades.enumerated() {
      let now = "2026-11-23T05:\(minutes[turn]):00Z"
      for (other, store) in cascades {
        let rings = try await tick(sandbox, store, other, at: now)
        #expect(rings.count == (other == name ? 1 : 0), "\(other) at \(now)")
      }
    }
    let status = try await cascade(
      sandbox, "status", "emea", now: "2026-11-23T04:50:00Z", store: stores["Watch"],
      device: "Watch")
    #expect(status.out.contains("and syncs every 30 min"), "\(status.out)")
  }

  // MARK: Presence

  @Test("`status` and `doctor` list the steps that would ring, and warn when there are none")
  func outlook() async throws {
    let (sandbox, stores) = try await cascadeSteps(["Watch", "HomePod"])
    let watch = try #require(stores["Watch"])
    let none = try await cascade(sandbox, "status")
    #expect(
      none.err.contains("no step of the cascade of EMEA Standup is expected to ring"), "\(none.err)"
    )
    func doctor() async throws -> [String] {
      let doctor = try await sandbox.belfry("doctor", "--json", now: CascadeCommandTests.now)
      let findings = doctor.object["findings"] as? [[String: Any]] ?? []
      return findings.filter { $0["area"] as? String == "cascade" }
        .map { "\($0["level"] ?? ""): \($0["message"] ?? "")" }
    }
    #expect(
      try await doctor().contains {
        $0.hasPrefix("problem") && $0.contains("no step of its cascade is expected to ring")
      })
    // The Watch sends a heartbeat in its own reference, without a commit on the branch.
    let before = try await sandbox.git("rev-list", "--count", "main", in: watch).out
    let sign = try await sandbox.belfry(
      "sync", "--heartbeat-interval", "0", now: CascadeCommandTests.now, store: watch,
      device: "Watch")
    #expect(sign.status == 0, "\(sign.err)")
    try await sync(sandbox, [sandbox.store])
    let some = try await cascade(sandbox, "status", "--json")
    #expect(some.array.first?["live"] as? Int == 1)
    let members = some.array.first?["members"] as? [[String: Any]] ?? []
    #expect(members.map { $0["wouldRing"] as? Bool } == [false, true, false])
    #expect(try await doctor().contains { $0.contains("1 of 2 steps of its cascade would ring") })
    #expect(try await sandbox.git("rev-list", "--count", "main", in: watch).out == before)
    // The heartbeat expires within two hours.
    let late = try await cascade(sandbox, "status", "--json", now: "2026-11-22T22:00:00Z")
    #expect(late.array.first?["live"] as? Int == 0)
  }

  @Test("An online device without the current cascade is not counted")
  func uninformed() async throws {
    let (sandbox, stores) = try await cascadeDevices(["Watch"])
    let watch = try #require(stores["Watch"])
    _ = try await sandbox.belfry(
      "sync", "--heartbeat-interval", "0", now: CascadeCommandTests.now, store: watch,
      device: "Watch")
    _ = try await cascade(sandbox, "add", "emea", "device", "Watch")
    try await sync(sandbox, [sandbox.store])
    let before = try await cascade(sandbox, "status")
    #expect(before.out.contains("does not have this cascade yet"), "\(before.out)")
    #expect(before.err.contains("no step of the cascade of EMEA Standup is expected to ring"))
    // The Watch gets the cascade, and its next heartbeat reports that.
    try await sync(sandbox, [watch])
    _ = try await sandbox.belfry(
      "sync", "--heartbeat-interval", "0", now: "2026-11-22T20:00:10Z", store: watch,
      device: "Watch")
    try await sync(sandbox, [sandbox.store], now: "2026-11-22T20:00:20Z")
    let after = try await cascade(sandbox, "status", "--json", now: "2026-11-22T20:00:20Z")
    #expect(after.array.first?["live"] as? Int == 1, "\(after.out)")
    // Each alarm is judged by its own cascade.
    _ = try await sandbox.belfry(
      "add", "Flight", "--daily", "--at", "06:00", now: "2026-11-22T20:00:21Z")
    _ = try await cascade(
      sandbox, "add", "flight", "device", "Watch", now: "2026-11-22T20:00:22Z")
    let both = try await cascade(sandbox, "status", "--json", now: "2026-11-22T20:00:23Z")
    #expect(both.array.map { $0["live"] as? Int } == [1, 0], "\(both.out)")
  }

  @Test("`cascade status` shows the progress of a ringing cascade")
  func round() async throws {
    let (sandbox, _) = try await cascadeSteps(["Watch"])
    _ = try await tick(sandbox, sandbox.store, "laptop", at: "2026-11-23T05:00:00Z")
    let status = try await cascade(sandbox, "status", "emea", now: "2026-11-23T05:01:00Z")
    #expect(status.out.contains("rings unanswered"), "\(status.out)\(status.err)")
    #expect(status.out.contains("5:00  laptop, first  rang at 5:00"))
    #expect(status.out.contains("5:02  Alarm on Watch  upcoming"))
    // The Watch never sent a heartbeat, so its ring is not certain.
    let later = try await cascade(sandbox, "status", "emea", now: "2026-11-23T05:03:00Z")
    #expect(
      later.out.contains("5:02  Alarm on Watch  due, but the device is offline"),
      "\(later.out)")
    let json = try await cascade(sandbox, "status", "emea", "--json", now: "2026-11-23T05:04:30Z")
    #expect(json.array.first?["standing"] as? String == "exhausted")
  }

  @Test("`cascade status` names a step that was passed over, and one that could not be delivered")
  func silentSteps() async throws {
    let (sandbox, stores) = try await cascadeSteps(["Watch", "HomePod"])
    let (watch, homepod) = (try #require(stores["Watch"]), try #require(stores["HomePod"]))
    // Both steps sent a heartbeat half an hour ago. Shortly before the alarm, only the HomePod does.
    for (store, device) in [(watch, "Watch"), (homepod, "HomePod")] {
      _ = try await sandbox.belfry(
        "sync", "--heartbeat-interval", "1800", now: "2026-11-23T04:30:00Z", store: store,
        device: device)
    }
    for time in ["04:58:00", "05:01:30"] {
      _ = try await sandbox.belfry(
        "sync", "--heartbeat-interval", "240", now: "2026-11-23T\(time)Z", store: homepod,
        device: "HomePod")
    }
    for hook in ["notify", "ring"] {
      try sandbox.write("#!/bin/sh\nexit 1\n", to: sandbox.hooks + "/\(hook)", mode: 0o755)
    }
    let tick = try await sandbox.belfry(
      "tick", now: "2026-11-23T05:02:00Z", store: homepod, device: "HomePod",
      environment: ["PATH": "/nonexistent"])
    #expect(tick.err.contains("no notification could be shown"), "\(tick)")
    let status = try await sandbox.run(
      Sandbox.binary, ["cascade", "status", "emea"],
      environment: [
        "TZ": "UTC", "BELFRY_DEVICE": "HomePod", "BELFRY_NOW": "2026-11-23T05:02:10Z",
        "BELFRY_STORE": homepod,
      ])
    #expect(
      status.out.contains("Alarm on Watch  passed over, as the device is offline"),
      "\(status.out)\(status.err)")
    #expect(
      status.out.contains("Alarm on HomePod  could not be delivered at 5:02"), "\(status.out)")
    // The log brings it to the other devices.
    for (store, device) in [(homepod, "HomePod"), (sandbox.store, "laptop")] {
      _ = try await sandbox.belfry(
        "sync", now: "2026-11-23T05:02:20Z", store: store, device: device)
    }
    let remote = try await cascade(sandbox, "status", "emea", now: "2026-11-23T05:02:30Z")
    #expect(
      remote.out.contains("Alarm on HomePod  could not be delivered at 5:02"), "\(remote.out)")
  }

  @Test("Forged heartbeats at a remote have no effect")
  func forgedHeartbeats() async throws {
    let (sandbox, stores) = try await cascadeSteps(["Watch"])
    let watch = try #require(stores["Watch"])
    let remote = sandbox.root + "/remote.git"
    let id = try #require(
      try await sandbox.belfry("device", "--json", now: CascadeCommandTests.now, store: watch)
        .object["id"]
        as? String)
    let script = """
      cd '\(remote)'
      blob=$(echo nonsense | git hash-object -w --stdin)
      tree=$(git mktree </dev/null)
      export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x
      late=$(GIT_COMMITTER_DATE='2060-01-01T00:00:00Z' git commit-tree -m x $tree)
      git update-ref refs/belfry/alive/\(id) $late
      for i in $(seq 300); do echo "create refs/belfry/alive/stranger$i $blob"; done | git update-ref --stdin
      git update-ref 'refs/belfry/alive/a/b/$(id)' $blob
      """
    let made = try await sandbox.run("/bin/sh", ["-ec", script])
    #expect(made.status == 0, "\(made.err)")
    try await sync(sandbox, [sandbox.store])
    let status = try await cascade(sandbox, "status", "--json")
    #expect(status.array.first?["live"] as? Int == 0, "\(status.out)")
    // The store keeps no copy of the forged references.
    let refs = try await sandbox.git("for-each-ref", "--format=%(refname)", "refs/belfry/alive")
    #expect(refs.out.isEmpty)
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test("A rehearsal rings on every device, is marked as a test, and is logged by each device")
  func rehearsal() async throws {
    let (sandbox, stores) = try await cascadeSteps(["Watch"])
    let watch = try #require(stores["Watch"])
    try sandbox.write(
      "#!/bin/sh\ncat >/dev/null\nprintf '%s|%s\\n' \"$BELFRY_KIND\" \"$BELFRY_HEADLINE\" >> '\(sandbox.rang)'\n",
      to: sandbox.hooks + "/notify", mode: 0o755)
    let test = try await cascade(sandbox, "test", "emea")
    #expect(test.status == 0, "\(test.err)")
    try await sync(sandbox, [watch])
    let after = "2026-11-22T20:00:30Z"
    #expect(
      try await tick(sandbox, watch, "Watch", at: after) == ["rehearsal|Test: EMEA Standup"])
    #expect(try await tick(sandbox, watch, "Watch", at: "2026-11-22T20:00:40Z") == [])
    #expect(try await tick(sandbox, sandbox.store, "laptop", at: after).count == 1)
    try await sync(sandbox, [watch, sandbox.store], now: "2026-11-22T20:01:00Z")
    let log = try await sandbox.belfry("log", now: "2026-11-22T20:01:00Z")
    for report in ["requested", "rang on Watch", "rang on laptop"] {
      #expect(log.out.contains(", \(report)  "), "\(log.out)")
    }
    #expect(log.out.split(separator: "\n").count { $0.contains("  Rehearsed  ") } == 3)
    // The rehearsal leaves the alarm unchanged.
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-22T20:02:00Z")
    #expect(list.array.first?["nextOccurrence"] as? String == "2026-11-23T05:00")
    // A rehearsal is refused shortly before the alarm rings.
    let near = try await cascade(sandbox, "test", "emea", now: "2026-11-23T04:50:00Z")
    #expect(near.status == 4)
  }

  // MARK: Calls

  /// Installs a call hook that records its calls.
  private func installCallHook(_ sandbox: Sandbox, ending: String = "echo answered") throws {
    try sandbox.write(
      """
      #!/bin/sh
      cat >/dev/null
      printf '%s|%s|%s\\n' "$BELFRY_STORE" "$BELFRY_NUMBER" "$BELFRY_MESSAGE" >> '\(sandbox.root)/called'
      \(ending)
      """, to: sandbox.hooks + "/call", mode: 0o755)
  }

  private func calls(_ sandbox: Sandbox, until count: Int) async throws -> [String] {
    for _ in 0..<200 {
      let lines = ((try? sandbox.read(sandbox.root + "/called")) ?? "").split(separator: "\n")
      if lines.count >= count { return lines.map(String.init) }
      try await Task.sleep(for: .milliseconds(50))
    }
    return []
  }

  @Test("The preview shows Call for a phone number")
  func previewedCall() async throws {
    let (sandbox, _) = try await cascadeDevices()
    _ = try await cascade(sandbox, "add", "emea", "device", "Watch")
    _ = try await cascade(sandbox, "add", "emea", "phone", "5551234567")
    let preview = try await cascade(sandbox, "preview", "emea")
    #expect(preview.out.hasSuffix("  5:02  Alarm on Watch\n  5:04  Call (555) 123-4567\n"))
  }

  @Test("The phone step calls the number with a message that identifies the alarm")
  func placedCall() async throws {
    let (sandbox, stores) = try await cascadeDevices(["Watch", "server"])
    _ = try await sandbox.belfry("device", "--owner", "Chris", now: CascadeCommandTests.now)
    _ = try await cascade(sandbox, "add", "emea", "device", "Watch")
    _ = try await cascade(
      sandbox, "add", "emea", "phone", "5551234567", "--message",
      "Please contact the guest in room 412.")
    try installCallHook(
      sandbox,
      ending: "tr '\\0' ' ' </proc/$PPID/cmdline >> '\(sandbox.root)/arguments'; echo answered")
    let server = try #require(stores["server"])
    try await sync(sandbox, [sandbox.store, server])
    let own = try await sandbox.belfry(
      "calls", "hook", now: CascadeCommandTests.now, store: server, device: "server")
    #expect(own.status == 0, "\(own.err)")
    try await sync(sandbox, [server, sandbox.store])
    _ = try await tick(sandbox, server, "server", at: "2026-11-23T05:03:59Z")
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/called"))
    _ = try await tick(sandbox, server, "server", at: "2026-11-23T05:04:00Z")
    let called = try await calls(sandbox, until: 1)
    #expect(
      called.first?.hasSuffix(
        "|+15551234567|This is an automated backup alarm from Chris's laptop. EMEA Standup, due at 05:00. Please contact the guest in room 412."
      ) == true, "\(called)")
    // The outcome is logged, and the number is not called again.
    var entries: [Substring] = []
    for _ in 0..<100 where entries.isEmpty {
      let log = try await sandbox.belfry("log", now: "2026-11-23T05:05:00Z", store: server)
      entries = log.out.split(separator: "\n").filter { $0.contains("  Called  ") }
    }
    #expect(entries.count == 1)
    #expect(entries.first?.contains(", (555) 123-4567: answered, try 1  ") == true, "\(entries)")
    // Every user of the machine can list the arguments of processes.
    let arguments = try sandbox.read(sandbox.root + "/arguments")
    #expect(arguments.contains("cascade contact") && !arguments.contains("1234567"), "\(arguments)")
    _ = try await tick(sandbox, server, "server", at: "2026-11-23T05:05:00Z")
    #expect(try await sandbox.waitForHelpers())
    #expect(try await calls(sandbox, until: 1).count == 1)
  }

  @Test(
    "A tick starts a call once, only on a device that can call, and not for a missed occurrence")
  func startedCalls() async throws {
    let (sandbox, stores) = try await cascadeDevices(["server"])
    _ = try await cascade(sandbox, "add", "emea", "phone", "5551234567")
    try installCallHook(
      sandbox,
      ending: "\(sandbox.waitFor)wait_for [ -e '\(sandbox.root)/hung-up' ]\necho answered")
    let server = try #require(stores["server"])
    try await sync(sandbox, [sandbox.store, server])
    _ = try await sandbox.belfry(
      "calls", "hook", now: CascadeCommandTests.now, store: server, device: "server")
    try await sync(sandbox, [server, sandbox.store])
    func started(_ store: String, _ device: String, at time: String) async throws -> Bool {
      let tick = try await sandbox.belfry(
        "tick", now: "2026-11-23T\(time)Z", store: store, device: device)
      #expect(tick.status == 0, "\(tick.err)")
      return tick.out.contains("Started: Call (555) 123-4567")
    }
    #expect(try await !started(sandbox.store, "laptop", at: "05:02:00"))
    #expect(try await started(server, "server", at: "05:02:00"))
    #expect(try await calls(sandbox, until: 1).count == 1)
    #expect(try await !started(server, "server", at: "05:03:00"))
    try sandbox.write("", to: sandbox.root + "/hung-up")
    #expect(try await sandbox.waitForHelpers())
    #expect(try await !started(server, "server", at: "05:04:00"))
    // The laptop, which rang, learns to call only after the occurrence is over.
    _ = try await sandbox.belfry("calls", "hook", now: "2026-11-23T08:00:00Z")
    let late = try await sandbox.belfry("tick", now: "2026-11-23T08:00:00Z")
    #expect(late.out.contains("Missed: EMEA Standup"), "\(late.out)")
    #expect(!late.out.contains("Started:"), "\(late.out)")
  }

  @Test("Only one of two devices that can call places the call")
  func election() async throws {
    let (sandbox, stores) = try await cascadeDevices(["Watch", "HomePod"])
    for name in ["Watch", "HomePod"] {
      _ = try await cascade(sandbox, "add", "emea", "device", name)
    }
    _ = try await cascade(sandbox, "add", "emea", "phone", "5551234567")
    try installCallHook(sandbox, ending: "sleep 3; echo answered")
    let all = ["Watch", "HomePod"].compactMap { stores[$0] }
    try await sync(sandbox, [sandbox.store] + all)
    for (name, store) in stores {
      _ = try await sandbox.belfry(
        "calls", "hook", now: CascadeCommandTests.now, store: store, device: name)
    }
    try await sync(sandbox, all + all + [sandbox.store])
    // Late enough that neither device waits for the other.
    let id = try alarm(sandbox)
    @Sendable func place(_ name: String) async throws -> Sandbox.Output {
      try await cascade(
        sandbox, "contact", id, "--occurrence", "2026-11-23T05:00", "--target",
        "phone +15551234567", "--due", "2026-11-23T05:06:00Z", now: "2026-11-23T05:07:00Z",
        store: stores[name], device: name)
    }
    async let one = place("Watch")
    async let two = place("HomePod")
    let outcomes = try await [one, two]
    #expect(outcomes.allSatisfy { $0.status == 0 }, "\(outcomes.map(\.err))")
    #expect(try await calls(sandbox, until: 1).count == 1)
    let refs = try await sandbox.git(
      "for-each-ref", "--format=%(refname)", "refs/belfry/calls", in: sandbox.root + "/remote.git")
    let names = refs.out.split(separator: "\n").map { line -> String in
      String(line.split(separator: "/").last ?? "")
    }
    #expect(names == ["1", "1-answered"], "\(refs.out)")
  }

  private func alarm(_ sandbox: Sandbox) throws -> String {
    let file = try sandbox.alarmFile()
    return String((file as NSString).lastPathComponent.dropLast(5))
  }

  @Test("The follow-up goes to the alarm's owner, not to the person who stopped it")
  func followUp() async throws {
    let (sandbox, stores) = try await cascadeDevices(["Watch"])
    let watch = try #require(stores["Watch"])
    _ = try await sandbox.belfry("device", "--owner", "Chris", now: CascadeCommandTests.now)
    _ = try await sandbox.belfry(
      "device", "--owner", "Jen", now: CascadeCommandTests.now, store: watch, device: "Watch")
    try await sync(sandbox, [watch, sandbox.store])
    _ = try await cascade(sandbox, "add", "emea", "device", "Watch")
    try await sync(sandbox, [sandbox.store, watch])
    _ = try await tick(sandbox, watch, "Watch", at: "2026-11-23T05:02:00Z")
    let stop = try await sandbox.belfry(
      "stop", "emea", now: "2026-11-23T05:03:00Z", store: watch, device: "Watch")
    #expect(stop.status == 0, "\(stop.err)")
    try await sync(sandbox, [watch, sandbox.store], now: "2026-11-23T05:04:00Z")
    func asks(_ store: String, _ device: String) async throws -> Int? {
      let tick = try await sandbox.belfry(
        "tick", "--json", now: "2026-11-23T05:34:00Z", store: store, device: device)
      return (tick.object["followUps"] as? [Any])?.count
    }
    #expect(try await asks(watch, "Watch") == 0)
    #expect(try await asks(sandbox.store, "laptop") == 1)
  }

  @Test("The task on a phone is a step without a ring, a call or a report")
  func phoneTasks() async throws {
    let (sandbox, stores) = try await cascadeDevices(["Watch"])
    let add = try await cascade(sandbox, "add", "emea", "phone-tasks")
    #expect(
      add.out.contains("1  the phone's task app  Rings from the phone's own copy of the task"),
      "\(add.out)")
    #expect(add.err.contains("no device of this store publishes tasks for a phone"), "\(add.err)")
    _ = try await cascade(sandbox, "add", "emea", "device", "Watch")
    for (words, message) in [
      (["phone-tasks"], "is already in the cascade"), (["phone-tasks", "x"], "takes no name"),
    ] {
      let again = try await sandbox.belfry(
        ["cascade", "add", "emea"] + words, now: CascadeCommandTests.now)
      #expect(again.status == (words.count == 1 ? 2 : 64) || again.status == 2)
      #expect(again.err.contains(message), "\(again.err)")
    }
    let preview = try await cascade(sandbox, "preview", "emea")
    #expect(
      preview.out.hasSuffix("\n  5:02  Task on the phone\n  5:04  Alarm on Watch\n"),
      "\(preview.out)")
    let list = try await cascade(sandbox, "list", "emea", "--json")
    let first = (list.object["targets"] as? [[String: Any]])?.first
    #expect(first?["kind"] as? String == "phone-tasks")
    #expect(first?["label"] as? String == "the phone's task app")
    // No device publishes tasks yet.
    let status = try await cascade(sandbox, "status", "emea")
    #expect(status.out.contains("silent  no device publishes tasks"), "\(status.out)")
    let doctor = try await sandbox.belfry("doctor", now: CascadeCommandTests.now)
    #expect(
      doctor.out.contains(
        "EMEA Standup: a step is the task on a phone, but no device of this store publishes tasks."),
      "\(doctor.out)")
    // The other device has the step, too, and rings after it.
    let watch = try #require(stores["Watch"])
    try await sync(sandbox, [sandbox.store, watch])
    let early = try await tick(sandbox, watch, "Watch", at: "2026-11-23T05:02:00Z")
    #expect(early.isEmpty)
    let tick = try await sandbox.belfry("tick", "--json", now: "2026-11-23T05:02:00Z")
    #expect((tick.object["calls"] as? [Any])?.isEmpty ?? true, "\(tick.out)")
    let during = try await cascade(sandbox, "status", "emea", now: "2026-11-23T05:02:30Z")
    #expect(
      during.out.contains("5:02  Task on the phone  rings there, if it has synced"),
      "\(during.out)")
    for (words, expected) in [
      (["move", "emea", "1", "2"], ["Watch", "the phone's task app"]),
      (["remove", "emea", "phone-tasks", "--yes"], ["Watch"]),
    ] {
      let changed = try await sandbox.belfry(
        ["cascade"] + words + ["--json"], now: CascadeCommandTests.now)
      let targets = changed.object["targets"] as? [[String: Any]]
      #expect(targets?.map { $0["label"] as? String } == expected, "\(changed.err)")
    }
    let log = try await sandbox.belfry("log", "emea", now: CascadeCommandTests.now)
    #expect(log.out.contains("the phone's task app added"), "\(log.out)")
    #expect(log.out.contains("the phone's task app removed"), "\(log.out)")
  }

  @Test("A person without a device in the store gets a message")
  func person() async throws {
    let (sandbox, _) = try await cascadeDevices([])
    let nobody = try await cascade(sandbox, "add", "emea", "person", "Sam")
    #expect(nobody.status == 2)
    #expect(nobody.err.contains("Sam owns no device of this store"))
    _ = try await cascade(
      sandbox, "add", "emea", "person", "Sam", "--address", "https://ntfy.sh/wake-sam", "--gadget",
      "Pixel")
    try sandbox.write(
      "#!/bin/sh\nprintf '%s|%s|%s\\n' \"$BELFRY_PERSON\" \"$BELFRY_ADDRESS\" \"$BELFRY_MESSAGE\" >> '\(sandbox.root)/called'\n",
      to: sandbox.hooks + "/person", mode: 0o755)
    #expect(
      try await cascade(sandbox, "preview", "emea").out.contains("5:02  Alarm on Sam's Pixel"))
    let tick = try await sandbox.belfry("tick", "--json", now: "2026-11-23T05:02:00Z")
    let started = (tick.object["calls"] as? [[String: Any]])?.first
    #expect(started?["person"] as? String == "Sam", "\(tick.out)")
    #expect(started?["occurrence"] as? String == "2026-11-23T05:00")
    let sent = try await calls(sandbox, until: 1)
    #expect(
      sent == [
        "Sam|https://ntfy.sh/wake-sam|This is an automated backup alarm from laptop. EMEA Standup, due at 05:00."
      ])
  }
}
