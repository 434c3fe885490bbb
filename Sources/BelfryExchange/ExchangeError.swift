import BelfryCore

/// The reason why a document cannot be imported or exported.
public struct ExchangeError: Error, Hashable, Sendable {
  /// The kind of an error.
  public enum Kind: Hashable, Sendable {
    /// The document is not valid.
    case notValid
    /// The document was written by a newer version of Belfry.
    case newerFormat
    /// The library for calendars is not installed.
    case libraryMissing
  }
  /// The kind.
  public let kind: Kind
  /// The reason as a clause for the user, without a final period.
  public let reason: String

  init(_ reason: String, _ kind: Kind = .notValid) {
    self.kind = kind
    self.reason = reason
  }
}

/// An alarm read from a document of another program or from a calendar.
public struct ForeignAlarm: Sendable {
  /// The identifier, derived from the other program's identifier, so that a repeated import finds the alarm.
  public let id: Identifier
  /// The title.
  public var title: String
  /// The note; nil for none.
  public var note: String?
  /// The tags.
  public var tags: Set<AlarmTag> = []
  /// True if the alarm is enabled.
  public var enabled = true
  /// The schedule.
  public var schedule: Schedule
  /// The time zone.
  public var zone: Alarm.Zone
  /// The delivery options.
  public var delivery = Alarm.Delivery()
  /// The occurrences that the other program omits.
  public var skipped: [CivilDateTime] = []
  /// The new times of the occurrences that were moved, by their own times.
  public var moved: [CivilDateTime: CivilDateTime] = [:]
  /// The alarms that ring in the place of moved occurrences if those cannot be moved, by the occurrences' own times.
  public var substitutes: [CivilDateTime: ForeignAlarm] = [:]
  /// The alarms of the changes that are no moves, by the own times of the occurrences that the schedule leaves out.
  public var separated: [CivilDateTime: Identifier] = [:]
  /// The properties that Belfry cannot represent, as noun phrases.
  public var losses: [String] = []

  init(id: Identifier, title: String, note: String?, schedule: Schedule, zone: Alarm.Zone) {
    self.id = id
    self.title = title
    self.note = note
    self.schedule = schedule
    self.zone = zone
  }

  /// Adds the tags of another program's labels, and returns the labels that cannot be tags.
  ///
  /// White space in a label becomes a hyphen.
  mutating func addTags(_ labels: [String]) -> [String] {
    labels.filter { label in
      let words = label.split(whereSeparator: \.isWhitespace).joined(separator: "-")
      guard let tag = try? AlarmTag(words), tags.count < AlarmTag.maxCount || tags.contains(tag)
      else {
        return true
      }
      tags.insert(tag)
      return false
    }
  }

  /// The title of an item without one.
  package static let untitled = "Untitled"

  /// Returns a valid title and note for any text.
  static func texts(_ text: String, _ note: String?) -> (title: String, note: String?) {
    (title(text) ?? untitled, note.flatMap(self.note))
  }

  /// Returns a valid title for any text; nil if nothing of it can be shown.
  package static func title(_ text: String) -> String? {
    try? AlarmText.title(clean(text, keeping: [], to: AlarmText.longestTitle))
  }

  /// Returns a valid note for any text; nil for none.
  package static func note(_ text: String) -> String? {
    (try? AlarmText.note(clean(text, keeping: ["\n"], to: AlarmText.longestNote))) ?? nil
  }

  private static func clean(
    _ text: String, keeping kept: Set<Unicode.Scalar>, to count: Int
  ) -> String {
    let scalars = text.unicodeScalars.map { scalar in
      AlarmText.isControl(scalar) && !kept.contains(scalar) ? " " : scalar
    }
    return String(String(String.UnicodeScalarView(scalars)).prefix(count))
  }
}

/// A moved, cancelled or completed occurrence of a series that is not in the same document.
public struct ForeignChange: Sendable {
  /// The identifier of the series' alarm, if an earlier import brought it.
  public let alarm: Identifier
  /// The title.
  public let title: String
  /// The times at which the alarm may ring for the occurrence.
  public let rings: [Instant]
}

/// A note about something that an import or export omits.
public struct Remark: Hashable, Sendable {
  /// The title of the alarm or item.
  public let title: String
  /// The reason for an omitted item, or the omitted setting.
  public let reason: String
  /// True if an alarm is missing because Belfry cannot represent the item. False if the item does not ring any more.
  public var isFailure = true
  /// The alarm that an earlier import of a cancelled or completed item has made; nil for any other item.
  public var ended: Identifier?

  /// Creates a remark.
  public init(title: String, _ reason: String) {
    self.title = title
    self.reason = reason
  }
}
