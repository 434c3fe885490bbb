import BelfryCore
import Foundation
import TestSupport
import Testing

@testable import BelfryScheduler

/// The daemon with clock changes, zone changes and failing stores.
@Suite struct DaemonTests {
  @Test func anAlarmRingsOnceAtItsTime() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.start()
    try await bench.wait(until: "2026-11-20T08:59:59Z")
    #expect(bench.rings.isEmpty)
    try await bench.wait(until: "2026-11-20T09:10:00Z")
    #expect(bench.rings == ["firing Rent 2026-11-20T09:00 false"])
    try await bench.wait(until: "2026-11-21T09:10:00Z")
    #expect(bench.rings.count == 2)
    let log = try await bench.belfry("log", "--json").array.compactMap { $0["action"] as? String }
    #expect(log.filter { $0 == "fired" }.count == 2)
    // No response within half an hour.
    #expect(log.contains("missed"))
    #expect(try bench.sandbox.read(bench.sandbox.missed).contains("Missed: Rent"))
  }

  @Test("An alarm rings once, late, after a suspension over its time")
  func suspend() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.start()
    try await bench.jump(to: "2026-11-20T11:30:00Z")
    try await bench.wait(until: "2026-11-20T11:40:00Z")
    #expect(bench.rings == ["firing Rent 2026-11-20T09:00 true"])
  }

  @Test(
    "After two days ahead, the latest occurrence within its grace rings, and earlier ones are missed"
  )
  func twoDaysAhead() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.belfry("add", "Pills", "--daily", "--at", "22:00")
    try await bench.start()
    try await bench.jump(to: "2026-11-22T10:00:00Z")
    #expect(
      bench.rings.sorted() == [
        "firing Pills 2026-11-21T22:00 true", "firing Rent 2026-11-22T09:00 true",
      ])
    // In one summary.
    let missed = try bench.sandbox.read(bench.sandbox.missed)
    #expect(missed.contains("2 alarms were missed, 3 times in all"), "\(missed)")
    #expect(missed.split(separator: "\n").count == 3, "\(missed)")
  }

  // Either of the two times may be the right one: a second ring is better than none.
  @Test(
    "After a clock change two days back, nothing rings at once, and the alarm rings again at its time"
  )
  func twoDaysBack() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:00:10Z")
    try await bench.belfry("done", "rent")
    try await bench.handle(.poke)
    try await bench.jump(to: "2026-11-18T09:00:30Z")
    try await bench.wait(until: "2026-11-20T08:59:00Z")
    #expect(bench.rings.filter { $0 == "firing Rent 2026-11-20T09:00 false" }.count == 1)
    try await bench.wait(until: "2026-11-20T09:30:00Z")
    #expect(bench.rings.filter { $0 == "firing Rent 2026-11-20T09:00 false" }.count == 2)
    try await bench.wait(
      until: "2026-11-21T09:00:30Z")
    #expect(bench.rings.last == "firing Rent 2026-11-21T09:00 false")
  }

  @Test(
    "An alarm in a skipped hour rings after it, and one in a repeated hour rings once",
    arguments: [
      (
        "2026-03-07T23:00:00Z", "2026-03-08T23:00:00Z", "firing Night 2026-03-08T02:30 false",
        "2026-03-08T07:00:00Z"
      ),
      (
        "2026-10-31T23:00:00Z", "2026-11-01T23:00:00Z", "firing Night 2026-11-01T01:30 false",
        "2026-11-01T05:30:00Z"
      ),
    ])
  func clockChange(start: String, end: String, ring: String, at: String) async throws {
    let bench = try await DaemonBench(at: start, zone: "America/New_York")
    let time = ring.contains("02:30") ? "02:30" : "01:30"
    try await bench.belfry("add", "Night", "--daily", "--at", time)
    try await bench.start()
    let before = Instant(rfc3339: at)!.adding(seconds: -1)
    try await bench.wait(until: before.description)
    #expect(bench.rings.isEmpty)
    try await bench.wait(until: end)
    #expect(bench.rings == [ring])
  }

  @Test("A floating alarm follows the device into another zone, and an alarm with a zone does not")
  func zoneChange() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T05:00:00Z", zone: "Europe/Berlin")
    try await bench.belfry("add", "Here", "--daily", "--at", "09:00")
    try await bench.belfry("add", "There", "--daily", "--at", "09:00", "--zone", "Europe/Berlin")
    try await bench.start()
    try await bench.move(to: "America/New_York")
    try await bench.wait(until: "2026-11-20T08:01:00Z")
    #expect(bench.rings == ["firing There 2026-11-20T09:00 false"])
    try await bench.wait(until: "2026-11-20T14:01:00Z")
    #expect(bench.rings.last == "firing Here 2026-11-20T09:00 false")
    #expect(bench.rings.count == 2)
  }

  @Test(
    "An alarm rings at midnight and on the leap day",
    arguments: [
      ("2026-11-20T23:00:00Z", ["--daily", "--at", "00:00"], "2026-11-21T00:00"),
      ("2028-02-28T12:00:00Z", ["--annual", "02-29", "--at", "09:00"], "2028-02-29T09:00"),
      ("2027-02-27T12:00:00Z", ["--annual", "02-29", "--at", "09:00"], "2027-02-28T09:00"),
    ])
  func days(start: String, rule: [String], occurrence: String) async throws {
    let bench = try await DaemonBench(at: start)
    _ = try await bench.sandbox.run(
      bench.sandbox.root + "/command", ["add", "Day"] + rule)
    try await bench.start()
    try await bench.wait(until: "\(occurrence):20Z")
    #expect(bench.rings == ["firing Day \(occurrence) false"])
  }

  @Test(
    "A response, deletion or disabling ends the hooks of an alarm",
    arguments: [
      ["done", "rent"], ["stop", "rent"], ["snooze", "rent"], ["skip", "rent", "--yes"],
      ["delete", "rent", "--yes"], ["disable", "rent"],
    ])
  func hooksEnd(command: [String]) async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try bench.sandbox.write("", to: bench.sandbox.root + "/stay")
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    #expect(bench.activeDeliveries.identities.count == 1)
    _ = try await bench.sandbox.run(bench.sandbox.root + "/command", command)
    try await bench.handle(.poke)
    await bench.activeDeliveries.idle()
    #expect(bench.activeDeliveries.identities.isEmpty)
  }

  @Test(
    "A hook that was still running when the daemon died is run again, and one that had ended is not"
  )
  func crash() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    try await bench.start()
    #expect(bench.rings.count == 1)
    try await bench.belfry("add", "Tea", "--daily", "--at", "10:00")
    try bench.sandbox.write("", to: bench.sandbox.root + "/stay")
    try await bench.handle(.poke)
    try await bench.wait(until: "2026-11-20T10:00:05Z")
    #expect(bench.rings.count == 2)
    let abandoned = bench.activeDeliveries
    try await bench.start()
    #expect(bench.rings.count == 3)
    #expect(bench.rings.last == "firing Tea 2026-11-20T10:00 false")
    await abandoned.close()
    await bench.activeDeliveries.close()
  }

  @Test("A response after the sound has played counts")
  func answeredAfterTheSound() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try bench.sandbox.write("#!/bin/sh\nexit 0\n", to: bench.sandbox.hooks + "/ring", mode: 0o755)
    try bench.sandbox.write(
      "#!/bin/sh\nsleep 1\necho done\n", to: bench.sandbox.hooks + "/notify", mode: 0o755)
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    await bench.activeDeliveries.idle()
    try await bench.handle(.poke)
    let log = try await bench.belfry("log", "--json").array.compactMap { $0["action"] as? String }
    #expect(log.contains("done"), "\(log)")
  }

  @Test("No sound starts or continues after a response, however many alarms are due together")
  func answeredBeforeTheSoundsBegin() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    for number in 1...8 {
      try await bench.belfry("add", "Alarm \(number)", "--daily", "--at", "09:00")
    }
    try bench.sandbox.write(
      "#!/bin/sh\nsleep 0.3\necho done\n", to: bench.sandbox.hooks + "/notify", mode: 0o755)
    try bench.sandbox.write(
      "#!/bin/sh\necho delivered\nexec sleep 600\n", to: bench.sandbox.hooks + "/ring", mode: 0o755)
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    for _ in 0..<600 where !bench.activeDeliveries.identities.isEmpty {
      try await Task.sleep(for: .milliseconds(100))
    }
    #expect(bench.activeDeliveries.identities.isEmpty)
    await bench.activeDeliveries.close()
    let list = try await bench.belfry("list", "--json").array
    #expect(list.count == 8 && list.allSatisfy { $0["state"] as? String == "active" })
  }

  @Test(
    "More than ten alarms that are due together share a notification, and one answer stops them")
  func sharedNotification() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    for number in 10..<22 {
      try await bench.belfry("add", "Alarm \(number)", "--daily", "--at", "09:00")
    }
    try bench.sandbox.write(
      "#!/bin/sh\necho \"$BELFRY_HEADLINE\" >> '\(bench.sandbox.rang)'\necho delivered\nsleep 0.5\necho snooze 10m\n",
      to: bench.sandbox.hooks + "/notify", mode: 0o755)
    try bench.sandbox.write(
      "#!/bin/sh\necho delivered\nexec sleep 600\n", to: bench.sandbox.hooks + "/ring", mode: 0o755)
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    for _ in 0..<600 where !bench.activeDeliveries.identities.isEmpty {
      try await Task.sleep(for: .milliseconds(100))
    }
    try await bench.handle(.poke)
    #expect(bench.rings == ["12 alarms ring"])
    let list = try await bench.belfry("list", "--json").array
    #expect(list.count == 12 && list.allSatisfy { $0["state"] as? String == "snoozed" })
    // They ring again together after the snooze.
    try await bench.wait(until: "2026-11-20T09:10:10Z")
    #expect(bench.rings == ["12 alarms ring", "12 alarms ring"])
    await bench.activeDeliveries.close()
  }

  /// Returns a daemon that waits for an alarm at 09:00, and that sees all changes of the store.
  private func sleeping() async throws -> DaemonBench {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    bench.seesAllChanges = true
    try await bench.start()
    // What follows the start.
    try await bench.wait(until: "2026-11-20T08:01:00Z")
    return bench
  }

  @Test("A daemon that sees all changes sleeps until the next event")
  func sleeps() async throws {
    let bench = try await sleeping()
    #expect(bench.nextWake == Instant(rfc3339: "2026-11-20T09:00:00Z"))
    // An unreported change is found at the next wake-up.
    try await bench.belfry("add", "Tea", "--daily", "--at", "10:00")
    try await bench.wait(until: "2026-11-20T10:00:05Z")
    #expect(
      bench.rings == ["firing Rent 2026-11-20T09:00 false", "firing Tea 2026-11-20T10:00 false"])
  }

  @Test("A daemon reads the time zones again after they were installed")
  func zoneData() async throws {
    let bench = try await sleeping()
    try await bench.handle(.zoneData)
    #expect(bench.nextWake == Instant(rfc3339: "2026-11-20T08:02:00Z"))
    try await bench.wait(until: "2026-11-20T08:02:00Z")
    #expect(bench.nextWake == Instant(rfc3339: "2026-11-20T09:00:00Z"))
  }

  @Test("An occurrence that undo makes ringing again rings again")
  func undone() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    try await bench.belfry("stop", "rent")
    try await bench.handle(.poke)
    try await bench.wait(until: "2026-11-20T09:01:00Z")
    try await bench.belfry("undo")
    try await bench.handle(.poke)
    #expect(bench.rings.count == 2)
    try await bench.wait(until: "2026-11-20T09:05:00Z")
    #expect(bench.rings.count == 2)
  }

  @Test("A failed channel is reported while another channel works")
  func oneWayFails() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try bench.sandbox.write(
      "#!/bin/sh\necho no card >&2\nexit 1\n", to: bench.sandbox.hooks + "/ring", mode: 0o755)
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    #expect(bench.rings.count == 1)
    let reasons = bench.log.compactMap {
      if case .channelFailed(_, let reasons) = $0 { reasons } else { nil }
    }
    #expect(reasons == [["\(bench.sandbox.hooks)/ring: no card"]])
  }

  @Test("A battery that drains faster than predicted is reported once for each worsening")
  func battery() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T23:00:00Z")
    try await bench.belfry("add", "Standup", "--daily", "--at", "05:00")
    try bench.sandbox.write(
      "#!/bin/sh\ncat >/dev/null\nprintf '%s\\n' \"$BELFRY_RISK $BELFRY_TITLE\" >> '\(bench.sandbox.root)/battery-warnings'\n[ ! -e '\(bench.sandbox.root)/broken' ]\n",
      to: bench.sandbox.hooks + "/battery", mode: 0o755)
    // If the hook for battery warnings fails, the hook for firings is used.
    try bench.sandbox.write(
      "#!/bin/sh\n[ \"$BELFRY_KIND\" != battery ]\n", to: bench.sandbox.hooks + "/notify",
      mode: 0o755
    )
    func batteryWarned() -> [String] {
      ((try? bench.sandbox.read(bench.sandbox.root + "/battery-warnings")) ?? "").split(
        separator: "\n"
      )
      .map(String.init)
    }
    try bench.sandbox.battery(80, drain: 3)
    try await bench.start()
    try await bench.wait(until: "2026-11-20T23:20:00Z")
    #expect(batteryWarned() == [])
    try bench.sandbox.battery(60, drain: 8)
    try bench.sandbox.write("", to: bench.sandbox.root + "/broken")
    try await bench.wait(until: "2026-11-20T23:45:00Z")
    #expect(batteryWarned().count > 1 && Set(batteryWarned()) == ["warning Standup"])
    try FileManager.default.removeItem(atPath: bench.sandbox.root + "/broken")
    try await bench.wait(until: "2026-11-20T23:50:00Z")
    let told = batteryWarned().count
    try await bench.wait(until: "2026-11-21T00:20:00Z")
    #expect(batteryWarned().count == told)
    try bench.sandbox.battery(30, drain: 8)
    try await bench.wait(until: "2026-11-21T01:30:00Z")
    #expect(batteryWarned().count == told + 1 && batteryWarned().last == "critical Standup")
    // A restarted daemon keeps the record of delivered warnings.
    try await bench.start()
    try await bench.wait(until: "2026-11-21T01:50:00Z")
    #expect(batteryWarned().count == told + 1)
  }

  @Test("A tick beside the daemon causes no second ring")
  func besideTick() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    let tick = try await bench.belfry("tick", "--json")
    #expect((tick.object["fired"] as? [Any])?.isEmpty == true, "\(tick.out)")
    #expect(bench.rings.count == 1)
  }

  @Test("A failed delivery is retried with increasing intervals until it succeeds")
  func undelivered() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    let failing = "#!/bin/sh\necho x >> '\(bench.sandbox.root)/tries'\nexit 1\n"
    let working = try bench.sandbox.read(bench.sandbox.hooks + "/notify")
    try bench.sandbox.write(failing, to: bench.sandbox.hooks + "/notify", mode: 0o755)
    try bench.sandbox.write("#!/bin/sh\nexit 1\n", to: bench.sandbox.hooks + "/ring", mode: 0o755)
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:05:00Z")
    let tries = try bench.sandbox.read(bench.sandbox.root + "/tries").count / 2
    // At 0, 30, 90 and 210 seconds.
    #expect(tries == 4)
    try bench.sandbox.write(working, to: bench.sandbox.hooks + "/notify", mode: 0o755)
    try await bench.wait(until: "2026-11-20T09:20:00Z")
    #expect(bench.rings == ["firing Rent 2026-11-20T09:00 true"])
  }

  @Test("A hook that hangs delays no other alarm, and its own alarm is delivered by a retry")
  func hanging() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z", hookTimeout: 15)
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.belfry("add", "Tea", "--daily", "--at", "09:00")
    let working = try bench.sandbox.read(bench.sandbox.hooks + "/notify")
    try bench.sandbox.write(
      "#!/bin/sh\n[ \"$BELFRY_TITLE\" = Tea ] || exec sleep 60\n"
        + working.replacing("#!/bin/sh\n", with: ""),
      to: bench.sandbox.hooks + "/notify", mode: 0o755)
    // A hook without output that does not end: it delays nothing.
    try bench.sandbox.write(
      "#!/bin/sh\nexec sleep 60\n", to: bench.sandbox.hooks + "/ring", mode: 0o755)
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    #expect(bench.rings == ["firing Tea 2026-11-20T09:00 false"])
    // The next attempt that is fast enough on this machine, with a repaired hook.
    try bench.sandbox.write(working, to: bench.sandbox.hooks + "/notify", mode: 0o755)
    func isRung() -> Bool { bench.rings.contains { $0.hasPrefix("firing Rent 2026-11-20T09:00") } }
    for minute in 1...9 where !isRung() {
      try await bench.wait(until: "2026-11-20T09:0\(minute):00Z")
    }
    #expect(isRung(), "\(bench.rings)")
  }

  // MARK: Store failures

  @Test("The daemon rings from memory when the store is gone, and records when it is back")
  func withoutTheStore() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.start()
    let store = bench.sandbox.store
    try FileManager.default.moveItem(atPath: store + "/alarms", toPath: store + "/.away")
    try FileManager.default.moveItem(atPath: store + "/.git/HEAD", toPath: store + "/.git/away")
    try await bench.handle(.everything)
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    #expect(bench.rings == ["firing Rent 2026-11-20T09:00 false"])
    try FileManager.default.moveItem(atPath: store + "/.away", toPath: store + "/alarms")
    try FileManager.default.moveItem(atPath: store + "/.git/away", toPath: store + "/.git/HEAD")
    try await bench.wait(until: "2026-11-20T09:04:00Z")
    let log = try await bench.belfry("log", "--json").array.compactMap { $0["action"] as? String }
    #expect(log.contains("fired"))
    #expect(bench.rings.count == 1)
  }

  @Test("A locked store prevents no ring")
  func locked() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.start()
    let lock = open(bench.sandbox.store + "/.git/belfry/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    #expect(bench.rings == ["firing Rent 2026-11-20T09:00 false"])
    close(lock)
    try await bench.wait(until: "2026-11-20T09:04:00Z")
    let log = try await bench.belfry("log", "--json").array.compactMap { $0["action"] as? String }
    #expect(log.contains("fired"))
  }

  @Test("A record with an invalid hand edit rings with its last valid version")
  func brokenRecord() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.start()
    let file = try bench.sandbox.alarmFile()
    try bench.sandbox.write("{", to: file)
    let name = (file as NSString).lastPathComponent
    try await bench.handle(.alarms([Identifier(name.dropLast(5))!]))
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    #expect(bench.rings == ["firing Rent 2026-11-20T09:00 false"])
    // A daemon that starts with the invalid file reads the history.
    try await bench.start()
    try await bench.wait(until: "2026-11-21T09:00:05Z")
    #expect(bench.rings.count == 2)
  }

  @Test("Without a writable ledger, an occurrence still rings once")
  func nothingCanBeNoted() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.start()
    let notes = bench.sandbox.store + "/.git/belfry"
    // A folder in the place of the file makes every write fail.
    try? FileManager.default.removeItem(atPath: notes + "/ledger.json")
    try FileManager.default.createDirectory(
      atPath: notes + "/ledger.json/x", withIntermediateDirectories: true)
    try await bench.wait(until: "2026-11-20T09:10:00Z")
    #expect(
      bench.rings == [
        "firing Rent 2026-11-20T09:00 false"
      ])
    #expect(
      bench.log.contains { if case .failed(.ledger, _) = $0 { true } else { false } }
    )
  }

  @Test(
    "A ring on a full disk is recorded once there is space again, and does not repeat"
  )
  func fullDisk() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.start()
    let notes = bench.sandbox.store + "/.git/belfry/ledger.json"
    try? FileManager.default.removeItem(atPath: notes)
    try FileManager.default.createDirectory(
      atPath: notes + "/x", withIntermediateDirectories: true)
    try await bench.wait(until: "2026-11-20T09:01:00Z")
    #expect(bench.rings.count == 1)
    try FileManager.default.removeItem(atPath: notes)
    try await bench.belfry("add", "Tea", "--daily", "--at", "12:00")
    try await bench.handle(.everything)
    let log = try await bench.belfry("log", "--json").array
    #expect(log.contains { $0["action"] as? String == "fired" })
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:05:00Z")
    #expect(bench.rings == ["firing Rent 2026-11-20T09:00 false"])
  }

  @Test("A disk that hangs delays no alarm, and the ring is recorded when the disk responds")
  func hangingDisk() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.belfry("add", "Tea", "--daily", "--at", "09:01")
    try await bench.start()
    bench.disk.close()
    try await bench.wait(until: "2026-11-20T09:01:10Z")
    #expect(
      bench.rings == ["firing Rent 2026-11-20T09:00 false", "firing Tea 2026-11-20T09:01 false"])
    bench.disk.open()
    // The ring is recorded when the disk responds.
    for _ in 0..<600 where bench.ledgerFailures.last != "works" {
      try await bench.handle(.time)
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(bench.ledgerFailures == ["fails", "works"])
    let log = try await bench.belfry("log", "--json").array
    #expect(log.filter { $0["action"] as? String == "fired" }.count == 2)
    // The end of the hooks is recorded, too: without it, the next daemon delivers again.
    let ledger = bench.sandbox.store + "/.git/belfry/ledger.json"
    #expect(try await bench.settle { try !bench.sandbox.read(ledger).contains("\"owner\"") })
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:05:00Z")
    #expect(bench.rings.count == 2)
  }

  // MARK: Other notifications

  @Test("Advance warnings are delivered once each, before the due time")
  func warnings() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry(
      "add", "Rent", "--monthly", "28", "--at", "09:00", "--warn", "7d,1d")
    try await bench.start()
    try await bench.wait(until: "2026-11-21T08:59:00Z")
    #expect(bench.rings.isEmpty)
    try await bench.wait(until: "2026-11-28T09:00:05Z")
    #expect(
      bench.rings == [
        "warning Rent 2026-11-28T09:00",
        "warning Rent 2026-11-28T09:00",
        "firing Rent 2026-11-28T09:00 false",
      ])
  }

  @Test(
    "While the store's folder is missing, the daemon rings from memory, once each, and creates no store"
  )
  func storeAway() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    let (store, away) = (bench.sandbox.store, bench.sandbox.root + "/away")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00", "--persistent")
    try await bench.belfry("add", "Tea", "--daily", "--at", "10:00", "--persistent")
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    #expect(bench.rings == ["firing Rent 2026-11-20T09:00 false"])
    try FileManager.default.moveItem(atPath: store, toPath: away)
    try await bench.handle(.everything)
    try await bench.wait(until: "2026-11-20T10:00:05Z")
    #expect(
      bench.rings == ["firing Rent 2026-11-20T09:00 false", "firing Tea 2026-11-20T10:00 false"])
    #expect(!FileManager.default.fileExists(atPath: store))
    try FileManager.default.moveItem(atPath: away, toPath: store)
    try await bench.wait(until: "2026-11-20T10:01:00Z")
    #expect(bench.rings.count == 2)
    // Rings during the absence are recorded.
    let log = try await bench.belfry("log", "--json").array.filter {
      $0["action"] as? String == "fired"
    }
    #expect(log.count == 2)
    #expect(try await bench.sandbox.git("status", "--porcelain").out.isEmpty)
    try await bench.belfry("done", "tea")
    try await bench.handle(.poke)
    try await bench.wait(until: "2026-11-21T10:00:05Z")
    #expect(bench.rings.last == "firing Tea 2026-11-21T10:00 false")
  }

  @Test("Nothing rings in a pause, and the alarm rings again after it")
  func pause() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00")
    try await bench.belfry("pause", "--all", "--until", "2026-11-23")
    try await bench.start()
    try await bench.wait(until: "2026-11-23T08:00:00Z")
    #expect(bench.rings.isEmpty)
    try await bench.wait(until: "2026-11-23T09:00:05Z")
    #expect(bench.rings == ["firing Rent 2026-11-23T09:00 false"])
    let log = try await bench.belfry("log", "--json").array
    let skipped = log.filter { $0["action"] as? String == "skipped" }
    #expect(skipped.count == 3)
  }

  @Test("An alarm of other devices rings on those devices")
  func otherDevices() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    let server = try await bench.sandbox.secondDevice(now: "2026-11-20T08:00:00Z")
    _ = try await bench.sandbox.belfry(
      "sync", now: "2026-11-20T08:00:00Z", store: server, device: "server")
    try await bench.belfry("sync")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00", "--on", "server")
    try await bench.belfry("add", "Tea", "--daily", "--at", "09:30", "--on", "laptop,server")
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:31:00Z")
    #expect(bench.rings == ["firing Tea 2026-11-20T09:30 false"])
  }

  @Test("An alarm of another device rings here after that device is no longer known to be online")
  func silentDevice() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T10:00:00Z")
    let server = try await bench.sandbox.secondDevice(now: "2026-11-20T10:00:00Z")
    _ = try await bench.sandbox.belfry(
      "sync", now: "2026-11-20T10:00:00Z", store: server, device: "server")
    try await bench.belfry("sync")
    try await bench.belfry("add", "Rent", "--daily", "--at", "09:00", "--on", "server")
    try await bench.start()
    // It was set up less than a day ago.
    try await bench.wait(until: "2026-11-21T09:30:00Z")
    #expect(bench.rings.isEmpty)
    // The daemon evaluates again when the day is over.
    try await bench.wait(until: "2026-11-21T10:01:00Z")
    #expect(bench.rings == ["firing Rent 2026-11-21T09:00 true"])
  }
}
