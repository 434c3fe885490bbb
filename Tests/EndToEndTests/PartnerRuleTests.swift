import Foundation
import TestSupport
import Testing

/// Tests of the permissions and limits between partners.
extension PartnerTests {
  // MARK: JSON

  @Test("With --json, every command prints one document, even if messages arrive meanwhile")
  func jsonPrintsOneDocument() async throws {
    let (chris, alex) = (try await person(), try await person())
    let box = try await mailbox(chris.sandbox)
    func expectDocument(
      _ person: Person, _ words: String..., now: String = PartnerTests.now,
      location: SourceLocation = #_sourceLocation
    ) async throws -> [String: Any] {
      let output = try await person.belfry(["partner"] + words + ["--json"], now: now)
      #expect(output.status == 0, "\(words): \(output.err)", sourceLocation: location)
      #expect(output.json != nil, "\(words): \(output.out)", sourceLocation: location)
      return output.object
    }
    let invited = try await expectDocument(chris, "invite", "--remote", box, "--as", "Chris")
    let link = try #require(invited["link"] as? String)
    let accepted = try await expectDocument(alex, "accept", "--yes", "--as", "Alex", link)
    #expect(accepted["phase"] as? String == "accepted")
    _ = try await expectDocument(chris, "sync")
    _ = try await expectDocument(alex, "sync")
    let code = try await chris.code()
    #expect(try await expectDocument(chris, "confirm", code)["phase"] as? String == "confirmed")
    #expect(try await expectDocument(alex, "confirm", code)["phase"] as? String == "active")
    let synced = try await expectDocument(chris, "sync")
    #expect((synced["news"] as? [Any])?.count == 1)
    // A request for Chris is in the mailbox.
    _ = try await alex.partner("send", "Chris", "For you", "--in", "1h")
    let sent = try await chris.partner("send", "Alex", "Nap", "--in", "1h", "--json")
    #expect(sent.object["message"] as? String == "Nap", "\(sent.out)")
    #expect(sent.err.contains("From Alex: For you"), "\(sent.err)")
    let next = try await expectDocument(chris, "send", "Alex", "Another", "--in", "2h")
    _ = try await alex.partner("sync")
    _ = try await alex.partner("send", "Chris", "More", "--in", "1h")
    let id = try #require(next["id"] as? String)
    let recalled = try await expectDocument(chris, "recall", id)
    #expect(recalled["recalled"] as? Bool == true)
    let reply = try await expectDocument(alex, "reply", "nap", "On my way")
    #expect(reply["message"] as? String == "Nap" && reply["direction"] as? String == "from")
    let receipts = reply["receipts"] as? [[String: Any]] ?? []
    #expect(receipts.contains { $0["detail"] as? String == "On my way" })
    for words in [
      ["limits", "Chris", "--per-day", "9"], ["mute", "Chris"], ["unmute", "Chris"],
      ["rename", "Chris", "Christine"], ["list"], ["log"], ["sync"],
    ] {
      let output = try await alex.belfry(["partner"] + words + ["--json"])
      #expect(output.status == 0 && output.json != nil, "\(words): \(output.out)\(output.err)")
    }
    _ = try await chris.partner("send", "Alex", "Last", "--in", "1h")
    #expect(
      try await expectDocument(alex, "remove", "Christine", "--yes")["cancelled"] as? Int == 1)
    // The command also prints one document if the mailbox is unreachable.
    try FileManager.default.moveItem(atPath: box, toPath: box + ".away")
    let away = try await chris.partner("send", "Alex", "Away", "--in", "1h", "--json")
    #expect(away.status == 6)
    #expect(away.object["state"] as? String == "waiting", "\(away.out)")
  }

  // MARK: Quiet hours

  @Test("A partner's alarm that is due in quiet hours rings when the quiet hours end")
  func quietHoursDelayRinging() async throws {
    let (chris, alex) = (try await person(), try await person())
    try await pair(chris, alex, mailbox: try await mailbox(chris.sandbox))
    _ = try await chris.partner("send", "Alex", "Night", "--at", "22:59")
    _ = try await alex.partner("sync")
    // The machine was off at 22:59, so no tick ran.
    _ = try await alex.belfry(["tick"], now: "2026-11-07T03:00:00Z")
    #expect(alex.sandbox.rings.isEmpty)
    let listed = try await alex.belfry(["list", "--cards"], now: "2026-11-07T03:00:00Z")
    #expect(listed.out.contains("Quiet hours until 06:00"), "\(listed.out)")
    _ = try await alex.belfry(["tick"], now: "2026-11-07T06:00:00Z")
    #expect(alex.sandbox.rings.count == 1, "\(alex.sandbox.rings)")
  }

  @Test("New quiet hours apply to existing requests until they are turned off")
  func newQuietHoursApplyToExistingRequests() async throws {
    let (chris, alex) = (try await person(), try await person())
    try await pair(chris, alex, mailbox: try await mailbox(chris.sandbox))
    _ = try await chris.partner("send", "Alex", "Lunch", "--at", "12:30")
    _ = try await alex.partner("sync")
    _ = try await alex.partner("limits", "Chris", "--quiet", "12:15-13:15")
    _ = try await alex.belfry(["tick"], now: "2026-11-06T12:30:00Z")
    #expect(alex.sandbox.rings.isEmpty)
    _ = try await alex.partner("limits", "Chris", "--quiet", "off", now: "2026-11-06T12:31:00Z")
    _ = try await alex.belfry(["tick"], now: "2026-11-06T12:31:00Z")
    #expect(alex.sandbox.rings.count == 1, "\(alex.sandbox.rings)")
  }

  // MARK: Stores as mailboxes

  @Test("Invite and accept reject a store or another repository as the mailbox")
  func storesAreRejectedAsMailboxes() async throws {
    let (chris, alex) = (try await person(), try await person())
    func bare(_ name: String) async throws -> String {
      let path = chris.sandbox.root + "/\(name).git"
      _ = try await chris.sandbox.git(
        "init", "-q", "--bare", "-b", "main", path, in: chris.sandbox.root)
      return path
    }
    func link(_ box: String) async throws -> String {
      let invited = try await chris.partner("invite", "--remote", box, "--as", "Chris", "--json")
      return try #require(invited.object["link"] as? String, "\(invited.err)")
    }
    // The remote that Alex syncs with, empty and with content, under another form of its URL.
    let store = try await bare("store")
    let early = try await link(store)
    #expect(try await alex.belfry(["remote", "add", "origin", "file://\(store)/"]).status == 0)
    let own = try await alex.partner("accept", "--yes", early)
    #expect(own.status == 2)
    #expect(own.err.contains("is a store or a remote of yours"), "\(own.err)")
    #expect(own.err.contains("Ask Chris for an invitation to another mailbox."), "\(own.err)")
    #expect(try await alex.belfry(["add", "Secret", "--daily", "--at", "09:00"]).status == 0)
    #expect(try await alex.belfry(["sync"]).status == 0)
    let others = try await chris.partner("invite", "--remote", store)
    #expect(others.status == 2)
    #expect(others.err.contains("is not a mailbox: it contains refs/heads/main"), "\(others.err)")
    // A repository with unrelated work, named by a manipulated invitation.
    let work = try await bare("work")
    let altered = try await link(work)
    _ = try await chris.sandbox.git("push", "-q", work, "HEAD:refs/heads/work")
    let taken = try await alex.partner("accept", "--yes", altered)
    #expect(taken.status == 2)
    #expect(taken.err.contains("is not a mailbox: it contains refs/heads/work"), "\(taken.err)")
    #expect(try await mail(work, chris.sandbox) == ["refs/heads/work"])
    #expect(try await alex.partner("list", "--json").array.isEmpty)
  }

  // MARK: Removing a partner

  /// Pairs two people. Chris sets two alarms for Alex and then ends the partnership.
  private func partedPair() async throws -> (alex: Person, news: Sandbox.Output) {
    let (chris, alex) = (try await person(), try await person())
    try await pair(chris, alex, mailbox: try await mailbox(chris.sandbox))
    for text in ["Nap", "Pills"] {
      _ = try await chris.partner("send", "Alex", text, "--in", "1h")
    }
    _ = try await alex.partner("sync")
    let early = try await alex.partner("alarms", "Chris", "--keep")
    #expect(early.status == 4 && early.err.contains("Chris is still a partner."), "\(early.err)")
    #expect(try await chris.partner("remove", "Alex", "--yes").status == 0)
    return (alex, try await alex.partner("sync"))
  }

  @Test("The alarms of a partner who ended the partnership ring until the user keeps them")
  func keepsAlarmsOfFormerPartner() async throws {
    let (alex, news) = try await partedPair()
    #expect(news.out.contains("Chris is no longer a partner."), "\(news.out)")
    let question = "2 alarms that Chris had set still ring. Keep or delete them: belfry partner"
    #expect(news.out.contains(question), "\(news.out)")
    #expect(try await alex.partner("list").out.contains(question))
    let listed = try await alex.partner("alarms", "--json")
    #expect(listed.array.first?["former"] as? Bool == true)
    #expect((listed.array.first?["alarms"] as? [String])?.count == 2)
    let kept = try await alex.partner("alarms", "chris", "--keep")
    #expect(kept.out.contains("Kept 2 alarms of Chris."), "\(kept.out)\(kept.err)")
    #expect(try await alex.list().allSatisfy { $0["partner"] == nil })
    #expect(try await alex.list().count == 2)
    #expect(try await !alex.partner("list").out.contains("still ring"))
    let again = try await alex.partner("alarms", "Chris", "--delete")
    #expect(again.status == 4 && again.err.contains("no alarm of Chris is left"), "\(again.err)")
    #expect(try await alex.belfry(["undo"]).status == 0)
    #expect(try await alex.partner("list").out.contains(question))
  }

  @Test("The alarms of a former partner are deleted on request, and undo restores them")
  func deletesAlarmsOfFormerPartner() async throws {
    let (alex, _) = try await partedPair()
    let terminal = try await alex.sandbox.onTerminal(
      "partner", "alarms", input: "d\n", after: "decide later?", now: PartnerTests.now)
    #expect(terminal.out.contains("Chris, no longer a partner:"), "\(terminal.out)")
    #expect(terminal.out.contains("From Chris, \"Nap\""), "\(terminal.out)")
    #expect(terminal.out.contains("Deleted 2 alarms of Chris."), "\(terminal.out)")
    #expect(try await alex.list().isEmpty)
    #expect(try await alex.belfry(["undo"]).status == 0)
    #expect(try await alex.list().count == 2)
    _ = try await alex.partner("sync")
    #expect(try await alex.list().count == 2)
  }

  @Test("Undo does not restore the alarms of a removed partner")
  func undoAfterPartnerRemoval() async throws {
    let (chris, alex) = (try await person(), try await person())
    try await pair(chris, alex, mailbox: try await mailbox(chris.sandbox))
    #expect(try await alex.belfry(["add", "Own", "--daily", "--at", "09:00"]).status == 0)
    for text in ["One", "Two"] {
      _ = try await chris.partner("send", "Alex", text, "--in", "1h")
    }
    _ = try await alex.partner("sync")
    let parted = try await alex.partner("remove", "Chris", "--yes")
    #expect(parted.out.contains("2 of their alarms were deleted"), "\(parted.out)")
    let undo = try await alex.belfry(["undo"])
    #expect(undo.status == 4)
    #expect(undo.err.contains("removing a partner cannot be undone"), "\(undo.err)")
    #expect(try await alex.list().count == 1)
    let earlier = try await alex.belfry(["undo", "--skip", "1"])
    #expect(earlier.out.contains("Undid: Created: Own"), "\(earlier.out)\(earlier.err)")
  }

  // MARK: Input

  @Test("Send rejects a time with seconds and accepts an offset without a colon")
  func timeFormats() async throws {
    let (chris, alex) = (try await person(), try await person())
    try await pair(chris, alex, mailbox: try await mailbox(chris.sandbox))
    for time in ["2026-11-06T14:45:30Z", "2026-11-06T14:45:00.5Z", "2026-11-06T16:45:30+0200"] {
      let seconds = try await chris.partner("send", "Alex", "Nap", "--at", time)
      #expect(seconds.status == 2)
      #expect(seconds.err.contains("alarms ring at whole minutes"), "\(seconds.err)")
    }
    for time in ["14:45:30", "2026-11-06T16:45+02000", "2026-11-06T16:45+2", "2026-11-06T16:45+2x"]
    {
      #expect(try await chris.partner("send", "Alex", "Nap", "--at", time).status == 2)
    }
    for time in [
      "2026-11-06T16:45+02:00", "2026-11-06T16:45+0200", "2026-11-06 16:45:00+0200",
      "2026-11-06T16:45:00+02", "2026-11-06T14:45Z", "2026-11-06T13:45-0100",
    ] {
      let sent = try await chris.partner("send", "Alex", "Nap", "--at", time, "--json")
      #expect(sent.object["time"] as? String == "2026-11-06T14:45:00Z", "\(time): \(sent.err)")
    }
  }

  @Test(
    "Look-alike names are rejected, and messages with invisible or look-alike characters cause warnings"
  )
  func lookAlikesAndInvisibleCharacters() async throws {
    let (chris, alex, other) = (try await person(), try await person(), try await person())
    let box = try await mailbox(chris.sandbox)
    try await pair(chris, alex, mailbox: box)
    let invisible = try await chris.partner("rename", "Alex", "Al\u{AD}ex")
    #expect(invisible.status == 2)
    #expect(invisible.err.contains("'Al\\u{ad}ex' is not a valid name"), "\(invisible.err)")
    // A third person uses the name Аlex, with a Cyrillic letter.
    let link = try await chris.partner("invite", "--json").object["link"] as? String ?? ""
    let accept = try await other.partner("accept", "--yes", "--as", "\u{410}lex", link)
    #expect(accept.status == 0, "\(accept.err)")
    _ = try await chris.partner("sync")
    _ = try await other.partner("sync")
    let code = try await other.code()
    for words in [["confirm", code], ["confirm", code, "--replace"]] {
      let confirm = try await chris.belfry(["partner"] + words)
      #expect(confirm.status == 2)
      #expect(confirm.err.contains("looks like that of your partner Alex"), "\(confirm.err)")
    }
    #expect(try await chris.partner("confirm", code, "--name", "Sam").status == 0)
    #expect(try await chris.partner("rename", "Sam", "\u{391}lex").status == 2)
    // A message with an invisible character and letters of two scripts.
    let sent = try await chris.partner("send", "Alex", "P\u{430}y\u{AD} me", "--in", "1h")
    let oddity =
      "invisible characters and words that mix look-alike letters of several scripts"
    #expect(sent.status == 0)
    #expect(sent.err.contains("warning: the message contains \(oddity)"), "\(sent.err)")
    let news = try await alex.partner("sync")
    #expect(news.out.contains("P\u{430}y\\u{ad} me"), "\(news.out)")
    #expect(news.out.contains("warning: it contains \(oddity)"), "\(news.out)")
  }

  // MARK: Several devices and requests

  @Test("A partner who is muted on one device is muted on the user's other devices")
  func mutedOnAllDevices() async throws {
    let (chris, alex) = (try await person(), try await person())
    try await pair(chris, alex, mailbox: try await mailbox(chris.sandbox))
    let (remote, desk) = (alex.sandbox.root + "/remote.git", alex.sandbox.root + "/desk")
    _ = try await alex.sandbox.git(
      "init", "-q", "--bare", "-b", "main", remote, in: alex.sandbox.root)
    _ = try await alex.belfry(["remote", "add", "origin", remote])
    _ = try await alex.belfry(["sync"])
    #expect(try await alex.belfry(["clone", remote], store: desk).status == 0)
    let keys = try await alex.partner("keys", "export")
    #expect(try await alex.partner("keys", "import", input: keys.out, store: desk).status == 0)
    #expect(try await alex.partner("mute", "Chris").status == 0)
    #expect(try await alex.belfry(["sync"]).status == 0)
    _ = try await chris.partner("send", "Alex", "Muted?", "--in", "1h")
    // The sync of the store brings the limits before the mailbox is read.
    #expect(try await alex.belfry(["sync"], store: desk).status == 0)
    #expect(try await alex.list(store: desk).isEmpty)
    #expect(try await alex.partner(store: desk).out.contains("muted"))
    _ = try await chris.partner("sync")
    #expect(try await chris.log().first?["state"] as? String == "refused")
    let settings = try alex.sandbox.read(desk + "/settings.json")
    #expect(settings.contains("\"partner-") && !settings.contains("perDay"), "\(settings)")
    // It is not the action that undo reverts.
    #expect(try await !alex.belfry(["undo"]).out.contains("limits"))
    #expect(try await alex.partner().out.contains("muted"))
  }

  @Test("Lists and the log show the message of a partner's alarm, and the follow-up asks about it")
  func messagesInLists() async throws {
    let (chris, alex) = (try await person(), try await person())
    try await pair(chris, alex, mailbox: try await mailbox(chris.sandbox))
    for (message, time) in [("Take the cake out", "12:30"), ("Call mum", "12:40")] {
      _ = try await chris.partner("send", "Alex", message, "--at", time)
    }
    _ = try await alex.partner("sync")
    for command in [["list"], ["next"], ["log"]] {
      let output = try await alex.belfry(command)
      #expect(output.out.contains("From Chris: Take the cake out"), "\(output.out)")
      #expect(output.out.contains("From Chris: Call mum"), "\(output.out)")
    }
    let tick = try await alex.belfry(["tick"], now: "2026-11-06T12:30:00Z")
    #expect(tick.out.contains("Fired: From Chris: Take the cake out"), "\(tick.out)")
    _ = try await alex.belfry(["stop", "cake"], now: "2026-11-06T12:31:00Z")
    _ = try await alex.belfry(["tick"], now: "2026-11-06T13:01:00Z")
    #expect(
      alex.sandbox.rings.contains { $0.hasPrefix("Done? From Chris: Take the cake out ") },
      "\(alex.sandbox.rings)")
  }

  @Test("A reply goes to the request that is not finished, else to the latest of the same words")
  func repliesToEqualRequests() async throws {
    let (chris, alex) = (try await person(), try await person())
    try await pair(chris, alex, mailbox: try await mailbox(chris.sandbox))
    func replies() async throws -> [String: [String]] {
      _ = try await chris.partner("sync")
      return Dictionary(
        uniqueKeysWithValues: try await chris.log().map { request in
          let receipts = request["receipts"] as? [[String: Any]] ?? []
          return (
            request["time"] as? String ?? "",
            receipts.filter { $0["state"] as? String == "reply" }
              .compactMap { $0["detail"] as? String }
          )
        })
    }
    _ = try await chris.partner("send", "Alex", "Nap", "--at", "12:10")
    _ = try await alex.partner("sync")
    _ = try await alex.belfry(["tick"], now: "2026-11-06T12:10:00Z")
    _ = try await alex.belfry(["done", "nap"], now: "2026-11-06T12:10:10Z")
    _ = try await chris.partner("send", "Alex", "Nap", "--at", "12:30", now: "2026-11-06T12:11:00Z")
    _ = try await alex.partner("sync", now: "2026-11-06T12:11:10Z")
    let open = try await alex.partner("reply", "nap", "Soon", now: "2026-11-06T12:12:00Z")
    #expect(open.status == 0, "\(open.err)")
    _ = try await alex.belfry(["tick"], now: "2026-11-06T12:30:00Z")
    _ = try await alex.belfry(["done", "nap"], now: "2026-11-06T12:30:10Z")
    let finished = try await alex.partner("reply", "nap", "Awake", now: "2026-11-06T12:31:00Z")
    #expect(finished.status == 0, "\(finished.err)")
    let all = try await replies()
    #expect(
      all == ["2026-11-06T12:10:00Z": [], "2026-11-06T12:30:00Z": ["Soon", "Awake"]], "\(all)")
  }

  @Test("The firing screen sends a reply to the partner")
  func replyOnTheFiringScreen() async throws {
    let (chris, alex) = (try await person(), try await person())
    try await pair(chris, alex, mailbox: try await mailbox(chris.sandbox))
    _ = try await chris.partner("send", "Alex", "Nap", "--at", "12:10")
    _ = try await alex.partner("sync")
    let time = "2026-11-06T12:10:00Z"
    _ = try await alex.belfry(["tick"], now: time)
    let screen = try await alex.sandbox.onTerminal(
      "ring", input: "rOn my way\r", after: "[r] reply", then: ("q", "The reply to Chris"),
      now: time)
    #expect(screen.out.contains("with the next sync"), "\(screen.out)")
    _ = try await alex.partner("sync", now: time)
    _ = try await chris.partner("sync", now: time)
    let receipts = try await chris.log(now: time).first?["receipts"] as? [[String: Any]] ?? []
    #expect(receipts.contains { $0["detail"] as? String == "On my way" }, "\(receipts)")
  }

  @Test("Commands and one notification say that a pairing has expired")
  func expiredPairing() async throws {
    let (chris, alex) = (try await person(), try await person())
    try await pair(chris, alex, mailbox: try await mailbox(chris.sandbox))
    try alex.sandbox.write(
      "#!/bin/sh\ncat >/dev/null\nprintf '%s\\n' \"$BELFRY_HEADLINE\" >> '\(alex.sandbox.rang)'\n",
      to: alex.sandbox.hooks + "/message", mode: 0o755)
    let later = "2027-11-07T12:00:00Z"
    for command in [["list"], ["tick"], ["sync"], ["partner", "sync"]] {
      let output = try await alex.belfry(command, now: later)
      #expect(output.err.contains("The pairing with Chris has expired"), "\(command) \(output)")
      #expect(output.err.contains("belfry partner invite"), "\(command) \(output)")
      #expect(try await !alex.belfry(command).err.contains("expired"), "\(command)")
    }
    #expect(try await !alex.belfry(["tick", "--quiet"], now: later).err.contains("expired"))
    // The sync above has reported the expiry here. The daemon of the other side notifies once.
    try chris.sandbox.write(
      "#!/bin/sh\ncat >/dev/null\nprintf '%s\\n' \"$BELFRY_HEADLINE\" >> '\(chris.sandbox.rang)'\n",
      to: chris.sandbox.hooks + "/message", mode: 0o755)
    for _ in 0..<2 { _ = try await chris.partner("sync", "--notify", now: later) }
    #expect(
      chris.sandbox.rings == ["The pairing with Alex has expired, so requests are refused."],
      "\(chris.sandbox.rings)")
  }
}
