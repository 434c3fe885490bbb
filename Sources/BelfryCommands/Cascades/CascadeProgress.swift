import BelfryCore
import BelfryDocuments
import BelfryStore
import BelfryTerminal

/// The progress of the cascade of an alarm that is ringing or snoozed.
struct CascadeProgress {
  private let alarm: Alarm
  private let occurrence: CivilDateTime
  private let cascadeRun: CascadeRun
  private let labels: [String]
  /// The steps that are calls or messages.
  private let remote: Set<Int>
  /// The steps that ring from a phone's own copy of the task.
  private let phoneTasks: Set<Int>
  /// The steps whose devices are offline.
  private let silent: Set<Int>
  /// The latest log entry about each turn that has rung or called, by the turn's index.
  private let reports: [Int: Report]
  private let zone: TimeZoneRules
  private let now: Instant

  /// Returns nil if the alarm is neither ringing nor snoozed, or has no cascade.
  init?(_ alarm: Alarm, in store: Store) throws {
    let status = try store.status(alarm)
    let timeline = store.timeline(alarm)
    let ledger = store.ledger.read()
    guard status.state == .ringing || status.state == .snoozed, let current = status.current,
      let cascadeRun = timeline.cascadeRun(of: current, ledger: ledger),
      let plan = alarm.cascadePlan(at: cascadeRun.due)
    else { return nil }
    self.alarm = alarm
    self.cascadeRun = cascadeRun
    occurrence = current
    zone = timeline.zone
    now = store.context.now
    let names = store.deviceNames()
    let primary = plan.primary.flatMap { names[$0] } ?? "the first device"
    labels = ["\(primary), first"] + plan.targets.map { $0.action(names) }
    remote = Set(plan.targets.indices.filter { plan.targets[$0].isRemote }.map { $0 + 1 })
    phoneTasks = Set(plan.targets.indices.filter { plan.targets[$0] == .phoneTasks }.map { $0 + 1 })
    let devices = [plan.primary] + plan.targets.map(\.device)
    let entries = store.history.log(of: alarm.id).prefix(CascadeProgress.maxEntries)
      .filter { $0.occurrence == current }
    let presence = store.devices.presence
    let present = devices.map { device in device.map { presence.standIns[$0] ?? $0 } }
    var reports = CascadeProgress.reports(
      present, [nil] + plan.targets, cascadeRun, entries.sorted { $0.at < $1.at })
    // The log has the first attempt, and the ledger of this device the latest one.
    let own = ledger[
      .occurrence(OccurrenceID(alarm: alarm.id, occurrence: current), .firing)]
    for step in present.indices where present[step] == store.device {
      guard let own, let latest = reports.keys.filter({ cascadeRun.turns[$0].step == step }).max()
      else { continue }
      reports[latest]?.isUndelivered = own.state == .undelivered
    }
    self.reports = reports
    let heartbeats = store.deviceHeartbeats
    let (reporting, run) = (Set(reports.keys.map { cascadeRun.turns[$0].step }), cascadeRun)
    silent = Set(
      present.indices.filter { step in
        guard let device = present[step], device != store.device, !reporting.contains(step) else {
          return false
        }
        // The run judges devices by the more frequent heartbeats while a cascade is in progress.
        return run.passedOver.contains(step)
          || !heartbeats.isAlive(device, at: store.context.now)
      })
  }

  /// The number of the latest log entries that are searched.
  private static let maxEntries = 200

  /// The latest log entry about a turn.
  private struct Report {
    let at: Instant
    /// The outcome of a call or message; nil for a device that rang.
    let call: LogPayload.Call?
    /// True if every channel of the device failed.
    var isUndelivered = false
  }

  /// Returns the latest log entry about each turn, by the turn's index.
  ///
  /// - Parameters:
  ///   - devices: The device of each step; nil for calls.
  ///   - targets: The target of each step; nil for the first device.
  ///   - entries: The log entries of the occurrence, oldest first.
  private static func reports(
    _ devices: [Identifier?], _ targets: [CascadeTarget?], _ run: CascadeRun, _ entries: [LogEntry]
  ) -> [Int: Report] {
    var reports: [Int: Report] = [:]
    for (index, turn) in run.turns.enumerated() {
      let earlier = run.turns[..<index].contains { $0.step == turn.step }
      let next = run.turns[(index + 1)...].first { $0.step == turn.step }?.at ?? .distantFuture
      for entry in entries where entry.at < next && (!earlier || entry.at >= turn.at) {
        switch (entry.action, entry.payload) {
        case (.fired, _) where devices[turn.step].map { $0 == entry.device } ?? (turn.step == 0):
          reports[index] = Report(
            at: entry.at, call: nil, isUndelivered: entry.payload == .undelivered)
        case (.called, .call(let call)?)
        where !call.isTest && targets[turn.step].map { $0.key == call.target.key } ?? false:
          reports[index] = Report(at: entry.at, call: call)
        default: continue
        }
      }
    }
    return reports
  }

  /// Returns the state of a turn: what the log says, or else upcoming, started, or due on an offline device.
  private func mark(_ index: Int, _ style: Style, _ times: TimeText) -> String {
    let turn = cascadeRun.turns[index]
    if let report = reports[index] {
      let time = times.time(zone.civil(at: report.at).time, isPadded: false)
      guard let call = report.call else {
        return report.isUndelivered
          ? style.paint("could not be delivered at \(time)", .red)
          : style.paint("rang at \(time)", .faint)
      }
      let attempt = call.attempt > 1 ? ", call \(call.attempt)" : ""
      let reason = Printable.text(call.outcome.reason ?? "answered")
      return style.paint(
        "\(reason) at \(time)\(attempt)", call.outcome == .answered ? .green : .yellow)
    }
    if turn.at > now { return "upcoming" }
    if phoneTasks.contains(turn.step) {
      return style.paint("rings there, if it has synced", .faint)
    }
    // The log has an entry as soon as a call or message ends.
    if remote.contains(turn.step) { return style.paint("due, not reported yet", .yellow) }
    if silent.contains(turn.step), cascadeRun.passedOver.contains(turn.step) {
      return style.paint("passed over, as the device is offline", .yellow)
    }
    return silent.contains(turn.step)
      ? style.paint("due, but the device is offline", .yellow)
      : style.paint("started", .faint)
  }

  private func state(_ times: TimeText) -> String {
    switch cascadeRun.state(at: now) {
    case .paused(let until): "is snoozed until \(clock(until, times))"
    case .exhausted: "rings; every step of the cascade has rung"
    case .ahead, .ringing, .resolved: "rings unanswered"
    }
  }

  private func clock(_ moment: Instant, _ times: TimeText) -> String {
    let seconds = moment.seconds % 60
    return times.time(
      zone.civil(at: moment).time, seconds: seconds == 0 ? nil : seconds, isPadded: false)
  }

  /// Returns a heading and one line for each step.
  func text(_ style: Style, _ times: TimeText) -> String {
    var text =
      Console.fitted("\(Printable.text(alarm.title)), \(times.full(occurrence)), \(state(times)).")
      + "\n"
    for (index, turn) in cascadeRun.turns.enumerated() {
      let time = clock(turn.at, times)
      let pad = String(repeating: " ", count: max(0, 9 - time.utf8.count))
      text += "\(pad)\(time)  \(Printable.text(labels[turn.step]))  \(mark(index, style, times))\n"
    }
    return text
  }

  /// The document of the progress.
  func document(_ zones: ZoneLibrary) -> CascadeProgressDocument {
    let standing =
      switch cascadeRun.state(at: now) {
      case .paused: "snoozed"
      case .exhausted: "exhausted"
      case .ahead, .ringing, .resolved: "ringing"
      }
    return CascadeProgressDocument(
      alarm: alarm.id.text, title: alarm.title, occurrence: occurrence.description,
      standing: standing,
      turns: cascadeRun.turns.enumerated().map { index, turn in
        CascadeProgressDocument.Turn(
          at: zones.text(turn.at), label: labels[turn.step], started: turn.at <= now,
          online: !silent.contains(turn.step),
          report: reports[index].map { report in
            .init(
              at: zones.text(report.at), attempt: report.call?.attempt,
              outcome: report.call.map { $0.outcome.reason ?? "answered" }
                ?? (report.isUndelivered ? "undelivered" : "rang"))
          })
      })
  }
}
