import BelfryCore

/// The clocks of the devices, as far as their records show them.
extension StoreDevices {
  /// The maximum number of log entries in the future that are read.
  private static let maxFutureEntries = 500

  /// Returns the devices whose records have times that are ahead of this device's clock, with the seconds at least by which
  /// their clocks are ahead. If all other devices are ahead, this device's clock is behind.
  public func clocksAhead() -> [Identifier: Int64] {
    let now = context.now
    var times: [Identifier: Instant] = [:]
    func note(_ time: Instant, _ device: Identifier) {
      guard time.isImplausible(at: now) else { return }
      times[device] = max(times[device] ?? time, time)
    }
    // The newest entries come first.
    for entry in store.history.log().prefix(StoreDevices.maxFutureEntries) {
      guard entry.at.isImplausible(at: now) else { break }
      note(entry.at, entry.device)
    }
    for device in all().devices {
      note(device.created, device.id)
      if let stamp = device.stamp, stamp.device == device.id { note(stamp.time, device.id) }
    }
    return times.mapValues { $0.seconds(since: now) }
  }
}
