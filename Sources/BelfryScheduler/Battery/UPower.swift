import BelfryCore
import BelfryStore
import Glibc
import Subprocess

/// The batteries as UPower tells of them over D-Bus, for where the kernel does not: see
/// <https://upower.freedesktop.org/docs/Device.html>.
struct UPower: Sendable {
  /// The programs that ask, and how long they may take, in seconds.
  private static let patience = 2
  private static let name = "org.freedesktop.UPower"
  private static let device = "/org/freedesktop/UPower/devices/DisplayDevice"

  /// The address of the system's bus; nil for the usual one.
  let address: String?

  /// Nil where UPower does not answer, or knows no battery.
  func reading() async -> PowerReading? {
    // Without a bus nobody is asked.
    guard address != nil || access("/run/dbus/system_bus_socket", F_OK) == 0 else { return nil }
    let outcome = await TimedProcess.run(
      .name("busctl"),
      [
        "--system", "--json=short", "call", UPower.name, UPower.device,
        "org.freedesktop.DBus.Properties", "GetAll", "s", "\(UPower.name).Device",
      ], seconds: UPower.patience)
    guard case .ended(0, let output, _) = outcome, let json = try? JSON(parsing: output) else {
      return nil
    }
    return UPower.reading(json)
  }

  /// `{"type":"a{sv}","data":[{"Percentage":{"type":"d","data":34},…}]}`
  static func reading(_ json: JSON) -> PowerReading? {
    guard let properties = json["data"]?.array?.first else { return nil }
    func number(_ name: String) -> Double? {
      guard let value = properties[name]?["data"] else { return nil }
      if case .real(let number) = value { return number }
      return value.integer.map(Double.init)
    }
    // A battery of the machine's own, which is there.
    guard number("Type") == 2, properties["IsPresent"]?["data"]?.bool == true else { return nil }
    // Discharging, empty, waiting to discharge; what is not known counts as such.
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
