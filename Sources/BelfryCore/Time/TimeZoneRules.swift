// Reads TZif files here, because the rules for gaps and folds need the transitions themselves. Foundation's `TimeZone`
// doesn't expose them, reads no POSIX rules, and its data would delay the start of each command. The C library has one
// zone per process, and Belfry converts times of many zones on several threads.

/// The offsets of one time zone through time, from a TZif file (RFC 9636).
///
/// A pure value: the caller reads the file and passes its bytes. Belfry uses the system's tzdata, so that a package
/// update brings new rules to every device.
public struct TimeZoneRules: Sendable, Equatable {
  /// The name of the zone, such as `Europe/Berlin`.
  public let name: String

  /// The times of transitions in seconds since the epoch, in ascending order. `offsets[i + 1]` applies from
  /// `transitions[i]` on, and `offsets[0]` before the first one.
  private let transitions: [Int64]
  private let offsets: [Int32]
  /// The rule that applies after the last transition; nil if the last offset stays.
  private let tail: PosixRule?

  /// Creates a zone with a constant offset, in seconds east of UTC.
  public init(name: String, fixedOffset: Int = 0) {
    self.name = name
    transitions = []
    offsets = [Int32(fixedOffset)]
    tail = nil
  }

  /// Creates a zone from a POSIX TZ string such as `CET-1CEST,M3.5.0,M10.5.0/3`; nil if the string is not valid.
  public init?(name: String, posix rule: String) {
    guard let rule = PosixRule(rule) else { return nil }
    self.name = name
    transitions = []
    offsets = [Int32(rule.offset(at: 0))]
    tail = rule
  }

  /// Coordinated Universal Time.
  public static let utc = TimeZoneRules(name: "UTC")

  /// Creates a zone from text that `offsetName(at:)` returns, such as `UTC-08:00`; nil for any other text.
  public init?(offsetName text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 9, bytes.starts(with: "UTC".utf8), bytes[6] == UInt8(ascii: ":"),
      bytes[3] == UInt8(ascii: "+") || bytes[3] == UInt8(ascii: "-"),
      let hours = decimal(bytes[4..<6]), let minutes = decimal(bytes[7..<9]), hours <= 26,
      minutes < 60
    else { return nil }
    let seconds = (hours * 60 + minutes) * 60
    self.init(name: text, fixedOffset: bytes[3] == UInt8(ascii: "-") ? -seconds : seconds)
  }

  /// Returns the offset at an instant as a name for a zone that has none: `UTC-08:00`.
  public func offsetName(at instant: Instant) -> String {
    let minutes = offset(at: instant) / 60
    let magnitude = abs(minutes)
    return "UTC\(minutes < 0 ? "-" : "+")\(padded(magnitude / 60, 2)):\(padded(magnitude % 60, 2))"
  }

  /// The zone in which every civil time comes last: `UTC-12:00`.
  public static let farthestBehind = TimeZoneRules(name: "UTC-12:00", fixedOffset: -12 * 3600)

  /// Returns the offset in seconds east of UTC at an instant.
  public func offset(at instant: Instant) -> Int {
    let seconds = instant.seconds
    if let tail, transitions.isEmpty || seconds >= transitions[transitions.count - 1] {
      return tail.offset(at: seconds)
    }
    // The number of transitions at or before the instant is the index of its offset.
    return Int(offsets[transitions.prefixLength { $0 <= seconds }])
  }

  /// Returns the civil time at an instant, rounded down to the minute.
  public func civil(at instant: Instant) -> CivilDateTime {
    let local = instant.seconds + Int64(offset(at: instant))
    return CivilDateTime(minuteNumber: Int(local.floorDivided(by: 60)))
  }

  /// Returns the instant at which the wall clock shows a civil time.
  ///
  /// 1. A civil time that exists once: that instant.
  /// 2. A repeated civil time (clocks are set back): the first of the two instants.
  /// 3. A skipped civil time (clocks are set forward, or a day is left out): the first instant after the gap.
  public func instant(of civil: CivilDateTime) -> Instant {
    let local = Int64(civil.minuteNumber) * 60
    let before = Int64(offset(at: Instant(seconds: local - 86_400)))
    let after = Int64(offset(at: Instant(seconds: local + 86_400)))
    // A larger offset gives an earlier instant, so the first match is the first of the two.
    for candidate in [max(before, after), min(before, after)] {
      let moment = Instant(seconds: local - candidate)
      if Int64(offset(at: moment)) == candidate { return moment }
    }
    // No instant matches. The clocks jump between these two instants; a binary search finds the jump.
    var low = local - max(before, after)
    var high = local - min(before, after)
    while high - low > 1 {
      let middle = (low + high) / 2
      if middle + Int64(offset(at: Instant(seconds: middle))) < local {
        low = middle
      } else {
        high = middle
      }
    }
    return Instant(seconds: high)
  }
}

// MARK: Reading TZif

extension TimeZoneRules {
  /// Creates a zone from the bytes of a TZif file, version 1 to 4; nil if they are not valid.
  public init?(name: String, tzif bytes: [UInt8]) {
    guard let first = Header(bytes, at: 0) else { return nil }
    var header = first
    if first.version >= UInt8(ascii: "2") {
      // The second block repeats the first one with 64-bit times.
      guard let second = Header(bytes, at: first.end(timeSize: 4)) else { return nil }
      header = second
    }
    let timeSize = header.start == 0 ? 4 : 8
    let end = header.end(timeSize: timeSize)
    guard end <= bytes.count, header.types > 0 else { return nil }

    var position = header.start + Header.size
    func integer(at offset: Int, size: Int) -> Int64 {
      var value: Int64 = bytes[offset] & 0x80 != 0 ? -1 : 0
      for byte in bytes[offset..<(offset + size)] { value = value << 8 | Int64(byte) }
      return value
    }
    let times = (0..<header.transitions).map {
      integer(at: position + $0 * timeSize, size: timeSize)
    }
    position += header.transitions * timeSize
    let kinds = bytes[position..<(position + header.transitions)].map(Int.init)
    position += header.transitions
    let types = (0..<header.types).map { Int32(integer(at: position + $0 * 6, size: 4)) }
    guard kinds.allSatisfy({ $0 < types.count }),
      zip(times, times.dropFirst()).allSatisfy({ $0 < $1 })
    else { return nil }

    var tail: PosixRule?
    if timeSize == 8, end < bytes.count {
      let footer = bytes[(end + 1)...].prefix { $0 != UInt8(ascii: "\n") }
      if !footer.isEmpty {
        guard let rule = PosixRule(String(decoding: footer, as: UTF8.self)) else { return nil }
        tail = rule
      }
    }
    self.name = name
    transitions = times
    offsets = [types[0]] + kinds.map { types[$0] }
    assert(offsets.count == transitions.count + 1, "an offset applies before each transition")
    self.tail = tail
  }

  private struct Header {
    static let size = 44
    let start: Int
    let version: UInt8
    let universal: Int, standard: Int, leaps: Int, transitions: Int, types: Int, characters: Int

    init?(_ bytes: [UInt8], at start: Int) {
      guard bytes.count >= start + Header.size,
        Array(bytes[start..<(start + 4)]) == Array("TZif".utf8)
      else { return nil }
      self.start = start
      version = bytes[start + 4]
      let counts = (0..<6).map { index in
        bytes[(start + 20 + index * 4)..<(start + 24 + index * 4)].reduce(0) { $0 << 8 | Int($1) }
      }
      guard counts.allSatisfy({ $0 < 1 << 20 }) else { return nil }
      (universal, standard, leaps) = (counts[0], counts[1], counts[2])
      (transitions, types, characters) = (counts[3], counts[4], counts[5])
    }

    func end(timeSize: Int) -> Int {
      start + Header.size + transitions * (timeSize + 1) + types * 6 + characters
        + leaps * (timeSize + 4) + standard + universal
    }
  }
}
