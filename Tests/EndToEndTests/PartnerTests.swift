import Foundation
import TestSupport
import Testing

/// Tests of partners with the binary, two home folders and a real git repository as the mailbox.
@Suite struct PartnerTests {
  /// A user with a home folder and a time zone.
  struct Person {
    let sandbox: Sandbox
    let zone: String
    var environment: [String: String] = [:]

    /// Runs `belfry partner …`.
    func partner(
      _ words: String..., now: String = PartnerTests.now, input: String? = nil, store: String? = nil
    ) async throws -> Sandbox.Output {
      try await belfry(["partner"] + words, now: now, input: input, store: store)
    }

    func belfry(
      _ words: [String], now: String = PartnerTests.now, input: String? = nil, store: String? = nil
    ) async throws -> Sandbox.Output {
      var variables = environment
      (variables["TZ"], variables["BELFRY_NOW"]) = (zone, now)
      variables["BELFRY_STORE"] = store
      guard let input else {
        return try await sandbox.run(Sandbox.binary, words, environment: variables)
      }
      let file = sandbox.root + "/input"
      try sandbox.write(input, to: file)
      return try await sandbox.run(
        "/bin/sh", ["-c", "exec \"$0\" \"$@\" <'\(file)'", Sandbox.binary] + words,
        environment: variables)
    }

    /// Returns the code that the partners compare.
    func code() async throws -> String {
      try #require(
        try await partner("list", "--json").array.compactMap { $0["code"] as? String }.last)
    }

    /// Returns the log of partner messages, newest first.
    func log(now: String = PartnerTests.now) async throws -> [[String: Any]] {
      try await partner("log", "--json", now: now).array
    }

    /// Returns the listed alarms.
    func list(
      _ options: String..., now: String = PartnerTests.now, store: String? = nil
    ) async throws -> [[String: Any]] {
      try await belfry(["list", "--json"] + options, now: now, store: store).array
    }
  }

  static let now = "2026-11-06T12:00:00Z"

  func person(zone: String = "UTC", tier: String = "premium") async throws -> Person {
    let person = Person(sandbox: try Sandbox(), zone: zone)
    let set = try await person.belfry(["tier", tier])
    #expect(set.status == 0, "\(set.err)")
    return person
  }

  /// The options of zbarimg for QR codes only: it finds short bar codes of other kinds in some of them.
  static let scanning = ["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable"]

  func mailbox(_ sandbox: Sandbox) async throws -> String {
    let path = sandbox.root + "/mailbox.git"
    _ = try await sandbox.git("init", "-q", "--bare", path, in: sandbox.root)
    return path
  }

  /// Returns the names of the references in a mailbox.
  func mail(_ mailbox: String, _ sandbox: Sandbox) async throws -> [String] {
    try await sandbox.git("for-each-ref", "--format=%(refname)", in: mailbox).out
      .split(separator: "\n").map(String.init)
  }

  /// Pairs two people through the content of an invitation's QR code.
  func pair(_ chris: Person, _ alex: Person, mailbox: String) async throws {
    let image = chris.sandbox.root + "/invitation.png"
    let invite = try await chris.partner(
      "invite", "--remote", mailbox, "--png", image, "--as", "Chris")
    #expect(invite.status == 0, "\(invite.err)")
    #expect(invite.out.contains("set alarms on your devices"))
    let scan = try await chris.sandbox.run("/usr/bin/zbarimg", PartnerTests.scanning + [image])
    let link = scan.out.trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(link.hasPrefix("belfry://pair?v=1&k="), "\(scan.err)")
    #expect(invite.out.contains(link))
    let accept = try await alex.partner("accept", "--yes", "--as", "Alex", input: link + "\n")
    #expect(accept.status == 0, "\(accept.err)")
    #expect(accept.out.contains("Chris will be able to:"))
    _ = try await chris.partner("sync")
    _ = try await alex.partner("sync")
    let code = try await chris.code()
    #expect(try await alex.code() == code)
    #expect(try await chris.partner("confirm", code).status == 0)
    #expect(try await alex.partner("confirm", code).status == 0)
    let paired = try await chris.partner("sync")
    #expect(paired.out.contains("You and Alex are partners."), "\(paired.out)\(paired.err)")
    #expect(try await alex.partner().out.contains("paired until Sat 6 Nov 2027"))
  }

  // MARK: Example

  /// The time at which the daemons start, 20 seconds before the alarm.
  private static let nap = "2026-11-06T14:44:40Z"

  @Test(
    "A request between partners paired by QR code rings on time, and its receipts return to the sender"
  )
  func requestRingsAndReceiptsReturn() async throws {
    var chris = try await person(zone: "Europe/Athens")
    var alex = try await person(zone: "America/New_York")
    let ssh = try await SSHServer(chris.sandbox)
    chris.environment["GIT_SSH_COMMAND"] = ssh.command
    alex.environment["GIT_SSH_COMMAND"] = ssh.command
    let url = ssh.url(try await mailbox(chris.sandbox))
    try await pair(chris, alex, mailbox: url)
    // The notification hook reports a press of the Done button.
    try alex.sandbox.write(
      """
      #!/bin/sh
      cat >/dev/null
      [ "$BELFRY_KIND" = firing ] || exit 0
      echo delivered
      printf '%s|%s|%s|%s\\n' "$BELFRY_HEADLINE" "$BELFRY_BODY" "$BELFRY_PARTNER" "$BELFRY_ACTIONS" | tr '\\n' ' ' >>'\(alex.sandbox.rang)'
      sleep 2
      echo done
      """, to: alex.sandbox.hooks + "/notify", mode: 0o755)
    let news = chris.sandbox.root + "/news"
    try chris.sandbox.write(
      """
      #!/bin/sh
      cat >/dev/null
      printf '%s|%s\\n' "$BELFRY_HEADLINE" "$BELFRY_BODY" >>'\(news)'
      """, to: chris.sandbox.hooks + "/message", mode: 0o755)
    let sent = try await chris.partner(
      "send", "Alex", "Wake up from your nap ❤️", "--at", "16:45", now: PartnerTests.nap)
    #expect(sent.status == 0, "\(sent.err)")
    #expect(sent.out.contains("Asked Alex: Wake up from your nap ❤️ (16:45)"))

    let script = """
      \(chris.sandbox.waitFor)
      export BELFRY_NOW=\(PartnerTests.nap) GIT_SSH_COMMAND="\(ssh.command)"
      HOME='\(alex.sandbox.home)' TZ=America/New_York '\(Sandbox.binary)' daemon 2>'\(alex.sandbox.root)/daemon.log' & alex=$!
      HOME='\(chris.sandbox.home)' TZ=Europe/Athens '\(Sandbox.binary)' daemon 2>'\(chris.sandbox.root)/daemon.log' & chris=$!
      wait_for grep -q 'Got it' '\(news)'
      kill $alex $chris
      wait $alex $chris
      """
    let run = try await chris.sandbox.run("/usr/bin/timeout", ["400", "sh", "-c", script])
    let logs =
      [alex, chris].map { (try? $0.sandbox.read($0.sandbox.root + "/daemon.log")) ?? "" }
    #expect(run.status == 0, "\(run.err)\(logs)")
    // The headline names the partner, the body holds the message, and the actions include Done.
    let rings = alex.sandbox.rings
    #expect(rings.count == 1, "\(rings)\(logs)")
    #expect(rings.first?.hasPrefix("From Chris|") == true)
    #expect(rings.first?.contains("Wake up from your nap ❤️|Chris|stop done") == true)
    let entries = try await chris.log(now: "2026-11-06T14:50:00Z")
    let receipts = (entries.first?["receipts"] as? [[String: Any]] ?? [])
    #expect(
      receipts.compactMap { $0["state"] as? String } == ["scheduled", "rung", "acknowledged"],
      "\(receipts)\(logs)")
    // The instant is the same in both time zones.
    let rung = receipts.first { $0["state"] as? String == "rung" }?["at"] as? String ?? ""
    #expect(rung.hasPrefix("2026-11-06T16:45:0"), "\(rung)")
    #expect(try chris.sandbox.read(news).contains("❤️ Alex: Got it|Wake up from your nap ❤️"))
    // The mailbox is empty after the exchange.
    _ = try await alex.partner("sync", now: "2026-11-06T14:50:00Z")
    #expect(try await mail(chris.sandbox.root + "/mailbox.git", chris.sandbox).isEmpty)
  }

  @Test("A scanner reads the QR code that the terminal shows")
  func terminalQRCodeIsScannable() async throws {
    let person = try await person()
    let invite = try await person.partner("invite", "--remote", try await mailbox(person.sandbox))
    let drawn = invite.out.split(separator: "\n").map(Array.init).filter { line in
      line.contains("▀") || line.contains("█")
    }
    // Without colors, the light modules are drawn for a dark terminal, two rows in each line.
    let rows = drawn.flatMap { line in
      [line.map { "█▀".contains($0) }, line.map { "█▄".contains($0) }]
    }
    let width = rows.map(\.count).max() ?? 0
    var image = Data("P5 \(width * 4) \(rows.count * 4) 255\n".utf8)
    for row in rows {
      let line = row.flatMap { [UInt8](repeating: $0 ? 255 : 0, count: 4) }
      for _ in 0..<4 { image += line }
    }
    let file = person.sandbox.root + "/terminal.pgm"
    try image.write(to: URL(fileURLWithPath: file))
    let scan = try await person.sandbox.run("/usr/bin/zbarimg", PartnerTests.scanning + [file])
    let link = scan.out.trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(link.hasPrefix("belfry://pair?"), "\(scan.err)")
    #expect(invite.out.contains(link))
  }

  @Test(
    "A request without a delivery channel becomes an alarm, and the receipt reports the missing channel"
  )
  func requestWithoutDeliveryChannel() async throws {
    let (chris, alex) = (try await person(), try await person())
    try await pair(chris, alex, mailbox: try await mailbox(chris.sandbox))
    try FileManager.default.removeItem(atPath: alex.sandbox.hooks + "/notify")
    _ = try await chris.partner("send", "alex", "Nap", "--in", "1h")
    _ = try await alex.partner("sync")
    #expect(try await alex.list().first?["title"] as? String == "From Chris")
    _ = try await chris.partner("sync")
    #expect(
      try await chris.partner("log").out
        .contains("set there (listed there, but nothing can show it now"))
  }

  // MARK: Several devices

  @Test("Two devices of one person create the same alarm, and a response on one applies to both")
  func twoDevicesShareOneAlarm() async throws {
    let (chris, alex) = (try await person(), try await person())
    try await pair(chris, alex, mailbox: try await mailbox(chris.sandbox))
    let server = try await alex.sandbox.secondDevice(now: PartnerTests.now)
    let keys = try await alex.partner("keys", "export")
    #expect(keys.status == 0, "\(keys.err)")
    let taken = try await alex.partner("keys", "import", input: keys.out, store: server)
    #expect(taken.out.contains("Imported the keys to Chris"), "\(taken.err)")
    let repeated = try await alex.partner(
      "keys", "import", "--json", input: keys.out, store: server)
    #expect(repeated.object["partners"] as? [String] == [], "\(repeated.out)\(repeated.err)")
    _ = try await chris.partner("send", "Alex", "Nap", "--at", "12:30")
    // Both devices read it from the mailbox before they sync with each other.
    _ = try await alex.partner("sync")
    _ = try await alex.partner("sync", store: server)
    let ids = [
      try await alex.list().first?["id"] as? String,
      try await alex.list(store: server).first?["id"] as? String,
    ]
    #expect(ids[0] != nil && ids[0] == ids[1])
    _ = try await alex.belfry(["sync"])
    _ = try await alex.belfry(["sync"], store: server)
    let later = "2026-11-06T12:30:10Z"
    for store in [nil, server] {
      #expect(try await alex.list(now: later, store: store).first?["state"] as? String == "ringing")
    }
    let done = try await alex.belfry(["done", "From Chris"], now: later)
    #expect(done.out.contains("Chris is notified: ❤️ Got it."), "\(done.err)")
    _ = try await alex.belfry(["sync"], now: later)
    _ = try await alex.belfry(["sync"], now: later, store: server)
    #expect(
      try await alex.list("--finished", now: later, store: server).first?["state"] as? String
        == "finished")
    _ = try await chris.partner("sync", now: later)
    #expect(try await chris.log(now: later).first?["state"] as? String == "acknowledged")
    // Both devices sent the same receipts, which do not count as faults.
    #expect(
      try await chris.partner("list", "--json", now: later).array.first?["faults"] as? [String: Int]
        == [:])
  }

  // MARK: The mailbox

  @Test("Sync refuses all invalid objects in a mailbox and accepts the valid request")
  func invalidMailboxObjectsAreRefused() async throws {
    let (chris, alex) = (try await person(), try await person())
    let box = try await mailbox(chris.sandbox)
    try await pair(chris, alex, mailbox: box)
    _ = try await chris.partner("send", "Alex", "Nap", "--in", "1h")
    let name = try #require(try await mail(box, chris.sandbox).first)
    let address = name.split(separator: "/").dropLast().joined(separator: "/")
    let script = """
      set -e
      cd '\(box)'
      put() { git update-ref "$1" "$2"; }
      a='\(address)'
      # Larger than any envelope, and not to be made smaller; and one that unfolds to a hundred times its size.
      put "$a/aaaaaaaaaaaaaaaaaaaaaaaaa2" "$(head -c 3000000 /dev/urandom | git hash-object -w --stdin)"
      put "$a/aaaaaaaaaaaaaaaaaaaaaaaaa3" "$(head -c 20000000 /dev/zero | git hash-object -w --stdin)"
      # Other kinds of objects.
      tree=$(git mktree </dev/null)
      put "$a/aaaaaaaaaaaaaaaaaaaaaaaaa4" "$tree"
      put "$a/aaaaaaaaaaaaaaaaaaaaaaaaa5" "$(GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a git commit-tree -m x "$tree")"
      # Names that no Belfry gives.
      blob=$(echo x | git hash-object -w --stdin)
      put "$a/-oProxyCommand=touch" "$blob"
      put "$a/\(String(repeating: "y", count: 150))" "$blob"
      put "$a/deeper/aaaaaaaaaaaaaaaaaaaaaaaaaa" "$blob"
      put "$a/AAAAAAAAAAAAAAAAAAAAAAAAAA" "$blob"
      put refs/belfry/mail/nobody "$blob"
      put refs/heads/main "$(GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a git commit-tree -m x "$tree")"
      """
    let made = try await chris.sandbox.run("/bin/sh", ["-c", script])
    #expect(made.status == 0, "\(made.err)")
    let sync = try await alex.partner("sync")
    #expect(sync.status == 0, "\(sync.out)\(sync.err)")
    #expect(sync.out.contains("From Chris: Nap"))
    #expect(sync.out.contains("refused: truncated, or not an envelope (4)"), "\(sync.out)")
    #expect(sync.out.contains("refused: invalid names (4)"), "\(sync.out)")
    #expect(try await alex.list().count == 1)
    // Sync removes invalid objects from this address only, and stores none of them.
    let left = try await mail(box, chris.sandbox)
    #expect(left.filter { $0.hasPrefix(address) } == [name])
    #expect(left.contains("refs/belfry/mail/nobody") && left.contains("refs/heads/main"))
    let objects = try await alex.sandbox.git("count-objects", "-v")
    #expect(objects.out.contains("in-pack: 0"), "\(objects.out)")
    let files = try FileManager.default.contentsOfDirectory(
      atPath: alex.sandbox.store + "/.git/belfry/partners")
    #expect(files.allSatisfy { !$0.hasPrefix("mail-") }, "\(files)")
    let doctor = try await alex.belfry(["doctor"])
    #expect(doctor.out.contains("truncated, or not an envelope (4)"), "\(doctor.out)")
    #expect(try await alex.partner("sync").out == "No news from your partners.\n")
  }

  @Test(
    "A request waits while the mailbox is unreachable or denies access, and the next sync sends it"
  )
  func requestWaitsForMailbox() async throws {
    var (chris, alex) = (try await person(), try await person())
    let ssh = try await SSHServer(chris.sandbox)
    chris.environment["GIT_SSH_COMMAND"] = ssh.command
    alex.environment["GIT_SSH_COMMAND"] = ssh.command
    let path = try await mailbox(chris.sandbox)
    try await pair(chris, alex, mailbox: ssh.url(path))
    let keys = try chris.sandbox.read(ssh.authorizedKeys)
    try chris.sandbox.write("", to: ssh.authorizedKeys)
    let refused = try await chris.partner("send", "Alex", "One", "--in", "1h")
    #expect(refused.status == 6)
    #expect(refused.out.contains("Asked Alex: One"))
    #expect(refused.err.contains("the mailbox denies access"), "\(refused.err)")
    #expect(refused.err.contains("The request waits here"), "\(refused.err)")
    #expect(refused.err.contains("partner invite --remote URL"), "\(refused.err)")
    try chris.sandbox.write(keys, to: ssh.authorizedKeys)
    try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
    let away = try await chris.partner("send", "Alex", "Two", "--in", "1h")
    #expect(away.status == 6)
    #expect(
      try await chris.partner().out.contains("2 waiting here until the mailbox can be reached"))
    #expect(try await chris.partner("sync").status == 6)
    #expect(try await alex.belfry(["doctor"]).out.contains("cannot be reached"))
    // A recalled request that was not sent yet is never sent.
    _ = try await chris.partner("recall", "Two")
    try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
    #expect(try await chris.partner("sync").status == 0)
    _ = try await alex.partner("sync")
    #expect(try await alex.list().compactMap { $0["note"] as? String } == ["One"])
  }

  // MARK: Tiers, limits, removal

  @Test(
    "Pairing below the premium tier fails with a hint about premium", arguments: ["free", "plus"])
  func pairingRequiresPremium(_ tier: String) async throws {
    let person = try await person(tier: tier)
    let link = "belfry://pair?v=1"
    for words in [["invite", "--remote", "/tmp/x.git"], ["accept", link], ["keys", "import"]] {
      let output = try await person.belfry(["partner"] + words, input: "")
      #expect(output.status == 5)
      #expect(output.err.contains("partners are part of the tier premium; yours is \(tier)."))
      #expect(output.err.contains("belfry tier premium"))
    }
  }

  @Test("Limits reject requests with a reason, and removing a partner deletes their alarms")
  func limitsAndPartnerRemoval() async throws {
    let (chris, alex) = (try await person(), try await person())
    let box = try await mailbox(chris.sandbox)
    try await pair(chris, alex, mailbox: box)
    let limits = try await alex.partner(
      "limits", "Chris", "--per-day", "1", "--length", "5", "--ahead", "2d", "--quiet",
      "13:00-14:00")
    #expect(
      limits.out.contains(
        "limits: 1 a day, 5 characters, up to 2 days ahead, not between 13:00 and 14:00"))
    for (text, at) in [
      ("Nap", "12:30"), ("Nap", "12:40"), ("Longer", "12:50"), ("Nap", "13:30"),
      ("Nap", "2026-11-09T12:00"),
    ] {
      #expect(try await chris.partner("send", "Alex", text, "--at", at).status == 0)
    }
    _ = try await alex.partner("sync")
    _ = try await chris.partner("sync")
    let details = try await chris.log().map {
      ($0["receipts"] as? [[String: Any]])?.last?["detail"] as? String ?? ""
    }
    #expect(
      Set(details.filter { $0.contains("quiet hours, 13") || $0.contains("than") })
        == [
          "more than 1 a day", "longer than 5 characters", "their quiet hours, 13:00-14:00",
          "more than 2 days ahead",
        ], "\(details)")
    #expect(try await alex.list().count == 1)
    let parted = try await alex.partner("remove", "Chris", "--yes")
    #expect(parted.out.contains("Removed Chris; 1 of their alarms was deleted."), "\(parted.err)")
    #expect(try await alex.list().isEmpty)
    let crossing = try await chris.partner("send", "Alex", "Too late", "--at", "12:55")
    #expect(crossing.status == 4)
    #expect(crossing.out.contains("Alex is no longer a partner."), "\(crossing.out)\(crossing.err)")
    #expect(crossing.err.contains("Alex did not set it: refused: you are not paired."))
    #expect(
      try await chris.log().first { $0["message"] as? String == "Too late" }?["state"] as? String
        == "refused")
    #expect(try await chris.partner("send", "Alex", "x", "--at", "12:55").status == 3)
    _ = try await chris.partner("sync")
    #expect(try await mail(box, chris.sandbox).isEmpty)
    let files = try FileManager.default.contentsOfDirectory(
      atPath: alex.sandbox.store + "/.git/belfry/partners"
    ).filter { $0.hasSuffix(".json") }
    let file = try alex.sandbox.read("\(alex.sandbox.store)/.git/belfry/partners/\(files[0])")
    #expect(!file.contains("\"key\""))
  }

  @Test("Removing a partner deletes an alarm that was accepted during the prompt")
  func removalDuringAcceptance() async throws {
    let (chris, alex) = (try await person(), try await person())
    try await pair(chris, alex, mailbox: try await mailbox(chris.sandbox))
    #expect(try await chris.partner("send", "Alex", "Nap", "--at", "12:30").status == 0)
    let sandbox = alex.sandbox
    let state = sandbox.home + "/.local/state/belfry"
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    try sandbox.write("", to: state + "/welcomed")
    let shown = sandbox.root + "/terminal"
    try sandbox.write("", to: shown)
    let line = """
      \(sandbox.waitFor)
      { wait_for grep -qF '[y/N]' '\(shown)'
        '\(Sandbox.binary)' partner sync >/dev/null
        '\(Sandbox.binary)' list --json > '\(sandbox.root)/accepted'
        printf 'y\\n'; } |
        script -qfec "stty cols 80 rows 24; '\(Sandbox.binary)' partner remove Chris" '\(shown)'
      """
    let parted = try await sandbox.run(
      "/bin/sh", ["-c", line],
      environment: ["TZ": "UTC", "BELFRY_NOW": PartnerTests.now, "TERM": "xterm-256color"])
    #expect(try sandbox.read(sandbox.root + "/accepted").contains("From Chris"))
    #expect(parted.out.contains("1 of their alarms was deleted"), "\(parted.out)")
    #expect(try await alex.list().isEmpty)
  }

  @Test("Pairing again replaces the keys of the same person")
  func pairingAgainReplacesKeys() async throws {
    let (chris, alex) = (try await person(), try await person())
    let box = try await mailbox(chris.sandbox)
    try await pair(chris, alex, mailbox: box)
    _ = try await chris.partner("send", "Alex", "Before", "--in", "1h")
    _ = try await chris.partner("send", "Alex", "Another", "--in", "2h")
    _ = try await alex.partner("sync")
    // A request that Alex has not received when the keys change.
    _ = try await chris.partner("send", "Alex", "Between", "--in", "3h")
    let link = try await chris.partner("invite", "--json").object["link"] as? String ?? ""
    #expect(try await alex.partner("accept", "--yes", "--as", "Alex", link).status == 0)
    _ = try await chris.partner("sync")
    _ = try await alex.partner("sync")
    let code = try await chris.code()
    let refused = try await chris.partner("confirm", code)
    #expect(refused.status == 2)
    #expect(refused.err.contains("you already have a partner Alex"))
    #expect(try await chris.partner("confirm", code, "--replace").status == 0)
    #expect(try await alex.partner("confirm", code, "--replace").status == 0)
    _ = try await chris.partner("sync")
    _ = try await alex.partner("sync")
    #expect(try await chris.partner("list", "--json").array.count == 1)
    _ = try await chris.partner("send", "Alex", "Again", "--in", "4h")
    _ = try await alex.partner("sync")
    #expect(
      try await alex.list().compactMap { $0["note"] as? String } == [
        "Before", "Another", "Between", "Again",
      ])
    // Requests under the earlier keys continue under the new ones.
    let later = "2026-11-06T13:00:10Z"
    #expect(try await alex.belfry(["done", "before"], now: later).status == 0)
    #expect(try await alex.partner("reply", "another", "In a minute", now: later).status == 0)
    _ = try await alex.partner("sync", now: later)
    #expect(try await chris.partner("recall", "Another", now: later).status == 0)
    _ = try await alex.partner("sync", now: later)
    _ = try await chris.partner("sync", now: later)
    let states = try await chris.log(now: later).map {
      "\($0["message"] ?? "") \($0["state"] ?? "")"
    }
    #expect(
      Set(states) == [
        "Before acknowledged", "Another recalled", "Between scheduled", "Again scheduled",
      ], "\(states)")
    #expect(try await chris.partner("log", "Alex", now: later).out.contains("replied: In a minute"))
    #expect(try await mail(box, chris.sandbox).allSatisfy { $0.hasPrefix("refs/belfry/mail/") })
  }

  @Test("Invalid input fails with a message that names the problem")
  func invalidInputIsReported() async throws {
    let (chris, alex) = (try await person(), try await person())
    let box = try await mailbox(chris.sandbox)
    try await pair(chris, alex, mailbox: box)
    let missing = chris.sandbox.root + "/none.git"
    for (words, status, expected) in [
      (["invite"], 0, "belfry://pair?"),
      (["invite", "--remote", missing], 6, "there is no repository"),
      (["invite", "--remote", "ext::sh"], 2, "is not a valid remote"),
      (["invite", "--as", "\u{1B}[31m"], 2, "is not a valid name"),
      (["accept", "https://example.org"], 2, "does not begin with belfry://pair?"),
      (["accept", "belfry://pair?v=1&k=AAAA"], 2, "truncated"),
      (["confirm", "000000"], 4, "there is no code to confirm"),
      (["send", "Alex", "Nap"], 2, "the time is missing"),
      (["send", "Alex", "Nap", "--at", "25:00"], 2, "there is no time of day"),
      (["send", "Alex", "Nap", "--at", "2020-01-01T00:00"], 2, "has passed"),
      (["send", "Alex", "Nap", "--at", "12:30", "--repeat", "hourly"], 2, "is not a cycle"),
      (
        ["send", "Alex", "Nap", "--at", "12:30", "--zone", "Mars/Base"], 2, "there is no time zone"
      ),
      (["send", "Alex", "", "--at", "12:30"], 2, "the message is empty"),
      (
        ["send", "Alex", String(repeating: "x", count: 1001), "--at", "12:30"], 2, "1001 characters"
      ),
      (["send", "Sam", "Nap", "--at", "12:30"], 3, "there is no partner 'Sam'"),
      (["recall", "nothing"], 3, "no sent request matches"),
      (["confirm", "abc"], 2, "is not a code"),
      (["reply", "nothing", "x"], 3, "there is no alarm"),
      (["limits", "Alex", "--quiet", "night"], 2, "is not a range of hours"),
      (["limits", "Alex", "--per-day", "1000"], 2, "from 0 to 200"),
      (["keys", "import"], 2, "does not hold valid keys"),
      (["rename", "Alex", "a\nb"], 2, "is not a valid name"),
    ] {
      let output = try await chris.belfry(["partner"] + words, input: "")
      #expect(output.status == Int32(status), "\(words): \(output.err)")
      #expect((output.out + output.err).contains(expected), "\(words): \(output.out)\(output.err)")
      if status != 0 {
        #expect(output.err.split(separator: "\n").count >= 2, "\(words): \(output.err)")
      }
    }
    // A store or its remote is not a valid mailbox, and a mailbox is not a valid remote: a partner could read the store.
    let other = chris.sandbox.root + "/store.git"
    _ = try await chris.sandbox.git(
      "init", "-q", "--bare", "-b", "main", other, in: chris.sandbox.root)
    #expect(try await chris.belfry(["remote", "add", "origin", other]).status == 0)
    for place in [other, chris.sandbox.store] {
      let own = try await chris.partner("invite", "--remote", place)
      #expect(own.status == 2)
      #expect(own.err.contains("is a store or a remote of yours"), "\(own.err)")
    }
    let reverse = try await chris.belfry(["remote", "add", "shared", box])
    #expect(reverse.status == 2)
    #expect(reverse.err.contains("is the mailbox of a partner"), "\(reverse.err)")
  }
}
