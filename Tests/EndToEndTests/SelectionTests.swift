import TestSupport
import Testing

/// Tests of the alarms that commands select: by name, by filter, all, or the only one.
@Suite struct SelectionTests {
  private static let before = "2026-11-23T09:00:00Z"
  /// Tea, Pills and Pay rent ring; Zebra is due at 18:00.
  private static let now = "2026-11-23T11:00:30Z"

  private func sandbox(tick: Bool = true) async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    for (title, schedule, tags) in [
      ("Tea", "daily at 11:00", "home"), ("Pills", "daily at 11:00", "home,med"),
      ("Pay rent", "every mon 11:00", "none"), ("Zebra", "daily 18:00", "med"),
    ] {
      let add = try await sandbox.belfry(
        "add", title, schedule, "--tag", tags, now: SelectionTests.before)
      #expect(add.status == 0, "\(add.err)")
    }
    if tick { _ = try await sandbox.belfry("tick", now: SelectionTests.now) }
    return sandbox
  }

  private func states(_ sandbox: Sandbox) async throws -> [String: String] {
    let list = try await sandbox.belfry("list", "--json", now: SelectionTests.now)
    return Dictionary(
      uniqueKeysWithValues: list.array.compactMap { alarm in
        (alarm["title"] as? String).flatMap { title in
          (alarm["state"] as? String).map { (title, $0) }
        }
      })
  }

  @Test("Without a name, the choices are listed if several alarms ring")
  func severalRing() async throws {
    let sandbox = try await sandbox()
    let head = try await sandbox.git("rev-parse", "HEAD").out
    for verb in ["stop", "done", "snooze"] {
      let output = try await sandbox.belfry(verb, now: SelectionTests.now)
      #expect(output.status == 3)
      for title in ["Tea", "Pills", "Pay rent"] { #expect(output.err.contains(title)) }
      #expect(output.err.contains("Mon 23 Nov 2026, 11:00"))
    }
    #expect(try await sandbox.git("rev-parse", "HEAD").out == head)
  }

  @Test("Without a name, the only alarm that rings is meant, else the only pending one")
  func onlyOne() async throws {
    let sandbox = try await sandbox()
    _ = try await sandbox.belfry("done", "tea", "pills", now: SelectionTests.now)
    let stop = try await sandbox.belfry("stop", now: SelectionTests.now)
    #expect(stop.out.hasPrefix("Stopped Pay rent"), "\(stop.err)")
    let done = try await sandbox.belfry("done", now: SelectionTests.now)
    #expect(done.out.hasPrefix("Done: Pay rent"), "\(done.err)")
    let nothing = try await sandbox.belfry("done", now: SelectionTests.now)
    #expect(nothing.status == 4)
    #expect(nothing.err.contains("Next: Zebra, Mon 23 Nov 2026, 18:00."), "\(nothing.err)")
  }

  @Test("Several names, --all and filters are one commit")
  func bulk() async throws {
    let sandbox = try await sandbox()
    let stop = try await sandbox.belfry("stop", "tea", "rent", now: SelectionTests.now)
    #expect(stop.out.contains("Stopped Tea") && stop.out.contains("Stopped Pay rent"))
    #expect(try await sandbox.git("log", "-1", "--format=%s").out == "Stopped: 2 alarms\n")
    let done = try await sandbox.belfry("done", "+home", "--json", now: SelectionTests.now)
    #expect(Set(done.array.compactMap { $0["title"] as? String }) == ["Tea", "Pills"])
    #expect(
      try await states(sandbox)
        == ["Tea": "active", "Pills": "active", "Pay rent": "pending", "Zebra": "active"])
    let all = try await sandbox.belfry("done", "--all", now: SelectionTests.now)
    #expect(all.out.hasPrefix("Done: Pay rent"))
    let undo = try await sandbox.belfry("undo", now: SelectionTests.now)
    #expect(undo.status == 0)
    _ = try await sandbox.belfry("undo", now: SelectionTests.now)
    #expect(try await states(sandbox)["Tea"] == "pending")
    #expect(try await states(sandbox)["Pills"] == "ringing")
  }

  @Test("If one of several alarms cannot take the answer, none does")
  func allOrNothing() async throws {
    let sandbox = try await sandbox()
    let stop = try await sandbox.belfry("stop", "tea", "zebra", now: SelectionTests.now)
    #expect(stop.status == 4)
    #expect(stop.err.contains("Zebra is not ringing"))
    #expect(try await states(sandbox)["Tea"] == "ringing")
  }

  @Test(
    "A name matches as the whole title, the start of an identifier, or the start of a word",
    arguments: [
      ("tea", "Tea"), ("PAY", "Pay rent"), ("rent", "Pay rent"), ("pay rent", "Pay rent"),
      ("zeb", "Zebra"),
    ])
  func names(_ name: String, _ title: String) async throws {
    let sandbox = try await sandbox(tick: false)
    let show = try await sandbox.belfry("show", name, "--json", now: SelectionTests.before)
    #expect(show.object["title"] as? String == title, "\(show.err)")
  }

  @Test("A part of a word is refused without a terminal")
  func partOfWord() async throws {
    let sandbox = try await sandbox()
    let done = try await sandbox.belfry("done", "ent", now: SelectionTests.now)
    #expect(done.status == 3)
    #expect(done.err.contains("'ent' is a part of Pay rent, but not the start of a word."))
    let all = try await sandbox.belfry("done", "all", now: SelectionTests.now)
    #expect(all.status == 0 && all.out.contains("Done: Tea"), "\(all.err)")
  }

  @Test("What tells alarms of one name apart is shown")
  func ambiguous() async throws {
    let sandbox = try await sandbox(tick: false)
    _ = try await sandbox.belfry("add", "Tea", "every sun 15:00", now: SelectionTests.before)
    let edit = try await sandbox.belfry("edit", "tea", "--note", "x", now: SelectionTests.before)
    #expect(edit.status == 3)
    #expect(edit.err.contains("daily, Mon 23 Nov 2026, 11:00"), "\(edit.err)")
    #expect(edit.err.contains("weekly, Sun 29 Nov 2026, 15:00"), "\(edit.err)")
    // What changes nothing shows both.
    let show = try await sandbox.belfry("show", "tea", "--json", now: SelectionTests.before)
    #expect(show.array.map { $0["title"] as? String } == ["Tea", "Tea"], "\(show.err)")
    let next = try await sandbox.belfry("next", "tea", now: SelectionTests.before)
    #expect(next.out.contains("11:00") && next.out.contains("15:00"), "\(next.out)\(next.err)")
    let why = try await sandbox.belfry("why", "tea", "--json", now: SelectionTests.before)
    #expect(Set(why.array.compactMap { $0["alarm"] as? String }).count == 2, "\(why.err)")
    #expect(try await sandbox.belfry("stats", "tea", now: SelectionTests.before).status == 0)
  }

  @Test("A name means an alarm that can be answered, and an unfinished one before a finished one")
  func sameTitle() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    func run(_ arguments: String..., minute: Int) async throws -> Sandbox.Output {
      try await sandbox.belfry(arguments, now: "2026-11-23T10:\(minute):00Z")
    }
    /// Returns the time of the alarm that a command names.
    func time(_ output: Sandbox.Output) -> String? {
      (output.object["schedule"] as? [String: Any])?["times"].flatMap { ($0 as? [String])?.first }
    }
    _ = try await run("in", "10m", "Tea", minute: 10)
    _ = try await run("tick", minute: 20)
    #expect(try await run("done", "tea", minute: 20).status == 0)
    // A finished alarm gives way to one that is ahead, even to a longer title for an answer.
    _ = try await run("in", "10m", "Tea", minute: 21)
    #expect(try await time(run("show", "tea", "--json", minute: 22)) == "10:31")
    _ = try await run("tick", minute: 31)
    #expect(try await run("stop", "tea", minute: 31).status == 0)
    // Pending comes before what is only ahead, and ringing before pending.
    _ = try await run("in", "10m", "Tea", minute: 32)
    let unclear = try await run("rename", "tea", "Coffee", minute: 33)
    #expect(unclear.status == 3 && unclear.err.contains("any of 2 alarms"), "\(unclear.err)")
    _ = try await run("tick", minute: 42)
    let snoozed = try await run("snooze", "tea", "5m", minute: 42)
    #expect(snoozed.status == 0 && snoozed.out.contains("10:42"), "\(snoozed)")
    let done = try await run("done", "tea", minute: 43)
    #expect(done.status == 0 && done.out.contains("10:31"), "\(done)")
    let stop = try await run("stop", "tea", minute: 44)
    #expect(stop.status == 0 && stop.out.contains("10:42"), "\(stop)")
    #expect(try await run("done", "tea", minute: 44).status == 0)
    // All are finished, and equally good.
    let finished = try await run("rename", "tea", "Coffee", minute: 45)
    #expect(finished.status == 3 && finished.err.contains("any of 3 alarms"), "\(finished.err)")
    _ = try await run("in", "10m", "Tea with Ann", minute: 45)
    _ = try await run("tick", minute: 55)
    let whole = try await run("done", "tea", minute: 55)
    #expect(whole.status == 0 && whole.out.contains("Tea with Ann"), "\(whole)")
  }

  @Test(
    "Filter words of listings",
    arguments: [
      (["+home"], ["Pills", "Tea"]), (["+home", "+med"], ["Pills"]),
      (["ringing"], ["Pay rent", "Pills", "Tea"]),
      (["active"], ["Zebra"]), (["due:today"], ["Pay rent", "Pills", "Tea", "Zebra"]),
      (["due:tomorrow"], ["Pills", "Tea"]), (["+med", "active"], ["Zebra"]),
      (["ent"], ["Pay rent"]),
      (["due:2026-11-30"], ["Pay rent"]), (["+nothing"], []), (["enabled", "zeb"], ["Zebra"]),
    ])
  func filters(_ words: [String], _ titles: [String]) async throws {
    let sandbox = try await sandbox()
    let list = try await sandbox.belfry(["list", "--json"] + words, now: SelectionTests.now)
    #expect(list.status == 0, "\(list.err)")
    #expect(list.array.compactMap { $0["title"] as? String }.sorted() == titles)
  }

  @Test("A snooze takes a length or an end behind the names")
  func snooze() async throws {
    let sandbox = try await sandbox()
    for (words, until) in [
      (["tea", "until", "18:00"], "18:00"), (["pills", "1h30m"], "12:30"),
      (["rent", "10", "min"], "11:10"),
    ] {
      let output = try await sandbox.belfry(["snooze"] + words, now: SelectionTests.now)
      #expect(output.out.contains("it rings again at \(until)"), "\(output.out)\(output.err)")
    }
    // The seconds up to a moment are no whole number.
    let fraction = try await sandbox.belfry(
      "snooze", "tea", "until", "18:00", now: SelectionTests.now.replacing("Z", with: ".400Z"))
    #expect(fraction.out.contains("it rings again at 18:00"), "\(fraction.out)\(fraction.err)")
    let past = try await sandbox.belfry(
      "snooze", "tea", "until", "2020-01-01", now: SelectionTests.now)
    #expect(past.status == 2)
  }

  @Test("A time of day behind a snooze is no length")
  func clockOfSnooze() async throws {
    let sandbox = try await sandbox()
    for words in [["tea", "19:15"], ["tea", "--when=19:15"]] {
      let output = try await sandbox.belfry(["snooze"] + words, now: SelectionTests.now)
      #expect(output.status == 2 && output.err.contains("until 19:15, or for 19h15min"))
    }
  }

  @Test(
    "With the time in an option, all words name alarms",
    arguments: [
      (["snooze", "tea", "--when=till 18:00"], "it rings again at 18:00"),
      (["snooze", "tea", "--when=at 18:00"], "it rings again at 18:00"),
      (["snooze", "tea", "--when=tomorrow 9am"], "on Tue 24 Nov 2026 at 09:00"),
      (["snooze", "tea", "pills", "--when=10m"], "it rings again at 11:10"),
      (["pause", "tea", "--when=2 weeks"], "Paused Tea until Mon 7 Dec 2026"),
      (["pause", "tea", "--when=friday"], "Paused Tea until Fri 27 Nov 2026"),
      (["move", "tea", "--when=tomorrow 15:00"], "to Tue 24 Nov 2026, 15:00"),
      (["snooze", "tea", "--when=pills 20m"], nil), (["pause", "tea", "--when=pills 3 days"], nil),
      (["move", "tea", "--when=pills tomorrow 15:00"], nil), (["move", "tea", "--when=soon"], nil),
    ])
  func timeInAnOption(words: [String], shown: String?) async throws {
    let sandbox = try await sandbox()
    let output = try await sandbox.belfry(words, now: SelectionTests.now)
    #expect(output.status == (shown == nil ? 2 : 0), "\(output.err)")
    #expect(shown.map(output.out.contains) ?? output.out.isEmpty, "\(output.out)")
  }

  @Test("A pause applies to the alarms of a filter")
  func pause() async throws {
    let sandbox = try await sandbox(tick: false)
    let pause = try await sandbox.belfry(
      "pause", "+med", "--until", "friday", now: SelectionTests.before)
    #expect(pause.status == 0, "\(pause.err)")
    #expect(
      try await states(sandbox)
        == ["Tea": "ringing", "Pills": "paused", "Pay rent": "ringing", "Zebra": "paused"])
    let none = try await sandbox.belfry("pause", "+x", "--until", "friday")
    #expect(none.status == 3)
  }

  @Test("The devices of an alarm are a list, or changes of it")
  func devices() async throws {
    let sandbox = try await sandbox(tick: false)
    let other = sandbox.root + "/other"
    _ = try await sandbox.git("clone", "-q", sandbox.store, other, in: sandbox.root)
    _ = try await sandbox.belfry(
      "device", "--name", "kitchen", now: SelectionTests.before, store: other, device: "kitchen")
    for (words, devices) in [
      ("laptop and kitchen", 2), ("-kitchen", 1), ("+kitchen", 2), ("kitchen, laptop", 2),
      ("all", 0),
    ] {
      let edit = try await sandbox.belfry(
        "edit", "tea", "--on", words, "--json", now: SelectionTests.before, store: other)
      let delivery = edit.object["delivery"] as? [String: Any]
      #expect((delivery?["devices"] as? [Any])?.count ?? 0 == devices, "\(words) \(edit)")
    }
    let none = try await sandbox.belfry(
      "edit", "tea", "--on", "-laptop", now: SelectionTests.before, store: other)
    #expect(none.status == 2 && none.err.contains("no device would be left"), "\(none)")
  }

  @Test("Several alarms are deleted after one confirmation, in one commit")
  func deletion() async throws {
    let sandbox = try await sandbox(tick: false)
    let refused = try await sandbox.belfry("delete", "pills", "tea", now: SelectionTests.before)
    #expect(refused.status == 2 && refused.err.contains("2 alarms on all devices (Pills, Tea)"))
    let deleted = try await sandbox.belfry(
      "delete", "pills", "tea", "--yes", now: SelectionTests.before)
    #expect(deleted.out == "Deleted 2 alarms. To restore: belfry undo\n", "\(deleted)")
    let undo = try await sandbox.belfry("undo", now: SelectionTests.before)
    #expect(undo.status == 0)
    #expect(
      try await sandbox.belfry("list", "--json", now: SelectionTests.before).array.count == 4)
    let tagged = try await sandbox.belfry(
      "delete", "+med", "--yes", now: SelectionTests.before)
    #expect(tagged.out == "Deleted 2 alarms. To restore: belfry undo\n", "\(tagged)")
  }

  @Test("Several alarms are disabled and enabled in one commit, also those of a filter")
  func switching() async throws {
    let sandbox = try await sandbox(tick: false)
    let before = try await sandbox.git("rev-list", "--count", "HEAD").out
    let off = try await sandbox.belfry("disable", "+med", now: SelectionTests.before)
    #expect(off.out == "Disabled Pills.\nDisabled Zebra.\n", "\(off)")
    let after = try await sandbox.git("rev-list", "--count", "HEAD").out
    #expect(Int(after.dropLast()) == Int(before.dropLast()).map { $0 + 1 })
    let on = try await sandbox.belfry("enable", "disabled", "--json", now: SelectionTests.before)
    #expect(on.status == 0 && on.out.hasPrefix("["), "\(on)")
    let again = try await sandbox.belfry("enable", "pills", "zebra", now: SelectionTests.before)
    #expect(again.out == "Pills is already enabled.\nZebra is already enabled.\n", "\(again)")
    let undo = try await sandbox.belfry("undo", now: SelectionTests.before)
    #expect(undo.status == 0, "\(undo)")
    let none = try await sandbox.belfry("disable", "+x", now: SelectionTests.before)
    #expect(none.status == 3)
  }
}

/// Tests of the confirmation of changes that take something away.
@Suite struct ConfirmationTests {
  @Test(
    "Without a terminal and --yes, nothing changes, and the error names the alarm and the date",
    arguments: [
      (["delete", "tea"], "this would delete Tea ("),
      (["skip", "tea"], "this would skip Tea on Sat 21 Nov 2026, 09:00."),
      (
        ["skip", "tea", "--count", "2"],
        "this would skip 2 occurrences of Tea, Sat 21 Nov 2026, 09:00 to Sun 22 Nov 2026, 09:00."
      ),
      (["skip", "tea", "--json"], "this would skip Tea on"),
      (
        ["cascade", "remove", "tea", "1"],
        "this would remove (555) 123-4567 from the cascade of Tea."
      ),
    ])
  func refused(_ arguments: [String], _ words: String) async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("tier", "premium")
    _ = try await sandbox.belfry("add", "Tea", "daily 9am")
    _ = try await sandbox.belfry("cascade", "add", "tea", "phone", "5551234567")
    let head = try await sandbox.git("rev-parse", "HEAD").out
    let output = try await sandbox.belfry(arguments)
    #expect(output.status == 2)
    #expect(output.out.isEmpty)
    #expect(output.err.contains(words), "\(output.err)")
    #expect(output.err.contains("add --yes"))
    #expect(try await sandbox.git("rev-parse", "HEAD").out == head)
  }

  @Test("On a terminal, the question names the alarm and the date, and y confirms it")
  func asked() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "daily 9am")
    let no = try await sandbox.onTerminal("delete", "tea", input: "n\n")
    #expect(no.status == 1)
    #expect(no.out.contains("next on Sat 21 Nov 2026, 09:00) on all devices?"), "\(no.out)")
    let yes = try await sandbox.onTerminal("delete", "tea", input: "y\n")
    #expect(yes.status == 0, "\(yes.out)")
    #expect(try await sandbox.belfry("list", "--json").array.isEmpty)
  }
}
