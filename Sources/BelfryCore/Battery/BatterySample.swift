/// How a battery, or several together, stood at a moment.
public struct BatterySample: Hashable, Sendable {
  /// When it was, by the wall clock.
  public var at: Instant
  /// What was left, in percent of what it holds when full.
  public var level: Double
  /// Whether power came from outside.
  public var isCharging: Bool
  /// How fast it drained just then, in percent per hour, by the kernel's own reading of the power; nil when that is not told.
  public var draw: Double?
  /// Which batteries they were, and how much they hold: other ones are not learned from.
  public var battery: Battery
  public var uptime: Uptime

  /// Batteries as they are told apart.
  public struct Battery: Hashable, Sendable {
    /// A word of names and serial numbers.
    public var name: String
    /// What they hold when full, in the kernel's unit (µWh, or µAh); 0 when that is not told.
    public var capacity: Int64

    public init(name: String, capacity: Int64) {
      self.name = name
      self.capacity = capacity
    }

    /// Whether it is the same one, worn a little perhaps.
    func isSame(as other: Battery) -> Bool {
      guard name == other.name else { return false }
      if capacity == 0 || other.capacity == 0 { return true }
      let (small, large) = (min(capacity, other.capacity), max(capacity, other.capacity))
      return Double(small) > 0.85 * Double(large)
    }
  }

  /// How long the machine has run.
  public struct Uptime: Hashable, Sendable {
    /// Which run of the machine: another word after each start.
    public var boot: String
    /// Milliseconds since that start, with and without those that it slept.
    public var total: Int64
    public var awake: Int64

    public init(boot: String, total: Int64, awake: Int64) {
      self.boot = boot
      self.total = total
      self.awake = awake
    }
  }

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
