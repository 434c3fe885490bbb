/// The state of the machine's batteries at a moment. Several batteries are combined.
public struct BatterySample: Hashable, Sendable {
  /// The wall-clock time of the sample.
  public var at: Instant
  /// The level in percent of the full charge.
  public var level: Double
  /// True if external power is connected.
  public var isCharging: Bool
  /// The drain in percent per hour from the kernel's power reading; nil if the kernel reports none.
  public var draw: Double?
  /// The identity and capacity of the batteries. Samples of other batteries are not used.
  public var battery: Battery
  /// The uptime of the machine.
  public var uptime: Uptime

  /// The identity of a battery or a set of batteries.
  public struct Battery: Hashable, Sendable {
    /// A name derived from model names and serial numbers.
    public var name: String
    /// The full charge in the kernel's unit (µWh or µAh); 0 if unknown.
    public var capacity: Int64

    /// Creates an identity.
    public init(name: String, capacity: Int64) {
      self.name = name
      self.capacity = capacity
    }

    /// Returns true for the same battery, allowing for wear.
    func isSame(as other: Battery) -> Bool {
      guard name == other.name else { return false }
      if capacity == 0 || other.capacity == 0 { return true }
      let (small, large) = (min(capacity, other.capacity), max(capacity, other.capacity))
      return Double(small) > 0.85 * Double(large)
    }
  }

  /// The time since the machine was started.
  public struct Uptime: Hashable, Sendable {
    /// The identifier of the boot.
    public var boot: String
    /// The time since the boot including sleep, in milliseconds.
    public var total: Int64
    /// The time since the boot without sleep, in milliseconds.
    public var awake: Int64

    /// Creates an uptime.
    public init(boot: String, total: Int64, awake: Int64) {
      self.boot = boot
      self.total = total
      self.awake = awake
    }
  }

  /// Creates a sample.
  public init(
    at: Instant, level: Double, isCharging: Bool, draw: Double? = nil, battery: Battery,
    uptime: Uptime
  ) {
    self.at = at
    self.level = level
    self.isCharging = isCharging
    self.draw = draw
    self.battery = battery
    self.uptime = uptime
  }
}
