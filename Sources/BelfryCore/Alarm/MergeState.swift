extension Alarm {
  /// The part of an alarm's record that only merging and later versions of Belfry read.
  public struct MergeState: Hashable, Sendable {
    /// The stamp of each field's last edit. A field without a stamp is older than any with one.
    public var stamps: [Field: Stamp]
    /// The stamp of the last addition or removal of each tag that was ever edited.
    ///
    /// The latest of them is also in `stamps`, so that the edit of a tag overrides a deletion that had not seen it.
    public var tagStamps: [AlarmTag: Stamp]
    /// The stamps that the deletion had seen; nil if the alarm was never deleted.
    ///
    /// The definition stays in the record. A concurrent edit that the deletion had not seen can restore the whole
    /// alarm, and joining stays associative.
    public var deletion: [Field: Stamp]?
    /// Unknown keys, preserved as canonical JSON by path (`key` or `object/key`).
    public var extras: [String: String]

    /// Creates the state from the parts of a record.
    public init(
      stamps: [Field: Stamp] = [:], tagStamps: [AlarmTag: Stamp] = [:],
      deletion: [Field: Stamp]? = nil,
      extras: [String: String] = [:]
    ) {
      self.stamps = stamps
      self.tagStamps = tagStamps
      self.deletion = deletion
      self.extras = extras
    }

    /// True if no field has a later stamp than the deletion had seen.
    ///
    /// The stamp of `cascadeZone` is ignored, because a device updates that field without a user's edit.
    var isDeleted: Bool {
      guard let deletion else { return false }
      return stamps.allSatisfy { field, stamp in
        field == .cascadeZone || deletion[field].map { stamp <= $0 } ?? false
      }
    }

    /// The latest stamp; nil if there is none.
    var latestStamp: Stamp? { (Array(stamps.values) + Array((deletion ?? [:]).values)).max() }

    /// Marks the alarm as deleted. The deletion overrides every edit that is known here.
    mutating func delete() {
      deletion = stamps.merging(deletion ?? [:], uniquingKeysWith: max)
    }

    /// Returns the deletion and the unknown keys of both versions, with the stamps of the first.
    ///
    /// The stamps are joined field by field, together with the values: see `Alarm.join`.
    static func joiningDeletionAndExtras(_ a: MergeState, _ b: MergeState) -> MergeState {
      var result = a
      if let deletion = b.deletion {
        result.deletion = (a.deletion ?? [:]).merging(deletion, uniquingKeysWith: max)
      }
      result.extras = a.extras.merging(b.extras, uniquingKeysWith: TextOrder.greater)
      return result
    }
  }
}
