/// One of those who ring when the first device stays silent.
public enum CascadeTarget: Hashable, Sendable {
  /// A device of the store.
  case device(Identifier)
  /// Somebody else.
  case person(CascadePerson)
  /// Called, and told so in a voice; the message is what a person added.
  case phone(PhoneNumber, message: String?)

  /// The device of the store that rings for it; nil where none does.
  public var device: Identifier? {
    switch self {
    case .device(let id): id
    case .person(let person): person.device
    case .phone: nil
    }
  }

  /// True for a telephone number.
  public var isPhone: Bool {
    if case .phone = self { true } else { false }
  }

  /// True for a target without a device of its own: any device that can reaches it.
  public var isRemote: Bool { device == nil }

  /// The identity of the target within a list, and in what devices agree on about it.
  public var key: String {
    switch self {
    case .device(let id): "device \(id)"
    case .person(let person): "person \(person.name)"
    case .phone(let number, _): "phone \(number)"
    }
  }
}

/// Somebody who is to be woken in another's place.
public struct CascadePerson: Hashable, Sendable {
  public var name: String
  /// A device of the store that is theirs; nil where they are reached by `address`.
  public var device: Identifier?
  /// The address at which the hook `person` reaches them, such as `https://ntfy.sh/…`.
  public var address: String?
  /// The device that rings there, in words: `iPhone`.
  public var gadget: String?

  /// The longest name and the longest address, in characters.
  public static let longestName = 64
  public static let longestAddress = 512

  public init(
    name: String, device: Identifier? = nil, address: String? = nil, gadget: String? = nil
  ) {
    self.name = name
    self.device = device
    self.address = address
    self.gadget = gadget
  }
}

extension CascadeTarget {
  /// The longest message that a call adds, in characters.
  public static let longestMessage = 500

  /// The target in words: `Watch`, `Jen's iPhone`, `(555) 123-4567`.
  ///
  /// - Parameter names: what people call the devices.
  public func label(_ names: [Identifier: String]) -> String {
    switch self {
    case .device(let id): return names[id] ?? "device \(id.short)"
    case .person(let person):
      guard let gadget = person.gadget ?? person.device.map({ names[$0] ?? $0.short }) else {
        return person.name
      }
      return gadget.lowercased().hasPrefix(person.name.lowercased())
        ? gadget : "\(person.name)'s \(gadget)"
    case .phone(let number, _): return number.shown
    }
  }

  /// The action in words: `Alarm on Watch`, `Call (555) 123-4567`.
  public func deed(_ names: [Identifier: String]) -> String {
    switch self {
    case .phone: "Call \(label(names))"
    case .person(let person) where person.device == nil && person.gadget == nil:
      "Message to \(label(names))"
    case .device, .person: "Alarm on \(label(names))"
    }
  }
}

extension CascadeTarget {
  /// Words that are equal exactly when two are.
  var canonicalText: String {
    switch self {
    case .device: key
    case .person(let person):
      key
        + [
          person.device.map { " on \($0)" }, person.address.map { " at \"\($0)\"" },
          person.gadget.map { " as \"\($0)\"" },
        ].compactMap { $0 }.joined()
    case .phone(_, let message): key + (message.map { " saying \"\($0)\"" } ?? "")
    }
  }
}
