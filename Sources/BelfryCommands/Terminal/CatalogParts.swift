import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// Every part of the terminal output in every state, with sample alarms.
struct CatalogParts {
  struct Part {
    let name: String
    let text: String
  }

  /// `aaaaaaaa…`
  static let id = Identifier(high: 0, low: 0)
  static let sampleCadence = Recurrence.Cadence(start: CivilDate(dayNumber: 20_000))
  let style: Style
  let output: AlarmOutput
  /// Mon 23 Nov 2026, 09:30.
  let now = Instant(seconds: 1_795_426_200)

  init(_ style: Style) {
    self.style = style
    output = AlarmOutput(now: now, zones: ZoneLibrary(variable: "UTC"), style: style)
  }

  var all: [Part] {
    summaries + badges + tables + [details, fallbacks, log, diagnostics] + batteryWarnings + [
      pending, empty, paywall, battery,
    ] + pages + [
      settings
    ]
      + screens + clocks + [
        statistics, table, overview,
      ]
  }

  // MARK: Cards

  func civil(_ text: String) -> CivilDateTime {
    CivilDateTime(text) ?? CivilDateTime(minuteNumber: 0)
  }

  private func summary(_ status: AlarmStatus) -> AlarmSummary { summary("Rent reminder", status) }

  private func summary(
    _ title: String, note: String? = "Pay landlord", badge: String = "weekly",
    rule: Recurrence = .weekly([.monday, .friday], sampleCadence), zone: String = "floating",
    hasCascade: Bool = false, partner: String? = nil, _ status: AlarmStatus
  ) -> AlarmSummary {
    AlarmSummary(
      id: CatalogParts.id,
      title: title, note: note, badge: badge,
      rule: AlarmSummary.Rule(rule, times: [CivilTime(hour: 9, minute: 0) ?? .midnight]),
      zone: zone,
      isDeleted: false, hasCascade: hasCascade, partner: partner, status: status)
  }

  private var friday: Timeline.Occurrence {
    Timeline.Occurrence(civil: civil("2026-11-27T09:00"), at: now.adding(seconds: 343_800))
  }

  private var waiting: AlarmStatus.Pending {
    AlarmStatus.Pending(
      occurrence: civil("2026-11-23T09:00"), since: now.adding(seconds: -1500), followUpsSent: 0,
      nextFollowUp: now.adding(seconds: 300))
  }

  private var summaries: [Part] {
    let monday = civil("2026-11-23T09:00")
    let states: [(String, AlarmStatus)] = [
      ("active", AlarmStatus(state: .active, next: friday)),
      ("ringing", AlarmStatus(state: .ringing, next: friday, current: monday)),
      (
        "snoozed",
        AlarmStatus(
          state: .snoozed, next: friday, current: monday,
          snooze: .init(occurrence: monday, until: now.adding(seconds: 540), count: 1))
      ),
      ("pending", AlarmStatus(state: .pending, next: friday, pending: [waiting])),
      (
        "pending, no more follow-ups, two of them",
        AlarmStatus(
          state: .pending, next: friday,
          pending: [
            .init(occurrence: civil("2026-11-20T09:00"), since: now, followUpsSent: 3),
            .init(occurrence: monday, since: now, followUpsSent: 3),
          ])
      ),
      ("missed", AlarmStatus(state: .missed, next: friday, current: monday, missed: [monday])),
      (
        "missed three times",
        AlarmStatus(
          state: .missed, next: friday, current: monday,
          missed: [civil("2026-11-16T09:00"), civil("2026-11-20T09:00"), monday])
      ),
      (
        "skipped ahead", AlarmStatus(state: .active, next: friday, skipped: [monday])
      ),
      (
        "paused",
        AlarmStatus(state: .paused, next: friday, pausedUntil: civil("2026-11-26T00:00"))
      ),
      ("disabled", AlarmStatus(state: .disabled)),
      ("finished", AlarmStatus(state: .finished)),
    ]
    return states.map { Part(name: "card: \($0.0)", text: output.summary(summary($0.1))) } + [
      Part(
        name: "card: wide characters and emoji",
        text: output.summary(
          summary(
            "薬を飲む 💊 👨‍👩‍👧", note: "朝食の後 ☕️", badge: "daily", AlarmStatus(state: .active, next: friday)))
      ),
      Part(
        name: "card: a long title, another time zone",
        text: output.summary(
          summary(
            String(repeating: "Rent and other things ", count: 8),
            note: String(repeating: "More words. ", count: 20), badge: "every 3 months",
            zone: "Europe/Berlin", AlarmStatus(state: .active, next: friday)))
      ),
    ]
  }

  private var badges: [Part] {
    ["once", "daily", "weekly", "every 2 weeks", "monthly", "annual"].map { badge in
      Part(
        name: "badge: \(badge)",
        text: output.summary(
          summary(
            badge.capitalizedFirst, note: nil, badge: badge,
            AlarmStatus(state: .active, next: friday))))
    }
  }

  // MARK: Tables

  private var tables: [Part] {
    let monday = civil("2026-11-23T09:00")
    func occurrence(_ text: String) -> Timeline.Occurrence {
      let civil = civil(text)
      return Timeline.Occurrence(civil: civil, at: output.zones.local.instant(of: civil))
    }
    func daily(_ title: String, _ next: String?, _ change: (inout AlarmStatus) -> Void = { _ in })
      -> AlarmSummary
    {
      var status = AlarmStatus(state: .active, next: next.map(occurrence))
      change(&status)
      return summary(title, rule: .daily(CatalogParts.sampleCadence), status)
    }
    let alarms = [
      summary("Rent reminder", AlarmStatus(state: .ringing, next: friday, current: monday)),
      summary(
        "Close the books", rule: .monthly([.fromEnd(1)], CatalogParts.sampleCadence),
        AlarmStatus(state: .pending, next: friday, current: monday, pending: [waiting, waiting])),
      daily("Stretch", "2026-11-24T09:00") {
        $0.state = .snoozed
        $0.snooze = .init(occurrence: monday, until: now.adding(seconds: 540), count: 1)
      },
      daily("Water the plants", "2026-11-24T09:00") {
        $0.state = .missed
        $0.missed = [monday, monday]
        $0.current = monday
      },
      daily("Pills", "2026-11-23T21:00"),
      daily("薬を飲む 💊", "2026-11-24T08:00"),
      summary(
        "EMEA standup and a title that is longer than its column",
        rule: .weekly(
          [.monday, .tuesday, .wednesday, .thursday, .friday], CatalogParts.sampleCadence),
        zone: "America/New_York", hasCascade: true, partner: "Alex",
        AlarmStatus(
          state: .active,
          next: Timeline.Occurrence(
            civil: civil("2026-11-24T09:00"), at: occurrence("2026-11-24T14:00").at),
          skipped: [civil("2026-11-25T09:00")])),
      daily("Gym", "2026-11-27T07:00"),
      daily("Taxes", "2027-01-04T08:00") {
        $0.state = .paused
        $0.pausedUntil = civil("2027-01-04T00:00")
      },
      daily("Old alarm", nil) { $0.state = .disabled },
      daily("Dentist", nil) { $0.state = .finished },
    ]
    let listing = AlarmListing(alarms).sorted()
    let ambiguous = AlarmTable.ShownIDs.of([CatalogParts.id])
    let twins = AlarmListing([
      daily("Dentist", "2026-11-24T09:00"), daily("A title that is longer than most", nil),
    ])
    return [
      Part(name: "list", text: AlarmTable(output).text(listing)),
      Part(name: "list with ids", text: AlarmTable(output, ids: .all).text(listing)),
      Part(
        name: "list of alarms with one title",
        text: AlarmTable(output, ids: ambiguous).text(twins)),
    ]
  }

  // MARK: The battery

  private var batteryWarnings: [Part] {
    func batteryWarning(_ predicted: Double) -> String {
      BatteryWarning(
        BatteryPrediction(level: predicted + 6, drain: 1, hours: 6, isCharging: false)
      ).map { BatteryWarningText($0, style).text } ?? ""
    }
    let tomorrow = Timeline.Occurrence(
      civil: civil("2026-11-24T05:30"), at: now.adding(seconds: 72_000))
    func alarm(_ title: String) -> String {
      output.summary(
        summary(title, note: nil, badge: "daily", AlarmStatus(state: .active, next: tomorrow)))
    }
    return [
      Part(name: "battery warning: critical", text: alarm("Competition") + batteryWarning(-4)),
      Part(name: "battery warning: warning", text: alarm("Competition") + batteryWarning(13)),
      Part(
        name: "battery warnings: critical, warning, and none",
        text: alarm("Competition") + batteryWarning(0) + "\n" + alarm("School run")
          + batteryWarning(13) + "\n"
          + alarm("Tea") + batteryWarning(40)),
    ]
  }

  private var battery: Part {
    let reading = PowerReading(
      level: 46, isCharging: false, draw: 6, battery: .init(name: "", capacity: 0),
      names: ["BAT0"], source: .kernel)
    func sample(_ minutes: Int) -> BatterySample {
      let isCharging = minutes < -300
      let level = isCharging ? 76 - Double(-300 - minutes) / 4 : 46 - Double(minutes) / 10
      return BatterySample(
        at: now.adding(seconds: Int64(minutes) * 60), level: level, isCharging: isCharging,
        draw: isCharging ? nil : 6, battery: reading.battery,
        uptime: .init(
          boot: "", total: Int64(minutes + 1000) * 60_000, awake: Int64(minutes + 1000) * 60_000))
    }
    let standing = BatteryStanding(
      reading, sample(0), BatteryHistory((-90..<0).map { sample($0 * 5) }))
    let text = BatteryText(now: now, zones: output.zones, style)
    let alarms = [("Tea", 3), ("School run", 5), ("Competition", 8)].map { title, hours in
      BatteryText.Near(
        alarm: CatalogParts.id, title: title,
        nextRinging: Timeline.Occurrence(
          civil: CivilDateTime(minuteNumber: civil("2026-11-23T09:30").minuteNumber + hours * 60),
          at: now.adding(seconds: Int64(hours) * 3600)))
    }
    return Part(name: "battery", text: text.page(standing, alarms))
  }

  private var pending: Part {
    Part(
      name: "pending list",
      text: output.pending(summary(AlarmStatus(state: .pending)), waiting) + "\n"
        + output.pending(
          summary(AlarmStatus(state: .pending)),
          .init(
            occurrence: civil("2026-11-20T09:00"), since: now.adding(seconds: -259_200),
            followUpsSent: 3)))
  }

  private var empty: Part { Part(name: "empty list", text: EmptyList(style).text) }

  private var paywall: Part {
    Part(
      name: "paywall",
      text: TextWidth.wrapped("error: \(Paywall.limit(.free, 2))", to: style.width ?? 80)
        .joined(separator: "\n") + "\nhint: \(Paywall.offer)\n")
  }

  // MARK: Pages

  private var pages: [Part] {
    let reached = WelcomeText.Machine(
      reach: .desktop("desktop notifications (dunst 1.9.0)"), scheduler: .running)
    let unreachable = WelcomeText.Machine(
      reach: .unreachable("there is no session bus, and none of your terminals is open."),
      scheduler: .absent)
    return [
      Part(name: "welcome", text: WelcomeText.text(reached, style)),
      Part(name: "welcome, nothing is set up", text: WelcomeText.text(unreachable, style)),
      Part(name: "help", text: HelpPage.text(for: ["--help"], style) ?? ""),
    ]
  }

  private var settings: Part {
    Part(
      name: "settings",
      text: SettingsText.page(
        Settings(fixedZone: true, slideToStop: true),
        reach: .unreachable("there is no session bus"), remotes: [], version: "0.1.0", style: style)
    )
  }

  // MARK: The firing screen

  private func screen(_ name: String, rows: Int = 24, _ change: (inout FiringScreen) -> Void)
    -> Part
  {
    var screen = FiringScreen(
      title: "Rent reminder", badge: "weekly", note: "Pay landlord", time: "09:00",
      subtitle: "Mon 23 Nov 2026")
    change(&screen)
    return Part(
      name: "firing screen: \(name)", text: framed(screen.render(Size(style.width ?? 80, rows))))
  }

  private var screens: [Part] {
    [
      screen("ringing") { _ in },
      screen("hold to stop, half way") {
        $0.slideToStop = true
        $0.progress = 0.5
      },
      screen("one of three, no snooze") {
        $0.position = "1 of 3"
        $0.snoozes = []
      },
      screen("a small terminal, refused", rows: 12) { $0.message = "the store is locked." },
      screen("six rows", rows: 6) { _ in },
      screen("wide characters") {
        $0.title = "薬を飲む 💊"
        $0.note = "朝食の後 ☕️"
        $0.badge = "daily"
      },
    ]
  }

  /// Returns a screen as text, with a mark at the end of each row.
  private func framed(_ screen: Buffer) -> String {
    screen.rows(style.isColored ? .rgb : nil).map { $0 + "|\n" }.joined()
  }

  private func clock(
    _ name: String, rows: Int = 24, _ change: (inout ClockScreen) -> Void
  ) -> Part {
    var screen = ClockScreen(time: "22:41", date: "Fri 20 Nov 2026")
    change(&screen)
    return Part(
      name: "firing screen, clock: \(name)",
      text: framed(screen.render(Size(style.width ?? 80, rows))))
  }

  private var clocks: [Part] {
    [
      clock("an alarm tomorrow") {
        $0.nextTitle = "薬を飲む 💊"
        $0.nextTime = "tomorrow 09:00, in 10 h 19 min"
      },
      clock("pending, without a scheduler, on a clock of 12 hours") {
        $0.time = "10:41 PM"
        $0.nextTitle = "Rent reminder"
        $0.nextTime = "Mon 9:00 AM, in 2 days 10 h"
        $0.pending = 2
        $0.problems = ["The scheduler does not run: alarms ring only while this screen is open."]
        $0.message = "Done: Pills (Fri 20 Nov 2026, 10:00 PM)."
      },
      clock("nothing will ring, ten rows", rows: 10) { _ in },
    ]
  }

  // MARK: Statistics

  var sample: Statistics {
    var entries: [LogEntry] = []
    let monday = civil("2026-08-03T09:00")
    for week in 0..<17 {
      let civil = CivilDateTime(minuteNumber: monday.minuteNumber + week * 7 * 1440)
      let action: LogEntry.Action = week == 5 ? .missed : week == 9 ? .skipped : .done
      entries.append(
        LogEntry(
          id: CatalogParts.id, alarm: CatalogParts.id, title: "Rent reminder", occurrence: civil,
          action: action,
          at: output.zones.local.instant(of: civil).adding(seconds: Int64(week * week % 47) * 60),
          device: CatalogParts.id, auto: week == 12))
    }
    return Statistics(entries)
  }

  private func sample(_ summary: AlarmSummary) -> AlarmStatistics {
    let statistics = sample
    return AlarmStatistics(
      summary, statistics, statistics.responses { output.zones.local.instant(of: $0) })
  }

  private var statistics: Part {
    let item = sample(summary(AlarmStatus(state: .active)))
    return Part(
      name: "statistics",
      text: [
        StatsText.alarm(item, output), DelayPlot.text(item.responses, output.times, style),
        StatsText.groups(item.responses, output),
        HeatMap([item.responses]).text(output.times, style),
      ].joined(separator: "\n"))
  }

  private var table: Part {
    let items = [
      summary(AlarmStatus(state: .active)), summary("薬を飲む 💊", AlarmStatus(state: .active)),
    ].map(sample)
    return Part(
      name: "statistics of all",
      text: StatsText.table(items, output) + "\n"
        + StatsText.total(of: items, items.flatMap(\.responses), output))
  }

  private var overview: Part {
    let items = [
      summary(AlarmStatus(state: .active)), summary("薬を飲む 💊", AlarmStatus(state: .active)),
    ].map(sample)
    return Part(
      name: "statistics on the screen",
      text: StatsOverview(items, output).lines.map { $0.text + "\n" }.joined())
  }
}
