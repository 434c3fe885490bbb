import BelfryCore
import TestSupport
import Testing

@testable import BelfryStore

/// The collection of tasks that a device publishes for a phone.
@Suite struct PhoneCollectionTests {
  private let laptop = Identifier("laptopaaaaaaaaaaaaaaaaaaaa")!
  private let now = Instant(rfc3339: "2026-11-20T22:41:00Z")!

  @Test("The record of a device has the collection that it publishes")
  func deviceRecord() throws {
    let device = Device(id: laptop, name: "laptop", created: now, phone: "Phone")
    let bytes = DeviceRecord.encode(device)
    #expect(try DeviceRecord.decode(bytes) == device)
    let text = String(decoding: bytes, as: UTF8.self)
    for wrong in ["\"\"", "7", "\"a\\u001bb\"", "\"\(String(repeating: "x", count: 65))\""] {
      #expect(throws: RecordError.self) {
        try DeviceRecord.decode(Array(text.replacing("\"Phone\"", with: wrong).utf8))
      }
    }
    // Earlier versions keep it as an unknown key, and join two versions of a record alike.
    var plain = device
    plain.phone = nil
    var (known, unknown) = (plain, plain)
    (known.phone, unknown.extras["phone"]) = ("Phone", "\"Phone\"")
    for other in [plain, Device(id: laptop, name: "Laptop", created: now)] {
      let (new, old) = (Device.join(known, other), Device.join(unknown, other))
      #expect((new == known) == (old == unknown))
    }
    #expect(DeviceRecord.encode(known) == DeviceRecord.encode(unknown))
  }

  @Test("A collection is set and removed in one commit each, and devices that share one are known")
  func publishing() async throws {
    let fixture = try await StoreFixture("Tea")
    let devices = fixture.store.devices
    let head = try fixture.head()
    #expect(devices.phonePublisher == nil && devices.phonePublishers.isEmpty)
    #expect(try devices.publish(to: "Phone").phone == "Phone")
    // Nothing changes.
    _ = try devices.publish(to: "Phone")
    #expect(devices.phonePublisher?.isOwn == true && !devices.sharesPhoneCollection)
    let other = try await fixture.clone()
    try other.devices.publish(to: "Tablet")
    _ = try await fixture.git("pull", "-q", "--ff-only", other.path, "main")
    #expect(!fixture.reopened().devices.sharesPhoneCollection)
    #expect(
      fixture.reopened().devices.phonePublishers.map(\.name).sorted() == ["laptop", "server"])
    #expect(other.devices.phonePublisher?.candidates == [other.device])
    try other.devices.publish(to: "Phone")
    _ = try await fixture.git("pull", "-q", "--ff-only", other.path, "main")
    #expect(fixture.reopened().devices.sharesPhoneCollection && other.devices.sharesPhoneCollection)
    // Neither has received a heartbeat of the other.
    #expect(other.devices.phonePublisher?.candidates == [fixture.store.device, other.device])
    #expect(other.devices.phonePublisher?.isOwn == true)
    try fixture.reopened().devices.publish(to: nil)
    let subjects = try await fixture.subjects(since: head)
    #expect(subjects.first == "Publish tasks for the phone from laptop")
    #expect(subjects.last == "Publish no tasks for the phone from laptop")
  }
}
