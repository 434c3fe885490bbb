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
    var subject = "\(event.action.label): \(alarm.title)"
    if let occurrence = event.occurrence {
      subject += " (\(occurrence.date) \(occurrence.time))"
      trailers.append(("Occurrence", occurrence.description))
    }
    trailers.append(("Action", event.action.rawValue))
    self.init(
      subject, body: event.detail.map { [$0] } ?? [],
      trailers: trailers.map { (key: $0.0, value: $0.1) }, device: device)
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
