/// An edit of an alarm's tags, as a user writes it: `home,pills`, `+home,-pills` or `none`.
public enum TagEdit: Hashable, Sendable {
  /// The alarm has exactly these tags.
  case replace(Set<AlarmTag>)
  /// Some tags are added, and some removed.
  case change(adding: Set<AlarmTag>, removing: Set<AlarmTag>)

  /// The text that removes all tags.
  public static let none = "none"

  /// Parses an edit.
  ///
  /// - Parameter text: tags, separated by commas; each with `+` or `-` to add or remove it.
  /// - Throws: `TagEditError` if the text is not an edit.
  public init(_ text: String) throws(TagEditError) {
    let words = text.split(separator: ",", omittingEmptySubsequences: false)
      .map(TagEdit.trimmed)
    if words == [TagEdit.none] {
      self = .replace([])
      return
    }
    var (plain, added, removed): (Set<AlarmTag>, Set<AlarmTag>, Set<AlarmTag>) = ([], [], [])
    for word in words {
      let name = word.hasPrefix("+") || word.hasPrefix("-") ? String(word.dropFirst()) : word
      let tag: AlarmTag
      do throws(TagError) {
        tag = try AlarmTag(name)
      } catch {
        throw .invalid(name, error)
      }
      switch word.first {
      case "+": added.insert(tag)
      case "-": removed.insert(tag)
      default: plain.insert(tag)
      }
    }
    if let tag = added.intersection(removed).min() { throw .contradiction(tag) }
    guard !added.isEmpty || !removed.isEmpty else {
      self = .replace(plain)
      return
    }
    guard plain.isEmpty else { throw .mixed }
    self = .change(adding: added, removing: removed)
  }

  /// Returns a text without white space at its ends.
  private static func trimmed(_ text: Substring) -> String {
    guard let first = text.firstIndex(where: { !$0.isWhitespace }),
      let last = text.lastIndex(where: { !$0.isWhitespace })
    else { return "" }
    return String(text[first...last])
  }

  /// Returns the tags that the edit adds or removes, including those that an alarm has, or lacks, already.
  ///
  /// - Parameter known: the tags that the alarm has or ever had.
  public func stated(_ known: Set<AlarmTag>) -> Set<AlarmTag> {
    switch self {
    case .replace(let tags): tags.union(known)
    case .change(let adding, let removing): adding.union(removing)
    }
  }

  /// Returns the tags after the edit.
  ///
  /// - Throws: `TagEditError` if the edit adds a tag beyond the limit of `AlarmTag.maxCount`.
  public func applied(to tags: Set<AlarmTag>) throws(TagEditError) -> Set<AlarmTag> {
    let result =
      switch self {
      case .replace(let new): new
      case .change(let adding, let removing): tags.union(adding).subtracting(removing)
      }
    if result.count > AlarmTag.maxCount, !result.isSubset(of: tags) { throw .tooMany(result.count) }
    return result
  }
}

/// The reason why a text is not an edit of tags, or an edit is not possible.
public enum TagEditError: Error, Equatable, Sendable {
  /// A word is not a tag.
  case invalid(String, TagError)
  /// Some of the tags have `+` or `-`, and some do not.
  case mixed
  /// The tag is added and removed.
  case contradiction(AlarmTag)
  /// The alarm would have the given number of tags, more than `AlarmTag.maxCount`.
  case tooMany(Int)
}
