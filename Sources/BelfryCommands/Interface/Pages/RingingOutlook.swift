import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The occurrences until tomorrow noon that this device rings, and those that ring elsewhere or not at all, with the reasons.
///
/// The reasons are those of `belfry why`, as if the scheduler and a channel worked.
struct RingingOutlook {
  struct Item {
    let alarm: Identifier
    let title: String
    let at: Instant
    /// The steps of a cascade, or the reason why the occurrence does not ring here; nil for none.
    let note: String?
  }

  private(set) var here: [Item] = []
  private(set) var elsewhere: [Item] = []
  /// The number of later occurrences that are left out, at least.
  private(set) var more = 0

  /// The time of day tomorrow until which occurrences count.
  static let end = CivilTime(hour: 12, minute: 0) ?? .midnight
  /// The maximum number of occurrences.
  private static let maxCount = 40

  /// - Parameters:
  ///   - names: The names of the devices.
  ///   - cascades: The alarms with a cascade that is on.
  init(_ source: PageSource, _ names: [Identifier: String], _ cascades: [Alarm]) throws {
    let (store, now, times) = (source.store, source.now, source.times)
    let until = times.zones.local.instant(
      of: CivilDateTime(times.today.adding(days: 1), RingingOutlook.end))
    let listing = try store.listing().listing
    let reader = store.alarmReader()
    var found: [(alarm: Alarm, summary: AlarmSummary, civil: CivilDateTime, at: Instant)] = []
    let near = listing.ringing(after: now, until: until).summaries.sorted {
      ($0.nextRinging?.at ?? until) < ($1.nextRinging?.at ?? until)
    }
    /// The time of the last occurrence that is shown. Alarms that ring later are not even read.
    var bound = until
    for summary in near {
      if let next = summary.nextRinging, next.at > bound {
        more += 1
        continue
      }
      guard let alarm = try reader.alarm(summary.id), alarm.enabled else { continue }
      if let snooze = summary.status.snooze, snooze.until <= until {
        found.append((alarm, summary, snooze.occurrence, snooze.until))
      }
      for occurrence in store.timeline(alarm).upcoming(after: now).prefix(RingingOutlook.maxCount) {
        if occurrence.at > bound { break }
        found.append((alarm, summary, occurrence.civil, occurrence.at))
      }
      if bound == until, found.count >= RingingOutlook.maxCount {
        bound = found.map(\.at).sorted()[RingingOutlook.maxCount - 1]
      }
    }
    found.sort { ($0.at, $0.alarm.title, $0.alarm.id) < ($1.at, $1.alarm.title, $1.alarm.id) }
    more += max(0, found.count - RingingOutlook.maxCount)
    // Other problems than those of an alarm itself are reported once, not with each of them.
    let known = RingingReasons.Circumstances(
      scheduler: .daemon, reach: .desktop(""), settings: source.settings, names: names,
      times: times)
    let shown = found.prefix(RingingOutlook.maxCount)
    let ids = Set(shown.map { $0.alarm.id })
    var steps = Dictionary(
      CascadeReadiness.all(cascades.filter { ids.contains($0.id) }, in: store).map {
        ($0.alarm.id, RingingOutlook.steps($0, times))
      }
    ) { $1 }
    for (alarm, summary, civil, at) in shown {
      let isSnoozed = summary.status.snooze?.occurrence == civil
      let reasons = try RingingReasons(civil, of: alarm, in: store, known)
      var notes: [String] = []
      if isSnoozed { notes.append("snoozed") }
      if !isSnoozed, !reasons.ringsHere {
        elsewhere.append(
          Item(
            alarm: alarm.id, title: summary.shownTitle, at: at,
            note: reasons.reasons.first { ![.scheduler, .channel].contains($0.kind) }?.text))
        continue
      }
      let time = times.zones.local.civil(at: at).time
      if let quiet = alarm.partner?.quiet, quiet.contains(time) {
        notes.append("quiet hours: waits until \(times.time(quiet.until))")
      }
      // The steps are the same each time.
      if let steps = steps.removeValue(forKey: alarm.id) ?? nil { notes.append(steps) }
      here.append(
        Item(
          alarm: alarm.id, title: summary.shownTitle, at: at,
          note: notes.isEmpty ? nil : notes.joined(separator: "; ")))
    }
  }

  /// Returns the steps of a cascade: `then tablet after 2 min, watch after 4 min (offline)`.
  private static func steps(_ readiness: CascadeReadiness, _ times: TimeText) -> String? {
    let steps = readiness.members.filter { $0.target != nil }.map { member in
      let wait = Span.exact(member.at.seconds(since: readiness.next.at))
      return "\(member.label) after \(wait)\(member.wouldRing ? "" : " (would not ring)")"
    }
    return steps.isEmpty ? nil : "then " + steps.joined(separator: ", ")
  }
}
