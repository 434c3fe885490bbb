import BelfryCore

/// Why a document of another program, or an export, cannot be used.
public struct ExchangeError: Error, Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// It is not what it is taken for.
    case notValid
    /// It was written by a later Belfry.
    case newerFormat
    /// The library that reads calendars is not installed.
    case libraryMissing
  }
  public let kind: Kind
  public let reason: String

  init(_ reason: String, _ kind: Kind = .notValid) {
    self.kind = kind
    self.reason = reason
  }
}

/// An alarm that another program described, as far as Belfry can say it.
public struct ForeignAlarm: Sendable {
  /// Always the same for the same thing of the other program: a second import finds it.
  public let id: Identifier
  public var title: String
  public var note: String?
  public var enabled = true
  public var schedule: Schedule
  public var zone: Alarm.Zone
  public var delivery = Alarm.Delivery()
  /// Occurrences that the other program leaves out.
  public var skipped: [CivilDateTime] = []
  /// What cannot be said, in words.
  public var losses: [String] = []

  init(id: Identifier, title: String, note: String?, schedule: Schedule, zone: Alarm.Zone) {
    self.id = id
    self.title = title
    self.note = note
    self.schedule = schedule
    self.zone = zone
  }

  /// A title and a note as alarms have them, of whatever text.
  static func texts(_ title: String, _ note: String?) -> (title: String, note: String?) {
    func clean(_ text: String, keeping kept: Set<Unicode.Scalar>, to count: Int) -> String {
      let scalars = text.unicodeScalars.map { scalar in
        AlarmText.isControl(scalar) && !kept.contains(scalar) ? " " : scalar
      }
      return String(String(String.UnicodeScalarView(scalars)).prefix(count))
    }
    let title = (try? AlarmText.title(clean(title, keeping: [], to: AlarmText.longestTitle)))
    let note = note.flatMap { note in
      (try? AlarmText.note(clean(note, keeping: ["\n"], to: AlarmText.longestNote))) ?? nil
    }
    return (title ?? "Untitled", note)
  }
}

/// Something that was left out of an import or export, or could not be said in full.
public struct Remark: Hashable, Sendable {
  public let title: String
  public let reason: String

  public init(title: String, _ reason: String) {
    self.title = title
    self.reason = reason
  }
}
