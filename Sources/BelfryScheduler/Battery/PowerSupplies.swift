import BelfryCore
import Git
import Glibc

/// How the machine's batteries stand just now, taken together.
public struct PowerReading: Hashable, Sendable {
  /// Who told it.
  public enum Source: String, Hashable, Sendable {
    case kernel, upower
  }

  /// What is left, in percent of what they hold when full; nil when that is not told.
  public var level: Double?
  /// Whether power comes from outside.
  public var isCharging: Bool
  /// What they drain, in percent per hour; nil when that is not told, or power comes from outside.
  public var draw: Double?
  public var battery: BatterySample.Battery
  /// What they are called: `BAT0`.
  public var names: [String]
  public var source: Source

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

  /// The same as a sample; nil without a level.
  public func sample(at now: Instant, uptime: BatterySample.Uptime) -> BatterySample? {
    level.map {
      BatterySample(
        at: now, level: $0, isCharging: isCharging, draw: isCharging ? nil : draw,
        battery: battery, uptime: uptime)
    }
  }
}

/// The kernel's own account of the batteries: `/sys/class/power_supply`, see `Documentation/ABI/testing/sysfs-class-power`.
///
/// Energies are in µWh, charges in µAh, power in µW, currents in µA, voltages in µV.
public struct PowerSupplies: Sendable {
  public let root: String

  public static let systemRoot = "/sys/class/power_supply"

  public init(root: String = PowerSupplies.systemRoot) {
    self.root = root
  }

  /// What the kernel tells.
  public enum Account: Hashable, Sendable {
    /// The machine has no battery.
    case none
    /// The kernel tells of no power supplies at all: the folder cannot be read.
    case silent
    case told(PowerReading)

    /// Whether nobody else need be asked.
    var isEnough: Bool {
      switch self {
      case .none: true
      case .silent: false
      case .told(let reading): reading.level != nil
      }
    }
  }

  private struct Battery {
    let name: String
    let status: String
    let serial: String
    /// In percent.
    let level: Double?
    /// What it holds when full, in µWh, or in µAh where no voltage is told; nil when neither is.
    let full: Double?
    /// In the unit of `full`, per hour.
    let power: Double?
  }

  public func account() -> Account {
    guard access(root, R_OK | X_OK) == 0 else { return .silent }
    let names = DurableFile.names(in: root).sorted()
    let batteries = names.filter { text($0, "type") == "Battery" && isOurs($0) }.map(battery)
    if batteries.isEmpty { return .none }
    let chargers = names.filter { text($0, "type") != "Battery" && text($0, "scope") != "Device" }
    let isCharging = PowerSupplies.isCharging(
      batteries,
      isPlugged: chargers.isEmpty ? nil : chargers.contains { (number($0, "online") ?? 0) > 0 })
    return .told(
      PowerReading(
        level: PowerSupplies.level(batteries), isCharging: isCharging,
        draw: isCharging ? nil : PowerSupplies.draw(batteries),
        battery: BatterySample.Battery(
          name: Fingerprint.of(batteries.flatMap { [$0.name, $0.serial] }),
          capacity: .init(clamping: batteries.reduce(0) { $0 + ($1.full ?? 0) })),
        names: batteries.map(\.name), source: .kernel))
  }

  // MARK: One battery

  /// A mouse, a keyboard, a phone: its battery does not keep this machine awake. And a bay may be empty.
  private func isOurs(_ name: String) -> Bool {
    text(name, "scope") != "Device" && text(name, "present") != "0"
  }

  private func battery(_ name: String) -> Battery {
    func positive(_ attribute: String) -> Double? {
      number(name, attribute).flatMap { $0 > 0 ? Double($0) : nil }
    }
    let volts = (positive("voltage_min_design") ?? positive("voltage_now")).map { $0 / 1e6 }
    // A charge is an energy where the voltage is known, so that several can be added up.
    func energy(_ suffix: String) -> Double? {
      number(name, "energy_\(suffix)").map(Double.init)
        ?? number(name, "charge_\(suffix)").map { Double($0) * (volts ?? 1) }
    }
    let full = [energy("full"), energy("full_design")].compactMap { $0 }.first { $0 > 0 }
    // Some drivers tell a drain as a negative number.
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

  /// The finer of the two figures; the lower one where they have nothing to do with each other.
  private static func level(capacity: Double?, now: Double?, full: Double?) -> Double? {
    // A gauge that has not learned yet may tell a little more than all.
    let coarse = capacity.flatMap { (0...120).contains($0) ? min(100, $0) : nil }
    guard let now, let full, now >= 0, now <= 1.2 * full else { return coarse }
    let fine = min(100, now / full * 100)
    guard let coarse else { return fine }
    return abs(fine - coarse) <= 5 ? fine : min(fine, coarse)
  }

  // MARK: All together

  /// Weighted by what they hold; equally where one does not tell.
  private static func level(_ batteries: [Battery]) -> Double? {
    let levels = batteries.compactMap(\.level)
    // What one holds that says nothing may be nothing.
    guard !levels.isEmpty else { return nil }
    let weights = batteries.allSatisfy { $0.full != nil } ? batteries.map { $0.full ?? 1 } : nil
    var (sum, weight) = (0.0, 0.0)
    for (index, battery) in batteries.enumerated() {
      sum += (battery.level ?? 0) * (weights?[index] ?? 1)
      weight += weights?[index] ?? 1
    }
    return sum / weight
  }

  /// - Parameter isPlugged: whether a charger gives power; nil where there is none to ask.
  private static func isCharging(_ batteries: [Battery], isPlugged: Bool?) -> Bool {
    let states = Set(batteries.map(\.status))
    // Also on a charger that is too weak.
    if states.contains("Discharging") {
      func power(_ status: String) -> Double {
        batteries.reduce(0) { $0 + ($1.status == status ? $1.power ?? 0 : 0) }
      }
      return power("Charging") > power("Discharging")
    }
    // One that holds its charge says `Full` or `Not charging`, with the charger in it.
    return states.contains("Charging")
      || isPlugged ?? states.isSubset(of: ["Full", "Not charging"])
  }

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
  /// A number that a driver or a service tells: any at all.
  init(clamping number: Double) {
    self = number.isFinite ? Int64(Swift.min(1e15, Swift.max(-1e15, number))) : 0
  }
}

/// Short words for long ones.
enum Fingerprint {
  /// Sixteen hexadecimal digits (FNV-1a).
  static func of(_ words: [String]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in words.joined(separator: "\u{0}").utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
