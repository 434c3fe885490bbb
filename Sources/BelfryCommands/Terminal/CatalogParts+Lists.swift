import BelfryCore
import BelfryStore
import BelfryTerminal

/// The parts of the output that are about one alarm, its log, and failures.
extension CatalogParts {
  /// All details of an alarm, with values that are not defaults.
  var details: Part {
    var alarm = Alarm(
      id: CatalogParts.id, title: "Rent reminder", schedule: CatalogParts.schedule,
      progress: .init(armed: now))
    alarm.note =
      "Pay the landlord by bank transfer, with the number of the contract.\nKeep the receipt."
    alarm.delivery.persistent = true
    func occurrence(_ text: String) -> Timeline.Occurrence {
      Timeline.Occurrence(
        civil: civil(text), at: output.zones.local.instant(of: civil(text)))
    }
    return Part(
      name: "details",
      text: AlarmDetails(output, names: [:]).text(
        alarm, AlarmStatus(state: .active, next: occurrence("2026-12-01T09:00")),
        later: [occurrence("2027-01-01T09:00"), occurrence("2027-02-01T09:00")],
        lastDone: now.adding(seconds: -22 * 86_400)))
  }

  /// All details of an alarm of a partner, with a streak and a cascade.
  var fallbacks: Part {
    var alarm = Alarm(
      id: CatalogParts.id, title: "Wake up", schedule: CatalogParts.schedule,
      progress: .init(armed: now))
    let (laptop, watch) = (Identifier(high: 1, low: 0), Identifier(high: 2, low: 0))
    var plan = Cascade.Plan()
    (plan.primary, plan.interval) = (laptop, 90)
    plan.targets = [
      .device(watch), .person(CascadePerson(name: "Jen", address: "https://ntfy.sh/jen")),
    ]
    plan.isOn = true
    alarm.cascade = Cascade(plan)
    alarm.partner = PartnerOrigin(
      name: "Chris", partnership: CatalogParts.id, request: CatalogParts.id,
      quiet: QuietHours("22:00-07:00"))
    let next = Timeline.Occurrence(
      civil: civil("2026-12-01T09:00"),
      at: output.zones.local.instant(of: civil("2026-12-01T09:00")))
    return Part(
      name: "details of a partner's alarm with a cascade",
      text: AlarmDetails(output, names: [laptop: "laptop", watch: "watch"]).text(
        alarm, AlarmStatus(state: .active, next: next), later: [], lastDone: nil,
        statistics: sample))
  }

  private static var schedule: Schedule {
    let rule = Recurrence.monthly([.day(1)], sampleCadence)
    let nine = CivilTime(hour: 9, minute: 0) ?? .midnight
    guard let schedule = try? Schedule(rule, times: [nine]) else {
      preconditionFailure("The rule has a time.")
    }
    return schedule
  }

  /// The rows of two days, those of bulk actions and of two devices among them.
  var log: Part {
    let (laptop, server) = (Identifier(high: 1, low: 0), Identifier(high: 2, low: 0))
    func entry(
      _ action: LogEntry.Action, _ title: String, minutes: Int64, occurrence: String? = nil,
      device: Identifier? = nil, auto: Bool = false, payload: LogPayload? = nil
    ) -> LogEntry {
      LogEntry(
        id: CatalogParts.id,
        alarm: Identifier(high: 0, low: title.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) }),
        title: title, occurrence: occurrence.map(civil), action: action,
        at: now.adding(seconds: minutes * 60), device: device ?? laptop, auto: auto,
        payload: payload)
    }
    let entries =
      [
        entry(.done, "Rent reminder", minutes: -5, occurrence: "2026-11-23T09:00"),
        entry(
          .snoozed, "Rent reminder", minutes: -20, occurrence: "2026-11-23T09:00",
          payload: .snooze(until: now.adding(seconds: -660))),
        entry(
          .fired, "Rent reminder", minutes: -29, occurrence: "2026-11-23T09:00", device: server),
        entry(.fired, "Rent reminder", minutes: -30, occurrence: "2026-11-23T09:00"),
        entry(
          .done, "Stretch", minutes: -60, occurrence: "2026-11-22T09:00", auto: true),
        entry(.edited, "Tax return", minutes: -1500, payload: .fields([.title, .schedule])),
      ]
      + (1...5).map {
        entry(.missed, "Pills", minutes: -1600, occurrence: "2026-11-1\($0)T08:00")
      }
      + ["Rent", "Bins", "Filters", "Close the books", "Car"].map {
        entry(.created, $0, minutes: -2000)
      }
    let text = LogText(
      names: [laptop: "laptop", server: "server"], times: output.times, style: style)
    var bytes: [UInt8] = []
    var last: CivilDate?
    for row in LogLines(NewestFirst(entries)) {
      if let day = text.day(row), day != last { text.append(heading: day, to: &bytes) }
      last = text.day(row)
      text.append(row, to: &bytes)
      bytes.append(UInt8(ascii: "\n"))
    }
    return Part(name: "log", text: String(decoding: bytes, as: UTF8.self))
  }

  /// An error, a warning and a hint.
  var diagnostics: Part {
    let lines = [
      "error: no alarm matches 'flat'.", "hint: See 'belfry list'.",
      "warning: the scheduler does not run.",
    ]
    return Part(
      name: "diagnostics",
      text: lines.map { Console.diagnostic($0, isColored: style.isColored) + "\n" }.joined())
  }
}
