/// The state of a key that must be held for a while.
///
/// A terminal that reports key releases ends the hold with one. Otherwise the key counts as held while it repeats: the
/// first repeat must come within `firstRepeat`, each further one within `nextRepeat`.
package struct Hold {
  /// The time that the key must be held, in milliseconds.
  package static let length: Int64 = 3000
  /// The maximum time before a held key repeats, in milliseconds.
  package static let firstRepeat: Int64 = 800
  /// The maximum time between two repeats, in milliseconds.
  package static let nextRepeat: Int64 = 350

  /// True if the terminal reports key releases.
  package let seesReleases: Bool
  private var pressed: Int64?
  private var repeats = 0
  /// The last moment at which the key is known to have been held.
  private var held: Int64 = 0

  /// - Parameter seesReleases: true if the terminal reports key releases.
  package init(seesReleases: Bool) {
    self.seesReleases = seesReleases
  }

  /// Records that the key was pressed or repeated.
  package mutating func press(at now: Int64) {
    advance(to: now)
    if pressed == nil {
      pressed = now
      repeats = 0
    } else {
      repeats += 1
    }
    held = now
  }

  /// Records that the key was released.
  package mutating func release() {
    pressed = nil
  }

  /// Advances the time. Without reported releases, a key that no longer repeats counts as released.
  package mutating func advance(to now: Int64) {
    guard pressed != nil else { return }
    if seesReleases {
      held = now
    } else if now - held > (repeats == 0 ? Hold.firstRepeat : Hold.nextRepeat) {
      pressed = nil
    }
  }

  /// Returns the completed share of the hold, 0…1.
  package func progress(at now: Int64) -> Double {
    guard let pressed else { return 0 }
    return min(1, max(0, Double(now - pressed) / Double(Hold.length)))
  }

  /// True while the key counts as held.
  package var isHeld: Bool { pressed != nil }

  /// True if the key has been held long enough.
  package var isComplete: Bool { pressed.map { held - $0 >= Hold.length } ?? false }
}
