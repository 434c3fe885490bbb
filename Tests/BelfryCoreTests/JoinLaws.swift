import BelfryCore
import TestSupport
import Testing

/// The laws of the merge, over random versions of one alarm that several devices may have come to.
@Suite struct JoinLaws {
  private let devices = [laptop, server, Identifier("phoneaaaaaaaaaaaaaaaaaaaaa")!]
  private let origin = instant("2026-11-20T22:41:00Z")

  private func moment(_ random: inout SeededGenerator) -> Instant {
    origin.adding(seconds: Int64(random.int(0...6)) * 3600)
  }

  private func stamp(_ random: inout SeededGenerator) -> Stamp {
    Stamp(time: moment(&random), counter: random.int(0...1), device: random.pick(devices))
  }

  /// A version: fields of few values and few stamps, so that all ties come up.
  private func version(_ random: inout SeededGenerator) throws -> Alarm {
    var alarm = try rent()
    alarm.title = random.pick(["Rent", "Pay rent", "Miete"])
    alarm.note = random.pick([nil, "a", "b"])
    alarm.enabled = random.one(in: 2)
    alarm.zone = random.pick([.floating, .named("Europe/Berlin")])
    alarm.delivery.persistent = random.one(in: 2)
    if random.one(in: 2) {
      alarm.schedule = try schedule(
        .daily(.init(interval: random.int(1...2), start: date("2026-11-20"))), "09:00")
    }
    for field in Alarm.Field.allCases {
      alarm.stamps[field] = random.one(in: 5) ? nil : stamp(&random)
    }
    if random.one(in: 3) {
      alarm.deletion = Dictionary(
        uniqueKeysWithValues: Alarm.Field.allCases.map { ($0, stamp(&random)) })
    }
    alarm.progress.armed = moment(&random)
    alarm.progress.cleared = random.one(in: 2) ? nil : moment(&random)
    let occurrences = ["2026-11-23T09:00", "2026-11-27T09:00", "2026-11-30T09:00"].map(civil)
    alarm.progress.floor = random.pick([nil, occurrences[0], occurrences[1]])
    for occurrence in occurrences where random.one(in: 2) {
      guard alarm.progress.floor.map({ occurrence > $0 }) ?? true else { continue }
      alarm.progress.occurrences[occurrence] = OccurrenceRecord(
        random.pick(OccurrenceRecord.State.allCases), revision: random.int(0...1),
        since: random.one(in: 4) ? nil : moment(&random),
        until: random.one(in: 2) ? nil : moment(&random),
        snoozes: random.int(0...2), followUps: random.int(0...2), auto: random.one(in: 2),
        dismissed: random.one(in: 2), revived: random.one(in: 2) ? nil : moment(&random),
        schedule: random.one(in: 2) ? nil : stamp(&random))
    }
    alarm.extras = random.one(in: 2) ? [:] : ["colour": random.pick(["\"red\"", "\"blue\""])]
    return alarm
  }

  @Test(arguments: 0..<1024 as Range<UInt64>)
  func joinIsASemilattice(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (a, b, c) = (try version(&random), try version(&random), try version(&random))
    let join = Alarm.join
    #expect(join(a, b) == join(b, a), "commutative, seed \(seed)")
    #expect(join(join(a, b), c) == join(a, join(b, c)), "associative, seed \(seed)")
    #expect(join(a, a) == a, "idempotent, seed \(seed)")
    #expect(join(a, join(a, b)) == join(a, b), "absorbing, seed \(seed)")
  }

  @Test(arguments: 0..<1024 as Range<UInt64>)
  func settingsJoinIsASemilattice(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func version() -> SettingsRecord {
      var record = SettingsRecord()
      for key in ["tier", "snooze"] where random.one(in: 2) {
        record.values[key] = random.pick(["1", "2"])
        if random.one(in: 2) { record.stamps[key] = stamp(&random) }
      }
      return record
    }
    let (a, b, c) = (version(), version(), version())
    let join = SettingsRecord.join
    #expect(join(a, b) == join(b, a), "commutative, seed \(seed)")
    #expect(join(join(a, b), c) == join(a, join(b, c)), "associative, seed \(seed)")
    #expect(join(a, a) == a, "idempotent, seed \(seed)")
  }

  // MARK: The cases by their numbers

  private func edited(
    _ alarm: Alarm, after seconds: Int64, by device: Identifier, _ change: (inout Alarm) -> Void
  ) -> Alarm {
    var result = alarm
    change(&result)
    return result.stamped(against: alarm, at: origin.adding(seconds: seconds), device: device)
  }

  @Test func case1_fieldsJoinOneByOne() throws {
    let base = try rent()
    let ours = edited(base, after: 60, by: laptop) { $0.title = "Pay rent" }
    let theirs = edited(base, after: 30, by: server) { $0.note = "IBAN" }
    let joined = Alarm.join(ours, theirs)
    #expect(joined.title == "Pay rent")
    #expect(joined.note == "IBAN")
    let later = edited(base, after: 90, by: server) { $0.title = "Miete" }
    #expect(Alarm.join(ours, later).title == "Miete")
  }

  @Test func case2_doneBeatsSkipBeatsPending() throws {
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

  @Test func case3_disabledClearsTheOthersPending() throws {
    let base = try rent()
    let off = edited(base, after: 3600, by: laptop) { $0.enabled = false }
    var pending = base
    pending.progress.occurrences[civil("2026-11-23T09:00")] = OccurrenceRecord(
      .pending, since: instant("2026-11-23T09:00:00Z"))
    let joined = timeline(Alarm.join(off, pending))
    #expect(joined.occurrences(in: .pending).isEmpty)
  }

  @Test func case4_deleteAgainstEdit() throws {
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

  @Test func case5_unknownKeysAreKept() throws {
    var (a, b) = (try rent(), try rent())
    a.extras = ["colour": "\"red\""]
    b.extras = ["icon": "\"bell\""]
    #expect(Alarm.join(a, b).extras == ["colour": "\"red\"", "icon": "\"bell\""])
  }
}
