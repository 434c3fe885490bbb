import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct CascadeStatus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Predict which steps would ring, and show the reasons.",
    discussion: """
      Each device sends a heartbeat every half hour, and often shortly before a step may ring. A device without a daemon \
      announces how often it syncs and is judged by that.
      """)

  @Argument(help: "The alarm (default: all that have a cascade).", completion: .alarms)
  var alarm: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CascadeCommand

  func run() throws {
    let context = try common.context(parent.root)
    let store = try context.open(.reading)
    let summaries = try alarm.map { [try context.find($0, in: store)] } ?? context.overview(store)
    let reader = store.alarmReader()
    let alarms = try summaries.compactMap { try reader.alarm($0.id) }
    let rounds = try alarms.compactMap { try CascadeProgress($0, in: store) }
    let outlooks = CascadeReadiness.all(alarms, in: store)
      .sorted { ($0.next.at, $0.alarm.title) < ($1.next.at, $1.alarm.title) }
    if common.json {
      let zones = context.storeContext.zones
      return try Console.write(
        rounds.map { CascadeStatusDocument.progress($0.document(zones)) }
          + outlooks.map { .readiness($0.document(zones)) })
    }
    for round in rounds { Console.write(round.text(context.style, context.times)) }
    if outlooks.isEmpty, rounds.isEmpty {
      Console.line(
        alarm == nil
          ? "No upcoming alarm has a cascade: belfry help cascade"
          : reasonForNothing(alarms))
    }
    for (index, outlook) in outlooks.enumerated() {
      if index > 0 || !rounds.isEmpty { Console.line("") }
      show(outlook, context, store)
    }
    for outlook in outlooks where outlook.live == 0 {
      CommandDiagnostic.warn(
        "no step of the cascade of \(Printable.text(outlook.alarm.title)) is expected to ring."
      )
    }
    if !outlooks.isEmpty { warnIfStale(store, context) }
  }

  /// Returns the reason why there is nothing to show for an alarm.
  private func reasonForNothing(_ alarms: [Alarm]) -> String {
    guard let alarm = alarms.first else { return "There is no such alarm." }
    let title = Printable.text(alarm.title)
    if !alarm.enabled { return "\(title) is disabled: belfry enable \(alarm.id.short)" }
    guard alarm.cascade?.plan.isActive == true else {
      return "\(title) has no cascade that is on: belfry cascade list \(alarm.id.short)"
    }
    return "\(title) has no further occurrence."
  }

  /// Prints a warning if the heartbeats were fetched long ago.
  private func warnIfStale(_ store: Store, _ context: CommandContext) {
    guard store.sync.hasRemote, let fetched = store.deviceHeartbeats.fetched else { return }
    let age = context.storeContext.now.seconds(since: fetched)
    guard age >= DeviceHeartbeats.spacing else { return }
    CommandDiagnostic.warn(
      "the last sync was \(Span.length(age)) ago.",
      hints: ["Sync for a current view: belfry sync"])
  }

  private func show(_ outlook: CascadeReadiness, _ context: CommandContext, _ store: Store) {
    let style = context.style
    let now = context.storeContext.now
    let zone = store.timeline(outlook.alarm).zone
    Console.line(
      "\(Printable.text(outlook.alarm.title)), \(context.times.full(outlook.next.time))\(outlook.zoneName.map { " \(Printable.text($0))" } ?? ""), \(Span.until(outlook.next.at.seconds(since: now)))"
    )
    let width = outlook.members.map { TextWidth.of(label(of: $0)) }.max() ?? 0
    for member in outlook.members {
      let time = context.times.time(zone.civil(at: member.at).time, isPadded: false)
      let label = label(of: member)
      let gap = String(repeating: " ", count: width - TextWidth.of(label))
      let mark = member.wouldRing ? style.paint("rings", .green) : style.paint("silent", .red)
      let pad = member.wouldRing ? "   " : "  "
      Console.line(
        String(repeating: " ", count: max(0, 8 - time.utf8.count))
          + "\(time)  \(label)\(gap)  \(mark)\(pad)\(Printable.text(member.reason))")
    }
  }

  private func label(of member: CascadeReadiness.Member) -> String {
    switch member.target {
    case nil: "\(Printable.text(member.label)), first"
    case .phone?: "Call \(member.label)"
    default: Printable.text(member.label)
    }
  }
}
