import BelfryCore
import Files
import Glibc

/// A reading of the machine's batteries. Several batteries are combined.
public struct PowerReading: Hashable, Sendable {
  /// The source of a reading.
  public enum Source: String, Hashable, Sendable {
    /// The kernel's power supplies, or UPower.
    case kernel, upower
  }

  /// The level in percent of the full charge; nil if unknown.
  public var level: Double?
  /// True if external power is connected.
  public var isCharging: Bool
  /// The drain in percent per hour; nil if unknown or if external power is connected.
  public var draw: Double?
  /// The identity and capacity of the batteries.
  public var battery: BatterySample.Battery
  /// The names of the batteries: `BAT0`.
  public var names: [String]
  /// The source of the reading.
  public var source: Source

  /// Creates a reading.
  public init(
    level: Double?, isCharging: Bool, draw: Double?, battery: BatterySample.Battery,
    names: [String], source: Source
  ) {
    self.level = level
    self.isCharging = isCharging
    self.draw = draw
    self.battery = battery
    self.names = names
    self.source = source
  }

  /// Returns the reading as a sample; nil if the level is unknown.
  public func sample(at now: Instant, uptime: BatterySample.Uptime) -> BatterySample? {
    level.map {
      BatterySample(
        at: now, level: $0, isCharging: isCharging, draw: isCharging ? nil : draw,
        battery: battery, uptime: uptime)
    }
  }
}

/// The kernel's power supplies in `/sys/class/power_supply`, see `Documentation/ABI/testing/sysfs-class-power`.
///
/// Energies are in µWh, charges in µAh, power in µW, currents in µA, voltages in µV.
public struct PowerSupplies: Sendable {
  /// The folder with the power supplies.
  public let root: String

  /// The kernel's folder.
  public static let systemRoot = "/sys/class/power_supply"

  /// Creates a reader of a folder.
  public init(root: String = PowerSupplies.systemRoot) {
    self.root = root
  }

  /// The kernel's report.
  public enum Report: Hashable, Sendable {
    /// The machine has no battery.
    case none
    /// The folder cannot be read.
    case unavailable
    /// The reading of the batteries.
    case found(PowerReading)

    /// True if UPower could add nothing.
    var isComplete: Bool {
      switch self {
      case .none: true
      case .unavailable: false
      case .found(let reading): reading.level != nil
      }
    }
  }

  private struct Battery {
    let name: String
    let status: String
    let serial: String
    /// The level in percent; nil if unknown.
    let level: Double?
    /// The full charge in µWh, or in µAh if the voltage is unknown; nil if neither is known.
    let full: Double?
    /// The power in the unit of `full` per hour; nil if unknown.
    let power: Double?
  }

  /// Returns the current state of the batteries. The call blocks until the drivers respond.
  public func read() -> Report {
    guard access(root, R_OK | X_OK) == 0 else { return .unavailable }
    let names = DurableFile.names(in: root).sorted()
    let batteries = names.filter { text($0, "type") == "Battery" && powersMachine($0) }.map(battery)
    if batteries.isEmpty { return .none }
    let chargers = names.filter { text($0, "type") != "Battery" && text($0, "scope") != "Device" }
    let isCharging = PowerSupplies.isCharging(
      batteries,
      isPlugged: chargers.isEmpty ? nil : chargers.contains { (number($0, "online") ?? 0) > 0 })
    return .found(
      PowerReading(
        level: PowerSupplies.level(batteries), isCharging: isCharging,
        draw: isCharging ? nil : PowerSupplies.draw(batteries),
        battery: BatterySample.Battery(
          name: Fingerprint.of(batteries.flatMap { [$0.name, $0.serial] }),
          capacity: .init(clamping: batteries.reduce(0) { $0 + ($1.full ?? 0) })),
        names: batteries.map(\.name), source: .kernel))
  }

  // MARK: Single battery

  /// Returns true if a battery powers this machine: false for the battery of a mouse or phone, and for an empty bay.
  private func powersMachine(_ name: String) -> Bool {
    text(name, "scope") != "Device" && text(name, "present") != "0"
  }

  private func battery(_ name: String) -> Battery {
    func positive(_ attribute: String) -> Double? {
      number(name, attribute).flatMap { $0 > 0 ? Double($0) : nil }
    }
    let volts = (positive("voltage_min_design") ?? positive("voltage_now")).map { $0 / 1e6 }
    // With a known voltage, a charge is converted to an energy, so that several batteries can be added up.
    func energy(_ suffix: String) -> Double? {
      number(name, "energy_\(suffix)").map(Double.init)
        ?? number(name, "charge_\(suffix)").map { Double($0) * (volts ?? 1) }
    }
    let full = [energy("full"), energy("full_design")].compactMap { $0 }.first { $0 > 0 }
    // Some drivers report a drain as a negative number.
    let power =
      number(name, "power_now").map { abs(Double($0)) }
      ?? number(name, "current_now").map { abs(Double($0)) * (volts ?? 1) }
    return Battery(
      name: name, status: text(name, "status") ?? "Unknown",
      serial: (text(name, "serial_number") ?? "") + (text(name, "model_name") ?? ""),
      level: PowerSupplies.level(
        capacity: number(name, "capacity").map(Double.init), now: energy("now"), full: full),
      full: full, power: power)
  }

  /// Returns the level in percent: the more precise of `now / full` and `capacity`, or the lower one if they differ by
  /// more than 5 percent.
  private static func level(capacity: Double?, now: Double?, full: Double?) -> Double? {
    // An uncalibrated gauge can report slightly more than 100 percent.
    let coarse = capacity.flatMap { (0...120).contains($0) ? min(100, $0) : nil }
    guard let now, let full, now >= 0, now <= 1.2 * full else { return coarse }
    let fine = min(100, now / full * 100)
    guard let coarse else { return fine }
    return abs(fine - coarse) <= 5 ? fine : min(fine, coarse)
  }

  // MARK: Combined batteries

  /// Returns the level of all batteries, weighted by capacity; with equal weights if a capacity is unknown.
  private static func level(_ batteries: [Battery]) -> Double? {
    let levels = batteries.compactMap(\.level)
    // A battery without a level counts as empty.
    guard !levels.isEmpty else { return nil }
    let weights = batteries.allSatisfy { $0.full != nil } ? batteries.map { $0.full ?? 1 } : nil
    var (sum, weight) = (0.0, 0.0)
    for (index, battery) in batteries.enumerated() {
      sum += (battery.level ?? 0) * (weights?[index] ?? 1)
      weight += weights?[index] ?? 1
    }
    return sum / weight
  }

  /// Returns true if external power is connected.
  ///
  /// - Parameter isPlugged: true if a charger is online; nil if the kernel reports no chargers.
  private static func isCharging(_ batteries: [Battery], isPlugged: Bool?) -> Bool {
    let states = Set(batteries.map(\.status))
    // On a weak charger, one battery can charge while another discharges.
    if states.contains("Discharging") {
      func power(_ status: String) -> Double {
        batteries.reduce(0) { $0 + ($1.status == status ? $1.power ?? 0 : 0) }
      }
      return power("Charging") > power("Discharging")
    }
    // With a charger, a battery that neither charges nor discharges reports `Full` or `Not charging`.
    return states.contains("Charging")
      || isPlugged ?? states.isSubset(of: ["Full", "Not charging"])
  }

  /// Returns the drain in percent per hour; nil if the power or a capacity is unknown.
  private static func draw(_ batteries: [Battery]) -> Double? {
    let powers = batteries.compactMap { $0.status == "Charging" ? nil : $0.power }
    let full = batteries.compactMap(\.full)
    guard !powers.isEmpty, full.count == batteries.count else { return nil }
    let draw = powers.reduce(0, +) / full.reduce(0, +) * 100
    return draw > 0 && draw.isFinite ? draw : nil
  }

  // MARK: Attributes

  private func text(_ supply: String, _ attribute: String) -> String? {
    guard let bytes = try? DurableFile.readStream("\(root)/\(supply)/\(attribute)") else {
      return nil
    }
    let text = String(decoding: bytes.prefix(256), as: UTF8.self)
    return text.split(separator: "\n").first.map { String($0.drop { $0 == " " }) }
  }

  private func number(_ supply: String, _ attribute: String) -> Int64? {
    text(supply, attribute).flatMap { Int64($0) }
  }
}

extension Int64 {
  /// Creates an integer from a number of a driver or service, which may be infinite, NaN or out of range.
  init(clamping number: Double) {
    self = number.isFinite ? Int64(Swift.min(1e15, Swift.max(-1e15, number))) : 0
  }
}

/// Short identifiers of longer texts.
enum Fingerprint {
  /// Returns the FNV-1a hash of some texts as sixteen hexadecimal digits.
  static func of(_ texts: [String]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in texts.joined(separator: "\u{0}").utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
