import BelfryCore
import BelfryStore

/// The context in which the items of a document are read.
struct CalendarContext {
  let library: CalendarLibrary
  let zones: CalendarZones
  let now: Instant
  /// The UIDs of the events in the document.
  var events: Set<String> = []
}

/// An event or a to-do of another program.
struct CalendarItem {
  typealias Unsupported = CalendarRule.Unsupported

  let item: CalendarComponent
  let context: CalendarContext
  var zones: CalendarZones { context.zones }

  init(_ item: CalendarComponent, _ context: CalendarContext) {
    self.item = item
    self.context = context
  }

  /// The time of day at which an all-day item without a reminder rings, in minutes after midnight.
  static let wholeDay = 9 * 60

  // MARK: Series

  /// Returns the alarms of a series and of its changed occurrences, and a remark for each item that was left out.
  static func alarms(
    of series: CalendarSeries, _ context: CalendarContext
  ) -> (alarms: [ForeignAlarm], leftOut: [Remark]) {
    var alarms: [ForeignAlarm] = []
    var over: [Remark] = []
    var leftOut = series.replaced.map { item in
      var remark = Remark(
        title: CalendarItem(item, context).title, "the file contains a later version of it")
      remark.isFailure = false
      return remark
    }
    let main = series.items.first.map { CalendarItem($0, context) }
    let changes = latestChanges(of: series, main, context)
    var moved: Set<String> = []
    for (number, component) in series.items.enumerated() {
      let item = CalendarItem(component, context)
      do throws(Unsupported) {
        alarms += try item.alarms(
          changes: number == 0 ? changes : [], isOnly: number == 0, &moved)
      } catch {
        let remark = item.remark(error, of: item.identifier)
        if error.isOver { over.append(remark) } else { leftOut.append(remark) }
      }
    }
    // A cancelled series has no changed occurrences either.
    for change in changes where main?.status != "CANCELLED" && !moved.contains(change.nameOfChange)
    {
      do throws(Unsupported) {
        alarms += try change.changedAlarms(of: main, others: changes)
      } catch {
        // The series lacks the occurrence already.
        if main != nil, error.isOver || change.ending != nil { continue }
        leftOut.append(change.remark(error, of: change.nameOfChange))
      }
    }
    // A series that is over can have a changed occurrence in the future.
    if alarms.isEmpty { leftOut += over }
    return (alarms, leftOut)
  }

  /// Returns the changes of a series, without the earlier ones of an occurrence that the document writes in several zones.
  private static func latestChanges(
    of series: CalendarSeries, _ main: CalendarItem?, _ context: CalendarContext
  ) -> [CalendarItem] {
    let changes = series.changes.map { CalendarItem($0, context) }
    guard let start = try? main?.start() else { return changes }
    let events = changes.map { $0.changed.map { context.zones.civil($0, like: start) } }
    var latest: [CivilDateTime: Int] = [:]
    for (index, event) in events.enumerated() {
      guard let event else { continue }
      if let known = latest[event], changes[known].item.isLaterRevision(than: changes[index].item) {
        continue
      }
      latest[event] = index
    }
    return changes.indices.filter { index in events[index].map { latest[$0] == index } ?? true }
      .map { changes[$0] }
  }

  /// Returns the remark that an item is left out.
  ///
  /// - Parameter name: The name of the item from which the identifier of its alarm follows.
  func remark(_ reason: Unsupported, of name: String) -> Remark {
    var remark = Remark(title: title, reason.reason)
    let hasEnded = status == "CANCELLED" || !isAnswer && isCompleted
    remark.isFailure =
      !reason.isOver && ending == nil && !(item.name == "VTODO" && startProperty == nil)
    if hasEnded { remark.ended = Identifier(naming: name) }
    return remark
  }

  /// Returns the item as alarms: one for its start or its rule, and one for each additional date.
  ///
  /// - Parameters:
  ///   - changes: The changes of single occurrences, which the alarm of the rule leaves out.
  ///   - isOnly: False for an item whose UID another item has, too.
  ///   - moved: Receives the names of the changes that are moves of the alarm of the rule.
  /// - Throws: `Unsupported` if the item has no future occurrence or Belfry cannot represent it.
  private func alarms(
    changes: [CalendarItem], isOnly: Bool, _ moved: inout Set<String>
  ) throws(Unsupported) -> [ForeignAlarm] {
    if let ending { throw Unsupported(ending) }
    let start = try start()
    var losses = unreadableLines
    if let zone = start.unknownZone {
      losses.append("the time zone \(zone) (the alarm uses local time)")
    }
    let name = isOnly ? identifier : "\(identifier) \(startProperty?.value ?? "")"
    let reminders = CalendarReminder.all(of: item, zones, &losses)
    var alarms: [ForeignAlarm] = []
    var over: Unsupported?
    var dates = moments("RDATE")
    let rule = try rule
    if let rule {
      let others = changes.filter { !$0.repeats(self) }
      do throws(Unsupported) {
        var events = try events(rule, from: start, &losses)
        for exclusion in item.all("EXRULE") {
          if let remaining = try events.excluding(exclusion.value) {
            events = remaining
          } else {
            losses.append("its EXRULE")
          }
        }
        let later = others.filter(\.changesFollowing).compactMap(\.changed)
          .map { zones.civil($0, like: start) }.min()
        if let later {
          events = try events.ending(before: later)
          dates.removeAll { zones.civil($0, like: start) >= later }
        }
        var result = try series(
          events, reminders, omitting: moments("EXDATE"), and: others, movable: true, name, &losses)
        for move in result.moves {
          moved.insert(move.change.nameOfChange)
          guard let single = try? move.change.changedAlarms(of: self, others: changes).first else {
            continue
          }
          losses += single.losses.filter { !losses.contains($0) }
          for civil in move.times.keys { result.alarm.substitutes[civil] = single }
        }
        alarms.append(result.alarm)
        // Whether the start is an event, too, is not defined (RFC 5545, 3.8.5.3).
        if !events.occurrences.contains(start.civil), zones.instant(start) > context.now,
          !rule.contains("BYHOUR"), !rule.contains("BYMINUTE")
        {
          losses.append("its start on \(start.civil.date), which its rule leaves out")
        }
        dates.removeAll { date in
          let civil = zones.civil(date, like: start)
          return events.occurrences.contains(civil) || result.omitted.contains(civil)
        }
      } catch {
        if !error.isOver { throw error }
        over = error
      }
    } else {
      dates.insert(start, at: 0)
    }
    let singles = try singles(
      dates, like: start, reminders, changes.filter { !$0.repeats(self) }.compactMap(\.changed),
      name,
      &losses)
    alarms += singles
    guard !alarms.isEmpty else {
      let isLater = rule == nil && zones.instant(start) > context.now
      throw over
        ?? Unsupported(isLater ? "its reminder was due before now" : "it is over", isOver: true)
    }
    alarms[0].losses = losses
    return alarms
  }

  /// Returns the alarms of a changed occurrence.
  private func changedAlarms(
    of main: CalendarItem?, others: [CalendarItem]
  ) throws(Unsupported) -> [ForeignAlarm] {
    if let ending { throw Unsupported(ending) }
    guard let changed else { throw Unsupported("its RECURRENCE-ID is not valid") }
    if let main, repeats(main) || main.omits(changed, sinceAfter: self) { return [] }
    var losses = unreadableLines
    let start = try start()
    if let zone = start.unknownZone {
      losses.append("the time zone \(zone) (the alarm uses local time)")
    }
    let name = nameOfChange
    let reminders = CalendarReminder.all(of: item, zones, &losses)
    var alarms: [ForeignAlarm]
    if changesFollowing, let main, let rule = try main.rule, try self.rule == nil {
      let first = try main.start()
      guard first.isDate == start.isDate else {
        throw Unsupported("it changes a series between times and whole days")
      }
      let from = zones.civil(changed, like: first)
      var events = try main.events(rule, from: first, &losses).starting(from: from)
      let later = others.filter(\.changesFollowing).compactMap(\.changed)
        .map { zones.civil($0, like: first) }.filter { $0 > from }.min()
      if let later { events = try events.ending(before: later) }
      events.shift = zones.civil(start, like: first).minuteNumber - from.minuteNumber
      let changes = others.filter { !$0.changesFollowing && !$0.repeats(main) }
      let alarm = try series(
        events, reminders, omitting: main.moments("EXDATE"), and: changes, name, &losses
      ).alarm
      // All later dates move by the same distance (RFC 5545, 3.8.4.4).
      let kept = main.moments("EXDATE") + changes.compactMap(\.changed)
      let omitted = Set(kept.map { zones.civil($0, like: first) })
      let dates = main.moments("RDATE").map { zones.civil($0, like: first) }
        .filter {
          $0 >= from && !omitted.contains($0) && $0 < (later ?? CivilDateTime(.latest, .midnight))
        }
        .map { civil in
          let moved = CivilDateTime(minuteNumber: civil.minuteNumber + events.shift)
          return CalendarMoment(civil: moved, isDate: first.isDate, zone: first.zone)
        }
      alarms = [alarm] + (try singles(dates, like: start, reminders, [], "\(name) dates", &losses))
    } else if changesFollowing, let rule = try self.rule {
      let events = try events(rule, from: start, &losses)
      alarms = [
        try series(events, reminders, omitting: moments("EXDATE"), and: [], name, &losses).alarm
      ]
    } else {
      if item.first("RRULE") != nil || changesFollowing {
        losses.append("the change of the occurrences after it")
      }
      alarms = try singles([start], like: start, reminders, [], name, &losses)
    }
    guard !alarms.isEmpty else { throw Unsupported("it is over", isOver: true) }
    alarms[0].losses = losses
    return alarms
  }

  /// The time of the occurrence that the item changes; nil if it is no change.
  var changed: CalendarMoment? {
    item.first("RECURRENCE-ID").flatMap { zones.moments($0).first }
  }

  /// True if the item changes all later occurrences, too.
  var changesFollowing: Bool {
    item.first("RECURRENCE-ID")?.parameters["RANGE"]?.uppercased() == "THISANDFUTURE"
  }

  /// Returns true if a later revision of the series than a change leaves out the changed occurrence.
  private func omits(_ changed: CalendarMoment, sinceAfter change: CalendarItem) -> Bool {
    guard item.sequence > change.item.sequence, let start = try? start() else { return false }
    let occurrence = zones.civil(changed, like: start)
    return moments("EXDATE").contains { zones.civil($0, like: start) == occurrence }
  }

  /// Returns the change of a series that is not in the document; nil if the item is no such change.
  func foreignChange() -> ForeignChange? {
    guard let changed, !changesFollowing, let uid = item.first("UID")?.value, !uid.isEmpty else {
      return nil
    }
    var losses: [String] = []
    let reminders = CalendarReminder.all(of: item, zones, &losses)
    guard let (rings, _) = rings(of: changed.civil, like: changed, reminders) else { return nil }
    return ForeignChange(alarm: Identifier(naming: uid), title: title, rings: rings)
  }

  /// Returns true if the item, a change of one occurrence, rings as the series does, with the same texts. Some programs
  /// write such changes for other properties.
  private func repeats(_ main: CalendarItem) -> Bool {
    guard ending == nil, !changesFollowing, let changed, let start = try? start() else {
      return false
    }
    return zones.civil(changed, like: start) == start.civil && addsNothing(to: main)
      && item.components("VALARM").map(\.text) == main.item.components("VALARM").map(\.text)
      && (try? main.start())?.isDate == start.isDate
  }

  // MARK: Parts of an alarm

  func alarm(
    _ name: String, _ schedule: Schedule, _ zone: Alarm.Zone, _ losses: inout [String]
  ) -> ForeignAlarm {
    let (title, note) = texts
    var alarm = ForeignAlarm(
      id: Identifier(naming: name), title: title, note: note, schedule: schedule, zone: zone)
    alarm.enabled = !isDisabled
    let labels = item.all("CATEGORIES").flatMap { CalendarText.list($0.value) }
    losses += alarm.addTags(labels).map { "the category \($0)" }
    return alarm
  }

  static func schedule(
    _ recurrence: Recurrence, _ times: [CivilTime], _ limits: Schedule.Limits = .none
  ) throws(Unsupported) -> Schedule {
    do {
      return try Schedule(recurrence, times: times, limits: limits)
    } catch {
      throw Unsupported(error.reason)
    }
  }
}

extension ForeignAlarm {
  /// Adds warnings at some seconds before each occurrence.
  mutating func warn(before seconds: [Int64], _ losses: inout [String]) {
    if seconds.isEmpty { return }
    delivery.warnings = WarningPlan(seconds.filter { $0 >= 60 }.sorted(by: >))
    if delivery.warnings == nil { losses.append("all reminders but the last") }
  }
}
