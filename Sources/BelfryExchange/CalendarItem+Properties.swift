import BelfryCore
import BelfryStore
import Crypto

/// The properties of an item.
extension CalendarItem {
  /// The title.
  var title: String { texts.title }

  /// The text of a reminder that programs write if the user enters none.
  private static let standardTexts: Set<String> = [
    "this is an event reminder", "reminder", "default mozilla description", "alarm",
    "event reminder",
    "alarm notification", "display",
  ]

  /// The title and the note. Without a summary, the text of a reminder is the title, or else the description.
  var texts: (title: String, note: String?) {
    func text(_ property: CalendarProperty?) -> String? {
      guard let text = property.map({ CalendarText.unescaped($0.value) }),
        text.contains(where: { !$0.isWhitespace })
      else { return nil }
      return text
    }
    let description = text(item.first("DESCRIPTION"))
    if let summary = text(item.first("SUMMARY")) { return ForeignAlarm.texts(summary, description) }
    let shown = item.components("VALARM").compactMap { text($0.first("DESCRIPTION")) }
      .first { !CalendarItem.standardTexts.contains($0.lowercased()) }
    guard let words = shown ?? description else { return ForeignAlarm.texts("", nil) }
    let line = words.split(separator: "\n").first { $0.contains { !$0.isWhitespace } } ?? ""
    let title = ForeignAlarm.texts(String(line), nil).title
    // The note has what the title does not show.
    let notes = [shown, description].compactMap(\.self).filter { $0 != title }
    return ForeignAlarm.texts(title, notes.isEmpty ? nil : notes.joined(separator: "\n"))
  }

  /// The name of the item from which the identifier of its alarm follows.
  var identifier: String {
    let uid = item.first("UID")?.value ?? ""
    // Some programs give an event and a to-do the same UID.
    if item.name == "VTODO", context.events.contains(uid) { return "to-do \(uid)" }
    return uid.isEmpty ? "\(title) \(startProperty?.value ?? "")" : uid
  }

  /// The name of a changed occurrence from which the identifier of its alarm follows.
  var nameOfChange: String { "\(identifier) \(item.first("RECURRENCE-ID")?.value ?? "")" }

  var startProperty: CalendarProperty? {
    item.first("DTSTART") ?? item.first("DUE") ?? item.first("RECURRENCE-ID")
  }

  func start() throws(Unsupported) -> CalendarMoment {
    if let line = item.rejected.first(where: { $0.name == "DTSTART" }) {
      throw Unsupported("its start is not valid: \(line.value)")
    }
    guard let property = startProperty else { throw Unsupported("it has no time") }
    guard var start = zones.moments(property).first else {
      throw Unsupported("its start is not valid: \(property.value)")
    }
    if isWholeDayAlarm {
      start.civil.time = .midnight
      start.isDate = true
    }
    return start
  }

  /// True for an alarm of KAlarm that has a date without a time.
  var isWholeDayAlarm: Bool {
    let flags = item.first("X-KDE-KALARM-FLAGS")?.value.uppercased() ?? ""
    return flags.split { !$0.isLetter }.contains("DATE")
  }

  /// The status in capitals; nil for none.
  var status: String? {
    item.first("STATUS")?.value.uppercased()
      ?? item.rejected.first { $0.name == "STATUS" }?.value.uppercased()
  }

  /// True for a disabled alarm of KAlarm.
  var isDisabled: Bool { status?.hasPrefix("X-DISABLED") ?? false || status == "DISABLED" }

  /// True for an item of an answer to an invitation, or of a proposal.
  var isAnswer: Bool { item.first(CalendarComponent.answer) != nil }

  /// True for an item that is done.
  var isCompleted: Bool {
    if status == "COMPLETED" { return true }
    guard item.name == "VTODO", status != "CANCELLED" else { return false }
    let isWhole = (item.first("PERCENT-COMPLETE").flatMap { Int($0.value) } ?? 0) >= 100
    let hasTime = item.first("COMPLETED") != nil
    // Another status contradicts a single property, which can be left from an earlier completion.
    return status == nil ? isWhole || hasTime : isWhole && hasTime
  }

  /// The reason why the item does not ring any more; nil if it rings.
  var ending: String? {
    if isAnswer { return "it is an answer to an invitation, or a proposal" }
    if status == "CANCELLED" { return "it is cancelled" }
    if isCompleted { return "it is completed" }
    let kind = item.first("X-KDE-KALARM-TYPE")?.value.uppercased() ?? ""
    if kind.hasPrefix("ARCHIVED") { return "it is an archived alarm of KAlarm" }
    let actions = Set(item.components("VALARM").map { $0.first("ACTION")?.value.uppercased() })
    if !kind.isEmpty, actions == ["PROCEDURE"] { return "it runs a command" }
    if kind.hasPrefix("TEMPLATE") { return "it is a template of KAlarm" }
    return nil
  }

  /// Returns the dates and times of all properties with a name.
  func moments(_ name: String) -> [CalendarMoment] {
    (item.all(name) + item.rejected.filter { $0.name == name }).flatMap(zones.moments)
  }

  /// The recurrence rule; nil for none.
  var rule: String? {
    get throws(Unsupported) {
      let valid = item.all("RRULE").map(\.value)
      let rejected = item.rejected.filter { $0.name == "RRULE" }.map(\.value)
      guard Set(valid).count + rejected.count <= 1 else {
        throw Unsupported("it has several recurrence rules")
      }
      guard let text = rejected.first else { return valid.first }
      // libical rejects a rule without the reason, also if it has white space or two ends.
      let rule = text.filter { !$0.isWhitespace }
      let start = CivilDateTime(.earliest, .midnight)
      let reading = try CalendarRule.read(rule, start: start, allowsBothEnds: true)
      guard rule != text || (reading.count != nil && reading.until != nil) else {
        throw Unsupported("its recurrence rule is not valid: \(text)")
      }
      return rule
    }
  }

  /// The lines that libical rejected and Belfry does not read, as noun phrases.
  var unreadableLines: [String] {
    let read = ["RRULE", "EXDATE", "RDATE", "DTSTART", "STATUS"]
    let lines = item.rejected.filter { line in
      !read.contains(line.name)
        || ["EXDATE", "RDATE"].contains(line.name) && zones.moments(line).isEmpty
    }
    let errors = item.all("X-LIC-ERROR").filter { !$0.value.hasPrefix("No value for ") }
    return errors.prefix(1).map { "an unrecognized line (\($0.value))" }
      + lines.map { "an unrecognized line (\($0.name):\($0.value))" }
  }
}

extension Identifier {
  /// Creates the identifier that always belongs to a name in another program.
  package init(naming name: String) {
    let digest = Array(SHA256.hash(data: Array("belfry import \(name)".utf8)))
    func word(_ start: Int) -> UInt64 {
      digest[start..<(start + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    }
    self.init(high: word(0), low: word(8))
  }
}
