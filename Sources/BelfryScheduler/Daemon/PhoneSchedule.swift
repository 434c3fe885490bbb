import BelfryCore
import BelfryPhone
import BelfryStore
import Files
import Git
import Glibc

/// The schedule of `belfry phone sync`, which brings the store and the folder of the phone's tasks together. One runs at a
/// time, soon after each change on either side.
struct PhoneSchedule {
  private var configuration: PhoneConfiguration?
  /// The configuration file at the last check; nil without one.
  private var signature: FileSignature?
  private var watch: PhoneFolderWatch?
  private var isRunning = false
  private var due: Instant?
  private var failures: Int64 = 0
  /// The end of the rest of deletions that a run may have noticed, at which another one is due; nil for none.
  private var restEnd: Instant?

  /// The delay between a change and the run, in milliseconds. Several files may change together.
  private static let delay: Int64 = 10
  /// The time after which deletions that a run has noticed have rested, in seconds.
  private static let rest = PhoneSync.backgroundRest + 1
  /// The time between two runs without a change, in seconds: tasks come into the horizon.
  private static let interval: Int64 = 3600
  /// The same time for a folder whose changes the kernel does not report.
  private static let shortInterval: Int64 = 60

  /// The time of the next run; nil if none is needed or one runs.
  var nextWake: Instant? { isRunning ? nil : due }

  /// Reads the configuration if it has changed. Watches the folder.
  mutating func update(
    _ store: Store, at now: Instant, send: @escaping @Sendable () -> Void
  ) {
    var status = stat()
    let found = stat(PhoneConfiguration.path(of: store), &status) == 0
    let signature = found ? FileSignature(status) : nil
    if signature == self.signature { return }
    self.signature = signature
    configuration = PhoneConfiguration.read(of: store)
    let before = watch
    watch = configuration.flatMap { PhoneFolderWatch($0.folder, send: send) }
    // Deletions from before the start rest first.
    restEnd =
      configuration == nil ? nil : now.adding(seconds: PhoneSchedule.rest)
    // Without a folder to watch, the next attempt comes later.
    if watch != nil || before != nil || due == nil { due = configuration == nil ? nil : now }
  }

  /// Forgets the configuration, for another store.
  mutating func forget() { self = PhoneSchedule() }

  /// Requests a run, because the phone has changed the folder. A second one follows: deletions rest before they count.
  mutating func requestForPhone(at now: Instant) {
    restEnd = now.adding(seconds: PhoneSchedule.rest)
    request(at: now)
  }

  /// Requests a run, because the store has changed.
  mutating func request(at now: Instant) {
    guard configuration != nil else { return }
    let soon = Instant(milliseconds: now.milliseconds + PhoneSchedule.delay)
    due = due.map { min($0, soon) } ?? soon
  }

  /// Makes the next run due now, after the clock was set.
  mutating func reset(to now: Instant) { if configuration != nil { due = now } }

  /// Starts a run if one is due. Returns true if it has to start.
  mutating func start(at now: Instant) -> Bool {
    guard !isRunning, let due, due <= now else { return false }
    self.due = nil
    if let end = restEnd, end <= now { restEnd = nil }
    isRunning = true
    return true
  }

  /// Records the end of a run. A failed one is repeated after 4 s, then with exponential back-off up to 5 min.
  mutating func finish(failed: Bool, at now: Instant) {
    isRunning = false
    guard let configuration else { return }
    failures = failed ? failures + 1 : 0
    // A folder that was missing is another one when it is back.
    if watch?.isInPlace != true { signature = nil }
    if failed {
      let delay = min(Int64(300_000), 2_000 << min(failures, 8))
      let retry = Instant(milliseconds: now.milliseconds + delay)
      due = due.map { min($0, retry) } ?? retry
      return
    }
    let isReported = watch != nil && !RepositoryFolder.isShared(configuration.folder)
    let pause = isReported ? PhoneSchedule.interval : PhoneSchedule.shortInterval
    let next = min(now.adding(seconds: pause), restEnd ?? .distantFuture)
    due = due.map { min($0, next) } ?? next
  }
}
