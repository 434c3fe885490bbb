import BelfryStore
import Git

/// The state of the store: the document of `status`.
package struct StatusDocument: JSONDocument {
  /// The name of the checked-out branch; absent if there is none.
  let branch: String?
  /// The commit of HEAD; absent before the first commit.
  let head: String?
  /// The unfinished operation of git: `merge`, `rebase` or `other`.
  let operation: String?
  /// The number of records with hand edits that are not imported yet.
  let handEdits: Int
  /// The number of devices that have pushed commits here that are not merged yet.
  let unmergedPushes: Int
  /// The time of the last successful sync.
  let lastSync: String?
  /// The time of the last tick.
  let lastTick: String?
  /// The remotes.
  let remotes: [Remote]
  /// The devices, this one first, the others by name.
  let devices: [Device]

  /// A remote, as of the last sync.
  package struct Remote: Encodable {
    /// The name.
    let name: String
    /// The path or URL, with credentials masked.
    let url: String
    /// The number of commits that the remote lacks; absent before the first sync.
    let ahead: Int?
    /// The number of commits that this store lacks; absent before the first sync.
    let behind: Int?
    /// True if the daemon learns of its changes at once, false if it syncs at intervals; absent without a daemon.
    let watched: Bool?
  }

  /// A device.
  package struct Device: Encodable {
    /// The id.
    let id: String
    /// The name.
    let name: String
    /// True for this device.
    let here: Bool
    /// The time at which the device was added.
    let created: String
    /// The id of the device that rings in its place while it is offline.
    let standIn: String?
    /// The id of the device that has replaced it.
    let replacedBy: String?
    /// The time of its latest log entry.
    let lastActivity: String?
  }

  /// Creates the document.
  ///
  /// - Parameter watched: the names of the watched remotes; nil without a daemon.
  package init(_ status: StoreStatus, watched: Set<String>?, zones: ZoneLibrary) {
    branch = status.branch
    head = status.head?.description
    operation = status.operation == .none ? nil : "\(status.operation)"
    handEdits = status.handEdits
    unmergedPushes = status.left
    lastSync = status.lastSync.map { zones.text($0) }
    lastTick = status.lastTick.map { zones.text($0) }
    remotes = status.remotes.map { remote in
      Remote(
        name: remote.remote.name, url: URLMask.masked(url: remote.remote.url),
        ahead: remote.counts?.ahead, behind: remote.counts?.behind,
        watched: watched?.contains(remote.remote.name))
    }
    devices = status.devices.map { item in
      Device(
        id: item.device.id.text, name: item.device.name, here: item.isHere,
        created: zones.text(item.device.created),
        standIn: item.isReplaced ? nil : item.successor?.text,
        replacedBy: item.isReplaced ? item.successor?.text : nil,
        lastActivity: item.lastActivity.map { zones.text($0) })
    }
  }
}
