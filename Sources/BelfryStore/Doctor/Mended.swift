import BelfryCore
import Git

/// Something that a repair has put right.
public enum Mended: Sendable {
  /// A lock that a git left which died was taken away.
  case lock(path: String)
  /// HEAD names a branch again.
  case head(branch: String)
  /// The branch names a commit that is whole again.
  case branch(String, ObjectID)
  /// An object is there again; `source` says from where: the work tree, the index, or a remote.
  case object(ObjectID, source: Source)
  case index
  /// A file was moved out of the way.
  case quarantined(path: String, to: String)
  /// Records that were gone from the work tree, or from the branch, are back.
  case restored([String])
  /// Records that nobody had committed are.
  case committed([String])
  /// Answers that only the log knew are in the alarm's record.
  case answers(title: String, [CivilDateTime])
  /// An alarm is armed again for what a clock that was ahead had settled.
  case rearmed(title: String)
  case packed

  public enum Source: Hashable, Sendable {
    case workTree, index
    case remote(String)
  }
}
