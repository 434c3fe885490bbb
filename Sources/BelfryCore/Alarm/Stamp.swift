/// A hybrid logical clock's reading: it orders the edits of a field over all devices.
///
/// `<time>-<counter>-<device>`, and `-<generation>` behind it where that is not 0. A device's next stamp is later
/// than every stamp of the record that it has seen, whatever its wall clock says
/// (Kulkarni et al., "Logical Physical Clocks", 2014).
///
/// A device with a wrong year makes stamps that lie far ahead of true time. Who edits after one of those does not
/// go on from its time, as the algorithm has it, but begins a new generation, with the time as it is here: the
/// wrong stamp is overruled by the next edit, and the edits after it are ordered by true time again.
public struct Stamp: Hashable, Comparable, Sendable {
  public let time: Instant
  /// Tells edits of one moment apart, 0…9999.
  public let counter: Int
  public let device: Identifier
  /// How often an edit had to overrule a stamp that lay far ahead: a later generation is later, whatever its
  /// time.
  public let generation: Int

  public init(time: Instant, counter: Int = 0, device: Identifier, generation: Int = 0) {
    self.time = time
    self.counter = counter
    self.device = device
    self.generation = generation
  }

  /// The stamp of an edit made now, later than `seen`.
  public static func next(after seen: Stamp?, now: Instant, device: Identifier) -> Stamp {
    guard let seen else { return Stamp(time: now, device: device) }
    let generation = seen.generation
    if seen.time.isImplausible(at: now) {
      return Stamp(
        time: now, device: device, generation: min(generation + 1, largestGeneration))
    }
    if seen.time < now { return Stamp(time: now, device: device, generation: generation) }
    return seen.counter < 9999
      ? Stamp(
        time: seen.time, counter: seen.counter + 1, device: device, generation: generation)
      : Stamp(
        time: Instant(milliseconds: seen.time.milliseconds + 1), device: device,
        generation: generation)
  }

  /// The first stamp after another; after none the first of all.
  ///
  /// - Parameter owner: whose that is then.
  static func first(after stamp: Stamp?, of owner: Identifier) -> Stamp {
    guard let stamp else { return Stamp(time: Instant(seconds: 0), device: owner) }
    return next(after: stamp, now: stamp.time, device: stamp.device)
  }

  /// No store comes near it; what is above is no stamp.
  private static let largestGeneration = 999_999_999

  public static func < (a: Stamp, b: Stamp) -> Bool {
    (a.generation, a.time, a.counter, a.device) < (b.generation, b.time, b.counter, b.device)
  }
}

extension Instant {
  /// How far ahead of its own a device lets another's clock be, in seconds: a day.
  public static let tolerance: Int64 = 86_400

  /// Whether nothing can have happened then yet: the clock of whoever says so was wrong.
  ///
  /// - Parameter now: the time on this device.
  public func isImplausible(at now: Instant) -> Bool {
    self > now.adding(seconds: Instant.tolerance)
  }
}

extension Stamp: CustomStringConvertible {
  /// `2026-11-20T22:41:00.123Z-0000-k7q2m4…`.
  public var description: String {
    "\(time.rfc3339Milliseconds)-\(padded(counter, 4))-\(device)"
      + (generation == 0 ? "" : "-\(generation)")
  }

  /// Reads what `description` writes; nil for anything else.
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
