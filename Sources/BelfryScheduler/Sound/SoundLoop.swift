import Git
import Glibc
import Synchronization

/// Plays a sound again and again until it is cancelled: the noise of one alarm.
///
/// One at a time on a machine: others wait until it is over, as two sounds at once are one that nobody knows.
public struct SoundLoop: Sendable {
  public let sound: Sound
  /// Begins softly.
  public let isRising: Bool
  /// Where the one that plays holds its lock; nil without such a place.
  public let lock: String?

  public init(_ sound: Sound, isRising: Bool, lock: String?) {
    self.sound = sound
    self.isRising = isRising
    self.lock = lock
  }

  /// How long it takes from the softest to the loudest, in seconds.
  private static let rise = 60.0
  /// So often a sound is tried that was never heard to its end.
  private static let mostFailures = 3
  /// The softest, of the loudest.
  private static let softest = 0.1

  /// How loud it is after some seconds, from 0 to 1: twice as loud to the ear in equal times.
  static func level(after seconds: Double) -> Double {
    seconds >= rise ? 1 : softest * pow(1 / softest, max(0, seconds) / rise)
  }

  /// Plays until the task is cancelled; returns why it could not, in words, when the first try fails.
  ///
  /// - Parameter heard: is called once there is something to be heard.
  public func run(
    _ player: SoundPlayer, heard: @escaping @Sendable () -> Void
  ) async -> String? {
    var player = player
    let turn = lock.flatMap { Turn($0) }
    let once = Once(heard)
    if let turn, !turn.take() {
      // Another one is heard already.
      once.call()
      while !turn.take() {
        do { try await Task.sleep(for: .milliseconds(300)) } catch { return nil }
      }
    }
    let start = ContinuousClock.now
    var failures = 0
    var hasPlayed = false
    while !Task.isCancelled {
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      let level = isRising ? SoundLoop.level(after: seconds) : 1
      let end = ContinuousClock.now + .seconds(sound.duration)
      let reason = await player.play(sound, level: level)
      if let reason {
        failures += 1
        // However slowly it fails: what was never played to its end was never heard.
        if !hasPlayed, !once.isCalled || failures == SoundLoop.mostFailures { return reason }
        // The sound server may come back.
        do { try await Task.sleep(for: .seconds(2)) } catch { return nil }
      } else {
        hasPlayed = true
        once.call()
        // A player that writes somewhere, or only hands over, is faster than the sound.
        do { try await Task.sleep(until: end) } catch { return nil }
      }
    }
    return nil
  }

  /// Something that is said once.
  private final class Once: Sendable {
    private let called = Atomic(false)
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }

    var isCalled: Bool { called.load(ordering: .relaxed) }

    func call() {
      if !called.exchange(true, ordering: .relaxed) { body() }
    }
  }

  /// The right to make noise: gone with the process.
  private final class Turn: Sendable {
    private let file: Int32

    init?(_ path: String) {
      file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      if file < 0 { return nil }
    }

    deinit { close(file) }

    func take() -> Bool { flock(file, LOCK_EX | LOCK_NB) == 0 }
  }
}
