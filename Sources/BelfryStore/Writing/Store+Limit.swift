import BelfryCore

extension Store {
  /// Throws if the tier doesn't allow another active alarm.
  ///
  /// - Throws: `StoreError.alarmLimit`, and the errors of reading the alarms.
  public func requireRoom() throws {
    let tier = try settings().settings.tier
    guard let limit = tier.alarmLimit, try activeAlarms().count >= limit else { return }
    throw StoreError.alarmLimit(tier: tier, limit: limit)
  }

  /// Throws if the tier doesn't allow the alarms that a change makes active.
  ///
  /// Deleted and finished alarms are not active. An alarm that is active already can always be changed, even above the
  /// limit, which a sync, a hand edit or a change of the tier may exceed.
  ///
  /// - Parameters:
  ///   - changed: The new versions of the changed alarms.
  ///   - tier: The tier after the change; nil for the current one.
  /// - Throws: `StoreError.alarmLimit`, and the errors of reading the alarms.
  public func requireRoom(for changed: [Alarm], tier: Settings.Tier? = nil) throws {
    let tier = try tier ?? settings().settings.tier
    guard let limit = tier.alarmLimit else { return }
    let active = try Set(changed.filter(isActive).map(\.id))
    if active.isEmpty { return }
    let before = try activeAlarms()
    if active.isSubset(of: before) { return }
    if before.subtracting(changed.map(\.id)).union(active).count > limit {
      throw StoreError.alarmLimit(tier: tier, limit: limit)
    }
  }

  /// Returns the alarms that count for the limit of the tier.
  private func activeAlarms() throws -> Set<Identifier> {
    let reader = alarmReader()
    return try Set(
      AlarmIndex(self).summaries().filter { summary in
        if summary.isDeleted { return false }
        guard summary.status.state == .disabled else { return !summary.status.isFinished }
        return try reader.alarm(summary.id).map(isActive) ?? true
      }.map(\.id))
  }

  /// Returns true unless an alarm is deleted or finished. A disabled alarm is active if it has an occurrence ahead.
  private func isActive(_ alarm: Alarm) throws -> Bool {
    if alarm.isDeleted { return false }
    guard alarm.enabled else { return timeline(alarm).next(after: context.now) != nil }
    return try !status(alarm).isFinished
  }
}
