extension Timeline {
  /// Returns true if this device asks about a pending occurrence: follow-ups go to the owner of the alarm.
  ///
  /// 1. The devices that ring at the alarm's own time ask.
  /// 2. A later step that belongs to the owner asks when it was stopped there: the first device may be off.
  /// 3. When another person stopped it, all of the owner's cascade steps ask, for the same reason.
  /// 4. A later step that belongs to another person never asks: whoever silences an alarm for somebody else cannot say
  ///    whether it was done.
  func asks(about civil: CivilDateTime, _ record: OccurrenceRecord) -> Bool {
    if ringsHere { return true }
    guard let deviceContext, let stopper = record.by.map(deviceContext.holder) else { return false }
    guard let plan = alarm.cascade?.plan(at: occurrence(civil).at) else {
      return stopper == deviceContext.device
    }
    guard belongsToOwner(deviceContext.device, plan) else { return false }
    if stopper == deviceContext.device { return true }
    return plan.step(of: deviceContext.device) != nil && !belongsToOwner(stopper, plan)
  }

  /// Returns false for a device that is in the list as another person's, or has another owner than the first device.
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
