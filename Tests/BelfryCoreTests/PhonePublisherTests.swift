import TestSupport
import Testing

@testable import BelfryCore

/// The election of the device that publishes the tasks of a collection.
@Suite struct PhonePublisherTests {
  private static let start = instant("2026-11-23T00:00:00Z")
  private static let ids = ["a", "b", "c", "d"].map {
    Identifier("\($0)aaaaaaaaaaaaaaaaaaaaaaaaa")!
  }

  private func device(
    _ index: Int, _ kind: Device.Kind? = nil, phone: String? = "Phone", created: Int64? = nil
  ) -> Device {
    Device(
      id: PhonePublisherTests.ids[index], name: "device \(index)",
      created: instant("2026-11-01T00:00:00Z").adding(seconds: created ?? Int64(index)),
      kind: kind, phone: phone)
  }

  private func publisher(
    _ own: Int, among devices: [Device], seen: [Int: Instant] = [:], every: [Int: Int64] = [:],
    replacedBy: [Int: Int] = [:], at now: Instant = PhonePublisherTests.start
  ) -> PhonePublisher? {
    let ids = PhonePublisherTests.ids
    let heartbeats = DeviceHeartbeats(
      seen: Dictionary(uniqueKeysWithValues: seen.map { (ids[$0.key], $0.value) }),
      intervals: Dictionary(uniqueKeysWithValues: every.map { (ids[$0.key], $0.value) }))
    var devices = devices
    for (old, new) in replacedBy {
      guard let index = devices.firstIndex(where: { $0.id == ids[new] }) else { continue }
      devices[index].replaced[ids[old]] = now
    }
    return PhonePublisher(
      ids[own], among: devices,
      presence: DevicePresence(
        own: ids[own], devices: devices, heartbeats: heartbeats, at: now),
      heartbeats: heartbeats, at: now)
  }

  @Test("A device without a collection elects nobody, and one that is alone publishes")
  func alone() {
    let devices = [device(0), device(1, phone: nil), device(2, phone: "Tablet")]
    let seen = [0: PhonePublisherTests.start, 2: PhonePublisherTests.start]
    #expect(publisher(1, among: devices, seen: seen) == nil)
    for own in [0, 2] {
      let publisher = publisher(own, among: devices, seen: seen)
      #expect(publisher?.isOwn == true)
      #expect(publisher?.candidates == [PhonePublisherTests.ids[own]])
      #expect(publisher?.until == nil)
    }
  }

  @Test("Devices that are usually on come first, then those whose clone was made first, then by id")
  func order() {
    func order(_ devices: Device...) -> [Int] {
      let order = publisher(3, among: devices)?.candidates ?? []
      return order.compactMap { PhonePublisherTests.ids.firstIndex(of: $0) }
    }
    #expect(
      order(device(0, .laptop), device(1), device(2, .desktop), device(3, .server)) == [3, 2, 0, 1])
    #expect(
      order(device(0, created: 9), device(1, created: 3), device(3, created: 5)) == [1, 3, 0])
    #expect(
      order(device(2, created: 1), device(0, created: 1), device(3, created: 1)) == [0, 2, 3])
  }

  @Test(
    "Another device takes over when the first was silent for its limit, and yields when it is back")
  func takeover() throws {
    let devices = [device(0), device(1)]
    let start = PhonePublisherTests.start
    let early = try #require(
      publisher(1, among: devices, seen: [0: start], at: start.adding(seconds: 4499)))
    #expect(!early.isOwn && early.elected == PhonePublisherTests.ids[0])
    #expect(early.until == start.adding(seconds: DeviceHeartbeats.trust))
    let now = start.adding(seconds: DeviceHeartbeats.trust)
    #expect(publisher(1, among: devices, seen: [0: start], at: now)?.isOwn == true)
    #expect(publisher(1, among: devices, seen: [0: now], at: now)?.isOwn == false)
    // The first one publishes whenever it runs.
    #expect(publisher(0, among: devices, seen: [1: now], at: now)?.isOwn == true)
  }

  @Test("A device that promised longer intervals is waited for, but not for more than four hours")
  func promisedIntervals() {
    let devices = [device(0), device(1)]
    let start = PhonePublisherTests.start
    for (promise, limit) in [(3600, 8100), (86_400, 14_400)] as [(Int64, Int64)] {
      for (after, isOwn) in [(limit - 1, false), (limit, true)] {
        let now = start.adding(seconds: after)
        let publisher = publisher(
          1, among: devices, seen: [0: start], every: [0: promise], at: now)
        #expect(publisher?.isOwn == isOwn, "\(promise) \(after)")
      }
    }
  }

  @Test("Without heartbeats, a device publishes by itself")
  func unknownPresence() {
    for own in 0...2 {
      #expect(publisher(own, among: (0...2).map { device($0) })?.isOwn == true)
    }
  }

  @Test("A device that was replaced by adoption is no candidate, unless it evaluates itself")
  func replacedDevices() {
    let devices = [device(0), device(1)]
    let now = PhonePublisherTests.start
    let seen = [0: now.adding(seconds: -60)]
    #expect(publisher(1, among: devices, seen: seen, replacedBy: [0: 1], at: now)?.isOwn == true)
    #expect(publisher(1, among: devices, seen: seen, at: now)?.isOwn == false)
    #expect(publisher(0, among: devices, seen: [:], replacedBy: [0: 1], at: now)?.isOwn == true)
  }

  // MARK: Properties

  @Test(
    "At least one running device publishes, whatever the devices know, if those that are off were silent for the limit",
    arguments: 0..<300)
  func atLeastOne(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let devices = (0..<random.int(1...4)).map {
      device($0, random.pick([nil, .server, .desktop, .laptop]))
    }
    let now = PhonePublisherTests.start
    let running = devices.indices.filter { _ in random.one(in: 2) }
    let published = running.filter { own in
      var seen: [Int: Instant] = [:]
      for other in devices.indices where other != own && !random.one(in: 3) {
        // A running device can be unknown here for any time.
        let isRunning = running.contains(other)
        seen[other] = now.adding(seconds: -Int64(random.int(isRunning ? 0...9000 : 4500...9000)))
      }
      return publisher(own, among: devices, seen: seen, at: now)?.isOwn == true
    }
    #expect(running.isEmpty == published.isEmpty, "seed \(seed)")
  }

  @Test("With the same heartbeats of all that run, exactly one publishes", arguments: 0..<300)
  func exactlyOne(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let devices = (0..<random.int(1...4)).map {
      device($0, random.pick([nil, .server, .desktop, .laptop]))
    }
    let now = PhonePublisherTests.start
    let running = devices.indices.filter { _ in random.one(in: 2) }
    let beats = Dictionary(
      uniqueKeysWithValues: devices.indices.map {
        ($0, now.adding(seconds: -Int64(random.int(running.contains($0) ? 0...4499 : 4500...9000))))
      })
    let elected = running.map { publisher($0, among: devices, seen: beats, at: now) }
    #expect(Set(elected.compactMap { $0?.elected }).count == (running.isEmpty ? 0 : 1))
    #expect(elected.count { $0?.isOwn == true } == (running.isEmpty ? 0 : 1), "seed \(seed)")
  }

  /// A day with devices that run, sleep and lose the network. Each sends a heartbeat every half hour and fetches those of
  /// the others every ten minutes.
  @Test(
    "Over a day, no gap is longer than the limit, and two publish only until they sync",
    arguments: 0..<40)
  func aDay(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let count = random.int(2...4)
    let devices = (0..<count).map { device($0, random.pick([nil, .server])) }
    var isOn = (0..<count).map { _ in true }
    var remote: [Int: Instant] = [:]
    var views = [[Int: Instant]](repeating: [:], count: count)
    var sent = [Instant?](repeating: nil, count: count)
    var fetched = [Instant?](repeating: nil, count: count)
    var onSince = [Instant](repeating: PhonePublisherTests.start, count: count)
    var gap = 0
    for minute in 0..<1440 {
      let now = PhonePublisherTests.start.adding(seconds: Int64(minute) * 60)
      for index in 0..<count where random.one(in: 180) {
        isOn[index].toggle()
        onSince[index] = now
      }
      for index in 0..<count where isOn[index] {
        if sent[index].map({ now.seconds(since: $0) >= 1800 }) ?? true {
          sent[index] = now
          remote[index] = now
        }
        if fetched[index].map({ now.seconds(since: $0) >= 600 }) ?? true {
          fetched[index] = now
          views[index] = remote.filter { $0.key != index }
        }
      }
      let running = (0..<count).filter { isOn[$0] }
      let published = running.filter {
        publisher($0, among: devices, seen: views[$0], at: now)?.isOwn == true
      }
      gap = running.isEmpty || !published.isEmpty ? 0 : gap + 1
      // A silent device counts as alive for 75 min after its last heartbeat, and each switch starts anew.
      #expect(gap <= 75 * count, "seed \(seed)")
      // The others see a device that is back with their next fetch.
      if running.allSatisfy({ now.seconds(since: onSince[$0]) >= 2400 }) {
        #expect(published.count <= 1, "seed \(seed), minute \(minute)")
      }
    }
  }
}
