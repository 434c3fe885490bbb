import Files
import Git
import Glibc

/// The journal of a store, `journal`: a write-ahead log of all writes since the last checkpoint.
///
/// ```
/// objects in memory → journal (the only flush) → objects → record files → index → branch (the commit point)
/// ```
///
/// An acknowledged write is in the journal, so nothing after it needs a flush. After a power failure, which a changed
/// `session` reveals, the next command applies all writes again: see `PowerFailureRecovery` and `JournalRecovery`.
extension LocalState {
  /// The write-ahead log.
  var log: WriteAheadLog { WriteAheadLog(journal) }

  /// The number of the session: it changes with every boot, and if the folder is on another disk than before.
  ///
  /// Data that was not flushed in one session may be missing in the next. `BELFRY_BOOT_ID` replaces the system's
  /// identifier of the boot.
  var session: UInt64 {
    var status = stat()
    _ = stat(folder, &status)
    let boot =
      getenv("BELFRY_BOOT_ID").map { String(cString: $0) }
      ?? ProcessIdentity.currentBoot
    return WriteAheadLog.session("\(boot ?? "") \(status.st_dev)")
  }

  /// The writes that are in the journal, and that may be missing in the store.
  struct InterruptedWrites {
    /// The writes to complete, in their order.
    var entries: [JournalEntry] = []
    /// A write that failed, and whose changes must be undone; nil if there is none.
    var refused: JournalEntry?
    /// The commit of the branch before the writes, which was durable; nil if it is unknown.
    var start: ObjectID?

    var isEmpty: Bool { entries.isEmpty && refused == nil }
    /// The commit of the branch after the writes; nil if it is unknown.
    var end: ObjectID? { entries.isEmpty ? start : entries.last?.target }
    /// All commits at which the branch was before, between and after the writes.
    var commits: Set<ObjectID> {
      Set((entries.flatMap { [$0.head, $0.target] } + [start]).compactMap { $0 })
    }
  }

  /// Returns the writes that may be missing in the store: after the end of a process the last one, and after a power
  /// failure all writes since the last checkpoint.
  func interruptedWrites() throws -> InterruptedWrites {
    guard let state = try log.state() else { return InterruptedWrites() }
    let isAfterFailure = hasLostPower(state)
    guard !state.isApplied || isAfterFailure else { return InterruptedWrites() }
    let found = try log.entries()
    var pending = found.pending.compactMap { JournalEntry($0) }
    let refused = state.isRefused ? pending.popLast() : nil
    return InterruptedWrites(
      entries: (isAfterFailure ? found.applied.compactMap { JournalEntry($0) } : []) + pending,
      refused: refused, start: isAfterFailure ? state.mark.map { ObjectID($0) } : nil)
  }

  /// Returns all writes in the journal, which hold every object that was written since the last checkpoint.
  func recentWrites() throws -> [JournalEntry] {
    let found = try log.entries()
    return (found.applied + found.pending).compactMap { JournalEntry($0) }
  }

  /// True during a write, and if a write may be missing in the store.
  var hasJournal: Bool {
    guard let state = (try? log.state()) ?? nil else { return false }
    return !state.isApplied || hasLostPower(state)
  }

  /// True if the journal is of an earlier session, in which the power may have failed.
  var hasLostPower: Bool {
    ((try? log.state()) ?? nil).map(hasLostPower) ?? false
  }

  private func hasLostPower(_ state: WriteAheadLog.State) -> Bool {
    // A copy may have been made during a write, with a journal that is newer than the other files.
    state.session != session || isCopied
  }

  /// The reason that the journal cannot be used, as a clause about it: `it is a link`; nil if it can, or if there is none.
  var journalProblem: String? {
    var status = stat()
    guard lstat(journal, &status) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFREG:
      return access(journal, R_OK | W_OK) == 0 ? nil : String(cString: strerror(errno))
    case S_IFLNK: return "it is a link"
    case S_IFDIR: return "it is a folder"
    default: return "it is not a file"
    }
  }
}
