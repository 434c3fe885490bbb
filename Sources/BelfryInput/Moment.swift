import BelfryCore

/// A point in time as people name it: `tomorrow 18:00`, `in 20m`, `18:00`, `friday`.
public enum Moment: Hashable, Sendable {
  /// A date without a time.
  case date(CivilDate)
  /// A date with a time.
  case civil(CivilDateTime)
  /// A time of day without a date.
  case time(CivilTime)
  /// A number of seconds from now; negative for the past.
  case delay(Int64)
  /// A time with an offset from UTC.
  case instant(Instant)

  /// The direction in which a moment without a date is searched.
  public enum Direction: Sendable {
    /// The next such moment.
    case future
    /// The latest such moment.
    case past
  }

  /// Returns the wall-clock time. A date alone means its midnight.
  public func civil(_ direction: Direction, in context: InputContext) -> CivilDateTime {
    switch self {
    case .date(let date): return CivilDateTime(date, .midnight)
    case .civil(let civil): return civil
    case .time(let time):
      let today = CivilDateTime(context.today, time)
      switch direction {
      case .future:
        return today > context.now ? today : CivilDateTime(context.today.adding(days: 1), time)
      case .past:
        return today <= context.now ? today : CivilDateTime(context.today.adding(days: -1), time)
      }
    case .delay(let seconds):
      return seconds > 0
        ? context.soon(after: seconds)
        : context.zone.civil(at: context.instant.adding(seconds: seconds))
    case .instant(let instant): return context.zone.civil(at: instant)
    }
  }

  /// Returns the instant. A date alone means its midnight.
  public func instant(_ direction: Direction, in context: InputContext) -> Instant {
    switch self {
    case .instant(let instant): instant
    case .delay(let seconds): context.instant.adding(seconds: seconds)
    case .date, .civil, .time: context.zone.instant(of: civil(direction, in: context))
    }
  }
}

extension Input {
  /// Returns a moment: `tomorrow 18:00`, `in 20m`, `18:00`, `friday`, `24 Dec at 9am`, `20 min ago`, an RFC 3339 time.
  ///
  /// - Throws: `InputError.ambiguous` for a number such as `7` that may mean the morning or the evening.
  public static func moment(
    _ text: String, _ direction: Moment.Direction = .future, in context: InputContext
  ) throws(InputError) -> Moment {
    if let instant = InstantText.instant(text) { return .instant(instant) }
    var reader = try reader(text, context)
    if let moment = reader.civilDateTime(), reader.isAtEnd { return .civil(moment) }
    reader.position = 0
    if direction == .past, let length = try reader.length(), reader.accept("ago"), reader.isAtEnd {
      return .delay(-length)
    }
    reader.position = 0
    // A number alone is a time.
    if reader.tokens.count == 1, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
      let reading = try reader.time(.any)
    {
      try askForHalfOfDay(reading, direction, in: context)
      return .time(reading.time)
    }
    reader.position = 0
    var schedule = ScheduleReader(reader, ScheduleDraft(), direction)
    let draft = try schedule.read()
    guard (draft.times?.count ?? 0) <= 1, draft.start == nil, draft.end == nil,
      draft.exceptions == nil, draft.onHoliday == nil, draft.zone == nil
    else { throw .repeated(.rule) }
    switch (draft.rule, draft.times?.first) {
    case (nil, let time?): return .time(time)
    case (.once(let date)?, nil): return .date(date)
    case (.once(let date)?, let time?): return .civil(CivilDateTime(date, time))
    case (.later(let seconds)?, nil): return .delay(seconds)
    default: throw .repeated(.rule)
    }
  }

  /// Throws an error for a number alone, such as `7`, whose other half of the day is as likely.
  static func askForHalfOfDay(
    _ reading: TimeReading, _ direction: Moment.Direction, in context: InputContext
  ) throws(InputError) {
    guard reading.lacksHalf, let other = reading.otherHalf else { return }
    let now = context.now.time
    let isAmbiguous =
      switch direction {
      case .future: reading.time <= now
      case .past: reading.time > now || other <= now
      }
    if isAmbiguous { throw reading.ambiguity }
  }

  /// Returns the moment at the start of some words, and the number of words that it takes; nil if there is none.
  ///
  /// The longest start that is a moment counts: `tomorrow 9am Call mum` is tomorrow at 9:00.
  public static func leadingMoment(
    _ words: [String], in context: InputContext
  ) throws(InputError) -> (moment: Moment, count: Int)? {
    var failure: InputError?
    for count in stride(from: min(words.count, maxMomentWords), through: 1, by: -1) {
      do throws(InputError) {
        return (try moment(words[..<count].joined(separator: " "), in: context), count)
      } catch {
        if case .ambiguous = error { failure = error }
      }
    }
    if let failure { throw failure }
    return nil
  }

  /// Returns the number of words at the start that are a moment; nil for none.
  static func leadingMomentCount(_ words: [String], in context: InputContext) -> Int? {
    (try? leadingMoment(words, in: context))?.count
  }

  private static let maxMomentWords = 8
}
