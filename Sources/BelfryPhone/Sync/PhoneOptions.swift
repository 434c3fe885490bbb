import BelfryCore

/// The choices of a person about the tasks on the phone.
public struct PhoneOptions: Hashable, Sendable {
  /// The tags of which an alarm needs one to be published; empty for all alarms.
  public var tags: Set<AlarmTag>
  /// True if tasks have no titles, notes and tags.
  public var isNeutral: Bool
  /// True if changes of a title, a note or a due time, and new tasks, change the store.
  public var acceptsEdits: Bool

  /// Creates options. The defaults publish all alarms, and accept edits.
  public init(tags: Set<AlarmTag> = [], isNeutral: Bool = false, acceptsEdits: Bool = true) {
    self.tags = tags
    self.isNeutral = isNeutral
    self.acceptsEdits = acceptsEdits
  }
}
