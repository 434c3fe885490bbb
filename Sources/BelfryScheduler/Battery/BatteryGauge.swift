import BelfryCore
import Git
import Glibc

/// How this machine's battery stands, and what was learned of it.
public struct BatteryStanding: Sendable {
  public let reading: PowerReading
  /// The reading as a sample; nil when its level is not known.
  public let sample: BatterySample?
  /// Earlier ones.
  public let history: BatteryHistory
  public let forecast: DrainForecast?

  /// - Parameter sample: the reading as a sample; nil when its level is not known.
  public init(_ reading: PowerReading, _ sample: BatterySample?, _ history: BatteryHistory) {
    self.reading = reading
    self.sample = sample
    self.history = history
    forecast = sample.map { DrainForecast(history, from: $0) }
  }

  /// What will be left at a moment.
  public func prediction(at moment: Instant) -> BatteryPrediction {
    forecast?.prediction(at: moment)
      ?? BatteryPrediction(
        level: nil, drain: nil, hours: 0, isCharging: reading.isCharging)
  }
}

/// Reads this machine's battery, and keeps samples of it.
public struct BatteryGauge: Sendable {
  public let supplies: PowerSupplies
  /// Where samples are kept; nil where there is no place for them.
  public let log: BatteryLog?
  private let upower: UPower

  /// Between two samples, in seconds.
  public static let spacing: Int64 = 300

  /// - Parameters:
  ///   - bus: the address of the system's bus; nil for the usual one.
  public init(supplies: PowerSupplies, log: BatteryLog?, bus: String? = nil) {
    self.supplies = supplies
    self.log = log
    upower = UPower(address: bus)
  }

  /// What there is to be known of the battery.
  public enum Finding: Sendable {
    /// The machine has none.
    case none
    /// Neither the kernel nor UPower tells.
    case silent
    case found(BatteryStanding)

    public var standing: BatteryStanding? {
      if case .found(let standing) = self { standing } else { nil }
    }
  }

  /// How it stands by the kernel's account, without a second thread or process; nil where UPower is to be asked. Nothing is
  /// written.
  public func lookAtKernel(at now: Instant) -> Finding? {
    let account = supplies.account()
    return account.isEnough ? finding(account, at: now) : nil
  }

  /// How it stands, also by UPower; nothing is written.
  public func look(at now: Instant) async -> Finding {
    finding(await reading(), at: now)
  }

  private func finding(_ account: PowerSupplies.Account, at now: Instant) -> Finding {
    switch account {
    case .none: .none
    case .silent: .silent
    case .told(let reading):
      .found(standing(reading, at: now, log?.read() ?? BatteryHistory()))
    }
  }

  /// What came of taking a sample.
  public struct Sampling: Sendable {
    /// Nil when the last sample is too young for another: nothing was reckoned.
    public var finding: Finding?
    /// Why the sample could not be kept.
    public var failure: FileError?
  }

  /// The same, and keeps a sample of it when the last one is old enough.
  public func sample(at now: Instant) async -> Sampling {
    switch await reading() {
    case .none: return Sampling(finding: Finding.none)
    case .silent: return Sampling(finding: .silent)
    case .told(let reading):
      guard let log, let sample = reading.sample(at: now, uptime: BatteryGauge.uptime()) else {
        return Sampling(finding: .found(standing(reading, at: now, BatteryHistory())))
      }
      do {
        guard let history = try log.add(sample, spacing: BatteryGauge.spacing - 30) else {
          return Sampling()
        }
        return Sampling(finding: .found(BatteryStanding(reading, sample, history)))
      } catch {
        return Sampling(
          finding: .found(BatteryStanding(reading, sample, log.read())), failure: error)
      }
    }
  }

  private func standing(
    _ reading: PowerReading, at now: Instant, _ history: BatteryHistory
  ) -> BatteryStanding {
    BatteryStanding(reading, reading.sample(at: now, uptime: BatteryGauge.uptime()), history)
  }

  private func reading() async -> PowerSupplies.Account {
    // A driver may take its time to answer.
    let account = await withCheckedContinuation { continuation in
      BackgroundThread.start { [supplies] in continuation.resume(returning: supplies.account()) }
    }
    if account.isEnough { return account }
    return await upower.reading().map { .told($0) } ?? account
  }

  /// How long this machine has run, by the clocks that nobody sets.
  static func uptime() -> BatterySample.Uptime {
    func milliseconds(_ clock: clockid_t) -> Int64 {
      var time = timespec()
      clock_gettime(clock, &time)
      return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
    let boot = String(
      decoding: ((try? DurableFile.readStream("/proc/sys/kernel/random/boot_id")) ?? []).prefix(8),
      as: UTF8.self)
    return BatterySample.Uptime(
      boot: boot.isEmpty ? "unknown" : boot, total: milliseconds(CLOCK_BOOTTIME),
      awake: milliseconds(CLOCK_MONOTONIC))
  }
}
