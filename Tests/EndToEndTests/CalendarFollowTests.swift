import Foundation
import TestSupport
import Testing

/// Calendars that a device follows: feeds of a web server, files, and folders of files.
@Suite struct CalendarFollowTests {
  /// Returns a calendar with a weekly event for each title, with a reminder unless the title ends with `?`.
  static func calendar(_ events: [String: String], _ lines: String...) -> String {
    (["BEGIN:VCALENDAR", "VERSION:2.0"] + lines
      + events.sorted { $0.key < $1.key }.map { title, time in event(title, time) }
      + ["END:VCALENDAR", ""]).joined(separator: "\r\n")
  }

  static func event(_ title: String, _ time: String) -> String {
    let reminder = ["BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:PT0S", "END:VALARM"]
    return
      (["BEGIN:VEVENT", "UID:\(title)", "SUMMARY:\(title)", "DTSTART:20261124T\(time)00"]
      + ["RRULE:FREQ=WEEKLY"] + (title.hasSuffix("?") ? [] : reminder) + ["END:VEVENT"])
      .joined(separator: "\r\n")
  }

  /// A sandbox with a server of the calendar `team.ics`.
  private struct Fixture {
    let sandbox: Sandbox
    let server: CalendarServer

    init(tls: Bool = false) async throws {
      sandbox = try Sandbox()
      try await sandbox.plus()
      server = try await CalendarServer(sandbox, tls: tls)
      try serve(["Tea": "0900", "Talk": "1000", "Idle?": "1100"])
    }

    func serve(_ events: [String: String], _ lines: String...) throws {
      var text = CalendarFollowTests.calendar(events)
      if let line = lines.first {
        text = text.replacing("VERSION:2.0", with: "VERSION:2.0\r\n\(line)")
      }
      try sandbox.write(text, to: sandbox.root + "/calendars/team.ics")
    }

    func belfry(
      _ arguments: String..., at time: String = "10:00", environment: [String: String] = [:]
    ) async throws -> Sandbox.Output {
      try await sandbox.belfry(
        arguments, now: "2026-11-23T\(time):00Z", environment: environment)
    }

    func follow(_ path: String, _ options: String...) async throws -> Sandbox.Output {
      try await sandbox.belfry(
        ["calendar", "follow", server.url(path), "--name", "team"] + options,
        now: "2026-11-23T10:00:00Z")
    }

    /// The titles of the alarms, with the time of the next occurrence.
    func alarms() async throws -> [String: String] {
      let list = try await sandbox.belfry("list", "--json", now: "2026-11-23T10:00:00Z").array
      return Dictionary(
        list.map {
          (
            $0["title"] as? String ?? "",
            ($0["next"] as? String ?? "").dropFirst(11).prefix(5).description
          )
        },
        uniquingKeysWith: { first, _ in first })
    }

    func commits() async throws -> Int {
      Int(
        try await sandbox.git("rev-list", "--count", "HEAD").out
          .trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
    }

    var file: String { sandbox.store + "/.git/belfry/followed/team.json" }
  }

  @Test("Events with a reminder become alarms; a conditional request finds them unchanged")
  func followAndRefresh() async throws {
    let fixture = try await Fixture()
    let dry = try await fixture.follow("team.ics", "--dry-run")
    #expect(dry.out.hasPrefix("Would follow team ("), "\(dry.out)\(dry.err)")
    #expect(try await fixture.alarms().isEmpty)
    let first = try await fixture.follow("team.ics", "--tag", "work")
    #expect(first.status == 0, "\(first.err)")
    #expect(first.out.contains("Imported 2 alarms; 0 already in the store, 0 left out."))
    #expect(first.out.contains("without a reminder: 1 event."))
    #expect(try await fixture.alarms() == ["Tea": "09:00", "Talk": "10:00"])
    #expect(try await fixture.belfry("list", "+work", "--json").array.count == 2)
    let commits = try await fixture.commits()
    let content = try fixture.sandbox.read(fixture.file)
    let again = try await fixture.belfry("calendar", "refresh")
    #expect(again.out == "team: unchanged.\n")
    #expect(try fixture.server.requests("tag \"").count == 1)
    // Not due yet: no request.
    _ = try await fixture.belfry("calendar", "refresh", "--due", at: "10:30")
    #expect(try fixture.server.requests("team.ics").count == 3)
    _ = try await fixture.belfry("calendar", "refresh", "--due", at: "11:00")
    #expect(try fixture.server.requests("team.ics").count == 4)
    #expect(try await fixture.commits() == commits)
    #expect(try fixture.sandbox.read(fixture.file) == content)
    // A server that writes the time of the request into each event changes nothing.
    let text = try fixture.sandbox.read(fixture.sandbox.root + "/calendars/team.ics")
    try fixture.sandbox.write(
      text.replacing("SUMMARY", with: "DTSTAMP:20261123T100000Z\r\nSUMMARY"),
      to: fixture.sandbox.root + "/calendars/team.ics")
    let stamped = try await fixture.belfry("calendar", "refresh")
    #expect(stamped.out.hasPrefix("team: Imported 0 alarms; 2 already"), "\(stamped.out)")
    #expect(try await fixture.commits() == commits)
  }

  @Test(
    "Changes are merged; edited alarms stay; vanished ones are withdrawn, and return with their events"
  )
  func changes() async throws {
    let fixture = try await Fixture()
    try await fixture.follow("team.ics").expectSuccess()
    _ = try await fixture.belfry("edit", "Talk", "--at", "12:00", at: "10:01")
    try fixture.serve(["Tea": "0930", "Talk": "1030", "New": "1500"])
    let changed = try await fixture.belfry("calendar", "refresh", at: "10:02")
    #expect(changed.out.contains("1 changed"), "\(changed.out)")
    #expect(changed.err.contains("Talk differs from the calendar, but was edited here"))
    #expect(try await fixture.alarms() == ["Tea": "09:30", "Talk": "12:00", "New": "15:00"])
    try fixture.serve(["Tea": "0930", "Talk": "1030"])
    let vanished = try await fixture.belfry("calendar", "refresh", at: "10:03")
    #expect(vanished.out.contains("  removed: New\n"), "\(vanished.out)")
    #expect(!vanished.err.contains("differs"))
    try fixture.serve(["Tea": "0930", "Talk": "1030", "New": "1600"])
    try await fixture.belfry("calendar", "refresh", at: "10:04").expectSuccess()
    #expect(try await fixture.alarms()["New"] == "16:00")
    // An alarm that a person deletes stays deleted, also if its event changes.
    _ = try await fixture.belfry("delete", "--yes", "New", at: "10:05")
    try fixture.serve(["Tea": "0930", "Talk": "1030", "New": "1700"])
    let deleted = try await fixture.belfry("calendar", "refresh", at: "10:06")
    #expect(deleted.err.contains("1 alarm was deleted before, and stays deleted: New."))
    #expect(try await fixture.alarms()["New"] == nil)
    try await fixture.belfry("calendar", "refresh", "team", "--restore", at: "10:07")
      .expectSuccess()
    #expect(try await fixture.alarms()["New"] == "17:00")
  }

  @Test(
    "A failed fetch changes no alarm, and is reported by list and doctor",
    arguments: [
      ("page/x", "it is a web page, not a calendar"), ("status/500", "status 500"),
      ("status/404", "no such calendar"), ("cut/team.ics", "ends before its end"),
      ("truncated/team.ics", "the connection ended before"), ("loop/x", "redirects too often"),
      ("local/x", "protocol that is not allowed"), ("huge/x", "larger than 16 MB"),
      ("status/200", "it is empty"), ("status/204", "status 204"),
    ])
  func failures(_ path: String, _ words: String) async throws {
    let fixture = try await Fixture()
    try await fixture.follow("team.ics").expectSuccess()
    let commits = try await fixture.commits()
    try fixture.sandbox.write(
      try fixture.sandbox.read(fixture.file).replacing("/team.ics", with: "/\(path)"),
      to: fixture.file, mode: 0o600)
    // Another version than the known one.
    try fixture.serve(["Tea": "0930"])
    let failed = try await fixture.belfry("calendar", "refresh", at: "11:00")
    #expect([1, 6].contains(failed.status))
    #expect(failed.err.contains("team: ") && failed.err.contains(words), "\(failed.err)")
    #expect(try await fixture.commits() == commits)
    #expect(try await fixture.alarms() == ["Tea": "09:00", "Talk": "10:00"])
    let list = try await fixture.belfry("calendar", "list", at: "11:01")
    #expect(list.out.contains("failing since ") && list.out.contains(words), "\(list.out)")
    let doctor = try await fixture.belfry("doctor", "--json", at: "11:01")
    #expect(doctor.out.contains("Its alarms stay."), "\(doctor.out)")
    // Retried after five minutes, and not earlier.
    let count = try fixture.server.requests(path).count
    _ = try await fixture.belfry("calendar", "refresh", "--due", at: "11:03")
    #expect(try fixture.server.requests(path).count == count)
    _ = try await fixture.belfry("calendar", "refresh", "--due", at: "11:06")
    #expect(try fixture.server.requests(path).count > count)
    // The next success ends the failure.
    try fixture.sandbox.write(
      try fixture.sandbox.read(fixture.file).replacing("/\(path)", with: "/team.ics"),
      to: fixture.file, mode: 0o600)
    try fixture.serve(["Tea": "0900", "Talk": "1000"])
    try await fixture.belfry("calendar", "refresh", at: "12:00").expectSuccess()
    #expect(
      try await fixture.belfry("calendar", "list", at: "12:01").out.contains("failing") == false)
  }

  @Test(
    "A calendar that does not answer in time fails, and one that fails at first is not followed")
  func slowServer() async throws {
    let fixture = try await Fixture()
    let began = ContinuousClock.now
    let slow = try await fixture.belfry(
      "calendar", "follow", fixture.server.url("slow/team.ics"),
      environment: ["BELFRY_NETWORK_TIMEOUT": "1"])
    #expect(slow.status == 6)
    #expect(slow.err.contains("did not answer in time"), "\(slow.err)")
    #expect(ContinuousClock.now - began < .seconds(20))
    #expect(try await fixture.belfry("calendar", "follow", "--list", "--json").array.isEmpty)
    for url in ["ftp://example.org/x.ics", "http:///x", "gopher://x", "/nonexistent.ics"] {
      let refused = try await fixture.belfry("calendar", "follow", url)
      #expect(
        [1, 2].contains(refused.status) && refused.err.hasPrefix("error: "), "\(refused.err)")
    }
  }

  @Test("A calendar that loses most of its events, or all, is held until the user accepts it")
  func heldLoss() async throws {
    let fixture = try await Fixture()
    var events = Dictionary(uniqueKeysWithValues: (1...8).map { ("Event \($0)", "090\($0)") })
    try fixture.serve(events)
    try await fixture.follow("team.ics").expectSuccess()
    events = events.filter { $0.key < "Event 4" }
    events["Extra"] = "1200"
    try fixture.serve(events)
    let held = try await fixture.belfry("calendar", "refresh", at: "10:01")
    #expect(held.status == 4)
    #expect(held.err.contains("5 of 8 alarms ahead have vanished"), "\(held.err)")
    // New events are imported all the same.
    #expect(try await fixture.alarms().count == 9)
    let document = try await fixture.belfry("calendar", "follow", "--list", "--json").array
    #expect((document.first?["held"] as? [String: Any])?["alarms"] as? Int == 5)
    #expect(try await fixture.belfry("doctor").out.contains("have vanished"))
    #expect(try await fixture.belfry("calendar", "refresh", at: "10:02").status == 4)
    // The events are back: nothing was lost.
    try fixture.serve(
      events.merging(["Event 5": "0905", "Event 6": "0906", "Event 7": "0907"]) { $1 })
    let back = try await fixture.belfry("calendar", "refresh", at: "10:03")
    #expect(back.status == 0, "\(back.err)")
    #expect(try await fixture.alarms().count == 7)
    try fixture.serve([:])
    #expect(try await fixture.belfry("calendar", "refresh", at: "10:04").status == 4)
    #expect(try await fixture.alarms().count == 7)
    let accepted = try await fixture.belfry("calendar", "refresh", "team", "--accept", at: "10:05")
    #expect(accepted.status == 0, "\(accepted.err)")
    #expect(try await fixture.alarms().isEmpty)
    // The history stays.
    #expect(try await fixture.belfry("log", at: "10:06").out.contains("Event 1"))
  }

  @Test("An event that is over is not withdrawn when the calendar drops it")
  func pastEvents() async throws {
    let fixture = try await Fixture()
    let once = CalendarFollowTests.event("Once", "1000").replacing(
      "RRULE:FREQ=WEEKLY\r\n", with: ""
    )
    .replacing("20261124", with: "20261123")
    let text = CalendarFollowTests.calendar(["Tea": "0900"])
      .replacing("END:VCALENDAR", with: "\(once)\r\nEND:VCALENDAR")
    try fixture.sandbox.write(text, to: fixture.sandbox.root + "/calendars/team.ics")
    _ = try await fixture.sandbox.belfry(
      "calendar", "follow", fixture.server.url("team.ics"), "--name", "team",
      now: "2026-11-23T09:00:00Z")
    _ = try await fixture.belfry("tick", at: "10:00")
    _ = try await fixture.belfry("stop", "Once", at: "10:01")
    try fixture.serve(["Tea": "0900"])
    let refreshed = try await fixture.belfry("calendar", "refresh", at: "10:05")
    #expect(refreshed.status == 0 && !refreshed.out.contains("removed"), "\(refreshed.out)")
    #expect(try await fixture.belfry("pending", "--json", at: "10:06").array.count == 1)
  }

  @Test("Redirects, compression, dates, and hostile headers and titles")
  func variants() async throws {
    let fixture = try await Fixture()
    try fixture.serve(["Tea\u{1B}[31m": "0900"], "X-PUBLISHED-TTL:PT3M")
    for (index, kind) in ["moved", "gzip", "dated", "hostile"].enumerated() {
      let output = try await fixture.belfry(
        "calendar", "follow", fixture.server.url("\(kind)/team.ics"), "--name", "c\(index)")
      #expect(output.status == 0, "\(kind): \(output.err)")
      #expect(!output.out.contains("\u{1B}"))
      // The calendar asks for three minutes; the minimum is 15.
      #expect(output.out.contains("every 15 min."), "\(output.out)")
    }
    let refreshed = try await fixture.belfry("calendar", "refresh", at: "10:30")
    #expect(refreshed.out.contains("c0: unchanged."), "\(refreshed.out)\(refreshed.err)")
    #expect(refreshed.out.contains("c2: unchanged."))
    #expect(try fixture.server.requests("hostile").allSatisfy { $0.contains("tag None") })
    let list = try await fixture.belfry("calendar", "list")
    #expect(list.out.contains("http://127.0.0.1:\(fixture.server.port)/…/team.ics"))
  }

  @Test("Credentials come from the URL, a file or ~/.netrc, and stay in a private file")
  func credentials() async throws {
    let fixture = try await Fixture()
    let url = fixture.server.url("private/team.ics")
    let refused = try await fixture.belfry("calendar", "follow", url)
    #expect(refused.status == 6 && refused.err.contains("--password-file"), "\(refused.err)")
    try fixture.sandbox.write("a \"secret\"\n", to: fixture.sandbox.root + "/password")
    let file = try await fixture.belfry(
      "calendar", "follow", url, "--name", "team", "--user", "me", "--password-file",
      fixture.sandbox.root + "/password")
    #expect(file.status == 0, "\(file.err)")
    #expect(file.err.contains("http does not encrypt the password"))
    let mode = try FileManager.default.attributesOfItem(atPath: fixture.file)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    for words in [["list"], ["follow", "--list", "--json"], ["refresh"]] {
      let output = try await fixture.sandbox.belfry(
        ["calendar"] + words, now: "2026-11-23T10:01:00Z")
      #expect(!(output.out + output.err).contains("secret"))
    }
    #expect(try await fixture.sandbox.git("grep", "-c", "secret", "HEAD").out.isEmpty)
    try await fixture.belfry("calendar", "unfollow", "team", "--yes", at: "10:02").expectSuccess()
    let inURL = url.replacing("://", with: "://me:a%20%22secret%22@")
    let second = try await fixture.belfry(
      "calendar", "follow", inURL, "--name", "team", at: "10:03")
    #expect(second.status == 0, "\(second.err)")
    #expect(!second.out.contains("secret") && !second.err.contains("secret"))
    #expect(try await fixture.alarms() == ["Tea": "09:00", "Talk": "10:00"])
  }

  @Test("TLS is verified")
  func tls() async throws {
    let fixture = try await Fixture(tls: true)
    let url = fixture.server.url("team.ics").replacing("https", with: "webcal")
    let refused = try await fixture.belfry("calendar", "follow", url)
    #expect(refused.status == 6 && refused.err.contains("certificate"), "\(refused.err)")
    let trusted = try await fixture.belfry(
      "calendar", "follow", url, environment: ["CURL_CA_BUNDLE": fixture.server.authority])
    #expect(trusted.status == 0, "\(trusted.err)")
    #expect(try await fixture.alarms().count == 2)
  }

  @Test("A vdir: each file is an event; a damaged file withdraws nothing")
  func folder() async throws {
    let fixture = try await Fixture()
    let folder = fixture.sandbox.root + "/vdir"
    func put(_ title: String, _ time: String) throws {
      try fixture.sandbox.write(
        CalendarFollowTests.calendar([title: time]), to: "\(folder)/\(title).ics")
    }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try fixture.sandbox.write("Home\n", to: folder + "/displayname")
    try fixture.sandbox.write("garbage", to: folder + "/x.ics.tmp")
    for title in ["A", "B", "C"] { try put(title, "0900") }
    let first = try await fixture.belfry("calendar", "follow", folder)
    #expect(
      first.out.hasPrefix("Following Home (\(folder)), whenever it changes.\nImported 3"),
      "\(first.out)\(first.err)")
    #expect(try await fixture.belfry("show", "A").out.contains("calendar    Home"))
    let commits = try await fixture.commits()
    _ = try await fixture.belfry("calendar", "refresh", "--due", at: "10:01")
    #expect(try await fixture.commits() == commits)
    try put("B", "0930")
    try FileManager.default.removeItem(atPath: folder + "/C.ics")
    try fixture.sandbox.write("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n", to: folder + "/A.ics")
    let damaged = try await fixture.belfry("calendar", "refresh", at: "10:02")
    #expect(damaged.err.contains("left out the damaged file A.ics"), "\(damaged.err)")
    #expect(try await fixture.alarms() == ["A": "09:00", "B": "09:30", "C": "09:00"])
    #expect(try await fixture.belfry("doctor", at: "10:02").out.contains("A.ics"))
    try put("A", "0900")
    let mended = try await fixture.belfry("calendar", "refresh", "--due", at: "10:03")
    #expect(mended.status == 0, "\(mended.err)")
    #expect(try await fixture.alarms() == ["A": "09:00", "B": "09:30"])
    // A disk that is not mounted.
    try FileManager.default.moveItem(atPath: folder, toPath: folder + "-away")
    #expect(try await fixture.belfry("calendar", "refresh", at: "10:04").status == 1)
    #expect(try await fixture.alarms().count == 2)
    try FileManager.default.moveItem(atPath: folder + "-away", toPath: folder)
    #expect(
      try await fixture.belfry("calendar", "refresh", at: "10:05").out == "Home: unchanged.\n")
    // A folder of collections.
    let collections = try await fixture.belfry("calendar", "follow", fixture.sandbox.root)
    #expect(collections.status == 2 && collections.err.contains(folder), "\(collections.err)")
  }

  @Test("Events without a reminder ring with --all, and some time before with --before")
  func silentEvents() async throws {
    let fixture = try await Fixture()
    let all = try await fixture.follow("team.ics", "--all")
    #expect(all.out.contains("Imported 3 alarms"), "\(all.out)\(all.err)")
    #expect(try await fixture.alarms()["Idle?"] == "11:00")
    try await fixture.belfry("calendar", "unfollow", "team", "--yes", at: "10:01").expectSuccess()
    #expect(try await fixture.alarms().isEmpty)
    // Followed again, the alarms come back.
    let before = try await fixture.follow("team.ics", "--before", "15m")
    #expect(before.status == 0, "\(before.err)")
    #expect(
      try await fixture.alarms() == ["Tea": "09:00", "Talk": "10:00", "Idle?": "10:45"])
    try await fixture.belfry("calendar", "unfollow", "team", "--keep", at: "10:03").expectSuccess()
    #expect(try await fixture.alarms().count == 3)
  }

  @Test(
    "Two devices that follow the same calendar converge, and an outdated fetch does not undo a later one"
  )
  func twoDevices() async throws {
    let fixture = try await Fixture()
    let sandbox = fixture.sandbox
    let (one, two, remote) = (sandbox.root + "/one", sandbox.root + "/two", sandbox.root + "/r.git")
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", remote, in: sandbox.root)
    var minute = 0
    func belfry(_ store: String, _ arguments: String...) async throws -> Sandbox.Output {
      minute += 1
      return try await sandbox.belfry(
        arguments, now: "2026-11-23T10:\(minute < 10 ? "0" : "")\(minute):00Z", store: store,
        device: store == one ? "one" : "two")
    }
    try await belfry(one, "tier", "plus").expectSuccess()
    try await belfry(one, "remote", "add", "origin", remote).expectSuccess()
    try await belfry(one, "sync").expectSuccess()
    try await belfry(two, "clone", remote).expectSuccess()
    // Both import the same calendar before they sync.
    for store in [one, two] {
      try await belfry(
        store, "calendar", "follow", fixture.server.url("team.ics"), "--name", "team"
      )
      .expectSuccess()
    }
    func sync() async throws {
      for store in [one, two, one] { try await belfry(store, "sync").expectSuccess() }
    }
    func trees() async throws -> Set<String> {
      Set([
        try await sandbox.git("rev-parse", "HEAD^{tree}", in: one).out,
        try await sandbox.git("rev-parse", "HEAD^{tree}", in: two).out,
      ])
    }
    func titles(_ store: String) async throws -> [String] {
      try await belfry(store, "list", "--json").array.compactMap { $0["title"] as? String }.sorted()
    }
    try await sync()
    #expect(try await trees().count == 1)
    #expect(try await titles(two) == ["Talk", "Tea"])
    // The event vanishes. The second device still gets the old version, with another entity tag.
    try fixture.serve(["Tea": "0900"])
    try await belfry(one, "calendar", "refresh").expectSuccess()
    try await sync()
    #expect(try await titles(two) == ["Tea"])
    try fixture.serve(["Tea": "0900", "Talk": "1000", "Idle?": "1111"])
    let outdated = try await belfry(two, "calendar", "refresh")
    #expect(outdated.out.hasPrefix("team: Imported 0"), "\(outdated.out)\(outdated.err)")
    #expect(try await titles(two) == ["Tea"])
    try fixture.serve(["Tea": "0900"])
    let commits = try await sandbox.git("rev-parse", "HEAD", in: two).out
    try await belfry(two, "calendar", "refresh").expectSuccess()
    #expect(try await sandbox.git("rev-parse", "HEAD", in: two).out == commits)
    // A change that both import.
    try fixture.serve(["Tea": "0915", "Talk": "1000"])
    for store in [two, one] { try await belfry(store, "calendar", "refresh").expectSuccess() }
    try await sync()
    #expect(try await trees().count == 1)
    #expect(try await titles(one) == ["Talk", "Tea"])
    for store in [one, two] {
      let head = try await sandbox.git("rev-parse", "HEAD", in: store).out
      #expect(try await belfry(store, "calendar", "refresh").out == "team: unchanged.\n")
      #expect(try await sandbox.git("rev-parse", "HEAD", in: store).out == head)
    }
  }

  @Test("Holiday calendars and followed calendars are told apart")
  func kinds() async throws {
    let fixture = try await Fixture()
    try await fixture.follow("team.ics").expectSuccess()
    try fixture.sandbox.write(
      CalendarFollowTests.calendar([:]).replacing(
        "END:VCALENDAR",
        with: "BEGIN:VEVENT\r\nUID:h\r\nDTSTART;VALUE=DATE:20261225\r\nEND:VEVENT\r\nEND:VCALENDAR"),
      to: fixture.sandbox.root + "/days.ics")
    try await fixture.belfry("calendar", "import", "de", fixture.sandbox.root + "/days.ics")
      .expectSuccess()
    for words in [["remove", "--yes", "team"], ["show", "team"]] {
      let output = try await fixture.sandbox.belfry(
        ["calendar"] + words, now: "2026-11-23T10:01:00Z")
      #expect(output.status == 3 && output.err.contains("calendar unfollow team"), "\(output.err)")
    }
    for words in [["unfollow", "--yes", "de"], ["refresh", "de"]] {
      let output = try await fixture.sandbox.belfry(
        ["calendar"] + words, now: "2026-11-23T10:01:00Z")
      #expect(output.status == 3 && output.err.contains("is a holiday calendar"), "\(output.err)")
    }
    let list = try await fixture.belfry("calendar", "list")
    #expect(list.out.hasPrefix("Followed on this device:\n  team  http"), "\(list.out)")
    #expect(list.out.hasSuffix("Holidays:\n  de  1 holiday, 2026\n"), "\(list.out)")
    #expect(try await fixture.belfry("calendar", "list", "--json").array.count == 1)
  }

  @Test("A refresh that was killed before it recorded its state is completed by the next one")
  func killedRefresh() async throws {
    let fixture = try await Fixture()
    try await fixture.follow("team.ics").expectSuccess()
    let first = try fixture.sandbox.read(fixture.file)
    // Killed in the first import: the calendar is followed, and has no state.
    try fixture.sandbox.write(
      "{\"format\": 1, \"url\": \"\(fixture.server.url("team.ics"))\"}\n", to: fixture.file,
      mode: 0o600)
    var commits = try await fixture.commits()
    try await fixture.belfry("calendar", "refresh", "--due", at: "10:01").expectSuccess()
    #expect(try fixture.sandbox.read(fixture.file) == first)
    #expect(try await fixture.commits() == commits)
    // Killed after the alarm of a vanished event was deleted.
    try fixture.serve(["Tea": "0900"])
    try await fixture.belfry("calendar", "refresh", at: "10:02").expectSuccess()
    let second = try fixture.sandbox.read(fixture.file)
    commits = try await fixture.commits()
    try fixture.sandbox.write(first, to: fixture.file, mode: 0o600)
    try await fixture.belfry("calendar", "refresh", at: "10:02").expectSuccess()
    #expect(try fixture.sandbox.read(fixture.file) == second)
    #expect(try await fixture.commits() == commits)
    #expect(try await fixture.alarms() == ["Tea": "09:00"])
    // A damaged file of the state is no subscription, and changes nothing else.
    try fixture.sandbox.write("{", to: fixture.file, mode: 0o600)
    let list = try await fixture.belfry("calendar", "follow", "--list")
    #expect(list.err.contains("team is not followed any more"), "\(list.err)")
    #expect(try await fixture.belfry("doctor").out.contains("team is not followed any more"))
    #expect(try await fixture.belfry("calendar", "refresh").status == 0)
    #expect(try await fixture.alarms() == ["Tea": "09:00"])
  }

  @Test("A tick fetches what is due, and not beside a daemon")
  func tick() async throws {
    let fixture = try await Fixture()
    try await fixture.follow("team.ics").expectSuccess()
    try fixture.serve(["Tea": "0900", "Talk": "1000", "New": "1200"])
    _ = try await fixture.belfry("tick", at: "10:10")
    #expect(try await fixture.alarms().count == 2)
    _ = try await fixture.belfry("rename", "Tea", "Green tea", at: "10:20")
    _ = try await fixture.belfry("tick", "--quiet", at: "11:00")
    #expect(try await fixture.alarms().count == 3)
    // An action in the background is not the user's latest one.
    let undone = try await fixture.belfry("undo", at: "11:01")
    #expect(undone.out.contains("Green tea"), "\(undone.out)\(undone.err)")
    #expect(try await fixture.alarms().keys.sorted() == ["New", "Talk", "Tea"])
    fixture.server.stop()
    let failed = try await fixture.belfry("tick", "--quiet", at: "12:00")
    #expect(failed.status == 0)
    #expect(failed.err.contains("warning: team: "), "\(failed.err)")
    // Cron mails the same failure once.
    #expect(!(try await fixture.belfry("tick", "--quiet", at: "12:10").err.contains("team: ")))
  }

  @Test("The daemon imports a changed file at once, and a URL at its interval")
  func daemon() async throws {
    let fixture = try await Fixture()
    let sandbox = fixture.sandbox
    let folder = sandbox.root + "/vdir"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for name in ["one", "two"] {
      try sandbox.write(
        CalendarFollowTests.calendar([name: "0900"]), to: "\(sandbox.root)/\(name).ics")
    }
    let log = sandbox.root + "/daemon.log"
    let text = """
      export TZ=UTC BELFRY_DEVICE=laptop BELFRY_NOW=2026-11-23T10:00:00Z
      \(sandbox.waitFor)
      belfry() { '\(Sandbox.binary)' "$@" 2>/dev/null; }
      arrived() { belfry list | grep -q "$1"; }
      gone() { ! belfry list | grep -q "$1"; }
      said() { grep -q "$1" '\(log)'; }
      head() { git -C '\(sandbox.store)' rev-parse HEAD; }
      cp '\(sandbox.root)/one.ics' '\(folder)/one.ics'
      belfry calendar follow '\(folder)' --name vdir
      '\(Sandbox.binary)' daemon 2>'\(log)' & daemon=$!
      wait_for said 'watching'
      cp '\(sandbox.root)/two.ics' '\(folder)/two.ics.tmp'
      mv '\(folder)/two.ics.tmp' '\(folder)/two.ics'
      wait_for arrived two
      rm '\(folder)/two.ics'
      wait_for gone two
      # A file that is no calendar changes nothing.
      before=$(head)
      echo x >'\(folder)/displayname'
      touch '\(folder)/one.ics'
      sleep 1
      [ "$before" = "$(head)" ] || echo 'a commit without a change'
      # A folder that is replaced.
      mv '\(folder)' '\(folder)-old'
      cp -r '\(folder)-old' '\(folder)'
      cp '\(sandbox.root)/two.ics' '\(folder)/three.ics'
      sed -i s/two/three/ '\(folder)/three.ics'
      wait_for arrived three
      kill $daemon
      wait $daemon
      echo "ended with $?"
      """
    try sandbox.write(text, to: sandbox.root + "/script")
    let output = try await sandbox.run(
      "/usr/bin/timeout", ["300", "bash", sandbox.root + "/script"])
    let said = (try? sandbox.read(log)) ?? ""
    #expect(!output.out.contains("a commit without"), "\(said)")
    #expect(output.out.hasSuffix("ended with 0\n"), "\(output.out)\(output.err)\(said)")
  }
}
