import BelfryCore
import BelfryStore
import CLinux
import Files
import Glibc
import Synchronization

/// The sources that wake a daemon: timers, changes in the store, pokes, and signals.
final class WakeSource: Sendable {
  /// The reason of a wake-up.
  enum Wake: Hashable, Sendable {
    /// A timer has fired, at the requested time or shortly after it.
    case time
    /// The clock was set, or the machine has slept.
    case clockChanged
    /// The files of these alarms were created, written or removed.
    case alarms(Set<Identifier>)
    /// The settings were written.
    case settings
    /// The record of a device was written.
    case devices
    /// A holiday calendar was written.
    case calendars
    /// A reference of the checked-out branch may have moved, or git's configuration has changed.
    case branch
    /// There are changes that were not reported individually.
    case everything
    /// The system's time zone has changed.
    case zone
    /// The package of the time zones is being replaced.
    case zoneData
    /// A command reports a change through the named pipe.
    case poke
    /// SIGHUP.
    case reload
    /// SIGTERM, SIGINT.
    case stop

    /// True if the tasks on the phone can be others than before.
    var canChangeTasks: Bool {
      switch self {
      case .alarms, .settings, .devices, .calendars, .everything, .poke, .zone, .reload: true
      case .time, .clockChanged, .branch, .zoneData, .stop: false
      }
    }
  }

  private let timer: Int32
  /// The timer that wakes the machine from sleep; nil if that is not requested or not permitted.
  private let wakeTimer: Int32?
  /// The reason why the machine cannot be woken although it was requested; nil without one.
  let wakeTimerFailure: FileError?
  private let watch: StoreWatch
  /// The reading end of the pipe for pokes and signals.
  private let pokes: Int32
  /// The writing end of that pipe, for signal handlers.
  private let signals: Int32
  /// The reason why there is no named pipe for commands; nil if there is one.
  let pipeFailure: FileError?
  /// The table of mounted file systems, which reports a change as urgent data; nil if it cannot be read.
  private let mounts: Int32?

  /// Creates the timers, file watches and signal handlers.
  ///
  /// - Parameters:
  ///   - store: the store's folder.
  ///   - branch: the files that git replaces when the checked-out branch moves.
  ///   - poke: the path of the named pipe. It is created if it is missing.
  ///   - wakesMachine: true to wake the machine from sleep.
  ///   - localTime: the path of the system's time zone.
  ///   - zones: the folder of the time zones.
  /// - Throws: `FileError` if a timer, pipe or inotify instance cannot be created.
  init(
    store: String, branch: [String], poke: String, wakesMachine: Bool = false,
    localTime: String = "/etc/localtime", zones: String = ZoneLibrary.systemFolder
  ) throws {
    (pokes, signals, pipeFailure) = try WakeSource.pipe(poke)
    timer = timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
    guard timer >= 0 else { throw FileError("create", "a timer") }
    if wakesMachine {
      let alarm = timerfd_create(CLOCK_REALTIME_ALARM, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
      wakeTimerFailure =
        alarm < 0 ? FileError("create", "a timer that wakes the machine") : nil
      wakeTimer = alarm < 0 ? nil : alarm
    } else {
      (wakeTimer, wakeTimerFailure) = (nil, nil)
    }
    watch = try StoreWatch(
      store: store, local: DurableFile.parent(of: poke), localTime: localTime, zones: zones)
    let table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
    mounts = table < 0 ? nil : table
    watch.watch(branch: branch)
    Signals.begin(signals)
  }

  /// Opens the named pipe, or creates an anonymous pipe if that fails. Alarms ring even if the folder is read-only.
  private static func pipe(
    _ path: String
  ) throws -> (reading: Int32, writing: Int32, failure: FileError?) {
    do throws(FileError) {
      let pipe = try openPipe(path)
      return (pipe, pipe, nil)
    } catch {
      var ends: [Int32] = [-1, -1]
      guard pipe2(&ends, O_NONBLOCK | O_CLOEXEC) == 0 else { throw FileError("create", "a pipe") }
      return (ends[0], ends[1], error)
    }
  }

  /// Opens a named pipe. It is created if it is missing.
  private static func openPipe(_ path: String) throws(FileError) -> Int32 {
    if mkfifo(path, 0o600) != 0, errno != EEXIST { throw FileError("create", path) }
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
      throw FileError("open the named pipe", path, number: EINVAL)
    }
    // Also open for writing: otherwise each closing writer causes an end of file.
    let pipe = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
    guard pipe >= 0 else { throw FileError("open", path) }
    return pipe
  }

  /// Watches the store's folder again after it was missing or replaced. It can be on another file system than before.
  func reopen(poke: String, branch: [String]) {
    watch.begin(local: DurableFile.parent(of: poke), branch: branch)
    // Without a pipe, file watches still detect changes, and `belfry poke` runs a tick.
    guard let pipe = try? WakeSource.openPipe(poke) else { return }
    // The new pipe takes the old descriptors, which the signal handlers and the polling thread use.
    for descriptor in Set([pokes, signals]) where dup2(pipe, descriptor) >= 0 {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
    close(pipe)
  }

  /// Watches the files that git replaces when the checked-out branch moves. They change when another branch is checked
  /// out.
  func watch(branch files: [String]) { watch.watch(branch: files) }

  /// Watches the files with the rules of the time zones in use.
  func watch(zones files: Set<String>) { watch.watch(zones: files) }

  /// True if every change of the watched folders is reported, see `StoreWatch.seesAllChanges`.
  var seesAllChanges: Bool { watch.seesAllChanges }

  /// True if the replacement of the store's folder is reported.
  var seesReplacement: Bool { mounts != nil && watch.seesReplacement }

  deinit {
    for descriptor in Set([timer, pokes, signals] + [wakeTimer, mounts].compactMap({ $0 })) {
      close(descriptor)
    }
  }

  /// Sets the timers. A change of the clock and a wake-up from sleep are reported in any case.
  ///
  /// - Parameters:
  ///   - moment: the time of the next `time`; nil for none.
  ///   - ring: the time at which the machine is woken from sleep; nil for none.
  func arm(_ moment: Instant?, ring: Instant?) {
    arm(timer, moment)
    if let wakeTimer { arm(wakeTimer, ring) }
  }

  private func arm(_ timer: Int32, _ moment: Instant?) {
    var spec = itimerspec()
    // Without a time, a timer in the far future still reports changes of the clock. A past time fires immediately;
    // 0 would disarm the timer.
    let milliseconds = max(moment?.milliseconds ?? 4_000_000_000_000, 1)
    spec.it_value.tv_sec = Int(milliseconds / 1000)
    spec.it_value.tv_nsec = Int(milliseconds % 1000) * 1_000_000
    // TFD_TIMER_CANCEL_ON_SET, which some headers lack.
    let cancelOnSet: Int32 = 2
    _ = timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME) | cancelOnSet, &spec, nil)
  }

  /// Starts a thread that waits for wake-ups and reports them. The thread ends after SIGTERM or SIGINT.
  func start(_ onWake: @escaping @Sendable (Wake) -> Void) {
    BackgroundThread.start { [self] in
      // poll ignores negative descriptors.
      var descriptors = [timer, watch.descriptor, pokes, wakeTimer ?? -1].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      descriptors.append(pollfd(fd: mounts ?? -1, events: Int16(POLLPRI), revents: 0))
      while true {
        let count = poll(&descriptors, nfds_t(descriptors.count), -1)
        if count < 0, errno != EINTR { return }
        var wakes: [Wake] = []
        if descriptors[0].revents != 0 { wakes.append(readTimer(timer)) }
        if let wakeTimer, descriptors[3].revents != 0 { wakes.append(readTimer(wakeTimer)) }
        if descriptors[1].revents != 0 { wakes += watch.readEvents() }
        if descriptors[4].revents & Int16(POLLPRI) != 0 {
          // A file system can be mounted over any watched folder.
          watch.begin()
          wakes.append(.everything)
        } else if descriptors[4].revents != 0 {
          // This error would be reported again and again.
          descriptors[4].fd = -1
        }
        if descriptors[2].revents != 0 { wakes += readPokes() }
        for wake in wakes { onWake(wake) }
        if wakes.contains(.stop) { return }
      }
    }
  }

  private func readTimer(_ timer: Int32) -> Wake {
    var count: UInt64 = 0
    if read(timer, &count, 8) < 0, errno == ECANCELED { return .clockChanged }
    return .time
  }

  private func readPokes() -> [Wake] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = max(0, read(pokes, &buffer, buffer.count))
    let bytes = Set(buffer.prefix(count))
    return [(Signals.reload, Wake.reload), (Signals.stop, .stop)]
      .filter { bytes.contains($0.0) }.map(\.1)
      + (bytes.contains(UInt8(ascii: "p")) ? [.poke] : [])
  }
}

/// The signal handlers. They write a byte to a pipe, because few other calls are async-signal-safe.
private enum Signals {
  static let reload = UInt8(ascii: "H")
  static let stop = UInt8(ascii: "T")
  private static let pipe = Atomic<Int32>(-1)

  /// Installs the handlers, which write to a descriptor.
  static func begin(_ descriptor: Int32) {
    pipe.store(descriptor, ordering: .sequentiallyConsistent)
    signal(SIGHUP) { _ in Signals.send(Signals.reload) }
    signal(SIGTERM) { _ in Signals.send(Signals.stop) }
    signal(SIGINT) { _ in Signals.send(Signals.stop) }
  }

  private static func send(_ byte: UInt8) {
    var byte = byte
    let number = errno
    _ = write(pipe.load(ordering: .sequentiallyConsistent), &byte, 1)
    errno = number
  }
}
