@_spi(_Unicode) import Swift

/// A word that groups alarms, such as `home` or `pills`.
///
/// A tag has 1 to 32 characters: letters and digits of any script, `-`, `_` and `.`. It starts with a letter, a digit or
/// `_`. Tags are compared case-insensitively: the text is in lower case and in Unicode normalization form C.
public struct AlarmTag: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The normalized text.
  public let text: String

  /// The maximum length of a tag, in characters (grapheme clusters).
  public static let maxLength = 32
  /// The maximum number of tags that commands give to one alarm. A merge can exceed it.
  public static let maxCount = 32

  /// Creates a tag from its text in upper or lower case, without surrounding white space.
  ///
  /// - Throws: `TagError` if the text is not a tag.
  public init(_ text: String) throws(TagError) {
    let normalized = AlarmTag.composed(AlarmTag.composed(text).lowercased())
    guard let first = normalized.unicodeScalars.first else { throw .empty }
    guard AlarmTag.isStart(first) else { throw .invalidStart(first) }
    if let scalar = normalized.unicodeScalars.first(where: { !AlarmTag.isAllowed($0) }) {
      throw .invalidCharacter(scalar)
    }
    // One character can consist of many scalars. This check also bounds the size in bytes.
    guard normalized.count <= AlarmTag.maxLength,
      normalized.unicodeScalars.count <= AlarmTag.maxLength * 4
    else { throw .tooLong(normalized.count) }
    self.text = normalized
  }

  /// The normalized text.
  public var description: String { text }

  /// Returns true if the text of `a` sorts before that of `b`.
  public static func < (a: AlarmTag, b: AlarmTag) -> Bool { a.text < b.text }

  /// Returns a text in Unicode normalization form C.
  private static func composed(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: text._nfc)
    return String(scalars)
  }

  private static func isStart(_ scalar: Unicode.Scalar) -> Bool {
    scalar != "-" && scalar != "." && isAllowed(scalar) && !isMark(scalar)
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber:
      !scalar.properties.isDefaultIgnorableCodePoint
    default: isMark(scalar) || scalar == "-" || scalar == "_" || scalar == "."
    }
  }

  /// Returns true for a visible mark that belongs to the letter before it, as in Hindi or Thai.
  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark: !scalar.properties.isDefaultIgnorableCodePoint
    default: false
    }
  }
}

/// The reason why a text is not a tag.
public enum TagError: Error, Equatable, Sendable {
  /// The text is empty.
  case empty
  /// The tag has the given number of characters, more than `AlarmTag.maxLength`.
  case tooLong(Int)
  /// The tag starts with the given character, which is no letter, digit or `_`.
  case invalidStart(Unicode.Scalar)
  /// The tag contains the given character, which is no letter, digit, `-`, `_` or `.`.
  case invalidCharacter(Unicode.Scalar)
}

// MARK: The tags of an alarm

/// Each tag is a last-writer-wins element: `tags` tells if it is present, and its stamp in `MergeState.tagStamps` when
/// that was last edited. A removed tag keeps its stamp.
extension Alarm {
  /// Returns the tags that were added or removed since an earlier version without a new stamp, in ascending order.
  ///
  /// - Parameter earlier: the earlier version; nil if there is none.
  func tagsEditedByHand(since earlier: Alarm?) -> [AlarmTag] {
    let old = earlier?.mergeState.tagStamps ?? [:]
    return tags.symmetricDifference(earlier?.tags ?? []).filter { tag in
      let stamp = mergeState.tagStamps[tag]
      return stamp == nil || stamp == old[tag]
    }.sorted()
  }

  /// Returns the tags whose presence differs between two versions, in ascending order.
  public func changedTags(from other: Alarm) -> [AlarmTag] {
    tags.symmetricDifference(other.tags).sorted()
  }

  /// Copies the presence of some tags, but not their stamps, from another version of the alarm.
  mutating func take(_ tags: some Sequence<AlarmTag>, from other: Alarm) {
    for tag in tags {
      if other.tags.contains(tag) { self.tags.insert(tag) } else { self.tags.remove(tag) }
    }
  }

  /// Returns the alarm with the presence of some tags in another version, as an edit at `now`.
  ///
  /// Each of the tags gets a new stamp, even if its presence is the same.
  public func taking(
    _ tags: [AlarmTag], from other: Alarm, at now: Instant, device: Identifier
  ) -> Alarm {
    var result = self
    result.take(tags, from: other)
    let stamp = Stamp.next(after: latestStamp, now: now, device: device)
    for tag in tags { result.mergeState.tagStamps[tag] = stamp }
    result.mergeState.stamps[.tags] = stamp
    return result
  }

  /// Returns the tags of both versions with their stamps.
  ///
  /// For each tag, the version with the later stamp decides. A version without a stamp is older than any with one.
  /// Between equal stamps, the tag is present if it is in one version.
  static func joinedTags(
    _ a: Alarm, _ b: Alarm
  ) -> (tags: Set<AlarmTag>, stamps: [AlarmTag: Stamp]) {
    let (ours, theirs) = (a.mergeState.tagStamps, b.mergeState.tagStamps)
    let tags = a.tags.union(b.tags).filter { tag in
      switch (ours[tag], theirs[tag]) {
      case (let one?, let two?) where one != two: (one > two ? a : b).tags.contains(tag)
      case (_?, nil): a.tags.contains(tag)
      case (nil, _?): b.tags.contains(tag)
      default: true
      }
    }
    return (tags, ours.merging(theirs, uniquingKeysWith: max))
  }
}

extension Set<AlarmTag> {
  /// The tags in ascending order, separated by commas: `home, pills`.
  public var text: String { sorted().map(\.text).joined(separator: ", ") }
}
