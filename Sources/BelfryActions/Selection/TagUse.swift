import BelfryCore
import BelfryStore

/// A tag, and the number of alarms that have it.
public struct TagUse: Hashable, Sendable {
  /// The tag.
  public let tag: AlarmTag
  /// The number of alarms that are not finished.
  public private(set) var unfinished = 0
  /// The number of finished alarms.
  public private(set) var finished = 0

  /// Returns the tags of some alarms, in alphabetical order. Deleted alarms do not count.
  public static func all(of summaries: [AlarmSummary]) -> [TagUse] {
    var uses: [AlarmTag: TagUse] = [:]
    for summary in summaries where !summary.isDeleted {
      for tag in summary.tags {
        var use = uses[tag] ?? TagUse(tag: tag)
        if summary.status.isFinished { use.finished += 1 } else { use.unfinished += 1 }
        uses[tag] = use
      }
    }
    return uses.values.sorted { $0.tag < $1.tag }
  }

  private init(tag: AlarmTag) { self.tag = tag }
}
