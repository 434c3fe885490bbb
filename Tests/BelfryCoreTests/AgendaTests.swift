import BelfryCore
import TestSupport
import Testing

@Suite struct AgendaTests {
  private let settings = Settings(tier: .plus)

  private func agenda(
    _ timeline: Timeline, _ dates: ClosedRange<CivilDate>, at now: Instant,
    outcomes: [CivilDateTime: Statistics.Outcome] = [:], device: TimeZoneRules = .utc,
    ledger: DeliveryLedger = DeliveryLedger()
  ) -> Agenda {
    var builder = AgendaBuilder(dates, zone: device, now: now)
    let status = timeline.status(at: now, settings: settings, ledger: ledger)
    builder.add(
      timeline.alarm,
      timeline.agenda(builder.instants, outcomes: outcomes, status: status, at: now),
      zone: timeline.zone)
    return builder.agenda
  }

  private func text(_ agenda: Agenda) -> [String] {
    agenda.days.flatMap(\.entries).map { "\($0.local) \($0.state)" }
  }

  private let november = date("2026-11-01")...date("2026-11-30")

  @Test("Upcoming entries are those of the timeline, on the days of the device's zone")
  func upcoming() throws {
    let devices = [TimeZoneRules.utc, try zone("America/New_York"), try zone("Pacific/Kiritimati")]
    for seed in RandomSamples.seeds(300) {
      var random = SeededGenerator(seed: seed)
      let schedule = try Schedule.random(&random)
      let calendar = WorkCalendar.random(&random)
      let now = Instant(seconds: Int64(random.int(20_000...21_900)) * 86_400 + 36_000)
      var alarm = Alarm.created(
        id: laptop, title: "Alarm", note: nil, schedule: schedule, zone: .floating,
        delivery: .init(), at: now, device: laptop)
      if random.one(in: 3) {
        let from = TimeZoneRules.utc.civil(
          at: now.adding(seconds: Int64(random.int(-20...40)) * 86_400))
        alarm.pause = Pause(
          from: from,
          until: CivilDateTime(from.date.adding(days: random.int(1...30)), .noon))
      }
      let zone = try zone(random.pick(["Europe/Berlin", "Asia/Tokyo", "America/Los_Angeles"]))
      let timeline = Timeline(alarm, zone: zone, calendar: calendar, at: now)
      let device = random.pick(devices)
      let period = CalendarPeriod(
        .month, containing: device.civil(at: now).date, count: random.int(1...3)
      ).extended(before: random.int(0...1), after: 0)
      let agenda = agenda(timeline, period.dates, at: now, device: device)
      let end = device.instant(
        of: CivilDateTime(period.dates.upperBound.adding(days: 1), .midnight))
      var expected: [CivilDate: [Timeline.Occurrence]] = [:]
      for occurrence in timeline.upcoming(after: now) {
        if occurrence.at >= end { break }
        expected[device.civil(at: occurrence.at).date, default: []].append(occurrence)
      }
      for day in agenda.days {
        let shown = day.entries.filter { $0.state == .upcoming }
          .map { Timeline.Occurrence(civil: $0.occurrence, at: $0.at) }
        #expect(shown == expected[day.date] ?? [], "seed \(seed), \(day.date)")
        for entry in day.entries {
          #expect(entry.local == device.civil(at: entry.at) && entry.local.date == day.date)
          // What is no longer upcoming is paused, or was due before now.
          let isPaused = alarm.pause?.covers(entry.occurrence) == true
          #expect(
            entry.state == .upcoming || entry.state == .paused && isPaused,
            "seed \(seed), \(entry)")
        }
      }
      #expect(agenda.days.last?.date == period.dates.upperBound)
    }
  }

  @Test("Each state of the lifecycle is that of the day")
  func states() throws {
    var alarm = try rent()
    let monday = civil("2026-11-23T09:00")
    let due = instant("2026-11-23T09:00:00Z")
    var ledger = DeliveryLedger()
    ledger.recordFiring(OccurrenceID(alarm: alarm.id, occurrence: monday), due: due, at: due)
    let later = ["2026-11-27T09:00 upcoming", "2026-11-30T09:00 upcoming"]
    func states(_ alarm: Alarm, at now: String) -> [String] {
      text(agenda(timeline(alarm), november, at: instant(now), ledger: ledger))
    }
    #expect(states(alarm, at: "2026-11-23T08:00:00Z") == ["2026-11-23T09:00 upcoming"] + later)
    #expect(states(alarm, at: "2026-11-23T09:10:00Z") == ["2026-11-23T09:00 ringing"] + later)
    #expect(states(alarm, at: "2026-11-23T10:00:00Z") == ["2026-11-23T09:00 missed"] + later)
    func after(_ answer: Answer, at now: String) throws -> Alarm {
      try timeline(alarm).answer(answer, at: instant(now), settings: settings, ledger: ledger).alarm
    }
    #expect(
      states(try after(.stop, at: "2026-11-23T09:05:00Z"), at: "2026-11-23T09:10:00Z")
        == ["2026-11-23T09:00 pending"] + later)
    #expect(
      states(
        try after(.snooze(seconds: 600), at: "2026-11-23T09:05:00Z"), at: "2026-11-23T09:10:00Z")
        == ["2026-11-23T09:00 snoozed"] + later)
    alarm = try after(.done(), at: "2026-11-23T09:05:00Z")
    #expect(states(alarm, at: "2026-11-23T09:10:00Z") == ["2026-11-23T09:00 done"] + later)
    let skipped = try timeline(alarm).answer(
      .skip(), at: instant("2026-11-24T09:00:00Z"), settings: settings,
      ledger: DeliveryLedger()
    ).alarm
    #expect(
      states(skipped, at: "2026-11-24T09:10:00Z")
        == ["2026-11-23T09:00 done", "2026-11-27T09:00 skipped", "2026-11-30T09:00 upcoming"])
    alarm.enabled = false
    #expect(states(alarm, at: "2026-11-23T09:10:00Z") == ["2026-11-23T09:00 done"])
  }

  @Test("A pause covers its days, and its occurrences do not ring")
  func pause() throws {
    var alarm = try rent()
    alarm.pause = Pause(from: civil("2026-11-24T00:00"), until: civil("2026-11-28T00:00"))
    let agenda = agenda(timeline(alarm), november, at: instant("2026-11-21T09:00:00Z"))
    #expect(
      text(agenda) == [
        "2026-11-23T09:00 upcoming", "2026-11-27T09:00 paused", "2026-11-30T09:00 upcoming",
      ])
    #expect(
      agenda.days.filter { !$0.paused.isEmpty }.map { "\($0.date)" } == [
        "2026-11-24", "2026-11-25", "2026-11-26", "2026-11-27",
      ])
  }

  @Test("Occurrences that were due without a tick are missed, apart from the one that rings")
  func withoutTicks() throws {
    let now = instant("2026-11-27T09:00:05Z")
    let agenda = agenda(timeline(try rent()), november, at: now)
    #expect(
      text(agenda) == [
        "2026-11-23T09:00 missed", "2026-11-27T09:00 ringing", "2026-11-30T09:00 upcoming",
      ])
  }

  @Test("The log has the outcomes that records no longer keep, and a record counts before it")
  func log() throws {
    var alarm = try rent()
    alarm.progress.floor = civil("2026-11-16T09:00")
    alarm.progress.armed = instant("2026-11-16T09:00:00Z")
    alarm = try timeline(alarm).answer(
      .done(), at: instant("2026-11-20T09:05:00Z"), settings: settings, ledger: DeliveryLedger()
    ).alarm
    let outcomes: [CivilDateTime: Statistics.Outcome] = [
      civil("2026-10-30T09:00"): .done, civil("2026-11-02T09:00"): .done,
      civil("2026-11-06T09:00"): .skipped, civil("2026-11-09T09:00"): .missed,
      civil("2026-11-13T09:00"): .autoCompleted, civil("2026-11-20T09:00"): .missed,
    ]
    let agenda = agenda(
      timeline(alarm), november, at: instant("2026-11-20T12:00:00Z"), outcomes: outcomes)
    #expect(
      text(agenda) == [
        "2026-11-02T09:00 done", "2026-11-06T09:00 skipped", "2026-11-09T09:00 missed",
        "2026-11-13T09:00 autoCompleted", "2026-11-20T09:00 done", "2026-11-23T09:00 upcoming",
        "2026-11-27T09:00 upcoming", "2026-11-30T09:00 upcoming",
      ])
    #expect(agenda.counts[.upcoming] == 3 && agenda.counts[.done] == 2)
  }

  @Test("An outcome that was decided long before its time is known to be lacking")
  func lacking() throws {
    var alarm = try rent()
    alarm.schedule = try schedule(
      .weekly([.monday, .friday], .init(start: date("2026-10-01"))), "09:00")
    alarm.progress.armed = instant("2026-11-01T09:00:00Z")
    alarm.progress.floor = civil("2026-11-13T09:00")
    let period = instant("2026-11-01T00:00:00Z")..<instant("2026-12-01T00:00:00Z")
    var outcomes: [CivilDateTime: Statistics.Outcome] = [:]
    #expect(timeline(alarm).lacksOutcomes(of: period, in: outcomes))
    for day in ["02", "06", "09", "13"] { outcomes[civil("2026-11-\(day)T09:00")] = .done }
    #expect(!timeline(alarm).lacksOutcomes(of: period, in: outcomes))
    outcomes[civil("2026-11-06T09:00")] = nil
    #expect(timeline(alarm).lacksOutcomes(of: period, in: outcomes))
  }

  @Test("An entry that settles a row of occurrences counts for each of them")
  func rows() throws {
    var log = Statistics.Tally()
    log.add(
      LogEntry(
        id: laptop, alarm: laptop, title: "Rent", occurrence: civil("2026-11-13T09:00"),
        action: .missed, at: instant("2026-11-20T09:00:00Z"), device: laptop,
        payload: .earlier(.init(count: 3, first: civil("2026-11-02T09:00")))))
    var alarm = try rent()
    alarm.schedule = try schedule(
      .weekly([.monday, .friday], .init(start: date("2026-10-01"))), "09:00")
    let (statistics, timeline) = (log.statistics(skipBreaksStreak: false), timeline(alarm))
    func outcomes(from date: String) -> [CivilDateTime] {
      let period = instant("\(date)T00:00:00Z")..<instant("2026-12-01T00:00:00Z")
      return AgendaOutcomes(statistics, of: timeline, in: period).outcomes.keys.sorted()
    }
    #expect(
      outcomes(from: "2026-11-01").map { "\($0)" } == [
        "2026-11-02T09:00", "2026-11-06T09:00", "2026-11-09T09:00", "2026-11-13T09:00",
      ])
    // The day before a period counts, because zones differ.
    #expect(
      outcomes(from: "2026-11-07").map { "\($0)" } == [
        "2026-11-06T09:00", "2026-11-09T09:00", "2026-11-13T09:00",
      ])
  }

  @Test("Of a schedule that follows completions, later months have the dates that follow")
  func completions() throws {
    let alarm = Alarm.created(
      id: laptop, title: "Filter", note: nil,
      schedule: try schedule(
        .afterDone(Period(10, .day), .init(start: date("2026-11-25"))), "18:00"),
      zone: .floating, delivery: .init(), at: instant("2026-11-20T12:00:00Z"), device: laptop)
    let agenda = agenda(
      timeline(alarm), date("2026-12-01")...date("2026-12-31"), at: instant("2026-11-21T09:00:00Z"))
    #expect(
      text(agenda) == [
        "2026-12-05T18:00 upcoming", "2026-12-15T18:00 upcoming", "2026-12-25T18:00 upcoming",
      ])
  }

  @Test("Days have their holidays, and entries are in order by time and title")
  func builder() throws {
    var builder = AgendaBuilder(november, zone: .utc, now: instant("2026-11-21T09:00:00Z"))
    builder.add([date("2026-11-18"): "Day of Repentance", date("2026-12-25"): "Christmas"])
    builder.add([date("2026-11-18"): "Buß- und Bettag"])
    for (id, title) in [(laptop, "Tea"), (server, "Cake")] {
      var alarm = try rent()
      alarm = Alarm.created(
        id: id, title: title, note: nil, schedule: alarm.schedule, zone: .floating,
        delivery: .init(), at: instant("2026-11-20T22:41:00Z"), device: laptop)
      let occurrence = Timeline.Occurrence(
        civil: civil("2026-11-23T09:00"), at: instant("2026-11-23T09:00:00Z"))
      builder.add(alarm, [.init(occurrence, .upcoming)], zone: .utc)
    }
    let agenda = builder.agenda
    #expect(agenda[date("2026-11-18")]?.holidays == ["Buß- und Bettag", "Day of Repentance"])
    #expect(
      agenda[date("2026-11-23")]?.entries.map { agenda.alarms[$0.alarm]?.title } == ["Cake", "Tea"])
    #expect(agenda[date("2026-12-25")] == nil && agenda.today == date("2026-11-21"))
  }
}
