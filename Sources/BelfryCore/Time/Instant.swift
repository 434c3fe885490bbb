/// A point in time, in milliseconds since 1970-01-01T00:00:00Z without leap seconds.
public struct Instant: Hashable, Comparable, Sendable {
  /// The number of milliseconds since the Unix epoch; negative before it.
  public var milliseconds: Int64

  /// Creates an instant from a number of milliseconds since the Unix epoch.
  public init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// The number of whole seconds since the Unix epoch, rounded down.
  public var seconds: Int64 { milliseconds.floorDivided(by: 1000) }

  /// Creates an instant from a number of seconds since the Unix epoch.
  public init(seconds: Int64) {
    self.init(milliseconds: seconds * 1000)
  }

  /// The last instant that `adding(seconds:)` reaches: 9999-12-31T00:00:00Z.
  public static let distantFuture = Instant(
    civilUTC: CivilDate(year: CivilDate.years.upperBound, month: 12, day: 31))

  /// The number of seconds of a day without a clock change.
  public static let day: Int64 = 86_400

  private init(civilUTC date: CivilDate) {
    self.init(seconds: Int64(date.dayNumber) * 86_400)
  }

  /// Returns true if `a` is earlier than `b`.
  public static func < (a: Instant, b: Instant) -> Bool { a.milliseconds < b.milliseconds }

  /// Returns the instant that is a number of seconds later, or earlier if the number is negative.
  ///
  /// The result does not go past `distantFuture`, because later instants have no RFC 3339 form.
  public func adding(seconds: Int64) -> Instant {
    let (length, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
    let (sum, isTooLate) = milliseconds.addingReportingOverflow(length)
    if isTooLong || isTooLate {
      return seconds > 0 ? max(self, .distantFuture) : Instant(milliseconds: .min)
    }
    let moment = Instant(milliseconds: sum)
    return seconds > 0 ? min(moment, max(self, .distantFuture)) : moment
  }

  /// Returns the number of seconds from `other` to this instant, rounded down.
  public func seconds(since other: Instant) -> Int64 {
    (milliseconds - other.milliseconds).floorDivided(by: 1000)
  }
}

// MARK: RFC 3339

extension Instant {
  /// The instant in RFC 3339 format in UTC, `2026-11-20T22:41:00Z`, with milliseconds only if they are not 0.
  public var rfc3339: String { rfc3339(offset: 0) }

  /// Returns the instant in RFC 3339 format at a fixed offset from UTC, `2026-11-20T23:41:00+01:00`.
  ///
  /// - Parameter offset: the offset in seconds east of UTC. Historic offsets with odd seconds are shown to the whole
  ///   minute, because an offset in RFC 3339 has no seconds. The instant stays the same.
  public func rfc3339(offset: Int) -> String {
    let minutes = offset / 60
    let local = Instant(milliseconds: milliseconds + Int64(minutes) * 60_000)
    let fraction = local.milliseconds.floorRemainder(by: 1000)
    var text = local.civilUTCSeconds
    if fraction != 0 { text += "." + padded(Int(fraction), 3) }
    if minutes == 0 { return text + "Z" }
    let magnitude = abs(minutes)
    return text + (minutes < 0 ? "-" : "+") + padded(magnitude / 60, 2) + ":"
      + padded(magnitude % 60, 2)
  }

  /// The instant in RFC 3339 format in UTC, always with milliseconds. The fixed width makes instants sortable as text.
  public var rfc3339Milliseconds: String {
    civilUTCSeconds + "." + padded(Int(milliseconds.floorRemainder(by: 1000)), 3) + "Z"
  }

  private var civilUTCSeconds: String {
    let day = seconds.floorDivided(by: 86_400)
    let second = Int(seconds.floorRemainder(by: 86_400))
    return CivilDate(dayNumber: Int(day)).description + "T" + padded(second / 3600, 2) + ":"
      + padded(second / 60 % 60, 2) + ":" + padded(second % 60, 2)
  }

  /// Creates an instant from RFC 3339 text, such as `2026-11-20T22:41:00Z` or with an offset; nil for any other text.
  public init?(rfc3339 text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: "t"),
      let date = CivilDate(String(decoding: bytes[0..<10], as: UTF8.self)),
      bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
      let hour = decimal(bytes[11..<13]), let minute = decimal(bytes[14..<16]),
      let second = decimal(bytes[17..<19]), hour < 24, minute < 60, second < 60
    else { return nil }
    var index = 19
    var fraction = 0
    if bytes[index] == UInt8(ascii: ".") {
      let digits = bytes[(index + 1)...].prefix { isDigit($0) }
      guard (1...9).contains(digits.count) else { return nil }
      var thousandths = digits.prefix(3).map { Int($0 - UInt8(ascii: "0")) }
      while thousandths.count < 3 { thousandths.append(0) }
      fraction = thousandths[0] * 100 + thousandths[1] * 10 + thousandths[2]
      index += 1 + digits.count
    }
    guard index < bytes.count else { return nil }
    var offset = 0
    switch bytes[index] {
    case UInt8(ascii: "Z"), UInt8(ascii: "z"):
      guard index + 1 == bytes.count else { return nil }
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      guard index + 6 == bytes.count, bytes[index + 3] == UInt8(ascii: ":"),
        let hours = decimal(bytes[(index + 1)..<(index + 3)]),
        let minutes = decimal(bytes[(index + 4)..<(index + 6)]), hours < 24, minutes < 60
      else { return nil }
      offset = (hours * 60 + minutes) * 60
      if bytes[index] == UInt8(ascii: "-") { offset = -offset }
    default: return nil
    }
    let local = Int64(date.dayNumber) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    self.init(milliseconds: (local - Int64(offset)) * 1000 + Int64(fraction))
  }
}

extension Instant: CustomStringConvertible {
  /// The instant in RFC 3339 format in UTC.
  public var description: String { rfc3339 }
}
