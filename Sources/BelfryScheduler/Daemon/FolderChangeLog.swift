import BelfryStore

/// The latest changes that a file watch has seen in the folder `alarms`.
struct FolderChangeLog {
  /// The number of changes that are kept. Looking at more files than that one by one takes as long as at all of them.
  private static let capacity = 1_000

  /// The watched folder; nil without one.
  private var folder: FolderIdentity?
  private var epoch = UInt64.random(in: 1...UInt64.max)
  /// The names of the changed files, in order; the first one has the number `start`.
  private var names: [String] = []
  private var start: UInt64 = 0

  /// The present moment.
  private var token: FolderChangeToken {
    FolderChangeToken(epoch: epoch, number: start + UInt64(names.count))
  }

  /// Records a change of a file.
  mutating func record(_ name: String) {
    names.append(name)
    // Half of them at once, because each removal copies the rest.
    guard names.count > 2 * FolderChangeLog.capacity else { return }
    let dropped = names.count - FolderChangeLog.capacity
    names.removeFirst(dropped)
    start += UInt64(dropped)
  }

  /// Begins a new sequence, because changes may have been missed.
  ///
  /// - Parameter folder: the watched folder; nil if it cannot be watched.
  mutating func begin(_ folder: FolderIdentity?) {
    self.folder = folder
    epoch = UInt64.random(in: 1...UInt64.max)
    names = []
    start = 0
  }

  /// Returns the changes since a moment, or nil about another folder. The names are nil if they are not known or too
  /// many.
  func answer(_ question: FolderChanges.Question) -> FolderChanges? {
    guard question.folder == folder else { return nil }
    guard let moment = question.token, moment.epoch == epoch, moment.number >= start,
      moment.number <= token.number
    else {
      return FolderChanges(token: token, names: nil)
    }
    let changed = Set(names.suffix(Int(token.number - moment.number)))
    return FolderChanges(
      token: token, names: changed.count <= FolderChangeLog.capacity ? changed : nil)
  }
}
