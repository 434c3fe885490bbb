import TestSupport
import Testing

/// Tags on the command line, in records edited by hand, and in merges.
@Suite struct TagCommandTests {
  private func sandbox() async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    let add = try await sandbox.belfry(
      "add", "Rent", "--weekly", "mon", "--at", "09:00", "--tag", "Home,bills")
    #expect(add.status == 0, "\(add.err)")
    return sandbox
  }

  private func tags(_ sandbox: Sandbox, store: String? = nil) async throws -> [String] {
    let show = try await sandbox.belfry("show", "rent", "--json", store: store)
    return show.object["tags"] as? [String] ?? []
  }

  @Test func tagsAreSetAndShown() async throws {
    let sandbox = try await sandbox()
    let show = try await sandbox.belfry("show", "rent")
    #expect(show.out.contains("  +bills  +home\n"), "\(show.out)")
    let list = try await sandbox.belfry("list")
    #expect(list.out.contains("  +bills +home"), "\(list.out)")
    let all = try await sandbox.belfry("list", "--json")
    #expect(all.array.first?["tags"] as? [String] == ["bills", "home"])
    for (value, expected) in [
      ("+work,-home", ["bills", "work"]), ("-bills", ["work"]), ("home,薬", ["home", "薬"]),
      ("none", []),
    ] {
      let edit = try await sandbox.belfry("edit", "rent", "--tag", value)
      #expect(edit.out.hasPrefix("Changed tags of Rent: "), "\(edit.out)\(edit.err)")
      #expect(try await tags(sandbox) == expected)
    }
    let same = try await sandbox.belfry("edit", "rent", "--tag", "-home")
    #expect(same.out.hasPrefix("Rent is unchanged: "))
    let message = try await sandbox.git("log", "-1", "--format=%B", in: sandbox.store)
    #expect(message.out.contains("Action: edited\nFields: tags\n"), "\(message.out)")
  }

  @Test func wrongTagsAreRefused() async throws {
    let sandbox = try await sandbox()
    for (value, error) in [
      ("my home", "--tag: 'my home' is not a tag: it contains U+0020; tags consist of letters"),
      ("a/b", "--tag: 'a/b' is not a tag: it contains '/'; tags consist of letters, digits"),
      ("+home,bills", "--tag: some tags have + or -, and some do not."),
      ("+home,-home", "--tag: 'home' is added and removed."),
      ("home,", "--tag: a tag is empty."),
      (
        (0..<33).map { "t\($0)" }.joined(separator: ","),
        "--tag: the alarm would have 33 tags; the maximum is 32."
      ),
    ] {
      let edit = try await sandbox.belfry("edit", "rent", "--tag", value)
      #expect(edit.status == 2 && edit.err.contains(error), "\(value): \(edit.err)")
      #expect(edit.err.contains("hint: "))
      let add = try await sandbox.belfry("add", "Tea", "--daily", "--tag", value)
      #expect(add.status == 2 || value.hasPrefix("+home,-"), "\(add.err)")
    }
    #expect(try await tags(sandbox) == ["bills", "home"])
  }

  @Test func undoRevertsOneEditOfTags() async throws {
    let sandbox = try await sandbox()
    _ = try await sandbox.belfry(
      "edit", "rent", "--tag", "+work,-home", now: "2026-11-20T23:00:00Z")
    _ = try await sandbox.belfry("edit", "rent", "--title", "Rent 2", now: "2026-11-20T23:01:00Z")
    let undo = try await sandbox.belfry("undo", "--skip", "1", now: "2026-11-20T23:02:00Z")
    #expect(undo.status == 0, "\(undo.err)")
    #expect(try await tags(sandbox) == ["bills", "home"])
  }

  @Test func aHandEditIsStampedAndMerged() async throws {
    let sandbox = try await sandbox()
    let server = try await sandbox.secondDevice()
    for store in [sandbox.store, server] { _ = try await sandbox.belfry("sync", store: store) }
    let file = try sandbox.alarmFile()
    let text = try sandbox.read(file)
    try sandbox.write(text.replacing("    \"home\"\n", with: "    \"Pills\"\n"), to: file)
    _ = try await sandbox.belfry(
      "edit", "rent", "--tag", "+work", now: "2026-11-20T23:00:00Z", store: server)
    let list = try await sandbox.belfry("sync", now: "2026-11-20T23:01:00Z")
    #expect(list.status == 0, "\(list.err)")
    let subject = try await sandbox.git(
      "log", "-1", "--format=%B", "--grep=by hand", in: sandbox.store)
    #expect(subject.out.contains("Edited by hand: Rent") && subject.out.contains("Fields: tags"))
    for store in [server, sandbox.store] {
      _ = try await sandbox.belfry("sync", now: "2026-11-20T23:02:00Z", store: store)
    }
    for store in [server, sandbox.store] {
      #expect(try await tags(sandbox, store: store) == ["bills", "pills", "work"])
    }
  }

  @Test func aDiscardedEditIsListedAndRestored() async throws {
    let sandbox = try await sandbox()
    let server = try await sandbox.secondDevice()
    for store in [sandbox.store, server] { _ = try await sandbox.belfry("sync", store: store) }
    _ = try await sandbox.belfry("edit", "rent", "--tag", "-home", now: "2026-11-20T23:00:00Z")
    for (value, now) in [("-home", "2026-11-20T23:00:30Z"), ("+home", "2026-11-20T23:01:00Z")] {
      _ = try await sandbox.belfry("edit", "rent", "--tag", value, now: now, store: server)
    }
    for store in [server, sandbox.store] {
      _ = try await sandbox.belfry("sync", now: "2026-11-20T23:02:00Z", store: store)
    }
    #expect(try await tags(sandbox) == ["bills", "home"])
    let conflicts = try await sandbox.belfry("conflicts", "--json", now: "2026-11-20T23:03:00Z")
    let conflict = try #require(conflicts.array.first, "\(conflicts.out)")
    #expect(conflict["field"] as? String == "tags.home")
    #expect(
      conflict["kept"] as? String == "present" && conflict["discarded"] as? String == "removed")
    let restore = try await sandbox.belfry(
      "conflicts", "restore", "1", now: "2026-11-20T23:04:00Z")
    #expect(restore.status == 0, "\(restore.err)")
    #expect(try await tags(sandbox) == ["bills"])
    let explain = try await sandbox.belfry("explain", "rent", now: "2026-11-20T23:05:00Z")
    #expect(explain.out.contains("tags"), "\(explain.out)")
  }

  @Test func exportsContainTheTags() async throws {
    let sandbox = try await sandbox()
    let other = sandbox.root + "/other"
    for (format, name) in [("json", "all.json"), ("ical", "all.ics")] {
      let export = try await sandbox.belfry("export", "--format", format)
      #expect(
        format == "json" || export.out.contains("CATEGORIES:bills\r\nCATEGORIES:home\r\n"),
        "\(export.out)")
      try sandbox.write(export.out, to: "\(sandbox.root)/\(name)")
      let store = other + name
      let imported = try await sandbox.belfry(
        "import", "\(sandbox.root)/\(name)", store: store, device: "server")
      #expect(imported.status == 0, "\(imported.err)")
      #expect(try await tags(sandbox, store: store) == ["bills", "home"])
    }
    // Another program may write other categories.
    try sandbox.write(
      [
        "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//test//EN", "BEGIN:VEVENT", "UID:1",
        "DTSTART:20261201T090000", "SUMMARY:Rent", "CATEGORIES:Q&A,My Bills",
        "CATEGORIES:Rot", "END:VEVENT", "END:VCALENDAR", "",
      ].joined(separator: "\r\n"), to: sandbox.root + "/other.ics")
    let store = sandbox.root + "/third"
    let imported = try await sandbox.belfry(
      "import", sandbox.root + "/other.ics", store: store, device: "desk")
    #expect(imported.err.contains("not imported: the category Q&A."), "\(imported.err)")
    #expect(try await tags(sandbox, store: store) == ["my-bills", "rot"])
  }
}
