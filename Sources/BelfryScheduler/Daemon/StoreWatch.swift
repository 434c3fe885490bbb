import BelfryCore
import BelfryStore
import CLinux
import Files
import Git
import Glibc
import Synchronization

/// The daemon's watch of the store's folders, of the checked-out branch and of the system's time zones.
///
/// It reports changes as reasons to wake up.
final class StoreWatch: Sendable {
  /// The inotify instance.
  let descriptor: Int32
  private let localTime: String
  private let watches: Mutex<Watches>
  private let store: String
  /// The paths of the folders to watch, besides those of the branch.
  private let folders: [(path: String, folder: Folder)]

  private struct Watches {
    /// The watched folders by their watch descriptors.
    var folders: [Int32: Folder] = [:]
    /// The paths of the files that git replaces when the checked-out branch moves.
    var branchFiles: Set<String> = []
    /// The paths of the files with the rules of the time zones in use.
    var zoneFiles: Set<String> = []
    /// The path of the folder of the store's local state.
    var local: String
    /// True if an existing folder could not be watched.
    var isIncomplete = false
    /// True if a folder or link on the way to the store could not be watched.
    var missesReplacement = false
  }

  private enum Folder: Equatable {
    case root, alarms, calendars, devices, system, zones
    case branch(path: String)
    case rules(path: String)
    /// A file with rules. The events of its folder don't include writes to a file that is mounted there by itself.
    case ruleFile
    /// A folder or link on the way to the store.
    case way
  }

  /// Creates a watch of no folder yet.
  ///
  /// - Parameters:
  ///   - store: the store's folder.
  ///   - local: the folder of its local state.
  ///   - localTime: the path of the system's time zone.
  ///   - zones: the folder of the time zones.
  /// - Throws: `FileError` if an inotify instance cannot be created.
  init(store: String, local: String, localTime: String, zones: String) throws(FileError) {
    self.store = store
    self.localTime = localTime
    watches = Mutex(Watches(local: local))
    folders =
      [
        (store, .root), (store + "/alarms", .alarms),
        ("\(store)/\(CalendarRecord.folder)", .calendars),
        (DurableFile.parent(of: localTime), .system), (zones, .zones),
        ("\(store)/devices", .devices),
      ]
    descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0 else { throw FileError("watch", store) }
  }

  deinit { close(descriptor) }

  /// True if every change of the watched folders is reported: all of them can be watched, and no other machine writes to
  /// the store's file system.
  var seesAllChanges: Bool {
    !watches.withLock { $0.isIncomplete } && !RepositoryFolder.isShared(folders[0].path)
  }

  /// True if every replacement of the store's folder by another one on the same file system is reported.
  var seesReplacement: Bool {
    !watches.withLock { $0.missesReplacement } && !RepositoryFolder.isShared(store)
  }

  /// Watches the folders that exist, again if they were replaced.
  ///
  /// - Parameters:
  ///   - local: the folder of the store's local state; nil if it is the same as before.
  ///   - branch: the files that git replaces when the checked-out branch moves; nil if they are the same as before.
  func begin(local: String? = nil, branch: [String]? = nil) {
    let content =
      IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR
    watches.withLock { watches in
      if let local { watches.local = local }
      if let branch { watches.branchFiles = Set(branch) }
      let former = watches.folders
      watches.folders = [:]
      watches.isIncomplete = false
      let branchFolders = Set(watches.branchFiles.map(DurableFile.parent(of:))).sorted()
      // A folder has one watch, whose events are also those of the files with rules.
      let ruleFolders = Set(watches.zoneFiles.map(DurableFile.parent(of:)))
        .subtracting(folders.map(\.path)).sorted()
      let others =
        branchFolders.map { ($0, Folder.branch(path: $0)) }
        + ruleFolders.map { ($0, .rules(path: $0)) }
      for (path, folder) in folders + others {
        let own = folder == .root ? IN_MOVE_SELF | IN_DELETE_SELF : 0
        let number = inotify_add_watch(descriptor, path, UInt32(content | own))
        if number >= 0 {
          watches.folders[number] = folder
        } else if errno != ENOENT, errno != ENOTDIR {
          // The number of watches is limited for each user.
          watches.isIncomplete = true
        }
      }
      for file in watches.zoneFiles {
        let number = inotify_add_watch(descriptor, file, UInt32(IN_CLOSE_WRITE))
        if number >= 0 { watches.folders[number] = .ruleFile }
      }
      let way = StoreWay(to: [store, watches.local])
      watches.missesReplacement = false
      // A link that another one replaces loses its only name. Of a folder, this mask would report every file.
      for path in way.folders + way.links {
        let link = way.links.contains(path) ? IN_ATTRIB : 0
        // The mask is added to that of a folder that is watched for its content.
        let events = IN_MOVE_SELF | IN_DELETE_SELF | IN_DONT_FOLLOW | IN_MASK_ADD | link
        let number = inotify_add_watch(descriptor, path, UInt32(events))
        if number < 0 {
          watches.missesReplacement = true
        } else if watches.folders[number] == nil {
          watches.folders[number] = .way
        }
      }
      for number in former.keys where watches.folders[number] == nil {
        inotify_rm_watch(descriptor, number)
      }
    }
  }

  /// Watches the files that git replaces when the checked-out branch moves. They change when another branch is checked
  /// out.
  func watch(branch files: [String]) {
    let isNew = watches.withLock { watches in
      defer { watches.branchFiles = Set(files) }
      return watches.branchFiles != Set(files)
    }
    if isNew { begin() }
  }

  /// Watches the files with the rules of the time zones in use.
  func watch(zones files: Set<String>) {
    let isNew = watches.withLock { watches in
      defer { watches.zoneFiles = files }
      return watches.zoneFiles != files
    }
    if isNew { begin() }
  }

  /// Returns true for a file with the rules of a time zone in use.
  private func isZoneFile(_ name: String, in folder: String) -> Bool {
    watches.withLock { $0.zoneFiles.contains("\(folder)/\(name)") }
  }

  /// Returns true for a file whose change may move the branch. git renames a lock file to its target, which inotify
  /// reports under the name of the target.
  private func isBranchFile(_ name: String, in folder: String) -> Bool {
    watches.withLock { $0.branchFiles.contains("\(folder)/\(name)") }
  }

  /// Reads the waiting events.
  func readEvents() -> [WakeSource.Wake] {
    var alarms: Set<Identifier> = []
    var wakes: Set<WakeSource.Wake> = []
    for event in FileEvent.readAll(from: descriptor) {
      let name = event.name
      let folder = watches.withLock { $0.folders[event.watch] }
      if event.mask & UInt32(IN_Q_OVERFLOW | IN_IGNORED | IN_MOVE_SELF | IN_DELETE_SELF) != 0 {
        // Nil: the folder is no longer on the way to the store.
        if folder != nil || event.mask & UInt32(IN_Q_OVERFLOW) != 0 { wakes.insert(.everything) }
        continue
      }
      switch folder {
      case .way: wakes.insert(.everything)
      case .alarms:
        if name.hasSuffix(".json"), let id = Identifier(name.dropLast(5)) { alarms.insert(id) }
      case .root where name == "settings.json": wakes.insert(.settings)
      case .root where ["alarms", "devices", CalendarRecord.folder].contains(name):
        wakes.insert(.everything)
      case .devices: if name.hasSuffix(".json") { wakes.insert(.devices) }
      case .calendars: if name.hasSuffix(".json") { wakes.insert(.calendars) }
      case .branch(let path) where isBranchFile(name, in: path): wakes.insert(.branch)
      case .system where name == localTime.split(separator: "/").last.map(String.init) ?? "":
        wakes.insert(.zone)
      case .zones where name == ZoneLibrary.dataFile: wakes.insert(.zoneData)
      case .system where isZoneFile(name, in: folders[3].path),
        .zones where isZoneFile(name, in: folders[4].path):
        wakes.insert(.zone)
      case .rules(let path) where isZoneFile(name, in: path): wakes.insert(.zone)
      case .ruleFile: wakes.insert(.zone)
      default: break
      }
    }
    // A folder that was replaced needs a new watch.
    if wakes.contains(.everything) { begin() }
    return (alarms.isEmpty ? [] : [.alarms(alarms)]) + Array(wakes)
  }
}
