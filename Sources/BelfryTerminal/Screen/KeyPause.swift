/// The pause after which the keys of a screen count.
///
/// An alarm that comes up by itself may take the keyboard from another program, or from the alarm before it. A key that
/// the user types at that moment is not meant for it. Keys therefore count once none came for `length`. In tmux, a message
/// can hide the screen at first, and the pause begins after it.
package struct KeyPause {
  /// The length of the pause, in milliseconds.
  package static let length: Int64 = 2000

  /// The time of the last key, or of the start; nil once the pause is over.
  private var since: Int64?

  /// Starts a pause.
  ///
  /// - Parameters:
  ///   - now: the time, in milliseconds.
  ///   - isNeeded: false if keys count at once.
  ///   - hidden: the time for which the screen may not be visible, in milliseconds.
  package init(at now: Int64, isNeeded: Bool = true, hidden: Int64 = 0) {
    since = isNeeded ? now + hidden : nil
  }

  /// True once keys count.
  package var isOver: Bool { since == nil }

  /// Takes the result of a read from the terminal. Returns true if its keys count.
  ///
  /// Only a read without input ends the pause: after a delay of this process, a read returns keys that are older.
  ///
  /// - Parameters:
  ///   - hasInput: true if the terminal sent something, such as the repeat or the release of a key.
  ///   - now: the time of the read, in milliseconds.
  package mutating func admits(hasInput: Bool, at now: Int64) -> Bool {
    guard let start = since else { return true }
    if hasInput {
      since = max(start, now)
    } else if now - start >= KeyPause.length {
      since = nil
    }
    return false
  }
}
