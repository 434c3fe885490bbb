import BelfryCore

/// The member `phoneTasks` of a cascade: the step of the tasks on a phone.
///
/// | form | step |
/// |---|---|
/// | `{edited, order}` | a step with its stamp and its position among the targets |
/// | `{edited, removed: true}` | a removed step |
/// | `true`, or the position alone | a step without a stamp, written by hand; `true` stands for the end |
///
/// Versions up to 1.0 reject a record with an unknown kind of target. They keep unknown members of a cascade, and the
/// greater text in a merge. So the step is a member of its own, whose greater text is the later edit in all forms, and
/// which stays after a removal: such a version would bring it back, and this one would remove it again, in each sync.
struct PhoneTasksRecord {
  /// The stamp of the latest edit; nil without one.
  let edited: Stamp?
  /// The position among the targets; nil for the end.
  let order: Int64?
  /// True if the step was removed.
  let isRemoved: Bool

  private static let part = Cascade.Part.target(CascadeTarget.phoneTasks.key)

  /// Creates the member of a cascade. Returns nil if the step was never added.
  init?(_ cascade: Cascade) {
    guard let register = cascade.registers[PhoneTasksRecord.part] else { return nil }
    edited = register.stamp
    switch register.value {
    case .target(_, let position):
      order = position
      isRemoved = false
    case .removed where edited != nil:
      order = nil
      isRemoved = true
    case .removed, .on, .every, .primary: return nil
    }
  }

  /// Parses the member. Returns nil if it is not valid.
  init?(_ json: JSON) {
    if let members = json.object {
      guard let stamp = json["edited"]?.stamp, members["order"].map({ $0.integer != nil }) ?? true,
        members["removed"].map({ $0.bool == true }) ?? true
      else { return nil }
      edited = stamp
      order = json["order"]?.integer
      isRemoved = json["removed"] != nil
    } else {
      guard json.bool == true || json.integer != nil else { return nil }
      edited = nil
      order = json.integer
      isRemoved = false
    }
  }

  /// The valid forms, for errors.
  static let expected = "true, a whole number, or an object with a stamp 'edited'"

  /// The JSON form.
  var json: JSON {
    guard let edited else { return order.map { .integer($0) } ?? .bool(true) }
    return .object(omittingNil: [
      "edited": JSON(edited), "order": order.map { .integer($0) },
      "removed": isRemoved ? .bool(true) : nil,
    ])
  }

  /// Adds the step, or its removal, to the parts of a record.
  ///
  /// - Parameters:
  ///   - targets: the targets in their order.
  ///   - positions: the recorded positions of the targets, by key.
  ///   - stamps: the stamps of the parts, removals included.
  func add(
    to targets: inout [CascadeTarget], _ positions: inout [String: Int64],
    _ stamps: inout [Cascade.Part: Stamp]
  ) {
    stamps[PhoneTasksRecord.part] = edited
    if isRemoved { return }
    let key = CascadeTarget.phoneTasks.key
    let place = order.flatMap { order in
      targets.firstIndex { target in
        positions[target.key].map { ($0, target.key) > (order, key) } ?? false
      }
    }
    targets.insert(.phoneTasks, at: place ?? targets.count)
    positions[key] = order
  }
}
