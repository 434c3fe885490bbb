/// A device that takes over the place of another.
extension Alarm {
  /// Returns the alarm with one device in another's place, as an edit of now; nil where the other has no place in it.
  ///
  /// The successor has the same place in `delivery.devices` and in the list of cascades. Where it had a place of its own
  /// in the list, it keeps only that of the other.
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
  /// Puts one device in another's place.
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
      // Who rings first is no later step.
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
    case .phone: return self
    }
  }
}
