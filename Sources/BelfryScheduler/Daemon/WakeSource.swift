import BelfryCore
import CLinux
import Git
import Glibc
import Synchronization

/// Everything that can wake a daemon: the clock, changes in the store, pokes, signals.
final class WakeSource: Sendable {
  enum Wake: Hashable, Sendable {
    /// The moment that was waited for, or one close to it.
    case time
    /// The clock was set, or the machine has slept.
    case clockChanged
    /// Files of these alarms were written, or came or went.
    case alarms(Set<Identifier>)
    /// The settings were written.
    case settings
    /// A reference that names the checked-out branch may have moved.
    case branch
    /// More has changed than was told one by one.
    case everything
    /// The system's time zone is another.
    case zone
    /// Somebody says that something has changed.
    case poke
    /// SIGHUP.
    case reload
    /// SIGTERM, SIGINT.
    case stop
  }

  private let timer: Int32
  /// One that wakes a machine that sleeps; nil where it is not wanted or not allowed.
  private let waker: Int32?
  /// Why the machine cannot be woken, when it was to be.
  let wakerFailure: FileError?
  private let notes: Int32
  private let pokes: Int32
  /// The descriptor that signal handlers write to: the other end of `pokes`.
  private let signals: Int32
  /// Why there is no named pipe that commands could write to, when there is none.
  let pokeFailure: FileError?
  private let localTime: String
  private let watches = Mutex<[Int32: Folder]>([:])

  private enum Folder {
    case root, alarms, system, branch
  }
  /// The watched folders by their paths.
  private let folders: [(path: String, folder: Folder)]

  /// - Parameters:
  ///   - store: the store's folder.
  ///   - branch: the folders in which git replaces a file when the checked-out branch moves.
  ///   - poke: the path of the named pipe, which is made if there is none.
  ///   - wakesMachine: whether the machine is to be woken from sleep for what is due.
  ///   - localTime: the system's own time zone.
  init(
    store: String, branch: [String], poke: String, wakesMachine: Bool = false,
    localTime: String = "/etc/localtime"
  ) throws {
    self.localTime = localTime
    folders =
      [
        (store, .root), (store + "/alarms", .alarms), (DurableFile.parent(of: localTime), .system),
      ] + Set(branch).sorted().map { ($0, .branch) }
    (pokes, signals, pokeFailure) = try WakeSource.pipe(poke)
    timer = timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
    guard timer >= 0 else { throw FileError("make", "a timer") }
    if wakesMachine {
      let alarm = timerfd_create(CLOCK_REALTIME_ALARM, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
      wakerFailure = alarm < 0 ? FileError("make", "a timer that wakes the machine") : nil
      waker = alarm < 0 ? nil : alarm
    } else {
      (waker, wakerFailure) = (nil, nil)
    }
    notes = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard notes >= 0 else { throw FileError("watch", store) }
    watch()
    Signals.begin(signals)
  }

  /// Opens the named pipe; one without a name where that fails, as a folder that cannot be written to keeps no alarm
  /// from ringing.
  private static func pipe(
    _ path: String
  ) throws -> (reading: Int32, writing: Int32, failure: FileError?) {
    do throws(FileError) {
      let pipe = try openPipe(path)
      return (pipe, pipe, nil)
    } catch {
      var ends: [Int32] = [-1, -1]
      guard pipe2(&ends, O_NONBLOCK | O_CLOEXEC) == 0 else { throw FileError("make", "a pipe") }
      return (ends[0], ends[1], error)
    }
  }

  /// Opens a named pipe, which is made if there is none.
  private static func openPipe(_ path: String) throws(FileError) -> Int32 {
    if mkfifo(path, 0o600) != 0, errno != EEXIST { throw FileError("make", path) }
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
      throw FileError("wait at", path, number: EINVAL)
    }
    // Open for writing too: otherwise it ends with every writer.
    let pipe = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
    guard pipe >= 0 else { throw FileError("open", path) }
    return pipe
  }

  /// Watches the store's folder anew after it was away: it can be on another file system.
  func reopen(poke: String) {
    watch()
    // Without a pipe the files are still watched, and a poke falls back to a tick.
    guard let pipe = try? WakeSource.openPipe(poke) else { return }
    // In place of the old one, whose number the signals and the waiting thread use.
    for descriptor in Set([pokes, signals]) where dup2(pipe, descriptor) >= 0 {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
    close(pipe)
  }

  deinit {
    for descriptor in Set([timer, notes, pokes, signals] + [waker].compactMap({ $0 })) {
      close(descriptor)
    }
  }

  /// Sets the moment of the next `time`; nil for none. A clock that is set, and a machine that wakes, are told.
  ///
  /// - Parameter ring: the moment that a machine that sleeps is to be woken for.
  func arm(_ moment: Instant?, ring: Instant?) {
    arm(timer, moment)
    if let waker { arm(waker, ring) }
  }

  private func arm(_ timer: Int32, _ moment: Instant?) {
    var spec = itimerspec()
    // A moment that never comes keeps the clock watched; a passed one comes at once.
    let milliseconds = max(moment?.milliseconds ?? 4_000_000_000_000, 1)
    spec.it_value.tv_sec = Int(milliseconds / 1000)
    spec.it_value.tv_nsec = Int(milliseconds % 1000) * 1_000_000
    // TFD_TIMER_CANCEL_ON_SET is not in every header.
    let cancelOnSet: Int32 = 2
    _ = timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME) | cancelOnSet, &spec, nil)
  }

  /// Waits in a thread of its own, and tells what wakes.
  func start(_ tell: @escaping @Sendable (Wake) -> Void) {
    BackgroundThread.start { [self] in
      var descriptors = ([timer, notes, pokes] + [waker].compactMap { $0 }).map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      while true {
        let count = poll(&descriptors, nfds_t(descriptors.count), -1)
        if count < 0, errno != EINTR { return }
        var wakes: [Wake] = []
        if descriptors[0].revents != 0 { wakes.append(readTimer(timer)) }
        if let waker, descriptors[3].revents != 0 { wakes.append(readTimer(waker)) }
        if descriptors[1].revents != 0 { wakes += readNotes() }
        if descriptors[2].revents != 0 { wakes += readPokes() }
        for wake in wakes { tell(wake) }
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

  // MARK: Watching

  /// Watches the folders, as far as they are there.
  private func watch() {
    let content =
      IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR
    watches.withLock { watches in
      for (path, folder) in folders {
        let own = folder == .root ? IN_MOVE_SELF | IN_DELETE_SELF : 0
        let number = inotify_add_watch(notes, path, UInt32(content | own))
        if number >= 0 { watches[number] = folder }
      }
    }
  }

  /// Returns true for a file of the `.git` folder, or of one with branches, whose change may move a branch.
  private static func isReference(_ name: String) -> Bool {
    // Of the lock files the renaming is told under the other name; the rest of the `.git` folder is lower case.
    name == "HEAD" || name == "packed-refs" || name == Repository.branch
  }

  private func readNotes() -> [Wake] {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = read(notes, &buffer, buffer.count)
    var alarms: Set<Identifier> = []
    var wakes: Set<Wake> = []
    var offset = 0
    while offset + 16 <= count {
      let (number, mask, length) = buffer.withUnsafeBytes { raw in
        (
          raw.loadUnaligned(fromByteOffset: offset, as: Int32.self),
          raw.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self),
          Int(raw.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
        )
      }
      let name = String(
        decoding: buffer[(offset + 16)..<min(offset + 16 + length, buffer.count)]
          .prefix { $0 != 0 }, as: UTF8.self)
      offset += 16 + length
      if mask & UInt32(IN_Q_OVERFLOW | IN_IGNORED | IN_MOVE_SELF | IN_DELETE_SELF) != 0 {
        wakes.insert(.everything)
        continue
      }
      switch watches.withLock({ $0[number] }) {
      case .alarms:
        if name.hasSuffix(".json"), let id = Identifier(name.dropLast(5)) { alarms.insert(id) }
      case .root where name == "settings.json": wakes.insert(.settings)
      case .root where name == "alarms": wakes.insert(.everything)
      case .branch where WakeSource.isReference(name): wakes.insert(.branch)
      case .system where name == localTime.split(separator: "/").last.map(String.init) ?? "":
        wakes.insert(.zone)
      default: break
      }
    }
    // A folder that has come back is another one.
    if wakes.contains(.everything) { watch() }
    return (alarms.isEmpty ? [] : [.alarms(alarms)]) + Array(wakes)
  }
}

/// Signals as bytes in a pipe: all that a handler may do.
private enum Signals {
  static let reload = UInt8(ascii: "H")
  static let stop = UInt8(ascii: "T")
  private static let pipe = Atomic<Int32>(-1)

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
