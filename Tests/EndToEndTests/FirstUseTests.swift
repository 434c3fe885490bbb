import Foundation
import TestSupport
import Testing

@Suite struct FirstUseTests {
  @Test(
    "Without a store, listings are empty and say how to create one",
    arguments: [
      ("list", "No alarms yet. Add one:"), ("next", "No upcoming occurrences."),
      ("pending", "Nothing is pending."), ("stats", "No alarms yet."), ("log", "No log entries."),
    ])
  func withoutStore(_ command: String, _ text: String) async throws {
    let sandbox = try Sandbox()
    let output = try await sandbox.belfry(command)
    #expect(output.status == 0 && output.out.hasPrefix(text), "\(output)")
    #expect(output.err.contains("there is no store at \(sandbox.store) yet"), "\(output.err)")
    let json = try await sandbox.belfry(command, "--json")
    #expect(json.status == 0 && json.out == "[]\n", "\(json)")
    #expect(!FileManager.default.fileExists(atPath: sandbox.store))
    // A store that the user names, or whose disk may be missing, is an error.
    let named = try await sandbox.belfry(command, store: sandbox.root + "/other")
    #expect(named.status == 1 && named.err.contains("there is no store at"), "\(named)")
    try FileManager.default.createDirectory(
      atPath: sandbox.store, withIntermediateDirectories: true)
    let mountPoint = try await sandbox.belfry(command)
    #expect(mountPoint.status == 1 && mountPoint.err.contains("mount"), "\(mountPoint)")
  }

  @Test("The first change creates the store; reading does not, and says how to create one")
  func firstChangeCreatesStore() async throws {
    let sandbox = try Sandbox()
    let show = try await sandbox.belfry("show", "rent")
    #expect(show.status == 1)
    #expect(show.err.contains("there is no store at \(sandbox.store)."), "\(show.err)")
    #expect(show.err.contains("belfry add Rent every friday 9am"))
    let tier = try await sandbox.belfry("tier", "plus")
    #expect(tier.status == 0)
    #expect(tier.err.contains("Made a store at \(sandbox.store); this device is called laptop."))
    let empty = try await sandbox.belfry("list")
    #expect(empty.out.contains("belfry add"))
    let again = try await sandbox.belfry("list", "--json")
    #expect(again.otherErrors.isEmpty)
    #expect(again.out == "[]\n")
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    #expect(try await sandbox.git("fsck", "--strict").status == 0)
  }

  @Test func alarmIsAddedFiredAndDone() async throws {
    let sandbox = try Sandbox()
    let add = try await sandbox.belfry(
      "add", "Rent reminder", "--weekly", "mon,fri", "--at", "09:00", "--note", "Pay landlord",
      "--json")
    #expect(add.status == 0)
    #expect(add.object["state"] as? String == "active")
    #expect(add.object["next"] as? String == "2026-11-23T09:00:00Z")
    #expect(add.object["nextOccurrence"] as? String == "2026-11-23T09:00")
    #expect(add.object["countdownSeconds"] as? Int == 209_940)
    #expect(add.object["note"] as? String == "Pay landlord")

    let list = try await sandbox.belfry("list", "--cards")
    #expect(
      list.out == """
        Rent reminder [weekly]
          Mon 23 Nov 2026, 09:00, in 2 days 10 h
          \((add.object["id"] as? String ?? "").prefix(8))  Pay landlord

        """)

    let idle = try await sandbox.belfry("tick", "--json")
    #expect(idle.object["nextWake"] as? String == "2026-11-23T09:00:00Z")
    #expect((idle.object["fired"] as? [Any])?.isEmpty == true)

    let monday = "2026-11-23T09:00:05Z"
    let tick = try await sandbox.belfry("tick", "--json", now: monday)
    let fired = try #require((tick.object["fired"] as? [[String: Any]])?.first)
    #expect(fired["title"] as? String == "Rent reminder")
    #expect(fired["occurrence"] as? String == "2026-11-23T09:00")
    #expect(fired["due"] as? String == "2026-11-23T09:00:00Z")
    #expect(fired["late"] as? Bool == false)
    #expect(sandbox.rings == ["Rent reminder 2026-11-23T09:00"])

    // Repeated and concurrent ticks do not ring again.
    async let one = sandbox.belfry("tick", "--json", now: monday)
    async let two = sandbox.belfry("tick", "--json", now: monday)
    for tick in try await [one, two] { #expect((tick.object["fired"] as? [Any])?.isEmpty == true) }
    #expect(sandbox.rings.count == 1)
    #expect(
      try await sandbox.belfry("list", "--json", now: monday).array.first?["state"] as? String
        == "ringing")

    let done = try await sandbox.belfry("done", "rent", "--json", now: "2026-11-23T09:05:00Z")
    #expect(done.object["action"] as? String == "done")
    #expect(done.object["occurrence"] as? String == "2026-11-23T09:00")
    #expect(done.object["next"] as? String == "2026-11-27T09:00:00Z")

    let log = try await sandbox.belfry("log", "rent", "--json", now: monday)
    #expect(log.array.map { $0["action"] as? String } == ["done", "fired", "created"])
    #expect(log.array[0]["device"] as? String == "laptop")
    let history = try await sandbox.git("log", "--format=%s")
    #expect(
      history.out == """
        Done: Rent reminder (2026-11-23 09:00)
        Fired: Rent reminder (2026-11-23 09:00)
        Created: Rent reminder
        Create the store

        """)
    #expect(
      try await sandbox.git("log", "-1", "--format=%(trailers:key=Occurrence,valueonly)").out
        .contains("2026-11-23T09:00"))
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test func snoozedAlarmRingsAgainAndStops() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z")
    let snooze = try await sandbox.belfry(
      "snooze", "tea", "10m", "--json", now: "2026-11-21T09:01:00Z")
    #expect(snooze.object["action"] as? String == "snoozed")
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-21T09:02:00Z")
    #expect(list.array[0]["state"] as? String == "snoozed")
    let details = try #require(list.array[0]["snooze"] as? [String: Any])
    #expect(details["until"] as? String == "2026-11-21T09:11:00Z")
    #expect(details["count"] as? Int == 1)
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:11:00Z")
    #expect(sandbox.rings.count == 2)
    #expect(try await sandbox.belfry("stop", "tea", now: "2026-11-21T09:12:00Z").status == 0)
    let again = try await sandbox.belfry("stop", "tea", now: "2026-11-21T09:13:00Z")
    #expect(again.status == 4)
    #expect(again.err.contains("Tea is not ringing"))
  }

  @Test func stopIsPendingOnPlusAndNextOccurrenceCompletesIt() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Pills", "--daily", "--at", "09:00")
    try sandbox.write("{\"format\": 1, \"tier\": \"plus\"}\n", to: sandbox.store + "/settings.json")
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z")
    _ = try await sandbox.belfry("stop", "pills", now: "2026-11-21T09:01:00Z")
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-21T12:00:00Z")
    #expect(list.array[0]["state"] as? String == "pending")
    #expect(
      (list.array[0]["pending"] as? [String: Any])?["occurrence"] as? String == "2026-11-21T09:00")
    let tick = try await sandbox.belfry("tick", "--json", now: "2026-11-22T09:00:00Z")
    #expect((tick.object["fired"] as? [Any])?.count == 1)
    #expect(
      (tick.object["autoCompleted"] as? [[String: Any]])?.first?["occurrence"] as? String
        == "2026-11-21T09:00")
  }

  @Test func downtimeCausesOneRingAndOneReport() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let tick = try await sandbox.belfry("tick", "--json", now: "2026-11-25T10:00:00Z")
    #expect((tick.object["fired"] as? [[String: Any]])?.first?["late"] as? Bool == true)
    #expect(
      (tick.object["missed"] as? [[String: Any]])?.map { $0["occurrence"] as? String }
        == ["2026-11-21T09:00", "2026-11-22T09:00", "2026-11-23T09:00", "2026-11-24T09:00"])
    #expect(sandbox.rings == ["Tea 2026-11-25T09:00"])
    #expect(try await sandbox.git("log", "--format=%s", "-2").out.contains("Settled: 4 missed"))
  }

  @Test func alarmIsDisabledEnabledEditedAndDeleted() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00", "--every", "2")
    _ = try await sandbox.belfry("disable", "tea", now: "2026-11-20T22:42:00Z")
    var list = try await sandbox.belfry("list", "--json")
    #expect(list.array[0]["state"] as? String == "disabled")
    #expect(list.array[0]["next"] == nil)
    #expect(
      (try await sandbox.belfry("tick", "--json", now: "2026-11-22T09:00:00Z").object["fired"]
        as? [Any])?.isEmpty == true)
    _ = try await sandbox.belfry("enable", "tea", now: "2026-11-22T09:30:00Z")
    list = try await sandbox.belfry("list", "--json", now: "2026-11-22T09:30:00Z")
    #expect(list.array[0]["nextOccurrence"] as? String == "2026-11-24T09:00")
    let edit = try await sandbox.belfry(
      "edit", "tea", "--title", "Green tea", "--at", "11:30", "--json", now: "2026-11-22T09:31:00Z")
    #expect(edit.object["title"] as? String == "Green tea")
    #expect(edit.object["nextOccurrence"] as? String == "2026-11-22T11:30")
    #expect((edit.object["schedule"] as? [String: Any])?["interval"] as? Int == 2)
    #expect(
      try await sandbox.belfry("delete", "--yes", "green", now: "2026-11-22T09:32:00Z").status == 0)
    #expect(try await sandbox.belfry("list", "--json").out == "[]\n")
    #expect(try await sandbox.belfry("show", "green").status == 3)
    // The record stays as a tombstone, with its history.
    #expect(try sandbox.read(try sandbox.alarmFile()).contains("\"deleted\""))
    let id = try sandbox.alarmFile().split(separator: "/").last!.dropLast(5)
    let log = try await sandbox.belfry("log", String(id.prefix(10)), "--json")
    #expect(
      log.array.map { $0["action"] as? String } == [
        "deleted", "edited", "enabled", "disabled", "created",
      ])
  }

  @Test(arguments: [
    (["--once", "2026-12-24T18:00"], "2026-12-24T18:00", "once"),
    (["--daily", "--at", "09:00"], "2026-11-21T09:00", "daily"),
    (["--weekly", "mon,fri", "--at", "09:00"], "2026-11-23T09:00", "weekly"),
    (["--monthly", "15", "--at", "10:00"], "2026-12-15T10:00", "monthly"),
    (["--monthly", "5,15,25", "--at", "10:00"], "2026-11-25T10:00", "monthly"),
    (["--monthly", "last", "--at", "10:00"], "2026-11-30T10:00", "monthly"),
    (["--monthly", "first mon", "--at", "10:00"], "2026-12-07T10:00", "monthly-weekday"),
    (["--monthly", "last fri", "--at", "10:00"], "2026-11-27T10:00", "monthly-weekday"),
    (["--annual", "03-15", "--at", "10:00"], "2027-03-15T10:00", "annual"),
    (["--days", "7", "--at", "10:00"], "2026-11-27T10:00", "days"),
    (["--weekly", "fri", "--every", "2", "--at", "10:00"], "2026-12-04T10:00", "weekly"),
    (
      ["--daily", "--start", "2026-12-01", "--at", "09:00,12:00,17:00"], "2026-12-01T09:00", "daily"
    ),
  ])
  func scheduleOptionsSetNextOccurrence(_ options: [String], _ next: String, _ kind: String)
    async throws
  {
    let sandbox = try Sandbox()
    let output = try await sandbox.run(
      Sandbox.binary, ["add", "X", "--json"] + options,
      environment: ["BELFRY_NOW": "2026-11-20T22:41:00Z", "TZ": "UTC"])
    #expect(output.status == 0, "\(output.err)")
    #expect(output.object["nextOccurrence"] as? String == next)
    #expect((output.object["schedule"] as? [String: Any])?["kind"] as? String == kind)
  }

  @Test func floatingAlarmFollowsZoneAndFixedAlarmDoesNot() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Floating", "--daily", "--at", "09:00")
    _ = try await sandbox.belfry(
      "add", "Fixed", "--daily", "--at", "09:00", "--zone", "Europe/Berlin")
    func next(_ zone: String) async throws -> [String: String] {
      let list = try await sandbox.belfry("list", "--json", zone: zone).array
      return Dictionary(
        uniqueKeysWithValues: list.map {
          ($0["title"] as? String ?? "", $0["next"] as? String ?? "")
        })
    }
    #expect(
      try await next("Europe/Berlin") == [
        "Floating": "2026-11-21T09:00:00+01:00", "Fixed": "2026-11-21T09:00:00+01:00",
      ])
    #expect(
      try await next("Asia/Tokyo") == [
        "Floating": "2026-11-21T09:00:00+09:00", "Fixed": "2026-11-21T17:00:00+09:00",
      ])
    #expect(
      try await next("America/New_York") == [
        "Floating": "2026-11-21T09:00:00-05:00", "Fixed": "2026-11-21T03:00:00-05:00",
      ])
  }

  @Test func nextMergesAllAlarms() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "A", "--daily", "--at", "09:00")
    _ = try await sandbox.belfry("add", "B", "--daily", "--every", "2", "--at", "08:00")
    let next = try await sandbox.belfry("next", "--count", "4", "--json")
    #expect(
      next.array.map { "\($0["title"] ?? "") \($0["occurrence"] ?? "")" } == [
        "A 2026-11-21T09:00", "B 2026-11-22T08:00", "A 2026-11-22T09:00", "A 2026-11-23T09:00",
      ])
    #expect(next.array[0]["at"] as? String == "2026-11-21T09:00:00Z")
    let one = try await sandbox.belfry("next", "b", "--count", "3", "--json")
    #expect(
      one.array.map { $0["occurrence"] as? String } == [
        "2026-11-22T08:00", "2026-11-24T08:00", "2026-11-26T08:00",
      ])
  }

  @Test func addWarnsOfSimilarAlarm() async throws {
    let sandbox = try await Sandbox.withTea()
    let same = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    #expect(same.status == 0)
    #expect(same.err.contains("another Tea with this schedule"))
    #expect(try await sandbox.belfry("add", "Milk", "--daily", "--at", "10:00").otherErrors.isEmpty)
  }

  @Test("Alarms of the same minute are listed on request, and cause no warning")
  func clashesAreListedOnRequest() async throws {
    let sandbox = try await Sandbox.withTea()
    let none = try await sandbox.belfry("list", "--clashes")
    #expect(none.out == "No two alarms ring next at the same minute.\n")
    let minute = try await sandbox.belfry("add", "Coffee", "--weekly", "sat", "--at", "09:00")
    #expect(minute.otherErrors.isEmpty)
    _ = try await sandbox.belfry("tier", "plus")
    _ = try await sandbox.belfry("add", "Milk", "--daily", "--at", "10:00")
    let list = try await sandbox.belfry("list", "--clashes", "--json")
    #expect(list.array.map { $0["title"] as? String } == ["Coffee", "Tea"])
  }
}
