import BelfryCore
import BelfryStore

/// A change of one event that moves the occurrences of the series' alarm.
struct CalendarMove {
  let change: CalendarItem
  /// The new times of the occurrences by their own times, in the alarm's zone. An occurrence can keep its time.
  let times: [CivilDateTime: CivilDateTime]
}

/// The changes of single events that an alarm expresses as moves.
extension CalendarItem {
  /// Returns true if the texts of a change are those of its series, so that a move loses none of them.
  func addsNothing(to main: CalendarItem) -> Bool {
    func words(_ text: String?) -> [Substring] { text?.split(whereSeparator: \.isWhitespace) ?? [] }
    func labels(_ item: CalendarItem) -> Set<String> {
      Set(item.item.all("CATEGORIES").flatMap { CalendarText.list($0.value) })
    }
    let (own, series) = (texts, main.texts)
    return words(own.title) == words(series.title)
      && (own.note == nil || words(own.note) == words(series.note))
      && labels(self).isSubset(of: labels(main)) && isDisabled == main.isDisabled
  }

  /// Returns the changes that are moves of occurrences of a schedule.
  ///
  /// A change is no move, but an alarm of its own, if
  ///
  /// 1. it is cancelled or completed, also changes the later events, or has another title, note or label;
  /// 2. it changes no event of the series, or one that the series leaves out;
  /// 3. it has another number of reminders than the series, or one at a fixed time;
  /// 4. the alarm's wall clock cannot show its time;
  /// 5. another occurrence rings at its time, or another event rings at the time of its occurrence.
  ///
  /// - Parameters:
  ///   - offsets: The distances of the occurrences from the events, in minutes, ascending.
  ///   - warnings: The distances of the warnings from the last of them, in minutes, descending.
  ///   - omitted: The events without an occurrence.
  func moves(
    _ changes: [CalendarItem], of events: CalendarEventTimes, at offsets: [Int], warnings: [Int],
    without omitted: Set<CivilDateTime>
  ) -> [CalendarMove] {
    let all = events.occurrences
    func ringing(at time: CivilDateTime) -> [CivilDateTime] {
      offsets.map { CivilDateTime(minuteNumber: time.minuteNumber - $0) }
        .filter { all.contains($0) && !omitted.contains($0) }
    }
    var taken: Set<CivilDateTime> = []
    return changes.compactMap { change in
      guard let changed = change.changed, change.ending == nil, !change.changesFollowing,
        change.addsNothing(to: self)
      else { return nil }
      let event = zones.civil(changed, like: events.start)
      guard all.contains(event), !omitted.contains(event),
        let new = change.movedTimes(
          count: offsets.count, warnings: warnings, in: events.start.zone)
      else { return nil }
      let own = offsets.map { CivilDateTime(minuteNumber: event.minuteNumber + $0) }
      let isFree = zip(own, new).allSatisfy { own, new in
        ringing(at: own) == [event] && (own == new || ringing(at: new).isEmpty)
      }
      guard isFree, taken.isDisjoint(with: new), Set(new).count == new.count else { return nil }
      taken.formUnion(new)
      return CalendarMove(
        change: change, times: Dictionary(uniqueKeysWithValues: zip(own, new)))
    }
  }

  /// Returns the times at which a changed event rings on the wall clock of a zone, ascending; nil if they do not have a
  /// given number, with given warnings before the last one, or if the zone cannot express them.
  private func movedTimes(
    count: Int, warnings: [Int], in zone: Alarm.Zone
  ) -> [CivilDateTime]? {
    var unused: [String] = []
    let reminders = CalendarReminder.all(of: item, zones, &unused)
    let isFixed = reminders.contains { if case .fixed = $0 { true } else { false } }
    guard !isFixed, let start = try? start() else { return nil }
    var rings = allRings(of: start.civil, like: start, reminders)
    if !warnings.isEmpty {
      guard let last = rings.last else { return nil }
      let distances = rings.dropLast().map { Int(last.seconds(since: $0) / 60) }
      guard distances == warnings.sorted(by: >) else { return nil }
      rings = [last]
    }
    let rules = zones.rules(zone)
    let times = rings.map { rules.civil(at: $0) }
    let isExact = zip(rings, times).allSatisfy { ring, time in
      rules.instant(of: time).seconds == ring.seconds - ring.seconds % 60
    }
    return isExact && times.count == count ? times : nil
  }
}
