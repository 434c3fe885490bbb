import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Files

/// The reasons why an occurrence rang, did not ring, or will not ring on this device.
struct RingingReasons {
  /// One reason.
  struct Reason: Equatable {
    /// The kinds of reasons, named as in the JSON document.
    enum Kind: String {
      /// An entry of the log.
      case event
      /// The delivery on this device.
      case delivery
      /// The scheduler of this device.
      case scheduler
      /// The notification channels of this device.
      case channel
      /// The devices for which the alarm is intended, and its cascade.
      case devices, cascade
      /// The state of the alarm or of the occurrence.
      case disabled, paused, skipped, answered, finished
      /// The schedule.
      case exception, holiday, ended, notScheduled, beforeCreation
      /// The tier.
      case tier
    }

    let kind: Kind
    let text: String
    /// The command that changes it; nil for none.
    var remedy: String?
  }

  /// What this device knows beyond the alarm.
  struct Circumstances {
    let scheduler: SchedulerState
    let reach: HookDelivery.Reach
    let settings: Settings
    /// The names of the devices.
    let names: [Identifier: String]
    let times: TimeText
  }

  /// The occurrence, or a time that is none.
  let civil: CivilDateTime
  /// True if the occurrence is ahead.
  let isAhead: Bool
  /// What happened or will happen, as the end of a sentence: `rings here in 2 days`.
  private(set) var verdict = ""
  /// True if the occurrence rang or will ring on this device.
  private(set) var ringsHere = false
  private(set) var reasons: [Reason] = []

  private let store: Store
  private let alarm: Alarm
  private let timeline: Timeline
  private let known: Circumstances
  private var times: TimeText { known.times }
  private var now: Instant { store.context.now }
  private var at: Instant { timeline.occurrence(civil).at }
  private var id: OccurrenceID { OccurrenceID(alarm: alarm.id, occurrence: civil) }

  /// Determines the reasons.
  init(_ civil: CivilDateTime, of alarm: Alarm, in store: Store, _ known: Circumstances) throws {
    (self.civil, self.alarm, self.store, self.known) = (civil, alarm, store, known)
    timeline = store.timeline(alarm)
    isAhead = timeline.occurrence(civil).at > store.context.now
    let record = timeline.record(of: civil)
    if record == nil, alarm.progress.occurrences[civil] == nil, !timeline.scheduled.contains(civil)
    {
      explainAbsence()
    } else if isAhead {
      explainFuture(record)
    } else {
      try explainPast(record)
    }
  }

  // MARK: Times without an occurrence

  private mutating func explainAbsence() {
    verdict = "is not an occurrence"
    let limits = alarm.schedule.limits
    let day = times.date(civil.date)
    if limits.exceptions.contains(civil.date) {
      add(.exception, "\(day) is an exception of the schedule.")
    } else if timeline.calendar.isHoliday(civil.date), let rule = limits.onHoliday {
      let name = store.calendars.name(of: civil.date).map { " (\(Printable.text($0)))" } ?? ""
      let effect =
        switch rule {
        case .skip: "is skipped"
        case .before: "moves to the working day before"
        case .after: "moves to the working day after"
        }
      add(.holiday, "\(day) is a holiday\(name), on which the alarm \(effect).")
    } else if let until = limits.until, civil > until {
      add(.ended, "The schedule ended on \(times.date(until.date)).")
    } else {
      add(.notScheduled, "The schedule is \(times.schedule(alarm.schedule)).")
    }
    let near = [
      timeline.latest(onOrBefore: civil).map { "before: \(when($0))" },
      timeline.first(after: civil).map { "after: \(when($0))" },
    ].compactMap { $0 }
    if !near.isEmpty {
      add(.notScheduled, "The nearest occurrences, \(near.joined(separator: "; ")).")
    }
  }

  // MARK: Occurrences ahead

  private mutating func explainFuture(_ record: OccurrenceRecord?) {
    let short = alarm.id.short
    if !alarm.enabled {
      add(.disabled, "The alarm is disabled.", "belfry enable \(short)")
    }
    if let record, record.state.isSettled {
      let since = record.since.map { " \(times.at($0))" } ?? ""
      add(
        record.state == .skipped ? .skipped : .answered,
        "It was \(record.state == .skipped ? "skipped" : "answered")\(since).",
        // An undo would revert the latest action, which can be another one.
        record.state == .skipped ? "belfry unskip \(short)" : nil)
    } else if let pause = alarm.pause, pause.covers(timeline.occurrence(civil).time) {
      add(
        .paused, "The alarm is paused until \(times.full(pause.until)).", "belfry resume \(short)")
    }
    addDevices()
    addScheduler()
    addChannel()
    defer { addEarlyAnswers() }
    ringsHere = reasons.isEmpty
    let wait = Span.until(at.seconds(since: now))
    guard ringsHere else {
      verdict = "will not ring on this device"
      return
    }
    verdict = "rings on this device \(wait)"
    if let pause = alarm.pause, timeline.zone.civil(at: now) < pause.until,
      pause.from < timeline.occurrence(civil).time
    {
      let time = times.pause(pause, zone: alarm.zone.text, at: timeline.zone.civil(at: now))
      add(.paused, "Before it, the alarm is paused \(time).")
    }
    if timeline.role == .standIn {
      add(.devices, "None of the devices that it names is known to run, so this one rings.")
    }
    if case .daemon = known.scheduler { add(.scheduler, "The daemon runs.") }
    if case .ticks = known.scheduler { add(.scheduler, "A timer or cron runs 'belfry tick'.") }
    add(.channel, "It is shown by \(Printable.text(ReachText.text(known.reach))).")
  }

  /// Adds the reason why other devices ring.
  private mutating func addDevices() {
    guard !timeline.ringsHere else { return }
    if let plan = alarm.cascade?.plan, plan.isActive, let step = plan.step(of: store.device) {
      let turn = at.adding(seconds: Int64(step) * plan.interval)
      add(
        .cascade,
        "This device is step \(step) of its cascade: it rings \(times.at(turn)) if nobody has responded.",
        "belfry cascade list \(alarm.id.short)")
      return
    }
    let names = alarm.delivery.devices.map { known.names[$0] ?? $0.short }.sorted()
    let others =
      names.isEmpty
      ? "Another device rings first"
      : "Only \(names.joined(separator: names.count == 2 ? " and " : ", ")) ring\(names.count == 1 ? "s" : "")"
    let here =
      (alarm.delivery.devices.map { known.names[$0] ?? $0.short }
      + [known.names[store.device] ?? store.device.short]).joined(separator: ",")
    add(
      .devices, "\(Printable.text(others)).",
      "belfry edit \(alarm.id.short) --on \(names.isEmpty ? "all" : ShellWord.quoted(here))")
  }

  private mutating func addScheduler() {
    switch known.scheduler {
    case .daemon, .ticks: break
    case .unresponsive(let process):
      add(.scheduler, "The daemon does not respond: \(Printable.text(process)).", "belfry doctor")
    case .absent(let last):
      let since = last.map { "has not run since \(times.relative($0))" } ?? "has never run"
      add(.scheduler, "The scheduler \(since) on this device.", "belfry service install")
    }
  }

  private mutating func addChannel() {
    guard case .unreachable(let reason) = known.reach else { return }
    add(.channel, "Notifications do not work here: \(Printable.text(reason))", "belfry doctor")
  }

  // MARK: Occurrences that were due

  private mutating func explainPast(_ record: OccurrenceRecord?) throws {
    let status = try store.status(alarm)
    let events = Array(
      NewestFirst(store.history.log(of: alarm.id).filter { $0.occurrence == civil }))
    let firing = store.ledger.read()[.occurrence(id, .firing)]
    let hasRungHere =
      firing.map { $0.state != .undelivered }
      ?? events.contains { $0.action == .fired && $0.device == store.device }
    ringsHere = hasRungHere
    verdict = past(record, status, hasRungHere: hasRungHere)
    let text = LogText(names: known.names, times: times)
    for entry in events.reversed() { add(.event, text.event(entry)) }
    addUnfoundedOutcomes()
    addEarlyAnswers()
    if events.isEmpty, at < alarm.progress.armed, record == nil {
      add(
        .beforeCreation,
        "It was before the alarm was added, enabled or rescheduled, \(times.at(alarm.progress.armed))."
      )
      return
    }
    if events.contains(where: { $0.action == .stopped }), record?.state == .done,
      !known.settings.tier.confirmsCompletion
    {
      add(
        .tier,
        "On the tier \(known.settings.tier.rawValue), stop counts as done, and nothing asks again.",
        "belfry tier plus")
    }
    if !hasRungHere { addFailure(firing, isOpen: status.current == civil) }
  }

  /// Adds the decisions of a clock that do not count, because that device did not know of an edit.
  private mutating func addUnfoundedOutcomes() {
    guard let recorded = alarm.progress.occurrences[civil] else { return }
    for (state, outcome) in recorded.automatic.sorted(by: { $0.key < $1.key }) {
      let edits = timeline.unseenEdits(state, outcome, of: civil)
      if edits.isEmpty { continue }
      add(
        .event,
        "Automatically \(state.rawValue) does not count: that device did not know of an edit (\(edits.joined(separator: ", ")))."
      )
    }
  }

  /// Adds the answers that were given before the occurrence was due by this device's clock.
  private mutating func addEarlyAnswers() {
    for given in timeline.earlyAnswers(to: civil) where given.state != .missed {
      let time = given.since.map { " \(times.at($0))" } ?? ""
      add(
        .event,
        "The answer '\(given.state.rawValue)'\(time) does not count here before it has rung: it was given ahead of this device's clock. Compare the clocks."
      )
    }
  }

  /// Returns what happened to an occurrence.
  private func past(
    _ record: OccurrenceRecord?, _ status: AlarmStatus, hasRungHere: Bool
  ) -> String {
    if status.current == civil, status.state == .ringing {
      if status.isUndelivered { return "is due, but was not delivered on this device" }
      return hasRungHere ? "rings on this device" : "rings on another device"
    }
    let place = hasRungHere ? "rang on this device" : "did not ring on this device"
    let state =
      switch record?.state {
      case .pending: "it was stopped, and waits for confirmation"
      case .snoozed: "it is snoozed"
      case .missed: "it was missed"
      case .skipped: record?.auto == true ? "a pause skipped it" : "it was skipped"
      case .done: record?.auto == true ? "it was completed automatically" : "it is done"
      case .open, nil: status.missed.contains(civil) ? "it was missed" : ""
      }
    return state.isEmpty ? place : "\(place); \(state)"
  }

  /// Adds the reasons why this device did not ring.
  private mutating func addFailure(_ firing: DeliveryLedger.Entry?, isOpen: Bool) {
    addDevices()
    switch firing?.state {
    case .undelivered:
      let attempts = firing?.attempts ?? 1
      add(
        .delivery,
        "\(attempts) attempt\(attempts == 1 ? "" : "s") on this device failed, the last \(times.at(firing?.at ?? now)).",
        isOpen ? "belfry tick" : nil)
    case nil where timeline.ringsHere:
      add(.delivery, "This device did not try to deliver it.")
    case .claimed, .delivered, .withdrawn, nil: break
    }
    addScheduler()
    addChannel()
  }

  // MARK: Text

  private mutating func add(_ kind: Reason.Kind, _ text: String, _ remedy: String? = nil) {
    reasons.append(Reason(kind: kind, text: text, remedy: remedy))
  }

  private func when(_ civil: CivilDateTime) -> String {
    times.full(civil, movedTo: timeline.occurrence(civil).movedTo, zone: alarm.shownZone)
  }

  /// The alarm and the occurrence with the verdict, then a line for each reason.
  var lines: [String] {
    ["\(Printable.text(alarm.title)), \(when(civil)), \(verdict)."]
      + reasons.map { reason in
        let remedy = reason.remedy.map { (reason.text.hasSuffix(".") ? "" : ".") + " Run: \($0)" }
        return "  \(reason.text)" + (remedy ?? "")
      }
  }

  var document: WhyDocument {
    WhyDocument(
      alarm: alarm.id.text, title: alarm.title, occurrence: civil.description,
      at: store.context.zones.text(at), ringsHere: ringsHere, verdict: verdict,
      reasons: reasons.map {
        WhyDocument.Reason(kind: $0.kind.rawValue, text: $0.text, remedy: $0.remedy)
      })
  }
}
