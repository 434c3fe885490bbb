import TestSupport
import Testing

@testable import BelfryCore

/// The laws of the merge, tested with random versions of one record from several devices.
@Suite struct JoinLaws {
  private let devices = [laptop, server, Identifier("phoneaaaaaaaaaaaaaaaaaaaaa")!]
  private let origin = instant("2026-11-20T22:41:00Z")

  private func moment(_ random: inout SeededGenerator) -> Instant {
    origin.adding(seconds: Int64(random.int(0...6)) * 3600)
  }

  private func stamp(_ random: inout SeededGenerator) -> Stamp {
    Stamp(
      time: moment(&random), counter: random.int(0...1), device: random.pick(devices),
      generation: random.one(in: 4) ? 1 : 0)
  }

  private func outcome(
    _ state: OccurrenceRecord.State, _ random: inout SeededGenerator
  ) -> AutomaticOutcome {
    let fields = AutomaticOutcome.Basis.fields(of: state).sorted().filter { _ in random.one(in: 2) }
    let settings = AutomaticOutcome.Basis.settings(of: state).sorted { $0.rawValue < $1.rawValue }
    return AutomaticOutcome(
      since: random.one(in: 4) ? nil : moment(&random),
      basis: random.one(in: 4)
        ? nil
        : AutomaticOutcome.Basis(
          fields: Dictionary(uniqueKeysWithValues: fields.map { ($0, stamp(&random)) }),
          settings: Dictionary(uniqueKeysWithValues: settings.map { ($0, stamp(&random)) })),
      until: random.one(in: 2) ? nil : moment(&random),
      completed: random.one(in: 2) ? nil : date("2026-11-23").adding(days: random.int(0...2)))
  }

  private func occurrence(_ random: inout SeededGenerator) -> OccurrenceRecord {
    var record = answeredOccurrence(&random)
    if record.answer != .open { record.doubts = Set(devices.filter { _ in random.one(in: 3) }) }
    for state in [OccurrenceRecord.State.missed, .skipped, .done] where random.one(in: 3) {
      record.automatic[state] = outcome(state, &random)
    }
    return record
  }

  private func answeredOccurrence(_ random: inout SeededGenerator) -> OccurrenceRecord {
    OccurrenceRecord(
      random.pick(OccurrenceRecord.State.allCases), revision: random.int(0...1),
      since: random.one(in: 4) ? nil : moment(&random),
      until: random.one(in: 2) ? nil : moment(&random),
      snoozes: random.int(0...2), followUps: random.int(0...2), auto: random.one(in: 2),
      dismissed: random.one(in: 2), revived: random.one(in: 2) ? nil : moment(&random),
      schedule: random.one(in: 2) ? nil : stamp(&random),
      snoozeHistory: (0..<random.int(0...2)).map { _ in
        CascadeRun.Snooze(
          at: moment(&random), until: moment(&random),
          by: random.one(in: 2) ? nil : random.pick(devices))
      }.sorted { ($0.at, $0.until, $0.by?.text ?? "") < ($1.at, $1.until, $1.by?.text ?? "") }
        .reduce(into: []) { if $0.last != $1 { $0.append($1) } },
      completed: random.one(in: 2) ? nil : date("2026-11-23").adding(days: random.int(0...2)),
      exhausted: random.one(in: 2), by: random.one(in: 2) ? nil : random.pick(devices))
  }

  private func move(_ random: inout SeededGenerator) -> OccurrenceMove {
    OccurrenceMove(
      to: random.pick([nil, civil("2026-11-24T15:00"), civil("2026-12-02T10:00")]),
      stamp: random.one(in: 4) ? nil : stamp(&random), isImported: random.one(in: 2))
  }

  /// Returns a cascade plan with few parts and few stamps, including removed targets.
  private func cascade(_ random: inout SeededGenerator) -> Cascade {
    let targets = devices.map { CascadeTarget.device($0) } + [.phoneTasks]
    let present = targets.filter { _ in random.one(in: 2) }
    let parts =
      [Cascade.Part.on, .every, .primary] + targets.map { .target($0.key) }
    var stamps: [Cascade.Part: Stamp] = [:]
    for part in parts where !random.one(in: 4) { stamps[part] = stamp(&random) }
    return Cascade(
      Cascade.Plan(
        isOn: random.one(in: 2), interval: random.pick([60, 120]),
        primary: random.pick([nil, devices[0]]),
        targets: random.one(in: 2) ? present : present.reversed()),
      stamps: stamps,
      earlier: (0..<random.int(0...10)).map {
        Cascade.Version(
          plan: Cascade.Plan(isOn: random.one(in: 2)), until: origin.adding(seconds: Int64($0)))
      })
  }

  /// Returns a version with few distinct values and stamps, so that all ties occur.
  private func version(_ random: inout SeededGenerator) throws -> Alarm {
    var alarm = try rent()
    alarm.title = random.pick(["Rent", "Pay rent", "Miete"])
    alarm.note = random.pick([nil, "a", "b"])
    for tag in try ["home", "pills", "work"].map({ try AlarmTag($0) }) {
      if random.one(in: 2) { alarm.tags.insert(tag) }
      if !random.one(in: 3) { alarm.mergeState.tagStamps[tag] = stamp(&random) }
    }
    alarm.enabled = random.one(in: 2)
    alarm.zone = random.pick([.floating, .named("Europe/Berlin")])
    alarm.delivery.persistent = random.one(in: 2)
    alarm.delivery.warnings = random.pick([nil, WarningPlan("1d")])
    alarm.delivery.devices = random.one(in: 2) ? [] : [random.pick(devices)]
    if random.one(in: 2) {
      let until = random.pick(["2026-11-28T00:00", "2026-12-01T00:00"])
      alarm.pause = Pause(from: civil("2026-11-25T12:00"), until: civil(until))
    }
    if random.one(in: 2) {
      alarm.schedule = try random.pick([
        schedule(.daily(.init(interval: random.int(1...2), start: date("2026-11-20"))), "09:00"),
        schedule(
          .daily(.init(start: date("2026-11-20"))), "09:00",
          limits: .init(
            until: random.pick([nil, civil("2026-12-01T09:00")]),
            exceptions: random.pick([[], [date("2026-11-23")]]),
            onHoliday: random.pick([nil, .skip, .before]))),
        schedule(
          .afterDone(
            Period(random.int(1...2), .day),
            .init(
              start: date("2026-11-23"), completionsAfter: random.pick([nil, date("2026-11-22")]))),
          "09:00"),
      ])
    }
    if random.one(in: 2) {
      alarm.cascade = cascade(&random)
    }
    alarm.cascadeZone = random.pick([nil, "Europe/Berlin", "UTC-08:00"])
    if random.one(in: 2) {
      alarm.partner = PartnerOrigin(
        name: random.pick(["Alex", "Chris"]), partnership: devices[0], request: devices[1])
    }
    alarm.progress.rehearsal = random.one(in: 2) ? nil : moment(&random)
    for field in Alarm.Field.allCases {
      alarm.mergeState.stamps[field] = random.one(in: 5) ? nil : stamp(&random)
    }
    if random.one(in: 3) {
      alarm.mergeState.deletion = Dictionary(
        uniqueKeysWithValues: Alarm.Field.allCases.map { ($0, stamp(&random)) })
    }
    alarm.progress.armed = moment(&random)
    alarm.progress.cleared = random.one(in: 2) ? nil : moment(&random)
    let occurrences = ["2026-11-23T09:00", "2026-11-27T09:00", "2026-11-30T09:00"].map(civil)
    alarm.progress.floor = random.pick([nil, occurrences[0], occurrences[1]])
    for occurrence in occurrences where random.one(in: 2) {
      guard alarm.progress.floor.map({ occurrence > $0 }) ?? true else { continue }
      alarm.progress.occurrences[occurrence] = self.occurrence(&random)
    }
    for occurrence in occurrences where random.one(in: 3) {
      alarm.progress.moves[occurrence] = move(&random)
    }
    alarm.progress.completed = random.pick([nil, date("2026-11-21"), date("2026-11-23")])
    alarm.progress.generation = random.one(in: 4) ? 1 : 0
    alarm.mergeState.extras =
      random.one(in: 2) ? [:] : ["colour": random.pick(["\"red\"", "\"blue\""])]
    return alarm
  }

  /// Expects a join that is commutative, associative, idempotent, absorbing and monotone: if a is before b
  /// (`join(a, b) == b`), the join of a with any value is before the join of b with it.
  private func expectLaws<Value: Equatable>(
    _ versions: [Value], seed: UInt64, _ join: (Value, Value) -> Value
  ) {
    let (a, b, c) = (versions[0], versions[1], versions[2])
    #expect(join(a, b) == join(b, a), "commutative, seed \(seed)")
    #expect(join(join(a, b), c) == join(a, join(b, c)), "associative, seed \(seed)")
    #expect(join(a, a) == a, "idempotent, seed \(seed)")
    #expect(join(a, join(a, b)) == join(a, b), "absorbing, seed \(seed)")
    let above = join(a, b)
    #expect(join(a, above) == above, "above, seed \(seed)")
    #expect(join(join(a, c), join(above, c)) == join(above, c), "order-preserving, seed \(seed)")
  }

  @Test(arguments: 0..<1024 as Range<UInt64>)
  func alarmsFollowTheLaws(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let versions = try (0..<3).map { _ in try version(&random) }
    expectLaws(versions, seed: seed, Alarm.join)
    // The parts are tested separately, because a combined value can hide a violation.
    expectLaws(versions.map(\.progress), seed: seed, Progress.join)
    expectLaws((0..<3).map { _ in cascade(&random) }, seed: seed, Cascade.join)
  }

  @Test(arguments: 0..<1024 as Range<UInt64>)
  func fieldsAreComparedByTheirTexts(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (a, b) = (try version(&random), try version(&random))
    for field in Alarm.Field.allCases {
      #expect(a.hasSame(field, as: a), "\(field), seed \(seed)")
      #expect(
        a.hasSame(field, as: b) == (a.text(of: field) == b.text(of: field)),
        "\(field), seed \(seed)")
    }
  }

  @Test(arguments: 0..<1024 as Range<UInt64>)
  func occurrencesFollowTheLaws(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let versions = (0..<3).map { _ in occurrence(&random) }
    expectLaws(versions, seed: seed, OccurrenceRecord.join)
  }

  @Test(arguments: 0..<1024 as Range<UInt64>)
  func movesFollowTheLaws(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let versions = (0..<3).map { _ in move(&random) }
    expectLaws(versions, seed: seed, OccurrenceMove.join)
  }

  @Test(arguments: 0..<1024 as Range<UInt64>)
  func settingsFollowTheLaws(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let versions = (0..<3).map { _ in
      var record = SettingsRecord()
      for key in ["tier", "snooze", "unknown"] where random.one(in: 2) {
        record.values[key] = random.pick(["1", "2"])
        if random.one(in: 2) { record.stamps[key] = stamp(&random) }
      }
      return record
    }
    expectLaws(versions, seed: seed, SettingsRecord.join)
  }

  @Test(arguments: 0..<1024 as Range<UInt64>)
  func holidayCalendarsFollowTheLaws(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let versions = (0..<3).map { _ in
      var calendar = HolidayCalendar(name: "de-BE")
      for year in 2026...2028 where random.one(in: 2) {
        let days = ["01-01", "12-25"].filter { _ in random.one(in: 2) }
        calendar.years[year] = HolidayCalendar.Year(
          Dictionary(
            uniqueKeysWithValues: days.map { (date("\(year)-\($0)"), random.pick(["a", "b"])) }),
          stamp: random.one(in: 2) ? nil : stamp(&random))
      }
      calendar.extras = random.one(in: 2) ? [:] : ["kind": random.pick(["\"a\"", "\"b\""])]
      return calendar
    }
    expectLaws(versions, seed: seed, HolidayCalendar.join)
  }

  @Test(arguments: 0..<1024 as Range<UInt64>)
  func deviceRecordsFollowTheLaws(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let versions = (0..<3).map { _ in
      Device(
        id: devices[0], name: random.pick(["laptop", "desk"]), created: moment(&random),
        stamp: random.one(in: 3) ? nil : stamp(&random), kind: random.pick([nil, .laptop, .watch]),
        owner: random.pick([nil, "Jen"]), calls: random.one(in: 2),
        zone: random.pick([nil, "Europe/Berlin", "Asia/Tokyo"]),
        extras: random.one(in: 2) ? [:] : ["kind": random.pick(["\"a\"", "\"b\""])])
    }
    expectLaws(versions, seed: seed, Device.join)
  }

  @Test(arguments: 0..<1024 as Range<UInt64>)
  func logEntriesFollowTheLaws(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let id = devices[1]
    let versions = (0..<3).map { _ in
      LogEntry(
        id: id, alarm: id, title: random.pick(["Rent", "Miete"]),
        action: random.pick([.done, .skipped]), at: origin, device: random.pick(devices),
        auto: random.one(in: 2), revision: random.int(0...1),
        extras: random.one(in: 2) ? [:] : ["more": random.pick(["1", "2"])])
    }
    expectLaws(versions, seed: seed, LogEntry.join)
  }

  // MARK: The numbered cases

  private func edited(
    _ alarm: Alarm, after seconds: Int64, by device: Identifier, _ change: (inout Alarm) -> Void
  ) -> Alarm {
    var result = alarm
    change(&result)
    return result.stamped(against: alarm, at: origin.adding(seconds: seconds), device: device)
  }

  @Test func case1_fieldsJoinSeparately() throws {
    let base = try rent()
    let ours = edited(base, after: 60, by: laptop) { $0.title = "Pay rent" }
    let theirs = edited(base, after: 30, by: server) { $0.note = "IBAN" }
    let joined = Alarm.join(ours, theirs)
    #expect(joined.title == "Pay rent")
    #expect(joined.note == "IBAN")
    let later = edited(base, after: 90, by: server) { $0.title = "Miete" }
    #expect(Alarm.join(ours, later).title == "Miete")
  }

  @Test func case2_doneOverridesSkippedAndSkippedOverridesPending() throws {
    let occurrence = civil("2026-11-23T09:00")
    func with(_ state: OccurrenceRecord.State) throws -> Alarm {
      var alarm = try rent()
      alarm.progress.occurrences[occurrence] = OccurrenceRecord(state, since: origin)
      return alarm
    }
    let order: [OccurrenceRecord.State] = [.open, .missed, .snoozed, .pending, .skipped, .done]
    for (lower, higher) in zip(order, order.dropFirst()) {
      let joined = Alarm.join(try with(lower), try with(higher))
      #expect(joined.progress.occurrences[occurrence]?.state == higher)
    }
    var reopened = try with(.open)
    reopened.progress.occurrences[occurrence]?.revision = 1
    #expect(
      Alarm.join(reopened, try with(.done)).progress.occurrences[occurrence]?.state == .open)
  }

  @Test func case3_disablingClearsAPendingOccurrenceOfTheOtherSide() throws {
    let base = try rent()
    let off = edited(base, after: 3600, by: laptop) { $0.enabled = false }
    var pending = base
    pending.progress.occurrences[civil("2026-11-23T09:00")] = OccurrenceRecord(
      .pending, since: instant("2026-11-23T09:00:00Z"))
    let joined = timeline(Alarm.join(off, pending))
    #expect(joined.occurrences(in: .pending).isEmpty)
  }

  @Test func case4_aConcurrentEditRestoresADeletedAlarm() throws {
    let base = try rent()
    let deleted = base.deleted()
    #expect(Alarm.join(deleted, base).isDeleted)
    let unseen = edited(base, after: 60, by: server) { $0.title = "Still needed" }
    let joined = Alarm.join(deleted, unseen)
    #expect(!joined.isDeleted)
    #expect(joined.title == "Still needed")
    #expect(Alarm.join(unseen.deleted(), unseen).isDeleted)
    var progressed = base
    progressed.progress.occurrences[civil("2026-11-23T09:00")] = OccurrenceRecord(.done)
    #expect(Alarm.join(deleted, progressed).isDeleted)
  }

  @Test func case5_tagsJoinSeparately() throws {
    let (home, pills) = (try AlarmTag("home"), try AlarmTag("pills"))
    let base = edited(try rent(), after: 0, by: laptop) { $0.tags = [home] }
    let ours = edited(base, after: 30, by: laptop) { $0.tags = [home, pills] }
    let theirs = edited(base, after: 60, by: server) { $0.tags = [] }
    #expect(Alarm.join(ours, theirs).tags == [pills])
    // Between equal stamps, the addition wins.
    var removed = ours
    removed.tags = []
    #expect(Alarm.join(ours, removed).tags == ours.tags)
  }

  @Test func case6_unknownKeysAreKept() throws {
    var (a, b) = (try rent(), try rent())
    a.mergeState.extras = ["colour": "\"red\""]
    b.mergeState.extras = ["icon": "\"bell\""]
    #expect(Alarm.join(a, b).mergeState.extras == ["colour": "\"red\"", "icon": "\"bell\""])
  }

  @Test("Two spellings of a character are different texts, so that all devices keep the same one")
  func spellings() throws {
    // Swift takes them for equal.
    let spellings = ["Caf\u{E9}", "Cafe\u{301}"]
    func bytes(_ text: String?) -> [UInt8]? { text.map { Array($0.utf8) } }
    func expectSame<Value>(
      _ values: [Value], _ join: (Value, Value) -> Value, _ text: (Value) -> String?
    ) {
      #expect(bytes(text(join(values[0], values[1]))) == bytes(text(join(values[1], values[0]))))
    }
    let base = try rent()
    func alarms(_ change: (inout Alarm, String) -> Void) -> [Alarm] {
      spellings.map { spelling in
        var alarm = base
        change(&alarm, spelling)
        return alarm
      }
    }
    expectSame(alarms { $0.title = $1 }, Alarm.join) { $0.title }
    expectSame(alarms { $0.note = $1 }, Alarm.join) { $0.note }
    expectSame(alarms { $0.mergeState.extras = ["place": $1] }, Alarm.join) {
      $0.mergeState.extras["place"]
    }
    expectSame(spellings.map { SettingsRecord(values: ["motto": $0]) }, SettingsRecord.join) {
      $0.values["motto"]
    }
    expectSame(
      spellings.map { Device(id: laptop, name: $0, created: origin) }, Device.join
    ) { $0.name }
    expectSame(
      spellings.map {
        LogEntry(id: laptop, alarm: laptop, title: $0, action: .done, at: origin, device: laptop)
      }, LogEntry.join
    ) { $0.title }
  }

  @Test func progressCase1_aCorrectionReplacesTheWholeProgress() throws {
    var wrong = try rent().progress
    wrong.floor = civil("2099-01-01T09:00")
    wrong.armed = instant("2099-01-01T09:00:00Z")
    let right = try #require(wrong.corrected(at: origin, on: laptop))
    #expect(right.generation == 1)
    #expect(right.armed < origin && right.floor.map { $0 < civil("2026-11-21T00:00") } == true)
    #expect(Progress.join(right, wrong) == right)
    // The progress is then valid and stays unchanged.
    #expect(right.corrected(at: origin, on: laptop) == nil)
    #expect(try rent().progress.corrected(at: origin, on: laptop) == nil)
  }

  @Test func settingsJoinByTheNumberedCases() {
    func record(_ value: String, _ seconds: Int64?) -> SettingsRecord {
      SettingsRecord(
        values: ["snooze": value],
        stamps: seconds.map {
          ["snooze": Stamp(time: origin.adding(seconds: $0), device: laptop)]
        } ?? [:])
    }
    let join = SettingsRecord.join
    #expect(join(record("9", 1), record("1", 2)) == record("1", 2), "1")
    #expect(join(record("9", nil), record("1", 1)) == record("1", 1), "2")
    #expect(join(record("9", 1), record("1", 1)) == record("9", 1), "3")
    #expect(join(record("9", nil), record("1", nil)) == record("9", nil), "3")
  }

  @Test func occurrencesJoinByTheNumberedCases() {
    let (early, late) = (origin, origin.adding(seconds: 60))
    let join = OccurrenceRecord.join
    // 1. A reopening replaces any earlier state entirely.
    let reopened = OccurrenceRecord(.open, revision: 1, since: late)
    #expect(join(OccurrenceRecord(.done, since: early, snoozes: 3), reopened) == reopened)
    // 2. Then the higher rank wins, 4. with the highest counts of both sides.
    let joined = join(
      OccurrenceRecord(.pending, since: early, snoozes: 2, followUps: 3),
      OccurrenceRecord(.skipped, since: late, snoozes: 1))
    #expect(joined == OccurrenceRecord(.skipped, since: late, snoozes: 2, followUps: 3))
    // 3. Within one rank: the earliest start, the latest end, and a user's response over none.
    let snoozed = join(
      OccurrenceRecord(.snoozed, since: late, until: late),
      OccurrenceRecord(.snoozed, since: early, until: late.adding(seconds: 9)))
    #expect(snoozed.since == early && snoozed.snooze.until == late.adding(seconds: 9))
    #expect(!join(OccurrenceRecord(.done, auto: true), OccurrenceRecord(.done)).auto)
    #expect(join(OccurrenceRecord(.missed, dismissed: true), OccurrenceRecord(.missed)).dismissed)
  }

  @Test func logCase_theGreaterOfTwoDifferentEntriesWins() {
    func entry(_ title: String) -> LogEntry {
      LogEntry(id: laptop, alarm: laptop, title: title, action: .done, at: origin, device: laptop)
    }
    #expect(LogEntry.join(entry("a"), entry("b")) == entry("b"))
  }

  @Test func deviceCases_theOwnersEditWins() {
    func record(_ name: String, by device: Identifier?, _ seconds: Int64 = 0) -> Device {
      Device(
        id: laptop, name: name, created: origin,
        stamp: device.map { Stamp(time: origin.adding(seconds: seconds), device: $0) })
    }
    // 1. The owner's edit wins over any other, however late.
    let own = record("mine", by: laptop)
    #expect(Device.join(own, record("zzz", by: server, 99)) == own)
    #expect(Device.join(own, record("zzz", by: nil)) == own)
    // 2. Of the owner's edits, the later one wins.
    let later = record("aaa", by: laptop, 1)
    #expect(Device.join(own, later) == later)
    // 3. Otherwise the greater text wins.
    let greater = record("b", by: nil)
    #expect(Device.join(record("a", by: nil), greater) == greater)
  }

  // MARK: The clock

  @Test func stampsAreMonotoneThroughClockJumps() {
    var random = SeededGenerator(seed: 11)
    var now = origin
    var last: Stamp?
    for _ in 0..<10_000 {
      // The clock jumps forwards, backwards, years ahead and years back.
      let jump = random.pick([
        1, 60, -60, 7200, -7200, 90_000, -90_000, 2_000_000_000, -2_000_000_000,
      ])
      now = random.one(in: 3) ? now : now.adding(seconds: Int64(jump))
      now = max(instant("1970-01-02T00:00:00Z"), min(now, instant("9000-01-01T00:00:00Z")))
      let next = Stamp.next(after: last, now: now, device: random.pick(devices))
      #expect(last.map { next > $0 } ?? true, "\(next) after \(last.map { "\($0)" } ?? "nothing")")
      #expect(Stamp(next.description) == next)
      last = next
    }
  }

  @Test func aStampFarAheadIsOverruledByTheNextEdit() throws {
    let wrong = Stamp(time: instant("9999-12-31T23:59:59.999Z"), counter: 9999, device: server)
    let here = instant("2026-11-21T08:00:00Z")
    let next = Stamp.next(after: wrong, now: here, device: laptop)
    #expect(next > wrong)
    // After that, true time decides again: of two edits that follow it, the later one wins.
    #expect(next.time == here)
    let later = Stamp.next(after: next, now: here.adding(seconds: 60), device: laptop)
    let latest = Stamp.next(after: next, now: here.adding(seconds: 90), device: server)
    #expect(next < later && later < latest)
    #expect(latest.generation == next.generation)
    // A stamp that is slightly ahead is continued instead.
    let ahead = Stamp(time: here.adding(seconds: 100), device: server)
    let after = Stamp.next(after: ahead, now: here, device: laptop)
    #expect(after > ahead && after.generation == 0 && after.time == ahead.time)
    #expect(Stamp("\(ahead)-0") == nil && Stamp("\(ahead)-x") == nil)
  }
}
