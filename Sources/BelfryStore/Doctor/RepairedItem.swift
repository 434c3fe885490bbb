import BelfryCore
import Git

/// A change that a repair has made.
public enum RepairedItem: Sendable {
  /// A stale lock file was removed.
  case lock(path: String)
  /// HEAD points to a branch again.
  case head(branch: String)
  /// The branch points to a complete commit again.
  case branch(String, ObjectID)
  /// A missing object was restored from `source`.
  case object(ObjectID, source: Source)
  /// git's index was rebuilt.
  case index
  /// The journal can be read and written again.
  case journal(path: String)
  /// A file was moved to the quarantine.
  case quarantined(path: String, to: String)
  /// Records that were missing from the work tree or the branch were restored.
  case restored([String])
  /// Uncommitted records were committed.
  case committed([String])
  /// Outcomes that only the log contained were added to the alarm's record.
  case answers(title: String, [CivilDateTime])
  /// An alarm was re-armed for occurrences that a clock that was ahead had settled.
  case rearmed(title: String)
  /// The loose objects were packed.
  case packed

  /// The origin of a restored object.
  public enum Source: Hashable, Sendable {
    /// A file of the work tree.
    case workTree
    /// git's index.
    case index
    /// The journal of the latest writes.
    case journal
    /// The remote with the given name.
    case remote(String)
  }
}
