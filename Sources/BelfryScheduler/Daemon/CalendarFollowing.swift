import BelfryCore
import BelfryStore
import Files

/// The times at which the daemon refreshes the calendars that this device follows. One refresh runs at a time.
///
/// A file or folder is refreshed when it has changed, and a URL at its interval.
struct CalendarFollowing {
  private let watch: CalendarWatch
  private var isRunning = false
  private var due: Instant?
  /// The folder of the subscriptions as it was when they were read; nil if it must be read.
  private var known: FileSignature??

  /// The time between two checks of a file or folder that is not watched, in seconds: it is missing, or another machine
  /// writes it.
  private static let checkInterval: Int64 = 60
  /// The time between two checks of one that is watched, in seconds.
  private static let watchedInterval: Int64 = 6 * 3_600
  /// The shortest time between two refreshes of URLs, in seconds.
  private static let shortestWait: Int64 = 30

  /// Creates the schedule. It reads nothing yet.
  ///
  /// - Parameter changed: is called when a watched file or folder has changed, on any thread.
  init(changed: @escaping @Sendable () -> Void) {
    watch = CalendarWatch(changed: changed)
  }

  /// The time of the next refresh; nil if none is needed or one runs.
  var nextWake: Instant? { isRunning ? nil : due }

  /// Records that a watched file or folder has changed.
  mutating func recordChange(at now: Instant) { due = now }

  /// Determines the next refresh again, after the clock was set.
  mutating func reset(to now: Instant) {
    known = nil
    // A change that was reported stays due.
    if let time = due, time > now { due = nil }
  }

  /// Starts a refresh if one is due. Returns true if it has to start.
  mutating func start(_ store: Store, at now: Instant) -> Bool {
    readIfChanged(store, at: now)
    guard !isRunning, let due, due <= now else { return false }
    self.due = nil
    isRunning = true
    return true
  }

  /// Records the end of a refresh. A change during the refresh causes another one.
  mutating func finish(_ store: Store, at now: Instant) {
    isRunning = false
    let requested = due
    // A refresh that failed before it recorded anything must not start again and again.
    read(store, at: now, notBefore: now.adding(seconds: CalendarFollowing.shortestWait))
    if let requested { due = due.map { min($0, requested) } ?? requested }
  }

  /// Ends the watches.
  func stop() { watch.stop() }

  private mutating func readIfChanged(_ store: Store, at now: Instant) {
    let signature = SubscriptionFolder(store).signature
    if isRunning || known == .some(signature) { return }
    let requested = due
    read(store, at: now, notBefore: now)
    if let requested { due = due.map { min($0, requested) } ?? requested }
  }

  /// Reads the subscriptions, and watches their files.
  ///
  /// - Parameter earliest: The earliest time of the next refresh, unless a file was not watched before.
  private mutating func read(_ store: Store, at now: Instant, notBefore earliest: Instant) {
    let folder = SubscriptionFolder(store)
    known = .some(folder.signature)
    let subscriptions = folder.all()
    let (unwatched, isNew) = watch.watch(subscriptions.map(\.source))
    let times = subscriptions.map { subscription -> Instant in
      guard let checkedAt = subscription.checkedAt else { return earliest }
      guard subscription.source.path != nil else {
        return subscription.isDue(at: now) ? earliest : max(earliest, subscription.nextFetch ?? now)
      }
      // The command compares the signature of the files.
      if isNew { return now }
      let interval =
        unwatched.contains(subscription.source)
        ? CalendarFollowing.checkInterval : CalendarFollowing.watchedInterval
      return max(checkedAt, now).adding(seconds: interval)
    }
    due = times.min()
  }
}
