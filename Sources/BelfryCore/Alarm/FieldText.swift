/// The value of a field as text, in which a reader can replace the devices' identifiers by names.
public struct FieldText: Hashable, Sendable, ExpressibleByStringLiteral {
  /// A part of the text.
  public enum Part: Hashable, Sendable {
    /// Text as it is.
    case text(String)
    /// The identifier of a device.
    case device(Identifier)
  }

  /// The parts, in their order.
  public private(set) var parts: [Part]

  /// Creates a text from its parts.
  public init(_ parts: [Part]) { self.parts = parts }
  /// Creates a text without devices.
  public init(_ text: String) { parts = [.text(text)] }
  /// Creates a text without devices.
  public init(stringLiteral text: String) { self.init(text) }

  /// The text with identifiers, for comparison and for records.
  public var plain: String { text([:]) }

  /// Returns the text with the names of known devices.
  public func text(_ names: [Identifier: String]) -> String {
    parts.map { part in
      switch part {
      case .text(let text): text
      case .device(let id): names[id] ?? id.text
      }
    }.joined()
  }

  mutating func append(_ text: String) { parts.append(.text(text)) }
  mutating func append(device: Identifier) { parts.append(.device(device)) }
  mutating func append(_ other: FieldText) { parts += other.parts }
}

extension Alarm {
  /// Returns a field's value for display. Of a cascade, it has only the current plan.
  public func fieldText(of field: Field) -> FieldText {
    switch field {
    case .delivery: delivery.fieldText
    case .cascade: cascade?.plan.fieldText ?? ""
    case .title, .note, .tags, .enabled, .schedule, .zone, .pause, .cascadeZone, .partner:
      FieldText(text(of: field))
    }
  }
}

extension Alarm.Delivery {
  /// The value of the field `delivery`.
  var fieldText: FieldText {
    var text = persistent ? "persistent" : "not persistent"
    if let sound { text += ", sound \(sound)" }
    if strict { text += ", strict" }
    if let followUps { text += ", follow-ups \(followUps)" }
    if let warnings { text += ", warnings \(warnings)" }
    if let run { text += ", runs \(run)" }
    if let runDone { text += ", runs \(runDone) when done" }
    var result = FieldText(text)
    for (index, device) in devices.sorted(by: { $0.text < $1.text }).enumerated() {
      result.append(index == 0 ? ", on " : " ")
      result.append(device: device)
    }
    return result
  }
}

extension Cascade.Plan {
  /// The plan as text.
  var fieldText: FieldText {
    var result = FieldText("\(isOn ? "on" : "off"), every \(Span.code(interval))")
    if let primary {
      result.append(", first ")
      result.append(device: primary)
    }
    for target in targets {
      result.append(", ")
      result.append(target.fieldText)
    }
    return result
  }
}

extension Cascade.Value {
  /// The value as text for display. It omits the position of a target.
  public var fieldText: FieldText {
    switch self {
    case .on(let isOn): isOn ? "on" : "off"
    case .every(let interval): FieldText(Span.code(interval))
    case .primary(let primary): FieldText(primary.map { [.device($0)] } ?? [])
    case .target(let target, _): target.fieldText
    case .removed: "removed"
    }
  }
}

extension Cascade.Part {
  /// The name for display: `cascade.every`, `cascade.device Watch`.
  public var fieldText: FieldText {
    guard case .target(let key) = self, let device = CascadeTarget.device(ofKey: key) else {
      return FieldText(name)
    }
    var result = FieldText("cascade.")
    result.append(CascadeTarget.device(device).fieldText)
    return result
  }
}

extension CascadeTarget {
  private static let devicePrefix = "device "

  /// Returns the device of a target's `key`; nil if the target is not a device.
  fileprivate static func device(ofKey key: String) -> Identifier? {
    key.hasPrefix(devicePrefix) ? Identifier(key.dropFirst(devicePrefix.count)) : nil
  }

  /// The target as text.
  var fieldText: FieldText {
    switch self {
    case .device(let id): return FieldText([.text(CascadeTarget.devicePrefix), .device(id)])
    case .person(let person):
      var result = FieldText(key)
      if let device = person.device {
        result.append(" on ")
        result.append(device: device)
      }
      if let address = person.address { result.append(" at \"\(address)\"") }
      if let gadget = person.gadget { result.append(" as \"\(gadget)\"") }
      return result
    case .phone(_, let message):
      return FieldText(key + (message.map { " saying \"\($0)\"" } ?? ""))
    case .phoneTasks: return FieldText(key)
    }
  }
}
