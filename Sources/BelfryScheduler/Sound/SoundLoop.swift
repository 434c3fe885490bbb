import Files
import Glibc
import Synchronization

/// A sound that repeats until its task is canceled.
///
/// A lock file keeps two loops on one machine from playing at the same time. Other loops wait until it is released.
public struct SoundLoop: Sendable {
  /// The sound.
  public let sound: Sound
  /// True if the volume starts low and rises.
  public let isRising: Bool
  /// The path of the lock file; nil to play without a lock.
  public let lock: String?
  /// The unmuting of the output while this loop sounds; nil to leave the output as it is.
  public let unmuting: OutputUnmuting?

  /// Creates a loop. It does not play yet.
  public init(_ sound: Sound, isRising: Bool, lock: String?, unmuting: OutputUnmuting? = nil) {
    self.unmuting = unmuting
    self.sound = sound
    self.isRising = isRising
    self.lock = lock
  }

  /// The time from the lowest to the full volume, in seconds.
  private static let rampDuration = 60.0
  /// The number of failures after which a loop that has waited for another one gives up, if it never played.
  private static let maxFailures = 3
  /// The lowest volume, as a fraction of the full volume.
  private static let minLevel = 0.1

  /// Returns the volume from 0 to 1 after some seconds. It rises exponentially, since hearing is logarithmic.
  static func level(after seconds: Double) -> Double {
    seconds >= rampDuration ? 1 : minLevel * pow(1 / minLevel, max(0, seconds) / rampDuration)
  }

  /// Plays the sound until the task is canceled.
  ///
  /// Once the sound has been played completely, failures are retried after 2 s without limit.
  ///
  /// - Parameter heard: called once, when this loop has played the sound completely or another loop holds the lock.
  /// - Returns: The reason of the failure if the sound was never audible; nil after cancellation.
  public func run(
    _ player: SoundPlayer, heard: @escaping @Sendable () -> Void
  ) async -> String? {
    let lock = lock.flatMap { SoundLoop.lock(at: $0) }
    let once = Once(heard)
    if let lock, !lock.tryLock() {
      // Another loop is audible.
      once.call()
      while !lock.tryLock() {
        do { try await Task.sleep(for: .milliseconds(300)) } catch { return nil }
      }
    }
    defer { withExtendedLifetime(lock) {} }
    guard var unmuting else { return await play(player, once) { _ in } }
    unmuting.reload()
    let shared = Unmuting(unmuting)
    let reason = await play(player, once) { await shared.check(hasFailed: $0) }
    // In a canceled task, no command could run. The next loop waits, because this one still has the lock.
    await Task.detached { await shared.restore() }.value
    return reason
  }

  /// Restores the levels of outputs that a killed process has left changed, unless an alarm sounds.
  ///
  /// - Parameter path: the path of the lock file.
  public static func restore(_ unmuting: OutputUnmuting, lock path: String) async {
    guard let lock = SoundLoop.lock(at: path), lock.tryLock() else { return }
    var unmuting = unmuting
    unmuting.reload()
    await unmuting.restore()
    withExtendedLifetime(lock) {}
  }

  /// Plays the sound until the task is canceled.
  ///
  /// - Parameter prepare: called before each repetition, with true if the one before has failed.
  private func play(
    _ player: SoundPlayer, _ once: Once, _ prepare: @Sendable (_ hasFailed: Bool) async -> Void
  ) async -> String? {
    var player = player
    let start = ContinuousClock.now
    var failures = 0
    var hasPlayed = false
    var hasFailed = false
    while !Task.isCancelled {
      await prepare(hasFailed)
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      let level = isRising ? SoundLoop.level(after: seconds) : 1
      let end = ContinuousClock.now + .seconds(sound.duration)
      let reason = await player.play(sound, level: level)
      hasFailed = reason != nil
      if let reason {
        failures += 1
        // A sound that was never played to its end counts as not heard, however long the player ran.
        if !hasPlayed, !once.isCalled || failures == SoundLoop.maxFailures { return reason }
        // The sound server may restart.
        do { try await Task.sleep(for: .seconds(2)) } catch { return nil }
      } else {
        hasPlayed = true
        once.call()
        // A player that only queues the sound ends before the sound does.
        do { try await Task.sleep(until: end) } catch { return nil }
      }
    }
    return nil
  }

  /// The unmuting that the sound and the restoration share.
  private actor Unmuting {
    private var unmuting: OutputUnmuting

    init(_ unmuting: OutputUnmuting) { self.unmuting = unmuting }

    func check(hasFailed: Bool) async {
      var changed = unmuting
      if hasFailed { changed.forgetChecks() }
      await changed.check()
      unmuting = changed
    }

    func restore() async {
      var changed = unmuting
      await changed.restore()
      unmuting = changed
    }
  }

  /// A callback that is called at most once.
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

  /// Opens a lock file. Returns nil if it cannot be opened.
  private static func lock(at path: String) -> FileLock? { try? FileLock(path, mode: 0o600) }
}

extension FileLock {
  /// Acquires the lock. Returns false if another process holds it, or if the file cannot be locked.
  fileprivate func tryLock() -> Bool { (try? lock(timeout: 0)) ?? false }
}
