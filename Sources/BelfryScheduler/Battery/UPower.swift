import BelfryCore
import BelfryStore
import Glibc
import Subprocess

/// A client of UPower over D-Bus, for machines whose kernel reports no battery: see
/// <https://upower.freedesktop.org/docs/Device.html>.
struct UPower: Sendable {
  /// The timeout of a request, in seconds.
  private static let timeout = 2
  private static let name = "org.freedesktop.UPower"
  private static let displayDevice = "/org/freedesktop/UPower/devices/DisplayDevice"

  /// The address of the D-Bus system bus; nil for the default.
  let address: String?

  /// Returns UPower's reading; nil if UPower does not respond or reports no battery.
  func reading() async -> PowerReading? {
    // Without a system bus, `busctl` would fail.
    guard address != nil || access("/run/dbus/system_bus_socket", F_OK) == 0 else { return nil }
    let outcome = await TimedProcess.run(
      .name("busctl"),
      [
        "--system", "--json=short", "call", UPower.name, UPower.displayDevice,
        "org.freedesktop.DBus.Properties", "GetAll", "s", "\(UPower.name).Device",
      ], seconds: UPower.timeout)
    guard case .ended(0, let output, _) = outcome, let json = try? JSON(parsing: output) else {
      return nil
    }
    return UPower.reading(json)
  }

  /// Returns the reading in a reply such as `{"type":"a{sv}","data":[{"Percentage":{"type":"d","data":34},…}]}`
  static func reading(_ json: JSON) -> PowerReading? {
    guard let properties = json["data"]?.array?.first else { return nil }
    func number(_ name: String) -> Double? {
      guard let value = properties[name]?["data"] else { return nil }
      if case .real(let number) = value { return number }
      return value.integer.map(Double.init)
    }
    // Type 2 is a battery that powers the machine.
    guard number("Type") == 2, properties["IsPresent"]?["data"]?.bool == true else { return nil }
    // 0: unknown, which counts as discharging. 2: discharging. 3: empty. 6: pending discharge.
    let isCharging = ![0, 2, 3, 6].contains(number("State") ?? 0)
    let full = number("EnergyFull") ?? 0
    let draw = number("EnergyRate").flatMap { full > 0 && $0 > 0 ? $0 / full * 100 : nil }
    return PowerReading(
      level: number("Percentage").flatMap { (0...100).contains($0) ? $0 : nil },
      isCharging: isCharging, draw: isCharging ? nil : draw,
      battery: BatterySample.Battery(
        name: Fingerprint.of(["UPower"]), capacity: .init(clamping: full * 1e6)),
      names: ["UPower"], source: .upower)
  }
}
