/// Samples of a battery over the last two weeks, and the discharges in them.
public struct BatteryHistory: Sendable {
  /// The oldest first.
  public private(set) var samples: [BatterySample]

  public init(_ samples: [BatterySample] = []) {
    self.samples = samples.sorted { $0.at < $1.at }
  }

  // MARK: Keeping

  /// The beginning of 2020: no clock that is set tells an earlier time.
  private static let earliest = Instant(seconds: 1_577_836_800)
  /// How long samples are kept in full, and how long at all, in seconds.
  private static let full: Int64 = 86_400
  private static let longest: Int64 = 14 * 86_400
  /// Between two samples that are older than a day, in seconds.
  private static let spacing: Int64 = 1_200

  /// Takes a sample in. What is older than a day is thinned out, and what is older than two weeks is dropped.
  public mutating func add(_ sample: BatterySample) {
    // A clock that nobody has set yet.
    guard sample.at > BatteryHistory.earliest else { return }
    // One that was set back: what was sampled in the time to come is of no use.
    samples.removeAll { $0.at >= sample.at }
    samples.append(sample)
    var kept: [BatterySample] = []
    for (index, each) in samples.enumerated() {
      let age = sample.at.seconds(since: each.at)
      if age > BatteryHistory.longest { continue }
      if age > BatteryHistory.full, index + 1 < samples.count, let last = kept.last {
        let next = samples[index + 1]
        // Where a charge or a sleep begins or ends both ends are kept.
        let isEdge =
          last.isCharging != each.isCharging || next.isCharging != each.isCharging
          || Span(last, each)?.isAsleep == true || Span(each, next)?.isAsleep == true
          || last.uptime.boot != each.uptime.boot || next.uptime.boot != each.uptime.boot
        if !isEdge, each.at.seconds(since: last.at) < BatteryHistory.spacing { continue }
      }
      kept.append(each)
    }
    samples = kept
  }

  // MARK: Discharges

  /// What lies between two samples of one discharge.
  struct Span {
    let from: BatterySample
    let to: BatterySample
    /// In hours.
    let awake: Double
    let asleep: Double
    /// In percent.
    var drop: Double { from.level - to.level + (to.isCharging ? Span.hidden : 0) }
    var middle: Double { (from.level + to.level) / 2 }
    var isAsleep: Bool { asleep >= 0.25 && asleep > awake }
    /// Whether it tells of the waking drain. In a long time without a sample anything may have happened.
    var isAwake: Bool { asleep < 0.1 * awake && awake <= 1 && !to.isCharging }

    /// In percent: what a charger may have given by the time at which somebody plugs it in and wakes the machine.
    private static let hidden = 5.0

    /// Nil when something else than a discharge may lie between them.
    init?(_ a: BatterySample, _ b: BatterySample) {
      guard !a.isCharging, a.uptime.boot == b.uptime.boot,
        b.uptime.total > a.uptime.total, b.uptime.awake >= a.uptime.awake,
        // A battery gauge wavers a little; more than that is a charge.
        b.level <= a.level + (b.isCharging ? 0 : 0.5)
      else { return nil }
      from = a
      to = b
      let hours = 3_600_000.0
      awake = Double(b.uptime.awake - a.uptime.awake) / hours
      asleep =
        max(
          0, Double(b.uptime.total - a.uptime.total) - Double(b.uptime.awake - a.uptime.awake))
        / hours
    }
  }

  /// The discharges, each as its spans without a break, the oldest first.
  func discharges(until current: BatterySample) -> [[Span]] {
    var result: [[Span]] = []
    var run: [Span] = []
    var before: BatterySample?
    for sample in samples.filter({ $0.at < current.at }) + [current]
    where sample.battery.isSame(as: current.battery) {
      if let span = before.flatMap({ Span($0, sample) }), span.isAwake || span.isAsleep {
        run.append(span)
      } else if !run.isEmpty {
        result.append(run)
        run = []
      }
      before = sample
    }
    return run.isEmpty ? result : result + [run]
  }
}
