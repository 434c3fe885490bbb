import BelfryStore
import CLinux
import Files
import Git
import Glibc
import Synchronization

/// The watch of the files and folders of calendars that are followed, with inotify.
///
/// Programs write several files one after the other. A change is reported when nothing has changed for a moment.
final class CalendarWatch: Sendable {
  /// The time without a change after which changes are reported, in milliseconds.
  private static let quietTime: Int32 = 50
  /// The longest time between a change and its report, in milliseconds.
  private static let longestDelay = Duration.milliseconds(500)

  private let changed: @Sendable () -> Void
  private let state = Mutex(State())

  private struct State {
    /// The inotify instance; nil while nothing is watched.
    var inotify: Int32?
    /// The writing end of the pipe that ends the thread.
    var stop: Int32?
    /// The names of the files of each watch; nil for all items of a vdir.
    var names: [Int32: Set<String>?] = [:]
  }

  /// Creates a watch of nothing.
  ///
  /// - Parameter changed: is called after a change, on a thread of the watch.
  init(changed: @escaping @Sendable () -> Void) { self.changed = changed }

  /// Watches the files and folders of some sources, and no others.
  ///
  /// - Returns: The sources whose changes are not all reported: their folder is missing, or shared with other machines;
  ///   and true if a folder was not watched before, so that earlier changes were not reported.
  func watch(_ sources: [CalendarSource]) -> (unwatched: Set<CalendarSource>, isNew: Bool) {
    let local = sources.filter { $0.path != nil }
    return state.withLock { state in
      if local.isEmpty, state.inotify == nil { return ([], false) }
      guard let inotify = state.inotify ?? start(&state) else { return (Set(local), false) }
      let former = state.names
      state.names = [:]
      let unwatched = local.filter { !add($0, to: inotify, &state.names) }
      for number in former.keys where state.names[number] == nil {
        inotify_rm_watch(inotify, number)
      }
      let isNew = state.names.keys.contains { former[$0] == nil }
      return (Set(unwatched), isNew)
    }
  }

  /// Adds the watches of a source. Returns false if a change can be missed.
  private func add(
    _ source: CalendarSource, to inotify: Int32, _ names: inout [Int32: Set<String>?]
  ) -> Bool {
    let events =
      IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_MOVE_SELF
      | IN_DELETE_SELF | IN_ONLYDIR
    /// Watches a name in a folder, or all items of it. Returns false if changes can be missed.
    func watch(_ folder: String, _ name: String?) -> Bool {
      let number = inotify_add_watch(inotify, folder, UInt32(events))
      if number < 0 { return false }
      if let name, case .some(.some(let known)) = names[number] {
        names[number] = .some(known.union([name]))
      } else if let name, names[number] == nil {
        names[number] = .some([name])
      } else if name == nil {
        names[number] = .some(nil)
      }
      return !RepositoryFolder.isShared(folder)
    }
    func watch(_ path: String) -> Bool {
      watch(DurableFile.parent(of: path), String(path.split(separator: "/").last ?? ""))
    }
    switch source {
    case .url: return true
    case .folder(let path):
      // Its own folder reports that it was replaced.
      _ = watch(path)
      return watch(path, nil)
    case .file(let path):
      // A symbolic link is replaced in its own folder, its target in another one.
      let files = [path] + [CalendarFiles.target(of: path)].compactMap { $0 }
      let watched = Set(files).map { watch($0) }
      return files.count > 1 && watched.allSatisfy { $0 }
    }
  }

  /// Creates the inotify instance and its thread. Returns nil if the system permits no other one.
  private func start(_ state: inout State) -> Int32? {
    var ends: [Int32] = [-1, -1]
    guard pipe2(&ends, O_NONBLOCK | O_CLOEXEC) == 0 else { return nil }
    let inotify = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard inotify >= 0 else {
      for end in ends { close(end) }
      return nil
    }
    (state.inotify, state.stop) = (inotify, ends[1])
    let reading = ends[0]
    BackgroundThread.start { [self] in
      run(inotify, reading)
      close(reading)
      close(inotify)
    }
    return inotify
  }

  /// Ends the watch.
  func stop() {
    state.withLock { state in
      if let stop = state.stop { close(stop) }
      state = State()
    }
  }

  // MARK: The thread

  private func run(_ inotify: Int32, _ stop: Int32) {
    while wait(inotify, stop, timeout: -1) {
      guard readChanges(inotify) else { continue }
      let began = ContinuousClock.now
      while ContinuousClock.now - began < CalendarWatch.longestDelay {
        var descriptor = pollfd(fd: inotify, events: Int16(POLLIN), revents: 0)
        if poll(&descriptor, 1, CalendarWatch.quietTime) == 0 { break }
        _ = readChanges(inotify)
      }
      changed()
    }
  }

  /// Waits for events. Returns false if the watch has ended.
  private func wait(_ inotify: Int32, _ stop: Int32, timeout: Int32) -> Bool {
    var descriptors = [inotify, stop].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while poll(&descriptors, 2, timeout) < 0 {
      if errno != EINTR { return false }
    }
    return descriptors[1].revents == 0
  }

  /// Reads the waiting events. Returns true if one of them is about a calendar.
  private func readChanges(_ inotify: Int32) -> Bool {
    let events = FileEvent.readAll(from: inotify)
    let names = state.withLock { $0.names }
    return events.contains { event in
      let own = IN_Q_OVERFLOW | IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT
      if event.mask & UInt32(own) != 0 { return true }
      guard let watched = names[event.watch] else { return false }
      return watched.map { $0.contains(event.name) } ?? CalendarFiles.isItem(event.name)
    }
  }
}
