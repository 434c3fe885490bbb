import BelfryCore

/// A commit's words: a subject that a person would say, and trailers for machines.
public struct CommitMessage: Hashable, Sendable {
  public var subject: String
  public var body: [String]
  public var trailers: [(key: String, value: String)]

  public init(
    _ subject: String, body: [String] = [], trailers: [(key: String, value: String)] = [],
    device: Identifier?
  ) {
    self.subject = subject
    self.body = body
    self.trailers = trailers
    if let device { self.trailers.append(("Device", device.text)) }
  }

  /// The message of one event: `Done: Pay rent (2026-12-01 09:00)`.
  public init(_ event: Event, of alarm: Alarm, device: Identifier) {
    var trailers = [("Alarm", alarm.id.text)]
    let label = event.auto ? "Completed by itself" : event.action.label
    var subject = "\(label): \(alarm.title)"
    if let occurrence = event.occurrence {
      subject += " (\(occurrence.date) \(occurrence.time))"
      trailers.append(("Occurrence", occurrence.description))
    }
    trailers.append(("Action", event.action.rawValue))
    if event.auto { trailers.append((CommitMessage.auto, "true")) }
    self.init(
      subject, body: event.detail.map { [$0] } ?? [],
      trailers: trailers.map { (key: $0.0, value: $0.1) }, device: device)
  }

  /// The trailer of what nobody did, and that of what is taken back: the commit of it.
  static let auto = "Auto"
  static let undoes = "Undoes"
  /// The trailer of a commit that the command after an interrupted one has made for it.
  static let recovered = "Recovered"
  /// The trailer of what cannot be taken back, as what belongs to it is gone.
  static let final = "Final"
  /// The action of a change of the settings.
  static let settings = "settings"
  /// The action of a device that takes another's place over.
  static let adoption = "adopted"

  /// Whether an action is one that a person takes, and can take back.
  static func isUndoable(_ action: String) -> Bool {
    if action == settings || action == adoption { return true }
    return switch LogEntry.Action(rawValue: action) {
    case .created, .edited, .enabled, .disabled, .deleted, .paused, .resumed, .stopped, .snoozed,
      .done, .skipped,
      .unskipped, .dismissed:
      true
    case .fired, .reminded, .missed, .cleared, .undone, .exhausted, .called, .rehearsed, nil: false
    }
  }

  /// The trailers of a message: the `Key: value` lines of its last paragraph.
  static func trailers(of message: String) -> [String: String] {
    let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
    let end = lines.lastIndex { !$0.isEmpty } ?? lines.startIndex
    let paragraph = lines[...min(end, lines.endIndex - 1)].reversed().prefix { !$0.isEmpty }
    var result: [String: String] = [:]
    for line in paragraph {
      guard let colon = line.firstRange(of: ": ") else { continue }
      result[String(line[..<colon.lowerBound])] = String(line[colon.upperBound...])
    }
    return result
  }

  /// The device that made the commit of a message; nil where it does not say.
  static func device(of message: String) -> Identifier? {
    trailers(of: message)["Device"].flatMap { Identifier($0) }
  }

  var text: String {
    let trailerLines = trailers.map { "\($0.key): \($0.value)" }
    return
      ([subject] + (body.isEmpty ? [] : [""] + body)
      + (trailerLines.isEmpty ? [] : [""] + trailerLines)).joined(separator: "\n") + "\n"
  }

  public static func == (a: CommitMessage, b: CommitMessage) -> Bool { a.text == b.text }
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension LogEntry.Action {
  /// What a person would say: `Done`, `Snoozed` …
  public var label: String {
    rawValue.prefix(1).uppercased() + rawValue.dropFirst()
  }
}
