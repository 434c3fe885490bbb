import BelfryCore
import BelfryStore
import Files
import Glibc

/// The state of this machine's battery and the forecast of its drain.
public struct BatteryStanding: Sendable {
  /// The current reading.
  public let reading: PowerReading
  /// The reading as a sample; nil if the level is unknown.
  public let sample: BatterySample?
  /// The earlier samples.
  public let history: BatteryHistory
  /// The forecast of the drain; nil if the level is unknown.
  public let forecast: DrainForecast?

  /// Creates a state.
  ///
  /// - Parameters:
  ///   - reading: the current reading.
  ///   - sample: the reading as a sample; nil if the level is unknown.
  ///   - history: the earlier samples.
  public init(_ reading: PowerReading, _ sample: BatterySample?, _ history: BatteryHistory) {
    self.reading = reading
    self.sample = sample
    self.history = history
    forecast = sample.map { DrainForecast(history, from: $0) }
  }

  /// Returns the predicted level at a moment.
  public func prediction(at moment: Instant) -> BatteryPrediction {
    forecast?.prediction(at: moment)
      ?? BatteryPrediction(
        level: nil, drain: nil, hours: 0, isCharging: reading.isCharging)
  }
}

/// A reader of this machine's battery that records samples.
public struct BatteryGauge: Sendable {
  /// The kernel's power supplies.
  public let supplies: PowerSupplies
  /// The log of samples; nil if there is no folder for it.
  public let log: BatteryLog?
  private let upower: UPower

  /// The time between two samples, in seconds.
  public static let spacing: Int64 = 300

  /// Creates a gauge.
  ///
  /// - Parameters:
  ///   - supplies: the kernel's power supplies.
  ///   - log: the log of samples; nil to record none.
  ///   - bus: the address of the D-Bus system bus; nil for the default.
  public init(supplies: PowerSupplies, log: BatteryLog?, bus: String? = nil) {
    self.supplies = supplies
    self.log = log
    upower = UPower(address: bus)
  }

  /// The result of reading the battery.
  public enum Finding: Sendable {
    /// The machine has no battery.
    case none
    /// Neither the kernel nor UPower reports a battery.
    case silent
    /// The state of the battery.
    case found(BatteryStanding)

    /// The state of the battery; nil without one.
    public var standing: BatteryStanding? {
      if case .found(let standing) = self { standing } else { nil }
    }
  }

  /// Reads the kernel's power supplies in the current thread, without recording a sample.
  ///
  /// - Returns: The result, or nil if the kernel's report is incomplete and UPower is needed.
  public func lookAtKernel(at now: Instant) -> Finding? {
    let report = supplies.read()
    return report.isComplete ? finding(report, at: now) : nil
  }

  /// Reads the kernel's power supplies, or else UPower, without recording a sample.
  public func look(at now: Instant) async -> Finding {
    finding(await reading(), at: now)
  }

  private func finding(_ report: PowerSupplies.Report, at now: Instant) -> Finding {
    switch report {
    case .none: .none
    case .unavailable: .silent
    case .found(let reading):
      .found(standing(reading, at: now, log?.read() ?? BatteryHistory()))
    }
  }

  /// The result of taking a sample.
  public struct SampleResult: Sendable {
    /// The state of the battery; nil if the last sample is too recent for another one.
    public var finding: Finding?
    /// The error that kept the sample from being recorded; nil if there was none.
    public var failure: FileError?
  }

  /// Reads the kernel's power supplies, or else UPower, and records a sample if one is due.
  public func sample(at now: Instant) async -> SampleResult {
    switch await reading() {
    case .none: return SampleResult(finding: Finding.none)
    case .unavailable: return SampleResult(finding: .silent)
    case .found(let reading):
      guard let log, let sample = reading.sample(at: now, uptime: BatteryGauge.uptime()) else {
        return SampleResult(finding: .found(standing(reading, at: now, BatteryHistory())))
      }
      do {
        guard let history = try log.add(sample, spacing: BatteryGauge.spacing - 30) else {
          return SampleResult()
        }
        return SampleResult(finding: .found(BatteryStanding(reading, sample, history)))
      } catch {
        return SampleResult(
          finding: .found(BatteryStanding(reading, sample, log.read())), failure: error)
      }
    }
  }

  private func standing(
    _ reading: PowerReading, at now: Instant, _ history: BatteryHistory
  ) -> BatteryStanding {
    BatteryStanding(reading, reading.sample(at: now, uptime: BatteryGauge.uptime()), history)
  }

  private func reading() async -> PowerSupplies.Report {
    // A read from sysfs blocks until the driver responds.
    let report = await withCheckedContinuation { continuation in
      BackgroundThread.start { [supplies] in continuation.resume(returning: supplies.read()) }
    }
    if report.isComplete { return report }
    return await upower.reading().map { .found($0) } ?? report
  }

  /// Returns the uptime of this machine by clocks that cannot be set.
  static func uptime() -> BatterySample.Uptime {
    func milliseconds(_ clock: clockid_t) -> Int64 {
      var time = timespec()
      clock_gettime(clock, &time)
      return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
    return BatterySample.Uptime(
      boot: ProcessIdentity.currentBoot.map { String($0.prefix(8)) } ?? "unknown",
      total: milliseconds(CLOCK_BOOTTIME),
      awake: milliseconds(CLOCK_MONOTONIC))
  }
}
