import BelfryCore
import TestSupport
import Testing

/// The risk that a battery prediction derives from numbers.
@Suite struct BatteryPredictionTests {
  private func predict(
    _ level: Double?, drain: Double?, hours: Double, charging: Bool = false
  ) -> BatteryPrediction {
    BatteryPrediction(level: level, drain: drain, hours: hours, isCharging: charging)
  }

  @Test("A battery at 34% that drains 8%/h for 6 h is critical with 0%")
  func criticalAtNothing() {
    let prediction = predict(34, drain: 8, hours: 6)
    #expect(prediction.risk == .critical)
    #expect(prediction.predicted == 0)
  }

  @Test("A charging battery at 34% that drains 8%/h for 6 h is safe")
  func chargingIsSafe() {
    #expect(predict(34, drain: 8, hours: 6, charging: true).risk == .safe)
    #expect(predict(1, drain: 90, hours: 60, charging: true).risk == .safe)
    #expect(predict(nil, drain: nil, hours: 6, charging: true).unknown == nil)
  }

  @Test("A battery at 80% that drains 3%/h for 8 h is safe with 56%")
  func safe() {
    let prediction = predict(80, drain: 3, hours: 8)
    #expect(prediction.risk == .safe)
    #expect(prediction.predicted == 56)
  }

  @Test("A battery at 55% that drains 6%/h for 7 h causes a warning with 13%")
  func warning() {
    let prediction = predict(55, drain: 6, hours: 7)
    #expect(prediction.risk == .warning)
    #expect(prediction.predicted == 13)
  }

  @Test("A battery at 45% that drains 5%/h for 8 h is critical with 5%, at the threshold")
  func criticalAtTheThreshold() {
    let prediction = predict(45, drain: 5, hours: 8)
    #expect(prediction.risk == .critical)
    #expect(prediction.predicted == 5)
  }

  @Test(
    "The shown level is rounded down, and the risk is derived from it",
    arguments: [
      (20.0, BatteryPrediction.Risk.warning, 20), (20.05, .warning, 20), (20.99, .warning, 20),
      (21, .safe, 21), (5.01, .critical, 5), (5.99, .critical, 5), (6, .warning, 6),
      (4.99, .critical, 4), (0.2, .critical, 0),
      (-3, .critical, 0), (99.99, .safe, 99),
    ])
  func thresholds(_ left: Double, _ risk: BatteryPrediction.Risk, _ shown: Int) {
    let prediction = predict(left + 0, drain: 0.000_000_000_001, hours: 1)
    #expect(prediction.risk == risk)
    #expect(prediction.predicted == shown)
  }

  @Test("Rounding errors of binary fractions cross no threshold")
  func fractions() {
    // 0.1 × 3 is slightly more than 0.3.
    #expect(predict(5.3, drain: 0.1, hours: 3).risk == .critical)
    #expect(predict(20.3, drain: 0.1, hours: 3).risk == .warning)
    #expect(predict(13.3, drain: 0.1, hours: 3).predicted == 13)
  }

  @Test("An unknown value causes no warning, and the reason names it")
  func unknown() {
    for drain in [nil, 0, -4, .nan, .infinity] as [Double?] {
      let prediction = predict(3, drain: drain, hours: 6)
      #expect(prediction.risk == .safe)
      #expect(prediction.predicted == nil)
      #expect(prediction.unknown == .drain)
    }
    #expect(predict(nil, drain: 8, hours: 6).unknown == .level)
    #expect(predict(.nan, drain: 8, hours: 6).unknown == .level)
    #expect(predict(30, drain: 8, hours: -1).unknown == .time)
    #expect(predict(30, drain: 8, hours: .nan).risk == .safe)
    #expect(BatteryWarning(predict(30, drain: nil, hours: 6)) == nil)
  }

  @Test("Only a battery at risk has a battery warning, with a text for its risk")
  func batteryWarnings() throws {
    let critical = try #require(BatteryWarning(predict(34, drain: 8, hours: 6)))
    #expect(critical.title == "Alarm at Risk")
    #expect(critical.headline == "Estimated battery at alarm: 0%")
    #expect(critical.action == "Plug in now.")
    let warning = try #require(BatteryWarning(predict(55, drain: 6, hours: 7)))
    #expect(warning.title == "Low Battery Warning")
    #expect(warning.headline == "Estimated battery at alarm: 13%")
    #expect(warning.action == "Consider plugging in.")
    #expect(BatteryWarning(predict(80, drain: 3, hours: 8)) == nil)
  }
}

/// The suppression of repeated battery warnings.
@Suite struct BatteryWarningHistoryTests {
  private let key = OccurrenceID(
    alarm: Identifier(high: 0, low: 1), occurrence: CivilDateTime("2026-11-24T05:00")!)

  private func left(_ level: Double) -> BatteryPrediction {
    BatteryPrediction(level: level + 6, drain: 1, hours: 6, isCharging: false)
  }

  private let evening = Instant(seconds: 1_795_475_220)

  /// Handles a sequence of predictions, ten minutes apart, and returns the delivered risks.
  private func delivered(_ levels: [Double?]) -> [BatteryPrediction.Risk] {
    var notes = BatteryWarningHistory()
    var delivered: [BatteryPrediction.Risk] = []
    for (index, level) in levels.enumerated() {
      let now = evening.adding(seconds: Int64(index) * 600)
      // Nil: on the charger.
      let worse = notes.worsened(
        level.map { [key: left($0)] } ?? [:], isCharging: level == nil, at: now)
      guard let batteryWarning = worse[key] else { continue }
      delivered.append(batteryWarning.risk)
      notes.note(batteryWarning, of: key, at: now)
    }
    return delivered
  }

  @Test func eachWorseningIsDeliveredOnce() {
    #expect(delivered([60, 40, 25, 15, 12, 9, 4, 2, 0]) == [.warning, .critical])
    #expect(delivered([4, 0, 15, 3]) == [.critical])
    #expect(delivered([60, 50, 30]) == [])
  }

  @Test func aFluctuatingLevelCausesNoWarning() {
    #expect(delivered([19, 21, 19, 22, 18, 25, 20, 19, 19, 19]) == [.warning])
  }

  @Test func chargingEndsTheWarning() {
    #expect(delivered([15, nil, nil, 15]) == [.warning, .warning])
    #expect(delivered([3, nil, nil, 60, 2]) == [.critical, .critical])
    // So does a load that is gone permanently.
    #expect(delivered([15, 45, 45, 15]) == [.warning, .warning])
  }

  @Test("A loose plug causes two warnings an hour, and none is forgotten")
  func loosePlug() {
    #expect(delivered([3, nil, 3, nil, 3, nil, 3, 3]) == [.critical, .critical, .critical])
    #expect(delivered([3, nil, 3, 3, 3, 3, 3]) == [.critical, .critical])
    // A higher risk is delivered immediately.
    #expect(delivered([15, nil, 3]) == [.warning, .critical])
  }

  @Test func anUndeliveredWarningIsRetried() {
    var notes = BatteryWarningHistory()
    #expect(notes.worsened([key: left(3)], isCharging: false, at: evening)[key] != nil)
    #expect(notes.worsened([key: left(3)], isCharging: false, at: evening)[key] != nil)
  }

  @Test func anotherOccurrenceHasItsOwnWarning() {
    var notes = BatteryWarningHistory()
    let batteryWarning = BatteryWarning(left(3))!
    notes.note(batteryWarning, of: key, at: evening)
    let next = OccurrenceID(
      alarm: key.alarm, occurrence: CivilDateTime("2026-11-25T05:00")!)
    #expect(notes.worsened([next: left(3)], isCharging: false, at: evening)[next] != nil)
    #expect(notes.sent.isEmpty)
  }
}

/// The drain forecast, tested with simulated batteries.
@Suite struct DrainForecastTests {
  private static let loads: [Double] = [2, 4, 6, 8, 9, 10, 11, 12, 14, 18]

  /// The maximum mean error of each trace, in percentage points.
  private static let bounds: [String: Double] = [
    "asleep every night, and this one": 5, "asleep every night, but not this one": 60,
  ]

  @Test(
    "The predicted level is close to the true level after eight hours",
    arguments: BatteryTraces.all.map(\.name))
  func traces(_ name: String) throws {
    let trace = try #require(BatteryTraces.all.first { $0.name == name })
    let outcome = BatteryTraces.judge(trace, loads: DrainForecastTests.loads, seeds: 0..<2)
    let error = outcome.errors.map(abs).reduce(0, +) / Double(outcome.count)
    print(outcome.row)
    #expect(outcome.count >= 15)
    #expect(error < DrainForecastTests.bounds[name] ?? 4, "\(outcome.row)")
    #expect(outcome.falseAlarms == 0, "\(outcome.row)")
    if name == "asleep every night, but not this one" {
      // The evening check finds no risk. The check at night finds it while much charge is left.
      #expect(outcome.noticed.count == outcome.failures)
      #expect(outcome.noticed.allSatisfy { $0 > 50 }, "\(outcome.row)")
    } else {
      #expect(outcome.failures == 0, "\(outcome.row)")
    }
  }

  private let start = Instant(seconds: 1_793_606_400)

  @Test("Without samples, the forecast assumes a typical drain")
  func assumedDrain() {
    let trace = BatteryTrace(at: start, level: 50, seed: 1)
    var silent = trace
    silent.tellsPower = false
    let outlook = DrainForecast(
      BatteryHistory(), from: silent.sample(isCharging: false, load: 8)
    ).outlook(until: start.adding(seconds: 8 * 3600))
    #expect(outlook.drain == 10 && outlook.source == .assumed)
    for (level, risk, predicted) in [
      (90.0, BatteryPrediction.Risk.safe, 22), (80, .warning, 12), (22, .critical, 0),
    ] {
      var sample = silent.sample(isCharging: false, load: 8)
      sample.level = level
      let prediction = DrainForecast(BatteryHistory(), from: sample)
        .prediction(at: start.adding(seconds: 24_180))
      #expect(prediction.risk == risk && prediction.predicted == predicted && prediction.isAssumed)
      #expect(
        BatteryWarning(prediction)?.note == (risk == .safe ? nil : "A typical drain is assumed."))
    }
    // A level that has not dropped for hours limits the assumption.
    let steady = (0...4).map { step in
      var sample = silent.sample(isCharging: false, load: 8)
      sample.at = start.adding(seconds: Int64(step) * 1800)
      sample.uptime.total += Int64(step) * 1_800_000
      sample.uptime.awake += Int64(step) * 1_800_000
      return sample
    }
    let slow = DrainForecast(BatteryHistory(Array(steady.dropLast())), from: steady[4])
      .outlook(until: start.adding(seconds: 8 * 3600))
    #expect(slow.drain == 0.5 && slow.source == .assumed)
    // The kernel's reading is sufficient.
    let forecast = DrainForecast(BatteryHistory(), from: trace.sample(isCharging: false, load: 8))
      .outlook(until: start.adding(seconds: 8 * 3600))
    #expect(forecast.drain == 8 && forecast.source == .kernel)
  }

  @Test func aClockChangeAddsNoSamples() {
    var trace = BatteryTrace(at: start, level: 90, seed: 1)
    trace.run(.awake(6), hours: 2)
    // Six hours ahead and back: the machine's own clock shows no such change.
    var samples = trace.samples
    for index in samples.indices where index >= 12 {
      samples[index].at = samples[index].at.adding(seconds: 6 * 3600)
    }
    let current = samples.removeLast()
    let outlook = DrainForecast(BatteryHistory(samples), from: current)
      .outlook(until: current.at.adding(seconds: 3600))
    #expect(abs((outlook.awake ?? 0) - 6) < 1)
  }

  @Test func storedSamplesAreBoundedAndGiveTheSameForecast() {
    var trace = BatteryTrace(at: start, level: 90, seed: 1)
    var history = BatteryHistory()
    for _ in 0..<30 {
      trace.run(.charging(awake: true), hours: 12)
      trace.run(.awake(5), hours: 3)
      trace.run(.asleep(1), hours: 9)
    }
    for sample in trace.samples { history.add(sample) }
    #expect(trace.samples.count > 5_000)
    #expect(history.samples.count < 1_200, "\(history.samples.count)")
    #expect(history.samples.first!.at >= trace.now.adding(seconds: -15 * 86_400))
  }

  @Test func anImpossibleClockIsIgnored() {
    var history = BatteryHistory()
    var trace = BatteryTrace(at: start, level: 90, seed: 1)
    trace.run(.awake(5), hours: 1)
    for sample in trace.samples { history.add(sample) }
    let count = history.samples.count
    var early = trace.sample(isCharging: false, load: 5)
    early.at = Instant(seconds: 86_400)
    history.add(early)
    #expect(history.samples.count == count)
  }
}

extension BatteryTraces.Outcome {
  /// The trace's line of the table.
  fileprivate var row: String {
    func number(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
    let sorted = errors.sorted()
    let mean = errors.reduce(0, +) / Double(count)
    let absolute = errors.map(abs).reduce(0, +) / Double(count)
    let seen = noticed.min().map { ", noticed in the night at \(number($0))% or more" } ?? ""
    return
      "trace: \(name): \(count) nights, error \(number(mean)) (absolute \(number(absolute)), from \(number(sorted[0])) to \(number(sorted[count - 1]))), safe but died \(failures)\(seen)"
  }
}
