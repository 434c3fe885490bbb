import BelfryCore

/// The devices that publish the tasks of open occurrences for a phone.
extension StoreDevices {
  /// Sets the collection of tasks that this device publishes for a phone, as one commit.
  ///
  /// - Parameter collection: The name of the collection; nil to publish none.
  /// - Precondition: The name has 1 to 64 characters and no control characters.
  /// - Returns: The new record.
  @discardableResult
  public func publish(to collection: String?) throws -> Device {
    assert(
      collection.map { (1...DeviceRecord.longestName).contains($0.count) } ?? true,
      "a record accepts the name of a collection")
    return try describe(
      subject: { device in
        collection == nil
          ? "Publish no tasks for the phone from \(device.name)"
          : "Publish tasks for the phone from \(device.name)"
      },
      { $0.phone = collection })
  }

  /// The devices that publish tasks for a phone, those that another device has replaced left out.
  public var phonePublishers: [Device] { current().filter { $0.phone != nil } }

  /// The election of the device that publishes the tasks of this device's collection; nil if this device publishes none.
  public var phonePublisher: PhonePublisher? {
    let evidence = presenceEvidence
    return PhonePublisher(
      device, among: evidence.devices, presence: presence(evidence),
      heartbeats: evidence.heartbeats, at: context.now)
  }

  /// True if another device publishes tasks of the same collection, so that this device has to send heartbeats.
  public var sharesPhoneCollection: Bool {
    let publishers = phonePublishers
    guard let own = publishers.first(where: { $0.id == device }) else { return false }
    return publishers.contains { $0.id != device && $0.phone == own.phone }
  }
}
