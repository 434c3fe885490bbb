import BelfryCore
import BelfryStore
import CLinux
import Files
import Glibc

/// Reports each change at the path of a store to a front end that stays open: of the store's files, of its scheduler, and of
/// the folder itself, which can be replaced, disappear or appear.
///
/// A thread sleeps between the changes; see `StatusWatch`.
public final class StoreObserver: Sendable {
  private let end: Int32

  /// The number of looks at a missing store after a change on the way to it, and the time between two of them in
  /// milliseconds. A new store is complete some time after its folder appears.
  private static let looks = 20
  private static let lookInterval: Int64 = 250
  /// The time between two reports if the kernel does not see all changes, in seconds.
  private static let interval: Int64 = 30

  /// Observes a path. Changes from now on are reported.
  ///
  /// - Parameters:
  ///   - path: The path of the store.
  ///   - now: Returns the time of the system's clock.
  ///   - open: Opens the store at the path with the present time. Returns nil if there is none.
  ///   - changed: Called after each change, on the observer's thread. What is read then is not older than the change.
  /// - Throws: `FileError` if the path cannot be watched.
  public init(
    path: String, now: @escaping @Sendable () -> Instant, open: @escaping @Sendable () -> Store?,
    changed: @escaping @Sendable () -> Void
  ) throws(FileError) {
    var ends: [Int32] = [-1, -1]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { throw FileError("create", "a pipe") }
    let (read, write) = (ends[0], ends[1])
    do throws(FileError) {
      let watch = try StatusWatch(path: path, output: write)
      let store = open()
      _ = try watch.watch(store)
      let follower = Follower(watch: watch, now: now, open: open, changed: changed, store: store)
      // Sound: only the thread uses the watch from here on.
      nonisolated(unsafe) let transferred = follower
      BackgroundThread.start {
        var follower = transferred
        follower.run()
        close(write)
      }
      end = read
    } catch {
      close(read)
      close(write)
      throw error
    }
  }

  deinit { close(end) }

  /// The state of the thread.
  private struct Follower {
    let watch: StatusWatch
    let now: @Sendable () -> Instant
    let open: @Sendable () -> Store?
    let changed: @Sendable () -> Void
    var hasStore: Bool
    var scheduler: SchedulerState?
    /// The number of looks that are left.
    var looks = 0

    init(
      watch: StatusWatch, now: @escaping @Sendable () -> Instant,
      open: @escaping @Sendable () -> Store?, changed: @escaping @Sendable () -> Void,
      store: Store?
    ) {
      (self.watch, self.now, self.open, self.changed) = (watch, now, open, changed)
      hasStore = store != nil
      scheduler = store.map { SchedulerState($0) }
    }

    /// Reports changes until the observer is released.
    mutating func run() {
      while true {
        let wake = watch.wait(until: deadline)
        if wake == .closed { return }
        let store = open()
        // The watch comes first, so that no change between it and the reading is lost.
        let isNew = (try? watch.watch(store)) ?? true
        let scheduler = store.map { SchedulerState($0) }
        let isSame = self.scheduler == scheduler && !isNew
        defer { (self.scheduler, hasStore) = (scheduler, store != nil) }
        looks = store != nil ? 0 : looks > 0 ? looks - 1 : StoreObserver.looks
        if store == nil, !hasStore { continue }
        if wake == .scheduler, isSame { continue }
        changed()
      }
    }

    /// The time of the next look without a change; nil for none.
    private var deadline: Instant? {
      if looks > 0 { return Instant(milliseconds: now().milliseconds + StoreObserver.lookInterval) }
      return watch.seesAllChanges ? nil : now().adding(seconds: StoreObserver.interval)
    }
  }
}
