import ArgumentParser
import BelfryCore
import BelfryStore

struct BackupStatus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Tell which backups would really ring, as far as is known.",
    usage: "belfry backup status\n       belfry backup ALARM status",
    discussion: """
      Each device says every half hour, and shortly before a backup may have to ring, that it is there. One without a \
      daemon says how often it syncs, and is judged by that.
      """)

  @Argument(help: "The alarm (default: all that have backups).")
  var alarm: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: BackupCommand

  func run() throws {
    let context = try common.context(parent.root)
    let store = try context.open()
    let cards = try alarm.map { [try context.find($0, in: store)] } ?? context.overview(store)
    let reader = store.alarmReader()
    let alarms = try cards.compactMap { try reader.alarm($0.id) }
    let rounds = try alarms.compactMap { try BackupRound($0, in: store) }
    let outlooks = BackupOutlook.all(alarms, in: store)
      .sorted { ($0.next.at, $0.alarm.title) < ($1.next.at, $1.alarm.title) }
    if common.json {
      return Console.write(
        JSON.array(rounds.map(\.json) + outlooks.map { json($0, context) }).document)
    }
    for round in rounds { Console.write(round.text(context.style)) }
    if outlooks.isEmpty, rounds.isEmpty {
      Console.line(
        alarm == nil
          ? "No alarm that comes has backups: belfry help backup"
          : why(alarms))
    }
    for (index, outlook) in outlooks.enumerated() {
      if index > 0 || !rounds.isEmpty { Console.line("") }
      show(outlook, context, store)
    }
    for outlook in outlooks where outlook.live == 0 {
      Console.error(
        "belfry: warning: as far as is known no backup of \(Printable.text(outlook.alarm.title)) would ring."
      )
    }
    if !outlooks.isEmpty, let reason = staleness(store, context) { Console.error(reason) }
  }

  /// Why nothing is to be told of an alarm.
  private func why(_ alarms: [Alarm]) -> String {
    guard let alarm = alarms.first else { return "There is no such alarm." }
    let title = Printable.text(alarm.title)
    if !alarm.enabled { return "\(title) is switched off: belfry enable \(alarm.id.short)" }
    guard alarm.backup?.plan.isActive == true else {
      return "\(title) has no backups that are on: belfry backup \(alarm.id.short)"
    }
    return "\(title) does not come again."
  }

  /// That what is said may be old.
  private func staleness(_ store: Store, _ context: CommandContext) -> String? {
    guard store.hasRemote, let asked = store.signsOfLife.asked else { return nil }
    let age = context.storeContext.now.seconds(since: asked)
    return age < SignsOfLife.spacing
      ? nil : "That is as of \(Span.length(age)) ago, when the remote was last asked: belfry sync"
  }

  private func show(_ outlook: BackupOutlook, _ context: CommandContext, _ store: Store) {
    let style = context.style
    let now = context.storeContext.now
    let zone = store.timeline(outlook.alarm).zone
    Console.line(
      "\(Printable.text(outlook.alarm.title)), \(outlook.next.civil.spoken)\(outlook.zoneName.map { " \(Printable.text($0))" } ?? ""), \(Span.until(outlook.next.at.seconds(since: now)))"
    )
    let width = outlook.members.map { TextWidth.of(words($0)) }.max() ?? 0
    for member in outlook.members {
      let time = BackupText.clock(zone.civil(at: member.at))
      let words = words(member)
      let gap = String(repeating: " ", count: width - TextWidth.of(words))
      let mark = member.isThere ? style.paint("rings", .green) : style.paint("would not", .red)
      let pad = member.isThere ? "      " : "  "
      Console.line(
        String(repeating: " ", count: max(0, 7 - time.utf8.count))
          + "\(time)  \(words)\(gap)  \(mark)\(pad)\(Printable.text(member.reason))")
    }
  }

  private func words(_ member: BackupOutlook.Member) -> String {
    switch member.target {
    case nil: "\(Printable.text(member.label)), first"
    case .phone?: "Call \(member.label)"
    default: Printable.text(member.label)
    }
  }

  /// `{alarm, title, occurrence, at, zone?, live, members: [{label, at, first, wouldRing, reason, every?}]}`; of one that rings see
  /// `BackupRound.json`.
  private func json(_ outlook: BackupOutlook, _ context: CommandContext) -> JSON {
    let zones = context.storeContext.zones
    return .object(omittingNil: [
      "alarm": JSON(outlook.alarm.id), "title": .string(outlook.alarm.title),
      "zone": outlook.zoneName.map { .string($0) },
      "occurrence": JSON(outlook.next.civil), "at": .string(zones.text(outlook.next.at)),
      "live": .integer(Int64(outlook.live)),
      "members": .array(
        outlook.members.map { member in
          .object(omittingNil: [
            "label": .string(member.label), "at": .string(zones.text(member.at)),
            "first": .bool(member.target == nil), "wouldRing": .bool(member.isThere),
            "reason": .string(member.reason), "every": member.every.map { .integer($0) },
          ])
        }),
    ])
  }
}
