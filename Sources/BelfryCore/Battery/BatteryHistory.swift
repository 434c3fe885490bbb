/// The battery samples of the last two weeks and the discharges that they show.
public struct BatteryHistory: Sendable {
  /// The samples, oldest first.
  public private(set) var samples: [BatterySample]

  /// Creates a history from samples in any order.
  public init(_ samples: [BatterySample] = []) {
    self.samples = samples.sorted { $0.at < $1.at }
  }

  // MARK: Retention

  /// The start of 2020. A sample with an earlier time comes from a clock that was not set.
  private static let earliest = Instant(seconds: 1_577_836_800)
  /// The age up to which all samples are kept, in seconds.
  private static let fullResolution: Int64 = 86_400
  /// The age at which samples are dropped, in seconds.
  private static let retention: Int64 = 14 * 86_400
  /// The minimum distance between two samples that are older than `fullResolution`, in seconds.
  private static let thinnedSpacing: Int64 = 1_200

  /// Adds a sample. Samples older than a day are thinned out; samples older than two weeks are dropped.
  ///
  /// A sample from an unset clock is ignored. If the clock was set back, samples from the future are dropped.
  public mutating func add(_ sample: BatterySample) {
    guard sample.at > BatteryHistory.earliest else { return }
    samples.removeAll { $0.at >= sample.at }
    samples.append(sample)
    var kept: [BatterySample] = []
    for (index, each) in samples.enumerated() {
      let age = sample.at.seconds(since: each.at)
      if age > BatteryHistory.retention { continue }
      if age > BatteryHistory.fullResolution, index + 1 < samples.count, let last = kept.last {
        let next = samples[index + 1]
        // The samples at both ends of a charge or sleep are kept.
        let isEdge =
          last.isCharging != each.isCharging || next.isCharging != each.isCharging
          || Span(last, each)?.isAsleep == true || Span(each, next)?.isAsleep == true
          || last.uptime.boot != each.uptime.boot || next.uptime.boot != each.uptime.boot
        if !isEdge, each.at.seconds(since: last.at) < BatteryHistory.thinnedSpacing { continue }
      }
      kept.append(each)
    }
    samples = kept
  }

  // MARK: Discharges

  /// The interval between two consecutive samples of one discharge.
  struct Span {
    let from: BatterySample
    let to: BatterySample
    /// The time awake, in hours.
    let awake: Double
    /// The time asleep, in hours.
    let asleep: Double
    /// The drop of the level, in percent.
    var drop: Double { from.level - to.level + (to.isCharging ? Span.hiddenCharge : 0) }
    var middle: Double { (from.level + to.level) / 2 }
    var isAsleep: Bool { asleep >= 0.25 && asleep > awake }
    /// True if the interval measures the drain while awake. Longer gaps between samples can hide a charge.
    var isAwake: Bool { asleep < 0.1 * awake && awake <= 1 && !to.isCharging }

    /// The charge that can precede the first charging sample, in percent.
    private static let hiddenCharge = 5.0

    /// Creates the interval between two samples; nil if it may be something other than a discharge.
    init?(_ a: BatterySample, _ b: BatterySample) {
      guard !a.isCharging, a.uptime.boot == b.uptime.boot,
        b.uptime.total > a.uptime.total, b.uptime.awake >= a.uptime.awake,
        // A gauge fluctuates slightly. A larger rise is a charge.
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

  /// Returns the discharges up to a sample, oldest first, each as consecutive intervals.
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
