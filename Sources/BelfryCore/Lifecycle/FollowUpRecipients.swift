extension Timeline {
  /// Returns true if this device sends the follow-ups of a pending occurrence. They go to the owner of the alarm.
  ///
  /// 1. The devices that ring at the alarm's own time send them.
  /// 2. A device of a later step that belongs to the owner sends them if the occurrence was stopped on it, because the
  ///    primary device may be offline.
  /// 3. If another person stopped the occurrence, the devices of all steps that belong to the owner send them, for the
  ///    same reason.
  /// 4. A device of a later step that belongs to another person never sends them. A person who stops another person's
  ///    alarm cannot confirm the task.
  func sendsFollowUps(of civil: CivilDateTime, _ record: OccurrenceRecord) -> Bool {
    if ringsHere { return true }
    guard let deviceContext, let stopper = record.by.map(deviceContext.holder) else { return false }
    guard let plan = alarm.cascade?.plan(at: occurrence(civil).at) else {
      return stopper == deviceContext.device
    }
    guard belongsToOwner(deviceContext.device, plan) else { return false }
    if stopper == deviceContext.device { return true }
    return plan.step(of: deviceContext.device) != nil && !belongsToOwner(stopper, plan)
  }

  /// Returns false for a device that the cascade lists as another person's, or whose owner is not that of the primary
  /// device.
  private func belongsToOwner(_ device: Identifier, _ plan: Cascade.Plan) -> Bool {
    let isListedAsPerson = plan.targets.contains { target in
      if case .person(let person) = target { person.device == device } else { false }
    }
    if isListedAsPerson { return false }
    guard let owners = deviceContext?.owners, let owner = owners[device],
      let first = plan.primary.flatMap({ owners[$0] })
    else { return true }
    return owner.lowercased() == first.lowercased()
  }
}
