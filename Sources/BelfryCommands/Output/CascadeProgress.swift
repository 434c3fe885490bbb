import BelfryCore
import BelfryStore

/// The progress of the cascade of an alarm that is ringing or snoozed.
struct CascadeProgress {
  private let alarm: Alarm
  private let occurrence: CivilDateTime
  private let cascadeRun: CascadeRun
  private let labels: [String]
  /// The steps whose devices are offline.
  private let silent: Set<Int>
  private let zone: TimeZoneRules
  private let now: Instant

  /// Returns nil if the alarm is neither ringing nor snoozed, or has no cascade.
  init?(_ alarm: Alarm, in store: Store) throws {
    let status = try store.status(alarm)
    let timeline = store.timeline(alarm)
    guard status.state == .ringing || status.state == .snoozed, let current = status.current,
      let cascadeRun = timeline.cascadeRun(of: current),
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
    let devices = [plan.primary] + plan.targets.map(\.device)
    silent = CascadeProgress.silent(devices, of: alarm, at: current, in: store)
  }

  /// Returns the indices of the devices that are offline and have not logged a firing of the occurrence.
  private static func silent(
    _ devices: [Identifier?], of alarm: Alarm, at occurrence: CivilDateTime, in store: Store
  ) -> Set<Int> {
    let presence = store.devices.presence
    let signs = store.deviceHeartbeats
    let fired = Set(
      store.history.log(of: alarm.id).prefix(200)
        .filter { $0.action == .fired && $0.occurrence == occurrence }.map(\.device))
    return Set(
      devices.indices.filter { index in
        guard let device = devices[index].map({ presence.standIns[$0] ?? $0 }) else { return false }
        if device == store.device || fired.contains(device) { return false }
        return !signs.isAlive(device, at: store.context.now)
      })
  }

  /// Returns the state of a step: upcoming, started, or due on an offline device.
  private func mark(_ turn: CascadeRun.Turn, _ style: Style) -> String {
    if turn.at > now { return "upcoming" }
    return silent.contains(turn.step)
      ? style.paint("due, but the device is offline", .yellow)
      : style.paint("started", .faint)
  }

  private func state(_ times: TimeText) -> String {
    switch cascadeRun.standing(at: now) {
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
    for turn in cascadeRun.turns {
      let time = clock(turn.at, times)
      let pad = String(repeating: " ", count: max(0, 9 - time.utf8.count))
      text += "\(pad)\(time)  \(Printable.text(labels[turn.step]))  \(mark(turn, style))\n"
    }
    return text
  }

  /// The document of the progress.
  func document(_ zones: ZoneLibrary) -> CascadeProgressDocument {
    let standing =
      switch cascadeRun.standing(at: now) {
      case .paused: "snoozed"
      case .exhausted: "exhausted"
      case .ahead, .ringing, .resolved: "ringing"
      }
    return CascadeProgressDocument(
      alarm: alarm.id.text, title: alarm.title, occurrence: occurrence.description,
      standing: standing,
      turns: cascadeRun.turns.map { turn in
        CascadeProgressDocument.Turn(
          at: zones.text(turn.at), label: labels[turn.step], started: turn.at <= now,
          online: !silent.contains(turn.step))
      })
  }
}
