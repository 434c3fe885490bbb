/// An outcome of an occurrence that the clock decided, without a person: missed, skipped by a pause, or done because the
/// next occurrence fired.
///
/// Another device may have edited the alarm before, and this one does not know it yet. So the outcome names the stamps of
/// what led to it, and counts only while these are the current ones.
public struct AutomaticOutcome: Hashable, Sendable {
  /// The time at which a device recorded the outcome; nil if it is unknown.
  public var since: Instant?
  /// The definition that led to the outcome; nil if it is unknown, as in records of version 0.1. The outcome then always
  /// counts.
  public var basis: Basis?
  /// For a snoozed occurrence: the end of the snooze that the outcome ended. It does not end a later one.
  public var until: Instant?
  /// The date from which the next period counts, of a schedule that follows completions; nil for any other one.
  public var completed: CivilDate?

  /// Creates an outcome from its parts.
  public init(
    since: Instant?, basis: Basis? = nil, until: Instant? = nil, completed: CivilDate? = nil
  ) {
    self.since = since
    self.basis = basis
    self.until = until
    self.completed = completed
  }

  /// The definition that led to an outcome, as the stamps of its parts. A part without a stamp had none.
  public struct Basis: Hashable, Sendable {
    /// The stamps of the alarm's fields.
    public var fields: [Alarm.Field: Stamp]
    /// The stamps of the settings.
    public var settings: [Setting: Stamp]

    /// Creates a basis from its stamps.
    public init(fields: [Alarm.Field: Stamp] = [:], settings: [Setting: Stamp] = [:]) {
      self.fields = fields
      self.settings = settings
    }

    /// Returns the basis of an outcome of an alarm now.
    ///
    /// - Parameters:
    ///   - state: the outcome.
    ///   - fields: the stamps of the alarm's fields.
    ///   - settings: the stamps of the settings.
    init(
      of state: OccurrenceRecord.State, _ fields: [Alarm.Field: Stamp],
      _ settings: [Setting: Stamp]
    ) {
      let (parts, keys) = (Basis.fields(of: state), Basis.settings(of: state))
      self.init(
        fields: fields.filter { parts.contains($0.key) },
        settings: settings.filter { keys.contains($0.key) })
    }

    /// Returns the fields that lead to an outcome.
    static func fields(of state: OccurrenceRecord.State) -> Set<Alarm.Field> {
      switch state {
      case .missed: [.cascade, .delivery, .enabled, .schedule, .zone]
      case .skipped: [.enabled, .pause, .schedule, .zone]
      case .done: [.delivery, .enabled, .schedule, .zone]
      case .open, .snoozed, .pending: []
      }
    }

    /// Returns the settings that lead to an outcome.
    static func settings(of state: OccurrenceRecord.State) -> Set<Setting> {
      switch state {
      case .missed: [.grace, .ringTimeout]
      case .done: [.tier]
      case .open, .snoozed, .pending, .skipped: []
      }
    }

    /// Joins two bases: the later stamp of each part.
    static func join(_ a: Basis, _ b: Basis) -> Basis {
      Basis(
        fields: a.fields.merging(b.fields, uniquingKeysWith: max),
        settings: a.settings.merging(b.settings, uniquingKeysWith: max))
    }
  }

  /// Joins two outcomes of the same state: the later stamp of each part of the basis, the latest `since` and `until`, and
  /// the earliest `completed`.
  ///
  /// Two devices that edit different parts each after they have recorded the outcome keep it. An outcome that one device
  /// recorded without knowing an edit of the other does not count afterwards. An outcome with a basis replaces one
  /// without. Of two without one, the earliest `since` stays, as in version 0.1.
  public static func join(_ a: AutomaticOutcome, _ b: AutomaticOutcome) -> AutomaticOutcome {
    var result = a
    let times = [a.since, b.since].compactMap { $0 }
    switch (a.basis, b.basis) {
    case (nil, nil): result.since = times.min()
    case (_?, nil): return a
    case (nil, _?): return b
    case (let one?, let two?):
      result.since = times.max()
      result.basis = Basis.join(one, two)
    }
    result.until = [a.until, b.until].compactMap { $0 }.max()
    result.completed = [a.completed, b.completed].compactMap { $0 }.min()
    return result
  }

  /// Returns the parts of the definition that were edited, while the outcome was recorded without that edit. They are
  /// empty if the outcome counts.
  ///
  /// Nobody edits the settings for one occurrence: an edit after the outcome was recorded changes nothing about it. For
  /// the alarm's fields, the edit itself keeps the outcomes that it has seen: see `Alarm.adopt`.
  ///
  /// - Parameters:
  ///   - state: the outcome's state.
  ///   - fields: the current stamps of the alarm's fields.
  ///   - settings: the current stamps of the settings; nil if they are unknown and every outcome counts.
  ///   - now: the present time; nil if every recorded time counts as plausible.
  func unseenEdits(
    _ state: OccurrenceRecord.State, _ fields: [Alarm.Field: Stamp],
    _ settings: [Setting: Stamp]?, at now: Instant?
  ) -> [String] {
    guard let basis else { return [] }
    let unseen = Basis.fields(of: state).filter { basis.fields[$0] != fields[$0] }
    let changed = Basis.settings(of: state).filter { setting in
      guard let settings, let stamp = settings[setting], stamp != basis.settings[setting] else {
        return false
      }
      // Switching to the free tier completes occurrences at the time of its own stamp.
      let isLater = since.map { stamp.time >= $0 } ?? false
      return !isLater || now.map { stamp.time.isImplausible(at: $0) } ?? false
    }
    return unseen.map(\.rawValue).sorted() + changed.map(\.rawValue).sorted()
  }
}

extension Alarm {
  /// The fields whose edits can change an automatic outcome.
  private static let decidingFields = [OccurrenceRecord.State.missed, .skipped, .done]
    .reduce(into: Set<Field>()) { $0.formUnion(AutomaticOutcome.Basis.fields(of: $1)) }

  /// Sets the stamp of edited fields, and keeps the automatic outcomes that the edit has seen: no edit is retroactive.
  ///
  /// - Parameter earlier: the stamps before the edit.
  mutating func adopt(
    _ stamp: Stamp, for fields: some Sequence<Field>, earlier: [Field: Stamp]
  ) {
    let fields = Set(fields)
    for field in fields { mergeState.stamps[field] = stamp }
    keepOutcomes(earlier: earlier, fields)
  }

  /// Keeps the automatic outcomes that counted under earlier stamps, after an edit of some fields.
  mutating func keepOutcomes(earlier: [Field: Stamp], _ fields: Set<Field>) {
    if fields.isDisjoint(with: Alarm.decidingFields) { return }
    for civil in progress.occurrences.keys {
      var before = earlier
      if let moved = progress.moves[civil]?.stamp {
        before[.schedule] = [earlier[.schedule], moved].compactMap { $0 }.max()
      }
      keepOutcomes(of: civil, earlier: before, fields)
    }
  }

  /// Keeps the automatic outcomes of an occurrence that counted under earlier stamps.
  ///
  /// - Parameter earlier: the stamps as they counted for the occurrence: see `stamps(for:)`.
  mutating func keepOutcomes(
    of civil: CivilDateTime, earlier: [Field: Stamp], _ fields: Set<Field>
  ) {
    for (state, outcome) in progress.occurrences[civil]?.automatic ?? [:] {
      guard outcome.basis != nil, outcome.unseenEdits(state, earlier, nil, at: nil).isEmpty else {
        continue
      }
      let stamps = self.stamps(for: civil)
      for field in fields.intersection(AutomaticOutcome.Basis.fields(of: state)) {
        progress.occurrences[civil]?.automatic[state]?.basis?.fields[field] = stamps[field]
      }
    }
  }
}
