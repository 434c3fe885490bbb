import Git

/// The state of the folder `alarms` that an alarm index describes.
struct AlarmFolderState: Hashable, Sendable {
  /// The signature of the folder when its names were last read.
  var signature: FileSignature
  /// The moment in the daemon's file watch at which each row described its file: a file that has not changed since then
  /// need not be looked at. Nil without a daemon, or if the index lacks a change.
  var token: FolderChangeToken?

  /// The signature of no folder.
  static let unknown = FileSignature(size: 0, modified: 0, changed: 0, inode: 0)
}
