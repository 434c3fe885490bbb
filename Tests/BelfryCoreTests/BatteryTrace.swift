import BelfryCore
import TestSupport

/// A simulated battery, used as a person would use it and sampled as the daemon would: the true level and the gauge's
/// samples.
struct BatteryTrace {
  /// The machine's use for a period.
  enum Use {
    /// Awake, at a load in percent per hour.
    case awake(Double)
    /// Asleep, at a drain in percent per hour.
    case asleep(Double)
    /// On the charger, awake or asleep.
    case charging(awake: Bool)
  }

  /// The charge rate in percent per hour.
  private static let charge = 45.0
  /// The time between two samples, in minutes.
  private static let spacing = 5

  private(set) var samples: [BatterySample] = []
  /// The true level at every minute.
  private(set) var truth: [Double] = []
  private(set) var now: Instant
  private let start: Instant
  private var level: Double
  private var uptime = BatterySample.Uptime(boot: "b1", total: 0, awake: 0)
  private var wasAsleep = false
  private var random: SeededGenerator

  /// The factor of the drain at a level, relative to a new battery: 1 is the same drain.
  var wear: @Sendable (Double) -> Double = { _ in 1 }
  /// True if the gauge reports whole percents.
  var isCoarse = false
  /// True if the kernel reports the power.
  var tellsPower = true
  /// The variation of a load from minute to minute: 0.3 is ±30%.
  var noise = 0.3
  var battery = BatterySample.Battery(name: "BAT0", capacity: 50_000_000)

  init(at start: Instant, level: Double, seed: UInt64) {
    now = start
    self.start = start
    self.level = level
    random = SeededGenerator(seed: seed)
  }

  /// Continues with a use for a number of hours.
  mutating func run(_ use: Use, hours: Double) {
    for _ in 0..<Int((hours * 60).rounded()) {
      step(use)
    }
  }

  private mutating func step(_ use: Use) {
    let isAwake: Bool
    var load = 0.0
    var isCharging = false
    switch use {
    case .awake(let drain):
      isAwake = true
      load = drain * (1 + noise * Double.random(in: -1...1, using: &random))
    case .asleep(let drain):
      isAwake = false
      load = drain
    case .charging(let awake):
      isAwake = awake
      isCharging = true
    }
    if isCharging {
      level = min(100, level + BatteryTrace.charge / 60)
    } else {
      level = max(0, level - load * wear(level) / 60)
    }
    now = now.adding(seconds: 60)
    uptime.total += 60_000
    if isAwake { uptime.awake += 60_000 }
    truth.append(level)
    // A sleeping machine takes no samples. It takes one after waking, and an empty battery takes none.
    let isDue = truth.count % BatteryTrace.spacing == 0 || wasAsleep
    if isAwake, isDue, level > 0 { take(isCharging: isCharging, load: load) }
    wasAsleep = !isAwake
  }

  private mutating func take(isCharging: Bool, load: Double) {
    samples.append(sample(isCharging: isCharging, load: load))
  }

  /// Returns the gauge's current sample.
  func sample(isCharging: Bool, load: Double) -> BatterySample {
    BatterySample(
      at: now, level: isCoarse ? level.rounded() : (level * 100).rounded() / 100,
      isCharging: isCharging, draw: tellsPower && !isCharging ? load : nil, battery: battery,
      uptime: uptime)
  }

  /// Returns the true level at an instant.
  func level(at moment: Instant) -> Double { truth[Int(moment.seconds(since: start) / 60) - 1] }
}

/// The traces that test the drain forecast: each is run until bedtime, predicted, and continued for eight hours.
enum BatteryTraces {
  struct Case {
    let name: String
    let make:
      @Sendable (UInt64, Double) -> (history: BatteryTrace, night: [(BatteryTrace.Use, Double)])
  }

  /// Mon 2 Nov 2026, 08:00.
  private static let morning = Instant(seconds: 1_793_606_400)

  static let all: [Case] = [
    Case(name: "constant drain") { seed, load in
      var trace = BatteryTrace(at: morning, level: 95, seed: seed)
      trace.run(.awake(load), hours: 3)
      return (trace, [(.awake(load), 8)])
    },
    Case(name: "constant, whole percents, no power reported") { seed, load in
      var trace = BatteryTrace(at: morning, level: 95, seed: seed)
      (trace.isCoarse, trace.tellsPower) = (true, false)
      trace.run(.awake(load), hours: 3)
      return (trace, [(.awake(load), 8)])
    },
    Case(name: "load doubled 20 minutes ago") { seed, load in
      var trace = BatteryTrace(at: morning, level: 98, seed: seed)
      trace.run(.awake(load / 2), hours: 4)
      trace.run(.awake(load), hours: 1.0 / 3)
      return (trace, [(.awake(load), 8)])
    },
    Case(name: "load doubled 30 minutes ago, whole percents, no power") { seed, load in
      var trace = BatteryTrace(at: morning, level: 98, seed: seed)
      (trace.isCoarse, trace.tellsPower) = (true, false)
      trace.run(.awake(load / 2), hours: 4)
      trace.run(.awake(load), hours: 0.5)
      return (trace, [(.awake(load), 8)])
    },
    Case(name: "load halved an hour ago") { seed, load in
      var trace = BatteryTrace(at: morning, level: 98, seed: seed)
      trace.run(.awake(load * 2), hours: 2)
      trace.run(.awake(load), hours: 1)
      return (trace, [(.awake(load), 8)])
    },
    Case(name: "asleep every night, and this one") { seed, load in
      let trace = days(4, seed, load) { trace in trace.run(.asleep(0.8), hours: 9) }
      return (trace.0, [(.asleep(0.8), 8)])
    },
    Case(name: "asleep every night, but not this one") { seed, load in
      let trace = days(4, seed, load) { trace in trace.run(.asleep(0.8), hours: 9) }
      return (trace.0, [(.awake(load), 8)])
    },
    Case(name: "asleep in some nights, awake in this") { seed, load in
      var number = 0
      let trace = days(4, seed, load) { trace in
        number += 1
        trace.run(number % 2 == 0 ? .asleep(0.8) : .awake(load), hours: 9)
      }
      return (trace.0, [(.awake(load), 8)])
    },
    Case(name: "short sleeps through the day") { seed, load in
      var trace = BatteryTrace(at: morning, level: 98, seed: seed)
      for _ in 0..<5 {
        trace.run(.awake(load), hours: 0.7)
        trace.run(.asleep(1), hours: 0.5)
      }
      trace.run(.awake(load), hours: 0.25)
      return (trace, [(.awake(load), 8)])
    },
    Case(name: "charged in between, unplugged 15 minutes ago") { seed, load in
      var trace = BatteryTrace(at: morning, level: 60, seed: seed)
      trace.run(.awake(load), hours: 3)
      trace.run(.charging(awake: true), hours: 1.2)
      trace.run(.awake(load), hours: 0.25)
      return (trace, [(.awake(load), 8)])
    },
    Case(name: "charged, unplugged just now, no power reported") { seed, load in
      var trace = BatteryTrace(at: morning, level: 60, seed: seed)
      trace.tellsPower = false
      trace.run(.awake(load), hours: 3)
      trace.run(.charging(awake: true), hours: 1.2)
      trace.run(.awake(load), hours: 1.0 / 12)
      return (trace, [(.awake(load), 8)])
    },
    Case(name: "worn: three times as fast below 30%") { seed, load in
      var trace = BatteryTrace(at: morning, level: 100, seed: seed)
      trace.wear = { $0 < 30 ? 3 : 1 }
      for _ in 0..<3 {
        while (trace.truth.last ?? 100) > 8 { trace.run(.awake(load), hours: 0.25) }
        trace.run(.charging(awake: true), hours: 3)
      }
      trace.run(.awake(load), hours: 1.5)
      return (trace, [(.awake(load), 8)])
    },
    Case(name: "worn: dies at 12%, never seen before") { seed, load in
      var trace = BatteryTrace(at: morning, level: 100, seed: seed)
      trace.wear = { $0 < 12 ? 1000 : 1 }
      trace.run(.awake(load), hours: 2)
      return (trace, [(.awake(load), 8)])
    },
    Case(name: "another battery since an hour") { seed, load in
      var trace = BatteryTrace(at: morning, level: 98, seed: seed)
      trace.run(.awake(load / 3), hours: 5)
      trace.battery = BatterySample.Battery(name: "BAT0", capacity: 30_000_000)
      trace.run(.awake(load), hours: 1)
      return (trace, [(.awake(load), 8)])
    },
  ]

  /// Returns days of work with a charge in the evening, then a night unplugged.
  private static func days(
    _ count: Int, _ seed: UInt64, _ load: Double, night: (inout BatteryTrace) -> Void
  ) -> (BatteryTrace, Void) {
    var trace = BatteryTrace(at: morning, level: 90, seed: seed)
    for _ in 0..<count {
      trace.run(.charging(awake: true), hours: 13)
      trace.run(.awake(load), hours: 2)
      night(&trace)
    }
    trace.run(.charging(awake: true), hours: 13)
    trace.run(.awake(load), hours: 2)
    return (trace, ())
  }

  struct Outcome {
    let name: String
    /// Predicted minus true level after eight hours, in percentage points: positive is too optimistic. An empty battery
    /// counts as 0.
    var errors: [Double] = []
    /// The number of batteries that were predicted as safe but became empty.
    var failures = 0
    /// The levels at which a later check noticed the risk, for those batteries.
    var noticed: [Double] = []
    /// The number of warnings with more than 30% left.
    var falseAlarms = 0
    var count = 0
  }

  static func judge(_ trace: Case, loads: [Double], seeds: Range<UInt64>) -> Outcome {
    var outcome = Outcome(name: trace.name)
    for load in loads {
      for seed in seeds {
        var (lived, night) = trace.make(seed, load)
        guard let current = lived.samples.last, (lived.truth.last ?? 0) > 0 else { continue }
        let moment = lived.now.adding(seconds: 8 * 3600)
        var history = BatteryHistory()
        for sample in lived.samples.dropLast() { history.add(sample) }
        let prediction = DrainForecast(history, from: current).prediction(at: moment)
        history.add(current)
        let evening = lived.samples.count
        for (use, hours) in night { lived.run(use, hours: hours) }
        let truth = lived.level(at: moment)
        if truth <= 0, prediction.risk == .safe {
          for sample in lived.samples[evening...] {
            let risk = DrainForecast(history, from: sample).prediction(at: moment).risk
            history.add(sample)
            guard risk > .safe else { continue }
            outcome.noticed.append(sample.level)
            break
          }
        }
        outcome.count += 1
        outcome.errors.append(max(0, prediction.level ?? 100) - truth)
        if truth <= 0, prediction.risk == .safe { outcome.failures += 1 }
        if truth > 30, prediction.risk != .safe { outcome.falseAlarms += 1 }
      }
    }
    return outcome
  }
}
