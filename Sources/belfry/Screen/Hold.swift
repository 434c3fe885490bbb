/// A key that must be held for a while.
///
/// Where the terminal tells when a key is released, that ends it. Elsewhere the key's own repeating tells that
/// it is held: it must begin soon, and must not stop.
struct Hold {
  /// How long, in milliseconds.
  static let length: Int64 = 3000
  /// How long keyboards wait before a held key repeats, at most, and then between two repeats.
  static let firstRepeat: Int64 = 800
  static let nextRepeat: Int64 = 350

  let seesReleases: Bool
  private var pressed: Int64?
  private var repeats = 0
  /// The last moment at which the key is known to have been held.
  private var held: Int64 = 0

  /// A key that was held before this began has to be let go first.
  private var isStale: Bool

  /// - Parameter afterHold: the key may still be held from the time before.
  init(seesReleases: Bool, afterHold: Bool = false) {
    self.seesReleases = seesReleases
    isStale = afterHold
  }

  /// The key was pressed, or repeated.
  mutating func press(at now: Int64) {
    advance(to: now)
    if isStale {
      held = now
      return
    }
    if pressed == nil {
      pressed = now
      repeats = 0
    } else {
      repeats += 1
    }
    held = now
  }

  mutating func release() {
    pressed = nil
    isStale = false
  }

  /// Lets time pass: without releases, a key that no longer repeats is one that was let go.
  mutating func advance(to now: Int64) {
    if isStale, !seesReleases {
      if held == 0 { held = now }
      if now - held > Hold.nextRepeat { isStale = false }
      return
    }
    guard pressed != nil else { return }
    if seesReleases {
      held = now
    } else if now - held > (repeats == 0 ? Hold.firstRepeat : Hold.nextRepeat) {
      pressed = nil
    }
  }

  /// How much of the time has passed, 0…1.
  func progress(at now: Int64) -> Double {
    guard let pressed else { return 0 }
    return min(1, max(0, Double(now - pressed) / Double(Hold.length)))
  }

  /// Whether the key is known to have been held long enough.
  var isComplete: Bool { pressed.map { held - $0 >= Hold.length } ?? false }
}
