/// A timestamp of a hybrid logical clock, which orders the edits of a field across devices.
///
/// The text form is `<time>-<counter>-<device>`, followed by `-<generation>` if that is not 0. A device's next stamp is
/// later than every stamp that it has seen in the record, whatever its wall clock shows (Kulkarni et al., "Logical
/// Physical Clocks", 2014).
///
/// The generation extends that algorithm. A device with a wrong clock can create a stamp that lies in the future. The next
/// edit on a device with another clock does not continue from that time: it starts a new generation with the time of its
/// own device. It overrides the wrong stamp, and later edits are again ordered by true time.
public struct Stamp: Hashable, Comparable, Sendable {
  /// The time of the edit, or a later time that the device had seen.
  public let time: Instant
  /// The position among the edits of one time, 0…9999.
  public let counter: Int
  /// The device that made the edit.
  public let device: Identifier
  /// The number of edits that had to override a stamp from the future. A later generation is later, whatever its
  /// time.
  public let generation: Int

  /// Creates a stamp from its parts.
  public init(time: Instant, counter: Int = 0, device: Identifier, generation: Int = 0) {
    self.time = time
    self.counter = counter
    self.device = device
    self.generation = generation
  }

  /// Returns the stamp of an edit at `now`, which is later than `seen`.
  public static func next(after seen: Stamp?, now: Instant, device: Identifier) -> Stamp {
    guard let seen else { return Stamp(time: now, device: device) }
    let next = following(seen, now: now, device: device)
    assert(next > seen || seen.generation >= maxGeneration, "stamps ascend")
    return next
  }

  private static func following(_ seen: Stamp, now: Instant, device: Identifier) -> Stamp {
    let generation = seen.generation
    if seen.time.isImplausible(at: now) {
      return Stamp(
        time: now, device: device, generation: min(generation + 1, maxGeneration))
    }
    if seen.time < now { return Stamp(time: now, device: device, generation: generation) }
    return seen.counter < 9999
      ? Stamp(
        time: seen.time, counter: seen.counter + 1, device: device, generation: generation)
      : Stamp(
        time: Instant(milliseconds: seen.time.milliseconds + 1), device: device,
        generation: generation)
  }

  /// Returns the first stamp after another one, or the earliest stamp if there is none.
  ///
  /// - Parameter owner: the device of the earliest stamp.
  static func first(after stamp: Stamp?, of owner: Identifier) -> Stamp {
    guard let stamp else { return Stamp(time: Instant(seconds: 0), device: owner) }
    return next(after: stamp, now: stamp.time, device: stamp.device)
  }

  /// The maximum generation. No store reaches it, and a larger number does not parse.
  private static let maxGeneration = 999_999_999

  /// Returns true if `a` is earlier than `b`: by generation, then by time, counter and device.
  public static func < (a: Stamp, b: Stamp) -> Bool {
    (a.generation, a.time, a.counter, a.device) < (b.generation, b.time, b.counter, b.device)
  }
}

extension Instant {
  /// The time in seconds by which another device's clock may be ahead: two minutes. A time that is further ahead is
  /// implausible, and nothing believes it until it has come.
  public static let tolerance: Int64 = 120

  /// Returns true if the time lies so far ahead of `now` that the clock that recorded it must have been wrong.
  ///
  /// - Parameter now: the time on this device.
  public func isImplausible(at now: Instant) -> Bool {
    self > now.adding(seconds: Instant.tolerance)
  }
}

extension Stamp: CustomStringConvertible {
  /// The stamp as text, such as `2026-11-20T22:41:00.123Z-0000-k7q2m4…`.
  public var description: String {
    "\(time.rfc3339Milliseconds)-\(padded(counter, 4))-\(device)"
      + (generation == 0 ? "" : "-\(generation)")
  }

  /// Creates a stamp from the text of `description`; nil for any other text.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    let end = 30 + Identifier.length
    guard bytes.count >= end, bytes[24] == UInt8(ascii: "-"), bytes[29] == UInt8(ascii: "-"),
      let time = Instant(rfc3339: String(decoding: bytes[..<24], as: UTF8.self)),
      let counter = decimal(bytes[25..<29]),
      let device = Identifier(String(decoding: bytes[30..<end], as: UTF8.self))
    else { return nil }
    var generation = 0
    if bytes.count > end {
      guard bytes[end] == UInt8(ascii: "-"), bytes.count <= end + 10,
        bytes.count > end + 1, bytes[end + 1] != UInt8(ascii: "0"),
        let number = decimal(bytes[(end + 1)...])
      else { return nil }
      generation = number
    }
    self.init(time: time, counter: counter, device: device, generation: generation)
  }
}
