import BelfryCore

/// The text of a task file as an app reads and writes it: lines of iCalendar, without any code of Belfry's own.
struct PhoneTaskText: Equatable {
  private var lines: [String]

  init(_ text: String) {
    lines = text.replacing("\r\n ", with: "").replacing("\r\n", with: "\n")
      .split(separator: "\n").map(String.init)
  }

  var text: String { lines.map { $0 + "\r\n" }.joined() }

  private func value(_ name: String) -> String? {
    lines.first { $0.hasPrefix(name + ":") }.map { String($0.dropFirst(name.count + 1)) }
  }

  /// The occurrence, from the UID: `<alarm>-20261201T0900`.
  var id: OccurrenceID? {
    guard let parts = value("UID")?.split(separator: "-"), parts.count == 2,
      let alarm = Identifier(parts[0]), parts[1].count == 13
    else { return nil }
    let digits = Array(String(parts[1]))
    let civil =
      "\(String(digits[0..<4]))-\(String(digits[4..<6]))-\(String(digits[6..<8]))T\(String(digits[9..<11])):\(String(digits[11..<13]))"
    return CivilDateTime(civil).map { OccurrenceID(alarm: alarm, occurrence: $0) }
  }

  /// True if the task is neither completed nor cancelled.
  var isOpen: Bool { !["COMPLETED", "CANCELLED"].contains(value("STATUS") ?? "") }

  /// The times of the reminders.
  var triggers: [Instant] {
    let prefix = "TRIGGER;VALUE=DATE-TIME:"
    return lines.filter { $0.hasPrefix(prefix) }
      .compactMap { PhoneTaskText.instant(String($0.dropFirst(prefix.count))) }
  }

  /// The times at which the app rings: the reminders after the latest acknowledgment, and the end of a snooze.
  var rings: [Instant] {
    guard isOpen else { return [] }
    let acknowledged = value("X-MOZ-LASTACK").flatMap(PhoneTaskText.instant)
    let snooze = value("X-MOZ-SNOOZE-TIME").flatMap(PhoneTaskText.instant)
    return triggers.filter { trigger in acknowledged.map { trigger > $0 } ?? true }
      + [snooze].compactMap { $0 }
  }

  /// Returns the lines that another text does not have, and those that it has instead.
  func difference(to other: String) -> String {
    let other = PhoneTaskText(other)
    let (gone, new) = (
      lines.filter { !other.lines.contains($0) }, other.lines.filter { !lines.contains($0) }
    )
    return "\(gone) became \(new)"
  }

  // MARK: Changes

  mutating func set(_ name: String, _ value: String) {
    lines.removeAll { $0.hasPrefix(name + ":") }
    let end = lines.firstIndex { $0 == "BEGIN:VALARM" || $0 == "END:VTODO" } ?? lines.count
    lines.insert("\(name):\(value)", at: end)
  }

  mutating func complete(at time: Instant) {
    set("STATUS", "COMPLETED")
    set("COMPLETED", PhoneTaskText.utc(time))
    set("PERCENT-COMPLETE", "100")
    set("LAST-MODIFIED", PhoneTaskText.utc(time))
  }

  mutating func cancel(at time: Instant) {
    set("STATUS", "CANCELLED")
    set("LAST-MODIFIED", PhoneTaskText.utc(time))
  }

  /// Snoozes as Tasks.org and Thunderbird do.
  mutating func snooze(until: Instant, at time: Instant) {
    set("X-MOZ-LASTACK", PhoneTaskText.utc(time))
    set("X-MOZ-SNOOZE-TIME", PhoneTaskText.utc(until))
    set("LAST-MODIFIED", PhoneTaskText.utc(time))
  }

  /// Snoozes by another time of the first reminder, as jtx Board does.
  mutating func postpone(until: Instant, at time: Instant) {
    if let index = lines.firstIndex(where: { $0.hasPrefix("TRIGGER") }) {
      lines[index] = "TRIGGER;VALUE=DATE-TIME:\(PhoneTaskText.utc(until))"
    }
    set("LAST-MODIFIED", PhoneTaskText.utc(time))
  }

  /// Ends the reminder without completing the task.
  mutating func acknowledge(at time: Instant) {
    set("X-MOZ-LASTACK", PhoneTaskText.utc(time))
    set("LAST-MODIFIED", PhoneTaskText.utc(time))
  }

  mutating func loseForeignProperties() { lines.removeAll { $0.hasPrefix("X-BELFRY") } }
  mutating func loseReminders() {
    while let begin = lines.firstIndex(of: "BEGIN:VALARM"),
      let end = lines.firstIndex(of: "END:VALARM"), begin < end
    {
      lines.removeSubrange(begin...end)
    }
  }
  mutating func setProgram(_ name: String) {
    if let index = lines.firstIndex(where: { $0.hasPrefix("PRODID:") }) {
      lines[index] = "PRODID:\(name)"
    }
  }

  // MARK: Times

  static func utc(_ instant: Instant) -> String {
    String(instant.rfc3339Milliseconds.filter { $0 != "-" && $0 != ":" }.prefix(15)) + "Z"
  }

  static func instant(_ text: String) -> Instant? {
    let digits = Array(text)
    guard digits.count == 16 else { return nil }
    func part(_ range: Range<Int>) -> String { String(digits[range]) }
    return Instant(
      rfc3339:
        "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(9..<11)):\(part(11..<13)):\(part(13..<15))Z"
    )
  }
}
