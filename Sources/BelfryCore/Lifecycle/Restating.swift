/// The parts of an alarm that a person has set, whether or not that changes them on this device.
public struct StatedParts: Hashable, Sendable {
  /// The fields, except `tags` and `cascade`, whose parts merge one by one.
  public var fields: Set<Alarm.Field>
  /// The tags that were added or removed.
  public var tags: Set<AlarmTag>
  /// The parts of the cascade.
  public var cascade: Set<Cascade.Part>

  /// Creates a selection of parts.
  public init(
    fields: Set<Alarm.Field> = [], tags: Set<AlarmTag> = [], cascade: Set<Cascade.Part> = []
  ) {
    self.fields = fields
    self.tags = tags
    self.cascade = cascade
  }

  /// True if there are none.
  public var isEmpty: Bool { fields.isEmpty && tags.isEmpty && cascade.isEmpty }

  /// The fields that the parts belong to, in ascending order.
  public var allFields: [Alarm.Field] {
    var all = fields
    if !tags.isEmpty { all.insert(.tags) }
    if !cascade.isEmpty { all.insert(.cascade) }
    return all.sorted()
  }
}

extension Alarm {
  /// Returns the alarm with new stamps on the parts that a person has set to the values that they have already.
  ///
  /// Another device may have set them to something else before. This statement is the later one, so it has to win.
  ///
  /// - Parameters:
  ///   - parts: the parts that the person has set.
  ///   - earlier: the alarm before the edit. Parts with other values have their stamps already.
  public func restating(
    _ parts: StatedParts, since earlier: Alarm, at now: Instant, device: Identifier
  ) -> Alarm {
    var result = self
    let stamp = Stamp.next(after: latestStamp, now: now, device: device)
    var fields = parts.fields.filter { hasSame($0, as: earlier) }
    for tag in parts.tags where tags.contains(tag) == earlier.tags.contains(tag) {
      result.mergeState.tagStamps[tag] = stamp
      fields.insert(.tags)
    }
    let same = parts.cascade.filter { part in
      (cascade ?? Cascade()).value(of: part) == (earlier.cascade ?? Cascade()).value(of: part)
    }
    if !same.isEmpty {
      result.cascade = (cascade ?? Cascade()).restating(same, stamp)
      fields.insert(.cascade)
    }
    result.adopt(stamp, for: fields, earlier: mergeState.stamps)
    return result
  }
}

extension Cascade {
  /// Returns the cascade with another stamp on some parts.
  fileprivate func restating(_ parts: Set<Part>, _ stamp: Stamp) -> Cascade {
    var registers = self.registers
    for part in parts { registers[part] = Register(value(of: part), stamp) }
    return Cascade(registers: registers, earlier: earlier)
  }
}
