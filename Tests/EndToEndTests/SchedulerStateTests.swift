import Foundation
import TestSupport
import Testing

/// Commands on a device where nothing rings, and `why`.
@Suite struct SchedulerStateTests {
  @Test("A delivery whose hook ends after a later tick takes nothing from that tick's deliveries")
  func laterTick() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    try await sandbox.prepare(["add", "Pills", "--daily", "--at", "08:00"])
    try await sandbox.prepare(["add", "Rent", "--daily", "--at", "09:00"])
    // The helper of the first tick, whose clock says eight, ends when the file appears.
    try sandbox.write(
      """
      #!/bin/sh
      cat >/dev/null
      [ "$BELFRY_TITLE" = Pills ] || exit 0
      \(sandbox.waitFor)
      wait_for [ -e '\(sandbox.root)/end' ]

      """, to: sandbox.hooks + "/ring", mode: 0o755)
    try await sandbox.prepare(["tick"], now: "2026-11-23T08:00:00Z")
    try await sandbox.prepare(["tick"], now: "2026-11-23T09:00:00Z")
    try sandbox.write("", to: sandbox.root + "/end")
    #expect(try await sandbox.waitForHelpers())
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-23T09:01:00Z").array
    let rent = list.first { $0["title"] as? String == "Rent" }
    let ringing = rent?["ringing"] as? [String: Any]
    #expect(ringing?["delivered"] as? Bool == true, "\(list)")
  }

  private let warning =
    "warning: the scheduler does not run, so no alarm rings on this device: belfry service install\n"
  private func at(_ time: String) -> String { "2026-11-23T\(time)Z" }

  @Test("Without a scheduler, commands about alarms say so, also in JSON")
  func warnings() async throws {
    let sandbox = try Sandbox()
    let now = at("08:00:00")
    for command in [
      ["add", "Tea", "--daily", "--at", "09:00"], ["edit", "tea", "--note", "green"],
      ["enable", "tea"],
      ["list"], ["next"], ["show", "tea"],
    ] {
      let text = try await sandbox.belfry(command, now: now)
      #expect(text.err.contains(warning), "\(command): \(text.err)")
      if command[0] == "add" { continue }
      let json = try await sandbox.belfry(command + ["--json"], now: now)
      let document = json.array.first ?? json.object
      #expect(document["schedulerRunning"] as? Bool == false, "\(command): \(json.out)")
    }
    // A tick within the last 15 minutes shows that a timer or cron runs.
    _ = try await sandbox.belfry("tick", now: now)
    let list = try await sandbox.belfry("list", "--json", now: at("08:10:00"))
    #expect(list.err.isEmpty)
    #expect(list.array.first?["schedulerRunning"] as? Bool == true)
    let later = try await sandbox.belfry("list", now: at("08:20:00"))
    #expect(later.err == warning)
  }

  @Test("A tick with which a daemon records what it has done is no sign of a scheduler")
  func tickOfDaemon() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00", now: at("08:00:00"))
    let tick = try await sandbox.belfry("tick", "--settle", now: at("09:00:05"))
    #expect(tick.status == 0, "\(tick.err)")
    // The daemon has ended since then.
    let list = try await sandbox.belfry("list", now: at("09:01:00"))
    #expect(list.err == warning)
    let doctor = try await sandbox.belfry("doctor", now: at("09:01:00"))
    #expect(doctor.out.contains("so nothing rings"), "\(doctor.out)")
  }

  @Test("What is due without a delivery is not called ringing")
  func undelivered() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00", now: at("08:00:00"))
    let list = try await sandbox.belfry("list", now: at("09:00:30"))
    #expect(list.out.contains("due  Tea") && list.out.contains("not delivered"), "\(list.out)")
    #expect(!list.out.contains("ringing"), "\(list.out)")
    let cards = try await sandbox.belfry("list", "--cards", now: at("09:00:30"))
    #expect(cards.out.contains("Due, not delivered on this device, since Mon 23 Nov 2026, 09:00"))
    #expect(!cards.out.contains("RINGING"))
    let json = try await sandbox.belfry("list", "--json", now: at("09:00:30"))
    let ringing = json.array.first?["ringing"] as? [String: Any]
    #expect(ringing?["delivered"] as? Bool == false, "\(json.out)")
    _ = try await sandbox.belfry("tick", now: at("09:00:40"))
    let delivered = try await sandbox.belfry("list", "--json", now: at("09:00:50"))
    #expect((delivered.array.first?["ringing"] as? [String: Any])?["delivered"] as? Bool == true)
    #expect(try await sandbox.belfry("list", now: at("09:00:50")).out.contains("ringing  Tea"))
  }

  // MARK: why

  private func why(_ sandbox: Sandbox, _ words: String..., now: String) async throws -> String {
    let output = try await sandbox.belfry(["why"] + words, now: now)
    #expect(output.status == 0, "\(output.err)")
    return output.out
  }

  @Test("why explains what rang, what did not, and what will not")
  func why() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00", now: at("08:00:00"))
    let never = try await why(sandbox, "tea", now: at("08:01:00"))
    #expect(
      never.contains("Tea, Mon 23 Nov 2026, 09:00, will not ring on this device."), "\(never)")
    #expect(
      never.contains("The scheduler has never run on this device. Run: belfry service install"))
    let due = try await why(sandbox, "tea", now: at("09:00:10"))
    #expect(due.contains("is due, but was not delivered on this device"), "\(due)")
    #expect(due.contains("This device did not try to deliver it."), "\(due)")
    _ = try await sandbox.belfry("tick", now: at("09:00:30"))
    let rings = try await why(sandbox, "tea", now: at("09:01:00"))
    #expect(
      rings.contains("09:00, rings on this device.\n  today 09:00  Fired\n"), "\(rings)")
    #expect(
      rings.contains("Tue 24 Nov 2026, 09:00, rings on this device in 23 h 59 min."), "\(rings)")
    #expect(rings.contains("It is shown by your own hook"), "\(rings)")
    _ = try await sandbox.belfry("done", "tea", now: at("09:02:00"))
    let done = try await why(sandbox, "tea", "2026-11-23", now: at("09:03:00"))
    #expect(done.contains("rang on this device; it is done."), "\(done)")
    let stale = try await why(sandbox, "tea", "tomorrow", now: at("12:00:00"))
    #expect(
      stale.contains("The scheduler has not run since today 09:00 on this device."), "\(stale)")
  }

  @Test("why names a pause, a skip, a disabled alarm, other devices and failed deliveries")
  func obstacles() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    let server = try await sandbox.secondDevice()
    let now = at("08:00:00")
    func run(_ words: String...) async throws {
      let output = try await sandbox.belfry(words, now: now)
      #expect(output.status == 0, "\(words): \(output.err)")
    }
    try await run("add", "Tea", "--daily", "--at", "09:00")
    try await run("tick")
    try await run("skip", "tea", "--yes")
    #expect(
      try await why(sandbox, "tea", now: now).contains(
        "It was skipped at 08:00. Run: belfry unskip"))
    try await run("unskip", "tea")
    try await run("pause", "tea", "--until", "2026-12-01")
    #expect(
      try await why(sandbox, "tea", now: now).contains("The alarm is paused until Tue 1 Dec 2026"))
    try await run("resume", "tea")
    try await run("disable", "tea")
    #expect(
      try await why(sandbox, "tea", now: now).contains("The alarm is disabled. Run: belfry enable"))
    try await run("enable", "tea")
    _ = try await sandbox.belfry("sync", now: now, store: server, device: "server")
    _ = try await sandbox.belfry("sync", now: now)
    try await run("edit", "tea", "--on", "server")
    #expect(try await why(sandbox, "tea", now: now).contains("so this one rings"))
    _ = try await sandbox.belfry("tick", now: now, store: server, device: "server")
    _ = try await sandbox.belfry("sync", now: now, store: server, device: "server")
    _ = try await sandbox.belfry("sync", now: now)
    #expect(try await why(sandbox, "tea", now: now).contains("Only server rings."))
    try await run("edit", "tea", "--on", "all")
    // The user's hooks fail.
    for name in ["notify", "ring"] {
      try sandbox.write("#!/bin/sh\nexit 1\n", to: "\(sandbox.hooks)/\(name)", mode: 0o755)
    }
    _ = try await sandbox.belfry(
      "tick", now: at("09:00:00"),
      environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"])
    let failed = try await why(sandbox, "tea", now: at("09:00:10"))
    #expect(failed.contains("1 attempt on this device failed, the last at 09:00."), "\(failed)")
    let json = try await sandbox.belfry("why", "tea", "--json", now: at("09:00:10"))
    #expect(json.array.count == 2, "\(json.out)")
    let kinds = (json.array[0]["reasons"] as? [[String: Any]])?.compactMap { $0["kind"] as? String }
    #expect(kinds?.contains("delivery") == true, "\(json.out)")
    #expect(json.array[0]["ringsHere"] as? Bool == false)
  }

  @Test("why explains a date without an occurrence")
  func absence() async throws {
    let sandbox = try Sandbox()
    try sandbox.write(
      "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Christmas\r\nDTSTART;VALUE=DATE:20261225\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
      to: sandbox.root + "/days.ics")
    let now = at("08:00:00")
    _ = try await sandbox.belfry("calendar", "import", "de", sandbox.root + "/days.ics", now: now)
    _ = try await sandbox.belfry(
      "add", "Bins", "--schedule", "every friday 9am until 2027-01-31 except 2026-12-04",
      "--on-holiday", "skip", now: now)
    let exception = try await why(sandbox, "bins", "2026-12-04", now: now)
    #expect(
      exception.contains("is not an occurrence.\n  Fri 4 Dec 2026 is an exception of the schedule.")
    )
    let holiday = try await why(sandbox, "bins", "25 dec", now: now)
    #expect(
      holiday.contains("is a holiday (Christmas), on which the alarm is skipped."), "\(holiday)")
    let ended = try await why(sandbox, "bins", "2027-02-05", now: now)
    #expect(ended.contains("The schedule ended on Sun 31 Jan 2027."), "\(ended)")
    let other = try await why(sandbox, "bins", "2026-12-10", now: now)
    #expect(
      other.contains("The nearest occurrences, before: Fri 27 Nov 2026, 09:00; after: Fri 11 Dec"))
  }
}
