import BelfryCore
import BelfryStore
import BelfryTerminal

/// The cascade of an alarm as text.
struct CascadeText {
  let alarm: Alarm
  let names: [Identifier: String]
  let devices: [Device]
  let times: TimeText
  /// The time zone that all devices of the cascade use; nil while it is unknown.
  let zoneName: String?

  init(
    _ alarm: Alarm, names: [Identifier: String], devices: [Device], times: TimeText,
    zoneName: String? = nil
  ) {
    self.zoneName = zoneName
    self.alarm = alarm
    self.names = names
    self.devices = devices
    self.times = times
  }

  private var plan: Cascade.Plan { alarm.cascade?.plan ?? Cascade.Plan() }

  /// Returns a moment as a time of day, with seconds unless the interval is whole minutes.
  func clock(_ moment: Instant, _ zone: TimeZoneRules, _ times: TimeText) -> String {
    let isWhole = plan.interval % 60 == 0
    return times.time(
      zone.civil(at: moment).time, seconds: isWhole ? nil : moment.seconds % 60, isPadded: false)
  }

  private var primary: String { plan.primary.flatMap { names[$0] } ?? "the first device" }

  // MARK: The list

  /// The state of the cascade and its numbered steps.
  var list: String {
    let title = Printable.text(alarm.title)
    guard !plan.targets.isEmpty else {
      return
        "The cascade of \(title) is \(plan.isOn ? "on, but has no steps" : "off"). Add a step: belfry cascade add \(alarm.id.short)\n"
    }
    var text =
      Console.fitted(
        plan.isOn
          ? "Cascade of \(title): on, a step every \(Span.exact(plan.interval)); \(Printable.text(primary)) rings first."
          : "Cascade of \(title): off.") + "\n"
    let width = plan.targets.map { TextWidth.of(Printable.text($0.label(names))) }.max() ?? 0
    for (index, target) in plan.targets.enumerated() {
      let label = Printable.text(target.label(names))
      let gap = String(repeating: " ", count: width - TextWidth.of(label) + 2)
      text +=
        Console.fitted(CascadeText.trimmed("  \(index + 1)  \(label)\(gap)\(sublabel(target))"))
        + "\n"
    }
    return text
  }

  private static func trimmed(_ line: String) -> String {
    var line = line
    while line.last == " " { line.removeLast() }
    return line
  }

  /// Returns the kind of a target, or what it does. Empty if there is nothing to say.
  func sublabel(_ target: CascadeTarget) -> String {
    switch target {
    case .device(let id):
      guard names[id] != nil else { return "unknown device" }
      return devices.first { $0.id == id }?.kind?.rawValue ?? ""
    case .person(let person):
      return person.address.map { "Message to \(Printable.text($0))" }
        ?? "Another person's device"
    case .phone(_, let message):
      let text = message.map { ": \"\(Printable.text($0))\"" } ?? ""
      return "Calls with automated backup message\(text)"
    case .phoneTasks:
      return "Rings from the phone's own copy of the task"
    }
  }

  // MARK: The preview

  /// The suffix of a time that all devices of the cascade use, such as ` Europe/Berlin`.
  private var zoneSuffix: String { zoneName.map { " \(Printable.text($0))" } ?? "" }

  /// Returns a heading and one line for each step, such as `5:02  Alarm on Watch`.
  func page(of next: Timeline.Occurrence, in zone: TimeZoneRules) -> String {
    let title = Printable.text(alarm.title)
    if plan.targets.isEmpty { return list }
    var text =
      Console.fitted(
        "If nobody responds when \(title) rings on \(Printable.text(primary)), \(times.full(next.time))\(zoneSuffix):"
      )
      + "\n"
    let lines = plan.preview(due: next.at).map { target, at in
      (clock(at, zone, times), Printable.text(target.action(names)))
    }
    let width = lines.map { $0.0.utf8.count }.max() ?? 0
    for (time, action) in lines {
      text +=
        Console.fitted(
          "  " + String(repeating: " ", count: width - time.utf8.count) + "\(time)  \(action)")
        + "\n"
    }
    return text
  }

  // MARK: Typed text

  /// Returns a text without surrounding white space.
  ///
  /// - Parameters:
  ///   - longest: the maximum number of characters.
  ///   - subject: the name of the option or value, for errors.
  /// - Throws: `CommandError` if the text is empty or too long, or contains control characters.
  static func plain(_ text: String, longest: Int, _ subject: String) throws -> String {
    var trimmed = text
    while trimmed.first?.isWhitespace == true { trimmed.removeFirst() }
    while trimmed.last?.isWhitespace == true { trimmed.removeLast() }
    var reason: String?
    if trimmed.isEmpty { reason = "is empty" }
    if trimmed.count > longest { reason = "has \(trimmed.count) characters" }
    if trimmed.unicodeScalars.contains(where: AlarmText.isControl) {
      reason = "contains a line break or another control character"
    }
    if let reason {
      throw CommandError(
        .usage, "\(subject) \(reason).", hint: "Write at most \(longest) characters on one line.")
    }
    return trimmed
  }

  /// Returns the phone number that a text names.
  ///
  /// - Throws: `CommandError` if the number cannot be called.
  static func phone(_ text: String) throws -> PhoneNumber {
    do throws(PhoneNumber.Failure) {
      return try PhoneNumber(text)
    } catch {
      let reason =
        switch error {
        case .character(let character):
          "'\(Printable.text(String(character)))' is not allowed in a phone number"
        case .tooShort: "it is too short"
        case .tooLong: "it is too long"
        case .countryMissing: "the country code is missing"
        case .unknownCountry: "the country code is unknown"
        case .badArea: "North American area codes do not begin with 0 or 1"
        case .trunkPrefix: "leave out the 0 after the country code"
        case .emergency: "automated calls to emergency services are not allowed"
        }
      throw CommandError(
        .usage, "'\(Printable.text(text))' cannot be called: \(reason).",
        hint:
          "Write ten digits as in (555) 123-4567, or + and the country code: +44 207 946 0958.")
    }
  }
}
