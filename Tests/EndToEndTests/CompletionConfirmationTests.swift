import TestSupport
import Testing

/// Pending occurrences, their follow-ups and their confirmation.
@Suite struct CompletionConfirmationTests {
  private static let monday = "2026-11-23T09:00"

  /// Returns a store with an alarm that rings since Mon 23 Nov 2026, 09:00.
  private func ringing(tier: String = "plus", _ options: String...) async throws -> Sandbox {
    let sandbox = try Sandbox()
    if tier != "free" { try await sandbox.plus() }
    let add = try await sandbox.run(
      Sandbox.binary,
      ["add", "Rent reminder", "--weekly", "mon,fri", "--at", "09:00"] + options,
      environment: ["BELFRY_NOW": "2026-11-20T22:41:00Z", "TZ": "UTC", "BELFRY_DEVICE": "laptop"])
    #expect(add.status == 0, "\(add.err)")
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    #expect(sandbox.rings == ["Rent reminder \(CompletionConfirmationTests.monday)"])
    return sandbox
  }

  /// Returns a time of that Monday.
  private func at(_ time: String) -> String { "2026-11-23T\(time)Z" }

  private func alarm(_ sandbox: Sandbox, _ now: String) async throws -> [String: Any] {
    try #require(try await sandbox.belfry("list", "--json", now: now).array.first)
  }

  private func pending(_ alarm: [String: Any]) -> [String: Any] {
    alarm["pending"] as? [String: Any] ?? [:]
  }

  private func actions(_ sandbox: Sandbox) async throws -> [String] {
    try await sandbox.belfry("log", "--json", now: at("23:00:00")).array.reversed().map {
      ($0["action"] as? String ?? "") + ($0["auto"] as? Bool == true ? " auto" : "")
    }
  }

  private func sentFollowUps(_ sandbox: Sandbox) -> [String] {
    sandbox.rings.filter { $0.hasPrefix("Did you") }
  }

  // MARK: Pending and follow-ups

  @Test("A stopped alarm is pending until it is confirmed")
  func stopMakesPending() async throws {
    let sandbox = try await ringing()
    let stop = try await sandbox.belfry("stop", "rent", now: at("09:00:10"))
    #expect(
      stop.out
        == "Stopped Rent reminder (Mon 23 Nov 2026, 09:00): pending until 'belfry done', next follow-up at 09:30; next is Fri 27 Nov 2026, 09:00, in 3 days 23 h.\n"
    )
    let alarm = try await alarm(sandbox, at("09:01:00"))
    #expect(alarm["state"] as? String == "pending")
    #expect(pending(alarm)["occurrence"] as? String == CompletionConfirmationTests.monday)
    #expect(pending(alarm)["since"] as? String == at("09:00:10"))
    #expect(pending(alarm)["followUpsSent"] as? Int == 0)
    #expect(pending(alarm)["nextFollowUp"] as? String == at("09:30:10"))
  }

  @Test("Done on a ringing alarm completes it without a pending state")
  func doneSkipsPending() async throws {
    let sandbox = try await ringing()
    #expect(try await sandbox.belfry("done", "rent", now: at("09:00:10")).status == 0)
    #expect(try await alarm(sandbox, at("09:01:00"))["state"] as? String == "active")
    #expect(try await actions(sandbox) == ["created", "fired", "done"])
    _ = try await sandbox.belfry("tick", now: at("10:31:00"))
    #expect(sentFollowUps(sandbox).isEmpty)
  }

  @Test("The list marks pending alarms")
  func listMarksPending() async throws {
    let sandbox = try await ringing()
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:10"))
    let list = try await sandbox.belfry("list", "--cards", now: at("09:01:00")).out
    #expect(list.contains("Pending: Mon 23 Nov 2026, 09:00, next follow-up at 09:30"))
    let pending = try await sandbox.belfry("pending", now: at("09:01:00")).out
    #expect(pending.contains("Pending: Mon 23 Nov 2026, 09:00, stopped"))
    let json = try await sandbox.belfry("pending", "--json", now: at("09:01:00")).array
    #expect(json.map { $0["title"] as? String } == ["Rent reminder"])
    // The catalog shows the colors.
    let catalog = try await sandbox.belfry("catalog", "--color", "always", "--width", "80").out
    #expect(catalog.contains("\u{1B}[1;95mPending:\u{1B}[0m"))
    #expect(catalog.contains("\u{1B}[33mSnoozed\u{1B}[0m"))
    #expect(catalog.contains("\u{1B}[1;31mMissed:\u{1B}[0m"))
  }

  @Test("Follow-ups are sent 30, 60 and 90 minutes after the stop")
  func followUps() async throws {
    let sandbox = try await ringing()
    try sandbox.write(
      "#!/bin/sh\ncat >> '\(sandbox.root)/asked'\n", to: sandbox.hooks + "/follow-up", mode: 0o755)
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:10"))
    #expect(
      try await sandbox.belfry("tick", "--json", now: at("09:30:09")).object["nextWake"] as? String
        == at("09:30:10"))
    var asked: [String] = []
    for (time, number) in [("09:30:10", 1), ("10:00:10", 2), ("10:30:10", 3)] {
      let tick = try await sandbox.belfry("tick", "--json", now: at(time))
      let followUp = try #require((tick.object["followUps"] as? [[String: Any]])?.first)
      #expect(followUp["number"] as? Int == number)
      #expect(followUp["last"] as? Bool == (number == 3))
      #expect(followUp["headline"] as? String == "Did you Rent reminder?")
      #expect(followUp["actions"] as? [String] == ["done", "remind"])
      asked.append(try sandbox.read(sandbox.root + "/asked"))
      #expect(
        pending(try await alarm(sandbox, at(time)))["followUpsSent"] as? Int == number)
      // A second tick does not repeat the follow-up.
      let again = try await sandbox.belfry("tick", "--json", now: at(time))
      #expect((again.object["followUps"] as? [Any])?.isEmpty == true)
    }
    #expect(asked[2].contains("\"last\": true"))
    #expect(!asked[1].contains("\"last\": true"))
    #expect(
      try await actions(sandbox)
        == ["created", "fired", "stopped", "reminded", "reminded", "reminded"])
  }

  @Test("A follow-up asks \"Did you [alarm title]?\", and the third one says that it is the last")
  func followUpText() async throws {
    let sandbox = try await ringing()
    try sandbox.write(
      "#!/bin/sh\ncat >/dev/null\nprintf '%s|%s|%s\\n' \"$BELFRY_HEADLINE\" \"$BELFRY_LAST\" \"$BELFRY_BODY\" >> '\(sandbox.rang)'\n",
      to: sandbox.hooks + "/follow-up", mode: 0o755)
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:00"))
    for time in ["09:30:00", "10:00:00", "10:30:00"] {
      _ = try await sandbox.belfry("tick", now: at(time))
    }
    let asked = sentFollowUps(sandbox)
    #expect(asked.count == 3)
    #expect(
      asked[0] == "Did you Rent reminder?|false|Stopped, not confirmed yet: Mon 23 Nov 2026, 09:00."
    )
    #expect(asked[2].hasPrefix("Did you Rent reminder?|true|"))
    #expect(sandbox.rings.last == "This is the last reminder; it stays pending until it is done.")
  }

  @Test("An alarm stays pending without further follow-ups after the third one")
  func followUpLimit() async throws {
    let sandbox = try await ringing()
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:00"))
    for time in ["09:30:00", "10:00:00", "10:30:00", "11:00:00", "12:00:00", "23:00:00"] {
      _ = try await sandbox.belfry("tick", now: at(time))
    }
    #expect(sentFollowUps(sandbox).count == 3)
    let alarm = try await alarm(sandbox, at("23:00:00"))
    #expect(alarm["state"] as? String == "pending")
    #expect(pending(alarm)["nextFollowUp"] == nil)
  }

  @Test("Only the latest overdue follow-up is sent after downtime")
  func afterDowntime() async throws {
    let sandbox = try await ringing()
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:00"))
    let tick = try await sandbox.belfry("tick", "--json", now: at("10:10:00"))
    let sent = tick.object["followUps"] as? [[String: Any]] ?? []
    #expect(sent.map { $0["number"] as? Int } == [2])
    _ = try await sandbox.belfry("tick", now: at("10:30:00"))
    _ = try await sandbox.belfry("tick", now: at("18:00:00"))
    #expect(sentFollowUps(sandbox).count == 2)
  }

  @Test("The list shows the command that confirms a pending alarm")
  func listShowsDone() async throws {
    let sandbox = try await ringing()
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:10"))
    let list = try await sandbox.belfry("list", "--cards", now: at("09:01:00")).out
    let id = try #require(try await alarm(sandbox, at("09:01:00"))["id"] as? String)
    #expect(list.contains("if it is done: belfry done \(id.prefix(8))"))
    let done = try await sandbox.belfry("done", String(id.prefix(8)), now: at("09:20:00"))
    #expect(done.status == 0)
    #expect(try await alarm(sandbox, at("09:21:00"))["state"] as? String == "active")
  }

  @Test(
    "Done in the follow-up confirms the occurrence, and Remind Me waits for the next follow-up")
  func doneFromTheNotification() async throws {
    let sandbox = try await ringing()
    func hook(_ answer: String) throws {
      try sandbox.write(
        "#!/bin/sh\ncat >/dev/null\necho asked >> '\(sandbox.rang)'\necho \(answer)\n",
        to: sandbox.hooks + "/follow-up", mode: 0o755)
    }
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:00"))
    try hook("remind")
    _ = try await sandbox.belfry("tick", now: at("09:30:00"))
    #expect(try await alarm(sandbox, at("09:31:00"))["state"] as? String == "pending")
    try hook("done")
    let tick = try await sandbox.belfry("tick", now: at("10:00:00"))
    #expect(tick.out.contains("Answered: Rent reminder, Mon 23 Nov 2026, 09:00: done."))
    #expect(try await alarm(sandbox, at("10:01:00"))["state"] as? String == "active")
    _ = try await sandbox.belfry("tick", now: at("10:30:00"))
    #expect(sandbox.rings.filter { $0 == "asked" }.count == 2)
  }

  @Test("A stop completes the alarm on the free tier")
  func freeTierStopIsDone() async throws {
    let sandbox = try await ringing(tier: "free")
    let stop = try await sandbox.belfry("stop", "rent", "--json", now: at("09:00:10"))
    #expect(stop.object["action"] as? String == "done")
    #expect(try await alarm(sandbox, at("09:01:00"))["state"] as? String == "active")
    _ = try await sandbox.belfry("tick", now: at("10:31:00"))
    #expect(sentFollowUps(sandbox).isEmpty)
  }

  @Test("The pending state persists between commands and reaches other clones")
  func pendingPersists() async throws {
    let sandbox = try await ringing()
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:10"))
    #expect(try sandbox.read(sandbox.alarmFile()).contains("\"state\": \"pending\""))
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    #expect(try await alarm(sandbox, "2026-11-26T09:00:00Z")["state"] as? String == "pending")
  }

  @Test("A pending occurrence does not block the next one")
  func pendingDoesNotBlock() async throws {
    let sandbox = try await ringing()
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:10"))
    let friday = "2026-11-27T09:00:00Z"
    let tick = try await sandbox.belfry("tick", "--json", now: friday)
    #expect((tick.object["fired"] as? [Any])?.count == 1)
    #expect(sandbox.rings.last == "Rent reminder 2026-11-27T09:00")
  }

  // MARK: Edge cases

  @Test("The next occurrence completes a pending one automatically")
  func nextCompletesPending() async throws {
    let sandbox = try await ringing()
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:10"))
    let tick = try await sandbox.belfry("tick", "--json", now: "2026-11-27T09:00:00Z")
    let completed = tick.object["autoCompleted"] as? [[String: Any]] ?? []
    #expect(completed.map { $0["occurrence"] as? String } == [CompletionConfirmationTests.monday])
    #expect(try await alarm(sandbox, "2026-11-27T09:01:00Z")["state"] as? String == "ringing")
    let stats = try await sandbox.belfry("stats", "rent", "--json", now: "2026-11-27T09:01:00Z")
    #expect(stats.object["autoCompleted"] as? Int == 1)
    #expect(stats.object["done"] as? Int == 0)
    #expect(stats.object["streak"] as? Int == 0)
    let actions = try await actions(sandbox)
    #expect(actions.prefix(3) == ["created", "fired", "stopped"])
    #expect(Set(actions.dropFirst(3)) == ["done auto", "fired"])
  }

  @Test("Disabling an alarm clears its pending occurrence and logs that")
  func disableClears() async throws {
    let sandbox = try await ringing()
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:10"))
    _ = try await sandbox.belfry("disable", "rent", now: at("09:10:00"))
    #expect(
      try await Set(actions(sandbox).suffix(2)) == ["cleared", "disabled"])
    _ = try await sandbox.belfry("tick", now: at("09:30:10"))
    #expect(sentFollowUps(sandbox).isEmpty)
    _ = try await sandbox.belfry("enable", "rent", now: at("09:31:00"))
    #expect(try await alarm(sandbox, at("09:32:00"))["state"] as? String == "active")
    #expect(try await sandbox.belfry("pending", "--json", now: at("09:32:00")).out == "[]\n")
  }

  @Test("A downgrade to the free tier completes pending occurrences automatically")
  func downgradeCompletes() async throws {
    let sandbox = try await ringing()
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:10"))
    let tier = try await sandbox.belfry("tier", "free", now: at("09:10:00"))
    #expect(tier.out.contains("Completed automatically: Rent reminder, Mon 23 Nov 2026, 09:00."))
    #expect(try await actions(sandbox).last == "done auto")
    #expect(try await alarm(sandbox, at("09:11:00"))["state"] as? String == "active")
    // The tier and the completion are in one commit.
    #expect(try await sandbox.git("log", "-1", "--format=%s").out == "Set tier to free\n")
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test("An undone downgrade takes back the completions that followed from it")
  func undoneDowngrade() async throws {
    let sandbox = try await ringing()
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:10"))
    let server = try await sandbox.secondDevice(now: at("09:05:00"))
    _ = try await sandbox.belfry("tier", "free", now: at("09:10:00"))
    for store in [sandbox.store, server] {
      _ = try await sandbox.belfry("sync", now: at("09:11:00"), store: store)
    }
    _ = try await sandbox.belfry("undo", now: at("09:12:00"))
    for store in [server, sandbox.store, server] {
      _ = try await sandbox.belfry("sync", now: at("09:13:00"), store: store)
    }
    for store in [sandbox.store, server] {
      let pending = try await sandbox.belfry("pending", "--json", now: at("09:14:00"), store: store)
      #expect(pending.array.count == 1)
    }
    _ = try await sandbox.belfry("tick", now: at("09:30:20"))
    #expect(sentFollowUps(sandbox).count == 1)
  }

  @Test("The next tick completes pending occurrences after a synced or hand-edited downgrade")
  func downgradeByHand() async throws {
    let sandbox = try await ringing()
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:10"))
    try sandbox.write("{\"format\": 1, \"tier\": \"free\"}\n", to: sandbox.store + "/settings.json")
    let tick = try await sandbox.belfry("tick", "--json", now: at("09:30:10"))
    #expect((tick.object["autoCompleted"] as? [Any])?.count == 1)
    #expect(sentFollowUps(sandbox).isEmpty)
  }

  @Test(
    "The next tick completes an occurrence that another device made pending after the downgrade")
  func downgradeElsewhere() async throws {
    let sandbox = try await ringing()
    let server = try await sandbox.secondDevice(now: at("09:00:10"))
    _ = try await sandbox.belfry("tier", "free", now: at("09:01:00"))
    _ = try await sandbox.belfry("tick", now: at("09:01:00"), store: server)
    _ = try await sandbox.belfry("stop", "rent", now: at("09:02:00"), store: server)
    for store in [sandbox.store, server, sandbox.store] {
      _ = try await sandbox.belfry("sync", now: at("09:03:00"), store: store)
    }
    #expect(try await alarm(sandbox, at("09:04:00"))["state"] as? String == "pending")
    let tick = try await sandbox.belfry("tick", "--json", now: at("09:04:00"))
    #expect((tick.object["autoCompleted"] as? [Any])?.count == 1)
  }

  @Test("The next wake time follows the response of a hook")
  func nextWakeFollowsResponse() async throws {
    let sandbox = try await ringing()
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:00"))
    try sandbox.write(
      "#!/bin/sh\ncat >/dev/null\necho done\n", to: sandbox.hooks + "/follow-up", mode: 0o755)
    let done = try await sandbox.belfry("tick", "--json", now: at("09:30:00"))
    #expect(done.object["nextWake"] as? String == "2026-11-27T09:00:00Z")
    try sandbox.write(
      "#!/bin/sh\ncat >/dev/null\necho snooze 10m\n", to: sandbox.hooks + "/notify", mode: 0o755)
    // A tick ends with the first channel that delivers.
    try sandbox.write("#!/bin/sh\nexit 1\n", to: sandbox.hooks + "/ring", mode: 0o755)
    let snoozed = try await sandbox.belfry("tick", "--json", now: "2026-11-27T09:00:00Z")
    #expect(snoozed.object["nextWake"] as? String == "2026-11-27T09:10:00Z")
  }

  @Test("A synced Done from another device cancels the remaining follow-ups")
  func doneElsewhere() async throws {
    let sandbox = try await ringing()
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:10"))
    let server = try await sandbox.secondDevice(now: at("09:01:00"))
    _ = try await sandbox.belfry("tick", now: at("09:30:10"))
    #expect(sentFollowUps(sandbox).count == 1)
    _ = try await sandbox.belfry("done", "rent", now: at("09:40:00"), store: server)
    _ = try await sandbox.belfry("sync", now: at("09:40:00"), store: server)
    _ = try await sandbox.belfry("sync", now: at("09:41:00"))
    _ = try await sandbox.belfry("tick", now: at("10:00:10"))
    #expect(sentFollowUps(sandbox).count == 1)
    #expect(try await alarm(sandbox, at("10:01:00"))["state"] as? String == "active")
    #expect(try await alarm(sandbox, at("10:01:00"))["pending"] == nil)
  }

  // MARK: Settings and strict alarms

  @Test("The follow-up intervals can be set for the store and for one alarm")
  func otherIntervals() async throws {
    let sandbox = try await ringing()
    _ = try await sandbox.belfry("settings", "set", "followUps", "10m,1h", now: at("09:00:05"))
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:10"))
    #expect(
      pending(try await alarm(sandbox, at("09:01:00")))["nextFollowUp"] as? String == at("09:10:10")
    )
    _ = try await sandbox.belfry("edit", "rent", "--follow-ups", "5m", now: at("09:02:00"))
    let tick = try await sandbox.belfry("tick", "--json", now: at("09:05:10"))
    let sent = tick.object["followUps"] as? [[String: Any]] ?? []
    #expect(sent.first?["last"] as? Bool == true)
    _ = try await sandbox.belfry("tick", now: at("10:30:10"))
    #expect(sentFollowUps(sandbox).count == 1)
    _ = try await sandbox.belfry("edit", "rent", "--follow-ups", "default", now: at("10:31:00"))
    #expect(try !sandbox.read(sandbox.alarmFile()).contains("followUps\": ["))
  }

  @Test("A strict alarm rings again instead of sending follow-ups, and a stop leaves it pending")
  func strictRingsAgain() async throws {
    let sandbox = try await ringing("--strict")
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:00"))
    let tick = try await sandbox.belfry("tick", "--json", now: at("09:30:00"))
    #expect((tick.object["fired"] as? [Any])?.count == 1)
    #expect((tick.object["followUps"] as? [Any])?.isEmpty == true)
    #expect(sandbox.rings.count == 2)
    #expect(try await alarm(sandbox, at("09:31:00"))["state"] as? String == "ringing")
    let stop = try await sandbox.belfry("stop", "rent", "--json", now: at("09:32:00"))
    #expect(stop.object["state"] as? String == "pending")
    // Unanswered, it stops ringing after the ring timeout and stays pending.
    _ = try await sandbox.belfry("tick", now: at("10:00:00"))
    #expect(sandbox.rings.count == 3)
    #expect(try await alarm(sandbox, at("10:30:00"))["state"] as? String == "ringing")
    for time in ["10:30:00", "11:00:00", "12:00:00"] {
      _ = try await sandbox.belfry("tick", now: at(time))
    }
    #expect(sandbox.rings.count == 4)
    #expect(sentFollowUps(sandbox).isEmpty)
    #expect(try await alarm(sandbox, at("12:01:00"))["state"] as? String == "pending")
  }

  @Test("The next occurrence of a strict alarm leaves earlier ones pending")
  func strictStacks() async throws {
    let sandbox = try await ringing("--strict")
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:00"))
    let friday = "2026-11-27T09:00:00Z"
    _ = try await sandbox.belfry("tick", now: friday)
    _ = try await sandbox.belfry("stop", "rent", now: "2026-11-27T09:01:00Z")
    let pending = try await sandbox.belfry("pending", "--json", now: "2026-11-27T09:02:00Z").array
    #expect(
      pending.map { $0["occurrence"] as? String } == ["2026-11-23T09:00", "2026-11-27T09:00"])
    // Both occurrences ring, and the response applies to the older one.
    let done = try await sandbox.belfry("done", "rent", now: "2026-11-27T09:03:00Z")
    #expect(done.out.hasPrefix("Done: Rent reminder (Mon 23 Nov 2026, 09:00)"))
    #expect(done.out.contains("Still pending: Fri 27 Nov 2026, 09:00."))
    #expect(try await sandbox.belfry("done", "rent", now: "2026-11-27T09:04:00Z").status == 0)
    #expect(
      try await sandbox.belfry("pending", now: "2026-11-27T09:05:00Z").out
        == "Nothing is pending.\n")
  }
}
