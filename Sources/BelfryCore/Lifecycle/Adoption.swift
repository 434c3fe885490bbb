/// The replacement of one device by another.
extension Alarm {
  /// Returns the alarm with one device replaced by another, as an edit at `now`; nil if the alarm does not name the old
  /// device.
  ///
  /// The new device takes the old one's entry in `delivery.devices` and its step of the cascade. If the new device
  /// already had a step of its own, that step is removed.
  public func replacing(
    _ old: Identifier, by new: Identifier, at now: Instant
  ) -> Alarm? {
    var alarm = self
    if alarm.delivery.devices.remove(old) != nil { alarm.delivery.devices.insert(new) }
    if var plan = alarm.cascade?.plan {
      plan.replace(old, by: new)
      alarm.cascade?.plan = plan
    }
    if alarm.changedFields(from: self).isEmpty { return nil }
    return alarm.stamped(against: self, at: now, device: new)
  }
}

extension Cascade.Plan {
  /// Replaces one device by another.
  fileprivate mutating func replace(_ old: Identifier, by new: Identifier) {
    if let index = targets.firstIndex(where: { $0.device == old }) {
      targets[index] = targets[index].replacingDevice(by: new)
      let place = targets[index].key
      targets = targets.enumerated().filter { other, target in
        other == index || (target.device != new && target.key != place)
      }.map(\.element)
    }
    if primary == old {
      primary = new
      targets.removeAll { $0.device == new }
    } else if primary == new {
      // The primary device has no later step.
      targets.removeAll { $0.device == new }
    }
  }
}

extension CascadeTarget {
  fileprivate func replacingDevice(by new: Identifier) -> CascadeTarget {
    switch self {
    case .device: return .device(new)
    case .person(var person):
      person.device = new
      return .person(person)
    case .phone, .phoneTasks: return self
    }
  }
}
