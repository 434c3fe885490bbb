/// A hybrid logical clock's reading: it orders the edits of a field over all devices.
///
/// `<time>-<counter>-<device>`; time has a fixed width, so stamps sort as text too. A device's next
/// stamp is later than every stamp that it has seen, whatever its wall clock says
/// (Kulkarni et al., "Logical Physical Clocks", 2014).
public struct Stamp: Hashable, Comparable, Sendable {
  public let time: Instant
  /// Tells edits of one moment apart, 0…9999.
  public let counter: Int
  public let device: Identifier

  public init(time: Instant, counter: Int = 0, device: Identifier) {
    self.time = time
    self.counter = counter
    self.device = device
  }

  /// The stamp of an edit made now, later than `seen`.
  public static func next(after seen: Stamp?, now: Instant, device: Identifier) -> Stamp {
    guard let seen, seen.time >= now else { return Stamp(time: now, device: device) }
    return seen.counter < 9999
      ? Stamp(time: seen.time, counter: seen.counter + 1, device: device)
      : Stamp(time: Instant(milliseconds: seen.time.milliseconds + 1), device: device)
  }

  public static func < (a: Stamp, b: Stamp) -> Bool {
    (a.time, a.counter, a.device) < (b.time, b.counter, b.device)
  }
}

extension Stamp: CustomStringConvertible {
  /// `2026-11-20T22:41:00.123Z-0000-k7q2m4…`.
  public var description: String {
    "\(time.rfc3339Milliseconds)-\(padded(counter, 4))-\(device)"
  }

  /// Reads what `description` writes; nil for anything else.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 24 + 1 + 4 + 1 + Identifier.length, bytes[24] == UInt8(ascii: "-"),
      bytes[29] == UInt8(ascii: "-"),
      let time = Instant(rfc3339: String(decoding: bytes[..<24], as: UTF8.self)),
      let counter = decimal(bytes[25..<29]),
      let device = Identifier(String(decoding: bytes[30...], as: UTF8.self))
    else { return nil }
    self.init(time: time, counter: counter, device: device)
  }
}
