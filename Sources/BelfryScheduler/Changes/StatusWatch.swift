import BelfryCore
import BelfryStore
import CLinux
import Files
import Glibc

/// A wait for everything that can change a status line: the files of a store, its scheduler, the time, and the end of the
/// reader.
///
/// The process sleeps in one system call between changes. A store that is missing is noticed when it appears.
public final class StatusWatch {
  /// The reason why a wait has ended.
  public enum Wake: Hashable, Sendable {
    /// The store or the clock has changed, or the time has come.
    case changed
    /// The daemon has started, ended or sent a heartbeat, or a tick has run.
    case scheduler
    /// Nobody reads the output any more.
    case closed
  }

  private let path: String
  private let output: Int32
  private let timer: Int32
  private let mounts: Int32
  private var files: StoreWatch?
  /// The inotify instance for the local state, or for the way to a missing store; -1 without one.
  private var folders: Int32 = -1
  /// The folder of the local state.
  private var local = ""
  /// The number of the watch of the daemon's lock; -1 without one.
  private var lock: Int32 = -1
  private var identities: [FileIdentity?] = []

  /// The time for which changes are collected, in microseconds. A command writes several files.
  private static let delay: UInt32 = 5_000

  /// Creates a wait without a store.
  ///
  /// - Parameters:
  ///   - path: The path of the store.
  ///   - output: The descriptor whose reader may end.
  /// - Throws: `FileError` if a timer cannot be created.
  public init(path: String, output: Int32) throws(FileError) {
    self.path = path
    self.output = output
    timer = timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
    guard timer >= 0 else { throw FileError("create", "a timer") }
    mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
  }

  deinit {
    for descriptor in [timer, mounts, folders] where descriptor >= 0 { close(descriptor) }
  }

  /// Watches a store, or the way to a missing one. Changes from now on end the next wait.
  ///
  /// - Returns: True if the watch is new. What was read before it may be outdated.
  /// - Throws: `FileError` if an inotify instance cannot be created.
  public func watch(_ store: Store?) throws(FileError) -> Bool {
    guard let store else { return try watchWay() }
    let identities = [store.path, store.localFolder].map { FileIdentity($0) }
    if files != nil, identities == self.identities {
      files?.watch(branch: store.branch.filesAndConfiguration)
      files?.watch(zones: store.context.zones.files)
      return false
    }
    self.identities = identities
    let watch = try StoreWatch(
      store: store.path, local: store.localFolder, localTime: "/etc/localtime",
      zones: ZoneLibrary.systemFolder)
    watch.begin(branch: store.branch.filesAndConfiguration)
    watch.watch(zones: store.context.zones.files)
    files = watch
    try renewFolders()
    local = store.localFolder
    inotify_add_watch(folders, local, UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE))
    watchLock()
    return true
  }

  /// Watches the lock of the daemon if it exists. Its heartbeats set the modification time, which counts as a write; of the
  /// folder, that event would report each write of a cache.
  private func watchLock() {
    lock = inotify_add_watch(folders, local + "/daemon.lock", UInt32(IN_MODIFY | IN_CLOSE_WRITE))
  }

  /// True if every change of the store ends a wait. Otherwise, another machine may change its files, or a watch failed.
  public var seesAllChanges: Bool { files?.seesAllChanges ?? true }

  /// Watches the folders in which a missing store can appear.
  private func watchWay() throws(FileError) -> Bool {
    let way = StoreWay(to: [path])
    let identities = (["/"] + way.folders + way.links).map { FileIdentity($0) }
    if files == nil, identities == self.identities { return false }
    self.identities = identities
    files = nil
    try renewFolders()
    let mask = IN_CREATE | IN_MOVED_TO | IN_MOVE_SELF | IN_DELETE_SELF
    for folder in [way.folders.last ?? "/"] + way.links.map(DurableFile.parent(of:)) {
      inotify_add_watch(folders, folder, UInt32(mask))
    }
    return true
  }

  private func renewFolders() throws(FileError) {
    if folders >= 0 { close(folders) }
    folders = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard folders >= 0 else { throw FileError("watch", path) }
  }

  /// Waits for a change.
  ///
  /// - Parameter moment: The time on the system's clock at which the wait ends; nil for never.
  public func wait(until moment: Instant?) -> Wake {
    arm(moment)
    while true {
      var descriptors = [files?.descriptor ?? -1, folders, timer].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      descriptors.append(pollfd(fd: mounts, events: Int16(POLLPRI), revents: 0))
      // Without events, it reports errors only: the reader has closed the pipe.
      descriptors.append(pollfd(fd: output, events: 0, revents: 0))
      if poll(&descriptors, nfds_t(descriptors.count), -1) < 0 {
        if errno == EINTR { continue }
        return .closed
      }
      if descriptors[4].revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { return .closed }
      if descriptors[0].revents | descriptors[1].revents != 0 { usleep(StatusWatch.delay) }
      var wakes: Set<Wake> = []
      if descriptors[2].revents != 0 {
        var count: UInt64 = 0
        // A change of the clock is an error of the read.
        _ = read(timer, &count, 8)
        wakes.insert(.changed)
      }
      if descriptors[3].revents & Int16(POLLPRI) != 0 {
        files?.begin()
        wakes.insert(.changed)
      }
      if descriptors[0].revents != 0, let files {
        if files.readEvents().contains(where: StatusWatch.isChange) { wakes.insert(.changed) }
      }
      if descriptors[1].revents != 0 { wakes.formUnion(readFolders()) }
      if wakes.contains(.changed) { return .changed }
      if wakes.contains(.scheduler) { return .scheduler }
    }
  }

  private static func isChange(_ wake: WakeSource.Wake) -> Bool {
    switch wake {
    case .alarms, .branch, .settings, .devices, .calendars, .everything, .zone, .zoneData: true
    case .time, .clockChanged, .poke, .reload, .stop: false
    }
  }

  private func readFolders() -> Set<Wake> {
    let events = FileEvent.readAll(from: folders)
    guard files != nil else { return events.isEmpty ? [] : [.changed] }
    return events.reduce(into: []) { wakes, event in
      let isCreation = event.mask & UInt32(IN_CREATE) != 0
      switch event.name {
      case _ where event.watch == lock: wakes.insert(.scheduler)
      case "ledger.json", "last-sync": if !isCreation { wakes.insert(.changed) }
      case "daemon.lock":
        if isCreation { watchLock() }
        wakes.insert(.scheduler)
      case "last-tick": wakes.insert(.scheduler)
      case _ where event.mask & UInt32(IN_Q_OVERFLOW) != 0: wakes.insert(.changed)
      default: break
      }
    }
  }

  private func arm(_ moment: Instant?) {
    var spec = itimerspec()
    let milliseconds = max(min(moment?.milliseconds ?? .max, 4_000_000_000_000), 1)
    spec.it_value.tv_sec = Int(milliseconds / 1000)
    spec.it_value.tv_nsec = Int(milliseconds % 1000) * 1_000_000
    // TFD_TIMER_CANCEL_ON_SET, which some headers lack.
    let cancelOnSet: Int32 = 2
    _ = timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME) | cancelOnSet, &spec, nil)
  }
}
