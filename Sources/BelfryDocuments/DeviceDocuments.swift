import BelfryCore
import BelfryStore

/// A test call that was answered: the document of `calls test`.
package struct CallTestDocument: JSONDocument {
  /// The phone number in E.164 format.
  let phone: String

  package init(phone: String) {
    self.phone = phone
  }
}

/// A device: the document of `device`, `device show`, `calls sip`, `http`, `hook` and `off`.
package struct DeviceDocument: JSONDocument {
  /// The id.
  let id: String
  /// The name.
  let name: String
  /// The kind, such as `laptop`.
  let kind: String?
  /// The name of the owner.
  let owner: String?
  /// True if the device places calls.
  let calls: Bool
  /// The name of the collection of tasks that the device publishes for a phone.
  let phone: String?
  /// True if the device is known to be online; only in `device show`.
  let reachable: Bool?
  /// The time of its latest heartbeat or other evidence; only in `device show` of another device.
  let lastHeard: String?
  /// The number of seconds at least by which its clock is ahead of this device's; absent if it is not.
  let clockAhead: Int64?

  /// Creates the document of a device's record.
  package init(_ device: Device) {
    self.init(device, reachable: nil, lastHeard: nil, clockAhead: nil)
  }

  /// Creates the document with what this device knows beyond the record.
  package init(_ device: Device, reachable: Bool?, lastHeard: String?, clockAhead: Int64?) {
    self.reachable = reachable
    self.lastHeard = lastHeard
    self.clockAhead = clockAhead
    id = device.id.text
    name = device.name
    kind = device.kind?.rawValue
    owner = device.owner
    calls = device.calls
    phone = device.phone
  }
}

/// The replacement of a device: the document of `device adopt`.
package struct AdoptionDocument: JSONDocument {
  /// The id of this device.
  let id: String
  /// The name of this device.
  let name: String
  /// The id of the replaced device.
  let replaces: String
  /// The changed alarms.
  let alarms: [Alarm]

  /// A changed alarm.
  package struct Alarm: Encodable {
    /// The id.
    let id: String
    /// The title.
    let title: String
  }

  package init(_ adoption: StoreDevices.Adoption, _ store: Store) {
    id = store.device.text
    name = store.devices.own.name
    replaces = adoption.old.id.text
    alarms = adoption.alarms.map { Alarm(id: $0.id.text, title: $0.title) }
  }
}

/// The phone calls of this device: the document of `calls`.
package struct CallsDocument: JSONDocument {
  /// True if this device places calls.
  let places: Bool
  /// The call provider, as text; absent for a hook of the user's own.
  let provider: String?
  /// The names of the other devices that place calls.
  let others: [String]

  package init(places: Bool, provider: String?, others: [String]) {
    self.places = places
    self.provider = provider
    self.others = others
  }
}
