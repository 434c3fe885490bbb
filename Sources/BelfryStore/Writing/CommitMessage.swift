import BelfryCore

/// The message of a commit: a subject for people, an optional body, and trailers for machines.
public struct CommitMessage: Hashable, Sendable {
  /// The subject line.
  public var subject: String
  /// The lines between the subject and the trailers.
  public var body: [String]
  /// The trailers, in their order.
  public var trailers: [(key: String, value: String)]

  /// Creates a message.
  ///
  /// - Parameters:
  ///   - subject: The subject line.
  ///   - body: The lines of the body.
  ///   - trailers: The trailers before `Device`.
  ///   - device: The device of the commit; nil to omit the trailer `Device`.
  public init(
    _ subject: String, body: [String] = [], trailers: [(key: String, value: String)] = [],
    device: Identifier?
  ) {
    self.subject = subject
    self.body = body
    self.trailers = trailers
    if let device { self.trailers.append(("Device", device.text)) }
  }

  /// Creates the message of one event, such as `Done: Pay rent (2026-12-01 09:00)` or
  /// `Moved: Bins (2026-11-30 18:00) to 2026-12-01 15:00`.
  public init(_ event: Event, of alarm: Alarm, device: Identifier) {
    var trailers = [("Alarm", alarm.id.text)]
    let label = event.action == .done && event.auto ? "Completed" : event.action.label
    var subject = "\(label)\(event.auto ? " automatically" : ""): \(alarm.title)"
    if let occurrence = event.occurrence {
      subject += " (\(occurrence.date) \(occurrence.time))"
      trailers.append((CommitMessage.occurrence, occurrence.description))
    }
    if case .move(_, let time) = event.payload { subject += " to \(time.date) \(time.time)" }
    trailers.append(("Action", event.action.rawValue))
    if event.auto { trailers.append((CommitMessage.auto, "true")) }
    self.init(
      subject,
      trailers: trailers.map { (key: $0.0, value: $0.1) }
        + (event.payload.map(CommitMessage.facts) ?? []), device: device)
  }

  /// Creates the message of one action on several alarms, such as `Done: 3 alarms`.
  ///
  /// - Parameter payload: The facts that are the same for all alarms; nil for none.
  public init(
    _ action: LogEntry.Action, alarms count: Int, payload: LogPayload? = nil, device: Identifier
  ) {
    self.init(
      "\(action.label): \(count) alarms",
      trailers: [("Action", action.rawValue)] + (payload.map(CommitMessage.facts) ?? []),
      device: device)
  }

  /// True if `belfry undo` cannot undo the action.
  public var isFinal: Bool {
    get { trailers.contains { $0.key == CommitMessage.final } }
    set {
      trailers.removeAll { $0.key == CommitMessage.final }
      if newValue { trailers.append((CommitMessage.final, "true")) }
    }
  }

  /// Names the place outside Belfry where the person acted, before the device.
  public mutating func setPlace(_ place: String) {
    let index = trailers.firstIndex { $0.key == "Device" } ?? trailers.endIndex
    trailers.insert((CommitMessage.via, place), at: index)
  }

  /// True if no user took the action, so that `belfry undo` leaves it out.
  public var isAutomatic: Bool {
    get { trailers.contains { $0.key == CommitMessage.auto } }
    set {
      trailers.removeAll { $0.key == CommitMessage.auto }
      if newValue { trailers.append((CommitMessage.auto, "true")) }
    }
  }

  /// The trailer that names the place outside Belfry where a person acted.
  static let via = "Via"
  /// The trailer that names the occurrence of an action.
  static let occurrence = "Occurrence"
  /// The trailer of an action that no user took.
  static let auto = "Auto"
  /// The trailer that names the commit that this one undoes.
  static let undoes = "Undoes"
  /// The trailer that names the commit that counts again, because this one takes back its undo.
  static let redoes = "Redoes"
  /// The trailer of a merge with the number of its decisions.
  static let decisions = "Decisions"
  /// The trailer of a commit that completes an interrupted write.
  static let recovered = "Recovered"
  /// The trailer of an action that cannot be undone.
  static let final = "Final"
  /// The action of a change to the settings.
  static let settings = "settings"
  /// The action of a change to a holiday calendar.
  static let calendar = "calendar"
  /// The action of adopting another device.
  static let adoption = "adopted"

  /// The action of the import of an export, which merges records as a sync does, so that it cannot be undone.
  static let merge = "merged"

  /// Returns true if a user can take an action, and undo it.
  static func isUndoable(_ action: String) -> Bool {
    if [settings, calendar, adoption, merge].contains(action) { return true }
    return switch LogEntry.Action(rawValue: action) {
    case .created, .edited, .enabled, .disabled, .deleted, .paused, .resumed, .stopped, .snoozed,
      .moved, .done, .skipped, .unskipped, .dismissed:
      true
    case .fired, .reminded, .missed, .cleared, .undone, .exhausted, .called, .rehearsed,
      .unknown:
      false
    }
  }

  /// Returns the subject of a message: its first line.
  static func subject(of message: String) -> String {
    message.split(separator: "\n").first.map(String.init) ?? ""
  }

  /// Returns the trailers of a message: the `Key: value` lines of its last paragraph.
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

  /// Returns the device that made a commit, or nil if its message doesn't name one.
  static func device(of message: String) -> Identifier? {
    trailers(of: message)["Device"].flatMap { Identifier($0) }
  }

  /// The whole message.
  var text: String {
    let trailerLines = trailers.map { "\($0.key): \($0.value)" }
    return
      ([subject] + (body.isEmpty ? [] : [""] + body)
      + (trailerLines.isEmpty ? [] : [""] + trailerLines)).joined(separator: "\n") + "\n"
  }

  /// Returns true if two messages have the same text.
  public static func == (a: CommitMessage, b: CommitMessage) -> Bool { a.text == b.text }
  /// Hashes the text.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension LogEntry.Action {
  /// The action's capitalized name, such as `Done` or `Snoozed`.
  public var label: String {
    rawValue.prefix(1).uppercased() + rawValue.dropFirst()
  }
}

extension LogEntry {
  /// The action in the past tense, as the subject of a line: `Done`, or `Redone` for the undo of an undo.
  public var label: String { payload == .undone(.undone) ? "Redone" : action.label }
}
