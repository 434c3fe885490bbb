/// The expected drain of a battery until a moment, and its source.
public struct DrainOutlook: Hashable, Sendable {
  /// The source of the drain while awake.
  public enum Source: String, Hashable, Sendable {
    /// The current discharge.
    case measured
    /// The kernel's current power reading.
    case kernel
    /// Earlier discharges.
    case usual
    /// A typical drain, as nothing is measured yet.
    case assumed
  }

  /// The overall drain in percent per hour; nil if the level is unknown.
  public var drain: Double?
  /// The drain while awake in percent per hour; nil if the level is unknown.
  public var awake: Double?
  /// The source of `awake`; nil if that is unknown.
  public var source: Source?
  /// The drain while asleep in percent per hour; nil if the machine was never seen asleep.
  public var asleep: Double?
  /// The expected fraction of the time asleep, from 0 to 1.
  public var asleepShare: Double = 0

  /// Creates an outlook without any known drain.
  public init() {}
}

/// A forecast of a battery's drain from its samples.
///
/// - The drain while awake follows a growing load within minutes, and a falling load within half an hour.
/// - The drain while asleep is learned separately, from the level after a sleep. Its weight is the share that the
///   machine has slept in every one of the last nights, with a minimum of three nights.
/// - A worn battery drains faster when it is nearly empty. The forecast applies the learned factor to the levels ahead.
///
/// Intervals with a charge, another battery or a changed clock are ignored. Without enough samples, a typical drain is
/// assumed.
public struct DrainForecast: Sendable {
  private let current: BatterySample
  private let awake: Double
  private let source: DrainOutlook.Source
  private let asleep: Double?
  private let wear: Wear
  private let nights: [Night]
  private let tonight: Night

  /// Creates a forecast.
  ///
  /// - Parameters:
  ///   - history: the earlier samples.
  ///   - current: the current sample.
  public init(_ history: BatteryHistory, from current: BatterySample) {
    self.current = current
    let discharges = history.discharges(until: current)
    let recent = discharges.last.flatMap { $0.last?.to == current ? $0 : nil } ?? []
    (awake, source) = DrainForecast.waking(history.samples, current, recent, discharges)
    // Without a measured drain, the drain during a sleep cannot be told from that before and after it.
    asleep = source == .assumed ? nil : DrainForecast.sleeping(discharges, awake: awake)
    wear = Wear(discharges)
    nights = (1...10).map { Night(history.samples, before: current.at, days: $0) }
    tonight = Night(history.samples + [current], before: current.at, days: 0)
  }

  /// Returns the expected drain from now until a moment.
  public func outlook(until moment: Instant) -> DrainOutlook {
    var outlook = DrainOutlook()
    (outlook.awake, outlook.source, outlook.asleep) = (awake, source, asleep)
    outlook.asleepShare = asleep == nil ? 0 : asleepShare(until: moment)
    let drain = awake * (1 - outlook.asleepShare) + (asleep ?? awake) * outlook.asleepShare
    let hours = Double(moment.milliseconds - current.at.milliseconds) / 3_600_000
    outlook.drain =
      drain > 0 && hours > 0 ? wear.drain(drain, from: current.level, hours: hours) : drain
    return outlook
  }

  /// Returns the predicted level at a moment.
  ///
  /// If the drain is unknown and the level is already low, the prediction is at best the current level.
  public func prediction(at moment: Instant) -> BatteryPrediction {
    func prediction(_ drain: Double?) -> BatteryPrediction {
      BatteryPrediction(
        level: current.level, drain: drain,
        hours: Double(moment.milliseconds - current.at.milliseconds) / 3_600_000,
        isCharging: current.isCharging, isAssumed: source == .assumed)
    }
    let likely = prediction(outlook(until: moment).drain)
    guard likely.unknown == .drain else { return likely }
    let atBest = prediction(.leastNormalMagnitude)
    return atBest.risk == .safe ? likely : atBest
  }

  // MARK: Drain while awake

  /// The minimum duration of a measurement, in hours.
  private static let minHours = 1.0 / 6
  /// The duration after which a measurement ends, if the level has dropped by `sufficientDrop`, in hours.
  private static let sufficientHours = 0.5
  /// The maximum duration of a measurement, in hours.
  private static let maxHours = 3.0
  /// The drop that makes up for the resolution of a gauge with whole percents, in percent.
  private static let sufficientDrop = 3.0
  /// The maximum age of a power reading, in seconds.
  private static let readingLifetime: Int64 = 900

  /// The drain of a laptop that lasts ten hours, in percent per hour. Most last longer at night.
  private static let typical = 10.0
  /// The resolution of a gauge with whole percents, in percent.
  private static let resolution = 1.0
  /// The minimum duration of a measurement without a drop that limits the assumed drain, in hours.
  private static let minLevelHours = 1.0

  private typealias Span = BatteryHistory.Span

  private static func waking(
    _ samples: [BatterySample], _ current: BatterySample, _ recent: [Span], _ discharges: [[Span]]
  ) -> (Double, DrainOutlook.Source) {
    var (drop, hours) = (0.0, 0.0)
    for span in recent.reversed() where span.isAwake {
      drop += span.drop
      hours += span.awake
      if hours >= maxHours
        || hours >= sufficientHours && drop >= sufficientDrop
      {
        break
      }
    }
    let draws = draws(samples, current)
    if hours >= minHours, drop > 0 {
      let measured = drop / hours
      // The readings show a growing load before the level does. A single reading may be a short peak.
      let grown =
        draws.count > 2 ? draws.sorted()[draws.count / 2] : draws.count > 1 ? draws.min() ?? 0 : 0
      return grown > measured ? (grown, .kernel) : (measured, .measured)
    }
    let usual = usual(current, discharges)
    if !draws.isEmpty {
      let now = draws.reduce(0, +) / Double(draws.count)
      if let usual, usual > now { return (usual, .usual) }
      return (now, .kernel)
    }
    if let usual { return (usual, .usual) }
    return (hours >= minLevelHours ? min(typical, resolution / hours) : typical, .assumed)
  }

  /// Returns the kernel's power readings of the last minutes, oldest first.
  private static func draws(
    _ samples: [BatterySample], _ current: BatterySample
  ) -> [Double] {
    let recent = samples.reversed().prefix {
      !$0.isCharging && $0.uptime.boot == current.uptime.boot
        && $0.battery.isSame(as: current.battery)
        && current.at.seconds(since: $0.at) <= readingLifetime
    }
    return (recent.reversed().filter { $0.at < current.at } + [current]).compactMap(\.draw)
      .filter { $0.isFinite && $0 > 0 }
  }

  /// Returns the drain of earlier discharges, weighted toward the latest; nil if too little was measured.
  private static func usual(
    _ current: BatterySample, _ discharges: [[Span]]
  ) -> Double? {
    var (drop, hours, seen) = (0.0, 0.0, 0.0)
    for span in discharges.joined() where span.isAwake {
      let days = Double(current.at.seconds(since: span.to.at)) / 86_400
      let weight = 1 / (1 + max(0, days))
      drop += span.drop * weight
      hours += span.awake * weight
      seen += span.awake
    }
    return seen >= 1 && drop > 0 ? drop / hours : nil
  }

  // MARK: Drain while asleep

  /// The number of sleeps that count.
  private static let sleepCount = 10

  /// Returns the drain while asleep as the third quartile, since the battery may have been charged during some sleeps.
  private static func sleeping(
    _ discharges: [[Span]], awake: Double
  ) -> Double? {
    let rates = discharges.joined().filter(\.isAsleep).suffix(sleepCount)
      .map { max(0, $0.drop - awake * $0.awake) / $0.asleep }.sorted()
    if rates.isEmpty { return nil }
    return min(awake, rates[rates.count * 3 / 4])
  }

  /// The maximum number of nights that count.
  private static let maxNightCount = 5
  /// The minimum number of nights for a sleep forecast.
  private static let minNightCount = 3
  /// The time before now that shows if the machine deviates from its usual sleep, in milliseconds.
  private static let recentPeriod: Int64 = 45 * 60_000

  /// The sleep of the machine on one day, relative to the current time of day.
  private struct Night {
    /// Intervals in milliseconds from this time of that day, each with the fraction asleep, from 0 to 1.
    private var parts: [(time: Range<Int64>, slept: Double)] = []

    init(_ samples: [BatterySample], before now: Instant, days: Int) {
      let start = now.milliseconds - Int64(days) * 86_400_000
      for (a, b) in zip(samples, samples.dropFirst())
      where a.uptime.boot == b.uptime.boot && b.uptime.total > a.uptime.total && a.at < b.at {
        let (from, to) = (a.at.milliseconds - start, b.at.milliseconds - start)
        guard to > -DrainForecast.recentPeriod, from < 86_400_000 else { continue }
        let awake =
          Double(b.uptime.awake - a.uptime.awake) / Double(b.uptime.total - a.uptime.total)
        parts.append((from..<to, 1 - min(1, max(0, awake))))
      }
    }

    /// Returns the fraction of a window asleep; nil if less than 80 percent of the window is known.
    func share(_ window: Range<Int64>) -> Double? {
      var (known, asleep) = (0.0, 0.0)
      for (time, slept) in parts {
        let common = time.clamped(to: window)
        known += Double(common.count)
        asleep += Double(common.count) * slept
      }
      return known >= 0.8 * Double(window.count) ? asleep / known : nil
    }
  }

  /// Returns the fraction of the time until a moment that the machine is expected to sleep.
  ///
  /// It is the minimum over the last nights at the same time of day. It is 0 if the machine is awake now although it
  /// was asleep at this time in all those nights.
  private func asleepShare(until moment: Instant) -> Double {
    let length = moment.milliseconds - current.at.milliseconds
    guard length > 0, length <= 86_400_000 else { return 0 }
    func usual(_ window: Range<Int64>) -> Double {
      let shares = nights.lazy.compactMap { $0.share(window) }.prefix(DrainForecast.maxNightCount)
      return shares.count < DrainForecast.minNightCount ? 0 : shares.min() ?? 0
    }
    let recent = -DrainForecast.recentPeriod..<0
    if let tonight = tonight.share(recent), tonight < usual(recent) / 2 { return 0 }
    return usual(0..<length)
  }

  // MARK: Wear

  /// The factors by which the level falls faster in each tenth of the charge than in the tenths above it.
  private struct Wear {
    var factors = [Double](repeating: 1, count: 10)

    /// The minimum ratio that counts. A smaller one can come from a fluctuating load.
    private static let minRatio = 1.25
    /// The maximum ratio that is credible.
    private static let maxRatio = 6.0

    init(_ discharges: [[Span]]) {
      for tenth in 0..<9 {
        let ratios = discharges.compactMap { Wear.ratio($0, tenth) }.suffix(5).sorted()
        guard !ratios.isEmpty else { continue }
        let ratio = ratios[ratios.count / 2]
        if ratio >= Wear.minRatio { factors[tenth] = min(Wear.maxRatio, ratio) }
      }
    }

    /// Returns the ratio that one discharge shows for one tenth; nil if it shows none.
    private static func ratio(_ spans: [Span], _ tenth: Int) -> Double? {
      let lower = Double(tenth) * 10
      let here = speed(spans.filter { $0.isAwake && (lower..<lower + 10).contains($0.middle) })
      let above = speed(
        spans.filter { $0.isAwake && (lower + 10..<lower + 40).contains($0.middle) })
      guard let here, let above, here.drop >= 4, above.drop >= 5, above.hours >= 0.5 else {
        return nil
      }
      let ratio = (here.drop / here.hours) / (above.drop / above.hours)
      // A higher load explains part of the ratio.
      guard let drawHere = here.draw, let drawAbove = above.draw else { return ratio }
      return ratio / (drawHere / drawAbove)
    }

    private static func speed(_ spans: [Span]) -> (drop: Double, hours: Double, draw: Double?)? {
      let hours = spans.reduce(0) { $0 + $1.awake }
      let drop = spans.reduce(0) { $0 + $1.drop }
      guard hours > 0, drop > 0 else { return nil }
      let draws = spans.compactMap(\.to.draw).filter { $0.isFinite && $0 > 0 }
      let draw = draws.isEmpty ? nil : draws.reduce(0, +) / Double(draws.count)
      return (drop, hours, draw)
    }

    func factor(at level: Double) -> Double {
      factors[min(9, max(0, Int((level / 10).rounded(.up)) - 1))]
    }

    /// Returns the constant drain that is equivalent to the drain with the factors of the tenths.
    func drain(_ drain: Double, from start: Double, hours: Double) -> Double {
      guard start > 0, start <= 100, factors.contains(where: { $0 > 1 }) else { return drain }
      let known = factor(at: start)
      var (level, left) = (start, hours)
      while level > 0, left > 0 {
        let speed = drain * max(1, factor(at: level) / known)
        let lower = max(0, ((level / 10).rounded(.up) - 1) * 10)
        let time = (level - lower) / speed
        if time >= left { return (start - level + speed * left) / hours }
        left -= time
        level = lower
      }
      // The battery is empty earlier: the last speed continues below 0.
      return (start + drain * max(1, factors[0] / known) * left) / hours
    }
  }
}
