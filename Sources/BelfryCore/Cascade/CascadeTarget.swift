/// A device, person or phone number that a cascade step alerts, or the tasks on a phone.
public enum CascadeTarget: Hashable, Sendable {
  /// A device of the store.
  case device(Identifier)
  /// Another person.
  case person(CascadePerson)
  /// A phone number, which gets a voice call with an optional message of the user.
  case phone(PhoneNumber, message: String?)
  /// The occurrence's task in the folders that devices publish. The phone that has a copy rings by itself, so no device
  /// calls or rings for the step.
  case phoneTasks

  /// The device of the store that rings for the target; nil if there is none.
  public var device: Identifier? {
    switch self {
    case .device(let id): id
    case .person(let person): person.device
    case .phone, .phoneTasks: nil
    }
  }

  /// True if the target is a phone number.
  public var isPhone: Bool {
    if case .phone = self { true } else { false }
  }

  /// True if the target is called or gets a message. Any capable device can reach it.
  public var isRemote: Bool { device == nil && self != .phoneTasks }

  /// The identity of the target within a cascade and in the claims that devices make for it.
  public var key: String {
    switch self {
    case .device(let id): "device \(id)"
    case .person(let person): "person \(person.name)"
    case .phone(let number, _): "phone \(number)"
    // Earlier versions accept the names of parts that begin with "phone ".
    case .phoneTasks: "phone tasks"
    }
  }
}

/// A person whom a cascade step alerts.
public struct CascadePerson: Hashable, Sendable {
  /// The name, which identifies the person within a cascade.
  public var name: String
  /// The person's device in the store; nil if the person is reached by `address`.
  public var device: Identifier?
  /// The address that the hook `person` uses, such as `https://ntfy.sh/…`; nil if the person has a device.
  public var address: String?
  /// A display name for the person's device: `iPhone`.
  public var gadget: String?

  /// The maximum length of a name, in characters.
  public static let longestName = 64
  /// The maximum length of an address, in characters.
  public static let longestAddress = 512

  /// Creates a person.
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
  /// The maximum length of a call message, in characters.
  public static let longestMessage = 500

  /// Returns the display name of the target: `Watch`, `Jen's iPhone`, `(555) 123-4567`, `the phone's task app`.
  ///
  /// - Parameter names: the names of the devices.
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
    case .phoneTasks: return "the phone's task app"
    }
  }

  /// Returns a description of the action: `Alarm on Watch`, `Call (555) 123-4567`, `Task on the phone`.
  public func action(_ names: [Identifier: String]) -> String {
    switch self {
    case .phone: "Call \(label(names))"
    case .phoneTasks: "Task on the phone"
    case .person(let person) where person.device == nil && person.gadget == nil:
      "Message to \(label(names))"
    case .device, .person: "Alarm on \(label(names))"
    }
  }
}

extension CascadeTarget {
  /// A text that is equal for two targets exactly if they are equal.
  var canonicalText: String { fieldText.plain }
}
