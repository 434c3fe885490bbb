import BelfryCore
import BelfryStore
import Crypto

/// The context in which the items of a document are read.
struct CalendarContext {
  let library: CalendarLibrary
  let zones: CalendarZones
  let now: Instant
}

/// An event or a to-do of another program.
struct CalendarItem {
  typealias Unsupported = CalendarRule.Unsupported

  let item: CalendarComponent
  private let context: CalendarContext
  private var zones: CalendarZones { context.zones }

  init(_ item: CalendarComponent, _ context: CalendarContext) {
    self.item = item
    self.context = context
  }

  /// The time of day at which an all-day item without a reminder rings, in minutes after midnight.
  private static let wholeDay = 9 * 60

  /// The maximum number of alarms for the additional dates of one item.
  private static let maxDates = 100

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
    let changes = series.changes.map { CalendarItem($0, context) }
    for (number, component) in series.items.enumerated() {
      let item = CalendarItem(component, context)
      do throws(Unsupported) {
        alarms += try item.alarms(changes: number == 0 ? changes : [], isOnly: number == 0)
      } catch {
        let remark = item.remark(error, of: item.identifier)
        if error.isOver { over.append(remark) } else { leftOut.append(remark) }
      }
    }
    let main = series.items.first.map { CalendarItem($0, context) }
    // A cancelled series has no changed occurrences either.
    for change in changes where main?.status != "CANCELLED" {
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

  /// Returns the remark that an item is left out.
  ///
  /// - Parameter name: The name of the item from which the identifier of its alarm follows.
  private func remark(_ reason: Unsupported, of name: String) -> Remark {
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
  /// - Throws: `Unsupported` if the item has no future occurrence or Belfry cannot represent it.
  private func alarms(
    changes: [CalendarItem], isOnly: Bool
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
        if let later { events = try events.ending(before: later) }
        let (alarm, omitted) = try series(
          events, reminders, omitting: moments("EXDATE"), and: others.compactMap(\.changed), name,
          &losses)
        alarms.append(alarm)
        // Whether the start is an event, too, is not defined (RFC 5545, 3.8.5.3).
        if !events.occurrences.contains(start.civil), zones.instant(start) > context.now,
          !rule.contains("BYHOUR"), !rule.contains("BYMINUTE")
        {
          losses.append("its start on \(start.civil.date), which its rule leaves out")
        }
        dates.removeAll { date in
          let civil = zones.civil(date, like: start)
          return events.occurrences.contains(civil) || omitted.contains(civil)
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
      let (alarm, _) = try series(
        events, reminders, omitting: main.moments("EXDATE"), and: changes.compactMap(\.changed),
        name, &losses)
      alarms = [alarm]
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
  private var changed: CalendarMoment? {
    item.first("RECURRENCE-ID").flatMap { zones.moments($0).first }
  }

  /// True if the item changes all later occurrences, too.
  private var changesFollowing: Bool {
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

  /// Returns true if the item, a change of one occurrence, rings as the series does. Some programs write such changes
  /// for other properties.
  private func repeats(_ main: CalendarItem) -> Bool {
    guard ending == nil, !changesFollowing, let changed, let start = try? start() else {
      return false
    }
    return zones.civil(changed, like: start) == start.civil && title == main.title
      && item.components("VALARM").map(\.text) == main.item.components("VALARM").map(\.text)
      && (try? main.start())?.isDate == start.isDate
  }

  // MARK: Properties

  /// The title.
  var title: String { texts.title }

  /// The text of a reminder that programs write if the user enters none.
  private static let standardTexts: Set<String> = [
    "this is an event reminder", "reminder", "default mozilla description", "alarm",
    "event reminder",
    "alarm notification", "display",
  ]

  /// The title and the note. Without a summary, the text of a reminder is the title, or else the description.
  private var texts: (title: String, note: String?) {
    func text(_ property: CalendarProperty?) -> String? {
      guard let text = property.map({ context.library.text($0.value) }),
        text.contains(where: { !$0.isWhitespace })
      else { return nil }
      return text
    }
    let description = text(item.first("DESCRIPTION"))
    if let summary = text(item.first("SUMMARY")) { return ForeignAlarm.texts(summary, description) }
    let shown = item.components("VALARM").compactMap { text($0.first("DESCRIPTION")) }
      .first { !CalendarItem.standardTexts.contains($0.lowercased()) }
    guard let words = shown ?? description else { return ForeignAlarm.texts("", nil) }
    let line = words.split(separator: "\n").first { $0.contains { !$0.isWhitespace } } ?? ""
    let title = ForeignAlarm.texts(String(line), nil).title
    // The note has what the title does not show.
    let notes = [shown, description].compactMap(\.self).filter { $0 != title }
    return ForeignAlarm.texts(title, notes.isEmpty ? nil : notes.joined(separator: "\n"))
  }

  /// The name of the item from which the identifier of its alarm follows.
  private var identifier: String {
    let uid = item.first("UID")?.value ?? ""
    return uid.isEmpty ? "\(title) \(startProperty?.value ?? "")" : uid
  }

  /// The name of a changed occurrence from which the identifier of its alarm follows.
  private var nameOfChange: String { "\(identifier) \(item.first("RECURRENCE-ID")?.value ?? "")" }

  private var startProperty: CalendarProperty? {
    item.first("DTSTART") ?? item.first("DUE") ?? item.first("RECURRENCE-ID")
  }

  private func start() throws(Unsupported) -> CalendarMoment {
    if let line = item.rejected.first(where: { $0.name == "DTSTART" }) {
      throw Unsupported("its start is not valid: \(line.value)")
    }
    guard let property = startProperty, var start = zones.moments(property).first else {
      throw Unsupported("it has no time")
    }
    if isWholeDayAlarm {
      start.civil.time = .midnight
      start.isDate = true
    }
    return start
  }

  /// True for an alarm of KAlarm that has a date without a time.
  private var isWholeDayAlarm: Bool {
    let flags = item.first("X-KDE-KALARM-FLAGS")?.value.uppercased() ?? ""
    return flags.split { !$0.isLetter }.contains("DATE")
  }

  /// The status in capitals; nil for none.
  private var status: String? {
    item.first("STATUS")?.value.uppercased()
      ?? item.rejected.first { $0.name == "STATUS" }?.value.uppercased()
  }

  /// True for an item of an answer to an invitation, or of a proposal.
  private var isAnswer: Bool { item.first(CalendarComponent.answer) != nil }

  /// True for an item that is done.
  private var isCompleted: Bool {
    if status == "COMPLETED" { return true }
    guard item.name == "VTODO", status != "CANCELLED" else { return false }
    let isWhole = (item.first("PERCENT-COMPLETE").flatMap { Int($0.value) } ?? 0) >= 100
    let hasTime = item.first("COMPLETED") != nil
    // Another status contradicts a single property, which can be left from an earlier completion.
    return status == nil ? isWhole || hasTime : isWhole && hasTime
  }

  /// The reason why the item does not ring any more; nil if it rings.
  private var ending: String? {
    if isAnswer { return "it is an answer to an invitation, or a proposal" }
    if status == "CANCELLED" { return "it is cancelled" }
    if isCompleted { return "it is completed" }
    let kind = item.first("X-KDE-KALARM-TYPE")?.value.uppercased() ?? ""
    if kind.hasPrefix("ARCHIVED") { return "it is an archived alarm of KAlarm" }
    let actions = Set(item.components("VALARM").map { $0.first("ACTION")?.value.uppercased() })
    if !kind.isEmpty, actions == ["PROCEDURE"] { return "it runs a command" }
    if kind.hasPrefix("TEMPLATE") { return "it is a template of KAlarm" }
    return nil
  }

  /// Returns the dates and times of all properties with a name.
  private func moments(_ name: String) -> [CalendarMoment] {
    (item.all(name) + item.rejected.filter { $0.name == name }).flatMap(zones.moments)
  }

  /// The recurrence rule; nil for none.
  private var rule: String? {
    get throws(Unsupported) {
      let valid = item.all("RRULE").map(\.value)
      let rejected = item.rejected.filter { $0.name == "RRULE" }.map(\.value)
      guard Set(valid).count + rejected.count <= 1 else {
        throw Unsupported("it has several recurrence rules")
      }
      guard let text = rejected.first else { return valid.first }
      // libical rejects a rule without the reason, also if it has white space or two ends.
      let rule = text.filter { !$0.isWhitespace }
      let start = CivilDateTime(.earliest, .midnight)
      let reading = try CalendarRule.read(rule, start: start, allowsBothEnds: true)
      guard rule != text || (reading.count != nil && reading.until != nil) else {
        throw Unsupported("its recurrence rule is not valid: \(text)")
      }
      return rule
    }
  }

  /// The lines that libical rejected and Belfry does not read, as noun phrases.
  private var unreadableLines: [String] {
    let read = ["RRULE", "EXDATE", "RDATE", "DTSTART", "STATUS"]
    let lines = item.rejected.filter { line in
      !read.contains(line.name)
        || ["EXDATE", "RDATE"].contains(line.name) && zones.moments(line).isEmpty
    }
    let errors = item.all("X-LIC-ERROR").filter { !$0.value.hasPrefix("No value for ") }
    return errors.prefix(1).map { "an unrecognized line (\($0.value))" }
      + lines.map { "an unrecognized line (\($0.name):\($0.value))" }
  }

  // MARK: Alarms of a rule

  private func events(
    _ rule: String, from start: CalendarMoment, _ losses: inout [String]
  ) throws(Unsupported) -> CalendarEventTimes {
    let reading = try CalendarRule.read(rule, start: start.civil, allowsBothEnds: true)
    let events = try CalendarEventTimes(reading, from: start, zones)
    if reading.hasAdditionalDates,
      let exact = try events.exact(rule: rule, reading, context.library)
    {
      return exact
    }
    losses += reading.losses
    return events
  }

  /// Returns the alarm of a rule, and the events that have no occurrence of it.
  private func series(
    _ events: CalendarEventTimes, _ reminders: [CalendarReminder],
    omitting exceptions: [CalendarMoment], and changes: [CalendarMoment], _ name: String,
    _ losses: inout [String]
  ) throws(Unsupported) -> (alarm: ForeignAlarm, omitted: Set<CivilDateTime>) {
    let rules = zones.rules(events.start.zone)
    var offsets = self.offsets(reminders, from: events.start, &losses)
    let plain = events.start.isDate ? CalendarItem.wholeDay : 0
    if offsets.isEmpty || (isWholeDayAlarm && offsets == [0]) { offsets = [plain] }
    offsets = offsets.map { $0 + events.shift }
    var warnings: [Int] = []
    var schedule = events.schedule(at: offsets)
    if schedule == nil, let last = offsets.last {
      // Warnings before the last reminder can be on another day.
      schedule = events.schedule(at: [last])
      warnings = offsets.dropLast().map { last - $0 }
      if schedule == nil {
        // An alarm at the item's own time is better than one on a wrong day.
        let own = events.shift + plain
        schedule = events.schedule(at: [own])
        warnings = offsets.filter { $0 < own }.map { own - $0 }
        losses.append(
          "reminders on another day (the alarm rings at the start"
            + (warnings.isEmpty ? ")" : " and warns before it)"))
        offsets = [own]
      } else {
        offsets = [last]
      }
    }
    guard var schedule else { throw Unsupported("Belfry does not support its times of day") }
    if let until = schedule.limits.until, rules.instant(of: until) <= context.now {
      throw Unsupported("it ended on \((events.schedule.limits.until ?? until).date)", isOver: true)
    }
    // Changes of the past need no exception.
    let future = changes.filter { change in
      let civil = zones.civil(change, like: events.start)
      return rules.instant(
        of: CivilDateTime(minuteNumber: civil.minuteNumber + (offsets.last ?? 0) + 1440))
        > context.now
    }
    let omitted = events.omitted(exceptions + future, zones)
    var skipped: [CivilDateTime]
    (schedule, skipped) = try events.excepting(omitted, from: schedule, at: offsets)
    let rings = Occurrences(schedule, in: .standard)
    var next = rings.next(after: rules.civil(at: context.now))
    while let moment = next, skipped.contains(moment) { next = rings.next(after: moment) }
    guard next != nil else { throw Unsupported("it is over", isOver: true) }
    skipped.sort()
    var alarm = alarm(name, schedule, events.start.zone, &losses)
    alarm.skipped = skipped
    alarm.warn(before: warnings.map { Int64($0) * 60 }, &losses)
    return (alarm, omitted)
  }

  /// Returns the distances of the reminders from the start of a repeating item in minutes, ascending.
  private func offsets(
    _ reminders: [CalendarReminder], from start: CalendarMoment, _ losses: inout [String]
  ) -> [Int] {
    var offsets: Set<Int> = []
    for reminder in reminders {
      switch reminder {
      case .start(let duration): offsets.insert(duration.minutes)
      case .end(let duration):
        offsets.insert(
          CalendarLength(of: item, from: start, zones).wallMinutes + duration.minutes)
      case .fixed: losses.append("a reminder at an absolute time")
      }
    }
    return offsets.sorted()
  }

  // MARK: Alarms of single dates

  /// Returns one alarm for each future date. The first date has the name of the item if it is the start.
  private func singles(
    _ dates: [CalendarMoment], like start: CalendarMoment, _ reminders: [CalendarReminder],
    _ changes: [CalendarMoment], _ name: String, _ losses: inout [String]
  ) throws(Unsupported) -> [ForeignAlarm] {
    let exceptions = (changed == nil ? moments("EXDATE") : []) + changes
    let omitted = Set(exceptions.map { zones.civil($0, like: start) })
    let omittedDates = Set(exceptions.filter { $0.isDate || start.isDate }.map(zones.date))
    var moments: [CivilDateTime] = []
    for date in dates {
      let civil = zones.civil(date, like: start)
      let isOmitted =
        start.isDate || omittedDates.contains(civil.date)
        ? omittedDates.contains(civil.date) : omitted.contains(civil)
      if !isOmitted, !moments.contains(civil) { moments.append(civil) }
    }
    if moments.isEmpty, !dates.isEmpty, changed == nil, !exceptions.isEmpty,
      item.first("RRULE") == nil
    {
      throw Unsupported("its exceptions leave no date", isOver: true)
    }
    var alarms: [ForeignAlarm] = []
    for civil in moments {
      guard let (rings, zone) = self.rings(of: civil, like: start, reminders) else { continue }
      if alarms.count == CalendarItem.maxDates {
        losses.append("all dates of its RDATE from \(civil.date) on")
        break
      }
      let isStart = civil == start.civil && item.first("RRULE") == nil
      let last = zones.rules(zone).civil(at: rings[rings.count - 1])
      let schedule = try CalendarItem.schedule(.once(last.date), [last.time])
      var unused: [String] = []
      var alarm = alarm(
        isStart ? name : "\(name) \(CalendarTime.text(civil))", schedule, zone, &unused)
      alarm.warn(
        before: rings.dropLast().map { rings[rings.count - 1].seconds(since: $0) }, &unused)
      if alarms.isEmpty { losses += unused }
      alarms.append(alarm)
    }
    return alarms
  }

  /// Returns the instants of the reminders of an event from now on, ascending, and the zone in which the last one can
  /// be written; nil if that is over.
  private func rings(
    of civil: CivilDateTime, like start: CalendarMoment, _ reminders: [CalendarReminder]
  ) -> (rings: [Instant], zone: Alarm.Zone)? {
    let rules = zones.rules(start.zone)
    func instant(_ civil: CivilDateTime, _ duration: CalendarDuration) -> Instant {
      let day = CivilDateTime(civil.date.adding(days: duration.days), civil.time)
      return rules.instant(of: day).adding(seconds: Int64(duration.seconds))
    }
    let plain = CivilDateTime(
      minuteNumber: civil.minuteNumber + (start.isDate ? CalendarItem.wholeDay : 0))
    var rings = reminders.compactMap { reminder -> Instant? in
      switch reminder {
      case .start(let duration): return instant(civil, duration)
      // A fixed time of the past is often that of a reminder that the user has seen.
      case .fixed(let instant): return instant > context.now ? instant : nil
      case .end(let duration):
        let length = CalendarLength(of: item, from: start, zones).duration
        // The days of both are by the calendar, and their times are exact.
        return instant(
          civil,
          CalendarDuration(
            days: length.days + duration.days, seconds: length.seconds + duration.seconds))
      }
    }
    if rings.isEmpty || (isWholeDayAlarm && reminders == [.start(CalendarDuration())]) {
      rings = [rules.instant(of: plain)]
    }
    rings = Set(rings).sorted()
    rings.removeAll { $0 <= context.now }
    guard let last = rings.last else { return nil }
    // The second of two equal times of the wall clock can only be written in another zone.
    let minute = Instant(seconds: last.seconds - last.seconds % 60)
    let isExact = start.zone == .floating || rules.instant(of: rules.civil(at: last)) == minute
    return (rings, isExact ? start.zone : .named("UTC"))
  }

  // MARK: Parts of an alarm

  private func alarm(
    _ name: String, _ schedule: Schedule, _ zone: Alarm.Zone, _ losses: inout [String]
  ) -> ForeignAlarm {
    let (title, note) = texts
    var alarm = ForeignAlarm(
      id: Identifier(naming: name), title: title, note: note, schedule: schedule, zone: zone)
    alarm.enabled = !(status?.hasPrefix("X-DISABLED") ?? false) && status != "DISABLED"
    let labels = item.all("CATEGORIES").flatMap { context.library.texts($0.value) }
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
  fileprivate mutating func warn(before seconds: [Int64], _ losses: inout [String]) {
    if seconds.isEmpty { return }
    delivery.warnings = WarningPlan(seconds.filter { $0 >= 60 }.sorted(by: >))
    if delivery.warnings == nil { losses.append("all reminders but the last") }
  }
}

extension Identifier {
  /// Creates the identifier that always belongs to a name in another program.
  init(naming name: String) {
    let digest = Array(SHA256.hash(data: Array("belfry import \(name)".utf8)))
    func word(_ start: Int) -> UInt64 {
      digest[start..<(start + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    }
    self.init(high: word(0), low: word(8))
  }
}
