import BelfryCore
import BelfryStore
import CLinux
import Dispatch
import Files
import Glibc

/// A subscription to the changes of a store, for a front end that stays open.
///
/// The kernel reports each change of a file at once, whoever makes it: a command, the daemon, a sync, an editor. Nothing
/// polls. A front end reads again what it shows:
///
/// ```swift
/// let changes = try StoreChanges(of: store)
/// for await kinds in changes.sets where kinds.contains(.alarms) { … }
/// ```
public final class StoreChanges: Sendable {
  /// Something that has changed.
  public enum Kind: Hashable, CaseIterable, Sendable {
    /// The record of an alarm.
    case alarms
    /// The log: the branch has moved.
    case log
    /// The settings, holidays, devices or time zones, on which every status can depend.
    case settings
    /// The delivery ledger: an alarm rings or has ended.
    case deliveries
    /// The state of syncs: other devices were heard, or a sync has ended.
    case sync
  }

  /// The changes, as sets of what has changed at the same time. The sequence ends when the subscription is released.
  public let sets: AsyncStream<Set<Kind>>

  /// Sound: the sources are only canceled, once, which any thread may do.
  nonisolated(unsafe) private let sources: [any DispatchSourceRead]
  private let continuation: AsyncStream<Set<Kind>>.Continuation

  /// Subscribes to the changes of a store. Changes from now on are reported.
  ///
  /// - Throws: `FileError` if an inotify instance cannot be created, or the local state cannot be watched.
  public init(of store: Store) throws {
    let watch = try StoreWatch(
      store: store.path, local: store.localFolder, localTime: "/etc/localtime",
      zones: ZoneLibrary.systemFolder)
    watch.begin(branch: store.branch.filesAndConfiguration)
    let local = try LocalStateWatch(store.localFolder)
    let (sets, continuation) = AsyncStream.makeStream(of: Set<Kind>.self)
    func source(
      _ descriptor: Int32, _ read: @escaping @Sendable () -> Set<Kind>
    ) -> any DispatchSourceRead {
      let source = DispatchSource.makeReadSource(
        fileDescriptor: descriptor, queue: DispatchQueue.global(qos: .userInteractive))
      source.setEventHandler {
        let kinds = read()
        if !kinds.isEmpty { continuation.yield(kinds) }
      }
      source.resume()
      return source
    }
    sources = [
      source(watch.descriptor) {
        let kinds = Set(watch.readEvents().flatMap(StoreChanges.kinds))
        // Another branch may be checked out.
        if kinds.contains(.log) { watch.watch(branch: store.branch.filesAndConfiguration) }
        return kinds
      },
      source(local.descriptor) { local.readEvents() },
    ]
    self.sets = sets
    self.continuation = continuation
  }

  deinit {
    for source in sources { source.cancel() }
    continuation.finish()
  }

  private static func kinds(_ wake: WakeSource.Wake) -> Set<Kind> {
    switch wake {
    case .alarms: [.alarms]
    case .branch: [.log]
    case .settings, .devices, .calendars, .zone, .zoneData: [.settings]
    case .everything: Set(Kind.allCases)
    case .time, .clockChanged, .poke, .reload, .stop: []
    }
  }
}

/// A watch of the files in the folder of a store's local state.
private final class LocalStateWatch: Sendable {
  /// The inotify instance.
  let descriptor: Int32

  init(_ folder: String) throws(FileError) {
    descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0,
      inotify_add_watch(descriptor, folder, UInt32(IN_CLOSE_WRITE | IN_MOVED_TO)) >= 0
    else { throw FileError("watch", folder) }
  }

  deinit { close(descriptor) }

  func readEvents() -> Set<StoreChanges.Kind> {
    FileEvent.readAll(from: descriptor).reduce(into: []) { kinds, event in
      switch event.name {
      case "ledger.json": kinds.insert(.deliveries)
      case "alive.json", "last-sync": kinds.insert(.sync)
      case _ where event.mask & UInt32(IN_Q_OVERFLOW) != 0: kinds.formUnion([.deliveries, .sync])
      default: break
      }
    }
  }
}
