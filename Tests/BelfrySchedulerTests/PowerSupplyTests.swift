import BelfryCore
import Foundation
import TestSupport
import Testing

@testable import BelfryScheduler

/// The kernel's battery data, read from temporary trees.
@Suite struct PowerSupplyTests {
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  private func report() -> PowerSupplies.Report { PowerSupplies(root: sandbox.power).read() }

  private func reading() throws -> PowerReading {
    guard case .found(let reading) = report() else {
      throw Failure(words: "\(report())")
    }
    return reading
  }

  private struct Failure: Error {
    let words: String
  }

  @Test func aMachineWithoutBatteriesHasNoReading() throws {
    #expect(report() == .none)
    try sandbox.supply("AC", ["type": "Mains", "online": "1"])
    #expect(report() == .none)
    #expect(PowerSupplies(root: "/nowhere").read() == .unavailable)
  }

  @Test func anOrdinaryLaptopHasAReading() throws {
    try sandbox.battery(34.25, drain: 8)
    let reading = try reading()
    #expect(reading.level == 34.25)
    #expect(!reading.isCharging)
    #expect(reading.draw == 8)
    #expect(reading.names == ["BAT0"])
    #expect(reading.source == .kernel)
    try sandbox.battery(34, isCharging: true)
    #expect(try self.reading().isCharging)
    #expect(try self.reading().draw == nil)
  }

  @Test(
    "Charges and currents are read where energies and powers are missing, with a negative drain")
  func charges() throws {
    try sandbox.supply(
      "BAT1",
      [
        "type": "Battery", "status": "Discharging", "capacity": "50", "charge_full": "4000000",
        "charge_now": "2000000", "current_now": "-400000", "voltage_min_design": "11400000",
      ])
    let reading = try reading()
    #expect(reading.level == 50)
    #expect(abs((reading.draw ?? 0) - 10) < 0.001)
  }

  @Test("Two batteries are weighted by their capacity")
  func several() throws {
    try sandbox.battery(80, drain: 0)
    try sandbox.supply(
      "BAT1",
      [
        "type": "Battery", "status": "Discharging", "energy_full": "25000000",
        "energy_now": "5000000", "power_now": "7500000",
      ])
    try sandbox.supply("AC", ["type": "Mains", "online": "0"])
    let reading = try reading()
    // 40 + 5 of 75 Wh.
    #expect(abs((reading.level ?? 0) - 60) < 0.001)
    #expect(abs((reading.draw ?? 0) - 10) < 0.001)
    #expect(reading.names == ["BAT0", "BAT1"])
  }

  @Test("A mouse's battery and a removed battery do not count")
  func others() throws {
    try sandbox.supply(
      "hidpp_battery_0",
      ["type": "Battery", "scope": "Device", "capacity": "5", "status": "Discharging"])
    try sandbox.supply("BAT1", ["type": "Battery", "present": "0", "capacity": "0"])
    #expect(report() == .none)
    try sandbox.battery(70, drain: 5)
    #expect(try reading().level == 70)
    #expect(try reading().names == ["BAT0"])
  }

  @Test(
    "A machine is charging if power comes from outside",
    arguments: [
      (["Charging"], "1", true), (["Full"], "1", true), (["Not charging"], "1", true),
      (["Unknown"], "1", true), (["Unknown"], "0", false), (["Full"], nil, true),
      (["Not charging"], nil, true), (["Unknown"], nil, false), (["Discharging"], "0", false),
      // A charger that is too weak.
      (["Discharging"], "1", false),
      // One battery charges while the other one waits or discharges.
      (["Charging", "Not charging"], "1", true), (["Discharging", "Unknown"], "0", false),
      (["Not charging", "Discharging"], "0", false),
    ] as [([String], String?, Bool)])
  func plugged(_ states: [String], _ online: String?, _ isCharging: Bool) throws {
    for (index, state) in states.enumerated() {
      try sandbox.supply(
        "BAT\(index)", ["type": "Battery", "capacity": "50", "status": state, "power_now": "1"])
    }
    if let online { try sandbox.supply("AC", ["type": "Mains", "online": online]) }
    #expect(try reading().isCharging == isCharging)
  }

  @Test("Impossible values are ignored")
  func nonsense() throws {
    try sandbox.supply(
      "BAT0",
      [
        "type": "Battery", "status": "Discharging", "capacity": "12", "energy_now": "90000000",
        "energy_full": "0", "power_now": "many",
      ])
    #expect(try reading().level == 12)
    #expect(try reading().draw == nil)
    // Two unrelated figures: the lower one counts.
    try sandbox.supply(
      "BAT0",
      [
        "type": "Battery", "status": "Discharging", "capacity": "12",
        "energy_now": "45000000", "energy_full": "50000000",
      ])
    #expect(try reading().level == 12)
    try sandbox.supply("BAT0", ["type": "Battery", "status": "Discharging"])
    #expect(try reading().level == nil)
    for huge in ["9223372036854775807", "-9223372036854775808", "99999999999999999999"] {
      try sandbox.supply(
        "BAT0",
        [
          "type": "Battery", "status": "Discharging", "capacity": huge, "charge_full": huge,
          "charge_now": huge, "current_now": huge, "voltage_now": huge,
        ])
      #expect(try (0...100).contains(reading().level ?? 0))
    }
    // Unreadable values count as absent.
    try FileManager.default.removeItem(atPath: sandbox.power + "/BAT0/status")
    try FileManager.default.createDirectory(
      atPath: sandbox.power + "/BAT0/status", withIntermediateDirectories: false)
    #expect(try !reading().isCharging)
  }

  @Test("Samples are kept in a file, and damaged content causes no failure")
  func log() throws {
    let log = BatteryLog(path: sandbox.root + "/state/battery")
    func sample(_ minute: Int64, _ level: Double, charging: Bool = false) -> BatterySample {
      BatterySample(
        at: Instant(seconds: 1_795_000_000 + minute * 60), level: level, isCharging: charging,
        draw: charging ? nil : 6.25, battery: .init(name: "a1", capacity: 50_000_000),
        uptime: .init(boot: "b", total: minute * 60_000, awake: minute * 60_000))
    }
    #expect(log.read().samples.isEmpty)
    for minute in 0..<20 {
      _ = try log.add(sample(Int64(minute), 90 - Double(minute) / 10), spacing: 270)
    }
    #expect(log.read().samples.map(\.at) == [0, 5, 10, 15].map { sample($0, 0).at })
    // A charger is noticed at once.
    #expect(try log.add(sample(17, 88, charging: true), spacing: 270) != nil)
    #expect(try log.add(sample(18, 88, charging: true), spacing: 270) == nil)
    #expect(log.read().samples.last == sample(17, 88, charging: true))
    let good = try sandbox.read(log.path)
    try sandbox.write("junk\n1 2 3\n\u{0}\n" + good + "1795009999000 50 drain", to: log.path)
    #expect(log.read().samples.count == 5)
    #expect(try log.add(sample(30, 80), spacing: 270)?.samples.count == 6)
    // A large number of samples is thinned out.
    for step in 4..<900 { _ = try log.add(sample(Int64(step) * 10, 50), spacing: 0) }
    let lines = try sandbox.read(log.path).split(separator: "\n").count
    #expect((300..<840).contains(lines), "\(lines)")
    try FileManager.default.removeItem(atPath: log.path)
    try FileManager.default.createDirectory(atPath: log.path, withIntermediateDirectories: true)
    #expect(throws: (any Error).self) { try log.add(sample(90_000, 50), spacing: 0) }
  }
}
