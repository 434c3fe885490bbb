/// How fast a battery is likely to drain until a moment, and how that is known.
public struct DrainOutlook: Hashable, Sendable {
  /// Where the waking drain is taken from.
  public enum Source: String, Hashable, Sendable {
    /// Measured while it has drained up to now.
    case measured
    /// The kernel's reading of the power, just now.
    case kernel
    /// What was measured at other times.
    case usual
  }

  /// In percent per hour, all told; nil when it is not known.
  public var drain: Double?
  /// The same as long as the machine is awake, and how that is known.
  public var awake: Double?
  public var source: Source?
  /// The same while it sleeps; nil when it was not seen to.
  public var asleep: Double?
  /// How much of the time it is likely to sleep, from 0 to 1.
  public var asleepShare: Double = 0

  public init() {}
}

/// What was learned of a battery's drain from its samples up to now.
///
/// - The waking drain follows a load that grows within minutes, and one that falls within half an hour.
/// - The sleeping drain is learned apart, from how much was left after a sleep. It counts for as much of the time as the
///   machine has slept through in every one of the last nights, and not at all before there were three.
/// - A worn battery falls faster when it is nearly empty: what was seen of that counts for the levels still to come.
///
/// What may be wrong by a charge in between, another battery or a clock that was set is left out.
public struct DrainForecast: Sendable {
  private let current: BatterySample
  private let awake: Double?
  private let source: DrainOutlook.Source?
  private let asleep: Double?
  private let wear: Wear
  private let nights: [Night]
  private let tonight: Night

  /// - Parameter current: how it stands now.
  public init(_ history: BatteryHistory, from current: BatterySample) {
    self.current = current
    let discharges = history.discharges(until: current)
    let recent = discharges.last.flatMap { $0.last?.to == current ? $0 : nil } ?? []
    (awake, source) = DrainForecast.waking(history.samples, current, recent, discharges)
    asleep = awake.flatMap { DrainForecast.sleeping(discharges, awake: $0) }
    wear = Wear(discharges)
    nights = (1...10).map { Night(history.samples, before: current.at, days: $0) }
    tonight = Night(history.samples + [current], before: current.at, days: 0)
  }

  /// How fast it is likely to drain from now until a moment.
  public func outlook(until moment: Instant) -> DrainOutlook {
    var outlook = DrainOutlook()
    (outlook.awake, outlook.source, outlook.asleep) = (awake, source, asleep)
    guard let awake else { return outlook }
    outlook.asleepShare = asleep == nil ? 0 : asleepShare(until: moment)
    let drain = awake * (1 - outlook.asleepShare) + (asleep ?? awake) * outlook.asleepShare
    let hours = Double(moment.milliseconds - current.at.milliseconds) / 3_600_000
    outlook.drain =
      drain > 0 && hours > 0 ? wear.drain(drain, from: current.level, hours: hours) : drain
    return outlook
  }

  /// What will be left at a moment. Of a battery that is low already, and whose drain is not known, not more than now.
  public func prediction(at moment: Instant) -> BatteryPrediction {
    func prediction(_ drain: Double?) -> BatteryPrediction {
      BatteryPrediction(
        level: current.level, drain: drain,
        hours: Double(moment.milliseconds - current.at.milliseconds) / 3_600_000,
        isCharging: current.isCharging)
    }
    let likely = prediction(outlook(until: moment).drain)
    guard likely.unknown == .drain else { return likely }
    let atBest = prediction(.leastNormalMagnitude)
    return atBest.risk == .safe ? likely : atBest
  }

  // MARK: The waking drain

  /// In hours: so much is measured before it counts, so much at least before it ends, and so much at most.
  private static let shortest = 1.0 / 6
  private static let enough = 0.5
  private static let most = 3.0
  /// In percent: a gauge of whole percents is off by one.
  private static let enoughDrop = 3.0
  /// How long readings of the power are fresh, in seconds.
  private static let fresh: Int64 = 900

  private typealias Span = BatteryHistory.Span

  private static func waking(
    _ samples: [BatterySample], _ current: BatterySample, _ recent: [Span], _ discharges: [[Span]]
  ) -> (Double?, DrainOutlook.Source?) {
    var (drop, hours) = (0.0, 0.0)
    for span in recent.reversed() where span.isAwake {
      drop += span.drop
      hours += span.awake
      if hours >= most
        || hours >= enough && drop >= enoughDrop
      {
        break
      }
    }
    let draws = draws(samples, current)
    if hours >= shortest, drop > 0 {
      let measured = drop / hours
      // A load that grows shows in the readings before it shows in the level; one reading alone may be of a moment.
      let grown =
        draws.count > 2 ? draws.sorted()[draws.count / 2] : draws.count > 1 ? draws.min() ?? 0 : 0
      return grown > measured ? (grown, .kernel) : (measured, .measured)
    }
    let usual = usual(current, discharges)
    if !draws.isEmpty {
      let now = draws.reduce(0, +) / Double(draws.count)
      return now >= usual ?? 0 ? (now, .kernel) : (usual, .usual)
    }
    return usual.map { ($0, .usual) } ?? (nil, nil)
  }

  /// What the kernel has told of the power in the last minutes, the latest last.
  private static func draws(
    _ samples: [BatterySample], _ current: BatterySample
  ) -> [Double] {
    let recent = samples.reversed().prefix {
      !$0.isCharging && $0.uptime.boot == current.uptime.boot
        && $0.battery.isSame(as: current.battery)
        && current.at.seconds(since: $0.at) <= fresh
    }
    return (recent.reversed().filter { $0.at < current.at } + [current]).compactMap(\.draw)
      .filter { $0.isFinite && $0 > 0 }
  }

  /// The drain that was measured at other times: the latest count most.
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

  // MARK: The sleeping drain

  /// So many sleeps count.
  private static let sleeps = 10

  /// What a sleep costs, an unlucky one: in between it may have been charged a while.
  private static func sleeping(
    _ discharges: [[Span]], awake: Double
  ) -> Double? {
    let rates = discharges.joined().filter(\.isAsleep).suffix(sleeps)
      .map { max(0, $0.drop - awake * $0.awake) / $0.asleep }.sorted()
    if rates.isEmpty { return nil }
    return min(awake, rates[rates.count * 3 / 4])
  }

  /// So many nights count, and so many there must be.
  private static let mostNights = 5
  private static let fewestNights = 3
  /// In this time before now a machine that usually sleeps, and does not tonight, is seen not to, in milliseconds.
  private static let lately: Int64 = 45 * 60_000

  /// How the machine slept on a day, about this time of day.
  private struct Night {
    /// Milliseconds from this time of that day, and how much of them it slept, from 0 to 1.
    private var parts: [(time: Range<Int64>, slept: Double)] = []

    init(_ samples: [BatterySample], before now: Instant, days: Int) {
      let start = now.milliseconds - Int64(days) * 86_400_000
      for (a, b) in zip(samples, samples.dropFirst())
      where a.uptime.boot == b.uptime.boot && b.uptime.total > a.uptime.total && a.at < b.at {
        let (from, to) = (a.at.milliseconds - start, b.at.milliseconds - start)
        guard to > -DrainForecast.lately, from < 86_400_000 else { continue }
        let awake =
          Double(b.uptime.awake - a.uptime.awake) / Double(b.uptime.total - a.uptime.total)
        parts.append((from..<to, 1 - min(1, max(0, awake))))
      }
    }

    /// How much of a time it slept; nil when that is not known of most of it.
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

  /// How much of the time until a moment the machine is likely to sleep: as much as it has slept in each of the last
  /// nights, at the same time of day. One that is awake when it was asleep in all of them is not expected to sleep.
  private func asleepShare(until moment: Instant) -> Double {
    let length = moment.milliseconds - current.at.milliseconds
    guard length > 0, length <= 86_400_000 else { return 0 }
    func usual(_ window: Range<Int64>) -> Double {
      let shares = nights.lazy.compactMap { $0.share(window) }.prefix(DrainForecast.mostNights)
      return shares.count < DrainForecast.fewestNights ? 0 : shares.min() ?? 0
    }
    let lately = -DrainForecast.lately..<0
    if let tonight = tonight.share(lately), tonight < usual(lately) / 2 { return 0 }
    return usual(0..<length)
  }

  // MARK: Wear

  /// How much faster than above it falls in each tenth of its charge: 1 is as fast.
  private struct Wear {
    var factors = [Double](repeating: 1, count: 10)

    /// Less than that is a load that wavers, and more a mistake.
    private static let least = 1.25
    private static let most = 6.0

    init(_ discharges: [[Span]]) {
      for tenth in 0..<9 {
        let ratios = discharges.compactMap { Wear.ratio($0, tenth) }.suffix(5).sorted()
        guard !ratios.isEmpty else { continue }
        let ratio = ratios[ratios.count / 2]
        if ratio >= Wear.least { factors[tenth] = min(Wear.most, ratio) }
      }
    }

    /// What one discharge tells of one tenth; nil where it tells nothing.
    private static func ratio(_ spans: [Span], _ tenth: Int) -> Double? {
      let lower = Double(tenth) * 10
      let here = speed(spans.filter { $0.isAwake && (lower..<lower + 10).contains($0.middle) })
      let above = speed(
        spans.filter { $0.isAwake && (lower + 10..<lower + 40).contains($0.middle) })
      guard let here, let above, here.drop >= 4, above.drop >= 5, above.hours >= 0.5 else {
        return nil
      }
      let ratio = (here.drop / here.hours) / (above.drop / above.hours)
      // A load that has grown is no wear.
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

    /// The drain that comes to the same as one that grows from tenth to tenth.
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
      // Empty before: on at the last speed, so that it is below 0.
      return (start + drain * max(1, factors[0] / known) * left) / hours
    }
  }
}
