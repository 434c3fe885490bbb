import BelfryCore
import TestSupport

extension Scenario {
  /// Creates a scenario of random steps, determined by a seed: a device with a scheduler and another one without, some
  /// days, answers, edits, pauses, syncs, and clocks that are set.
  init(seed: UInt64) {
    var steps = RandomSteps(seed: seed)
    self.init("seed \(seed)", steps.make(), delivers: nil)
    (start, zone) = (steps.start, steps.zone)
  }
}

/// A generator of random steps.
private struct RandomSteps {
  /// The time before the first step.
  let start: String
  /// The device's time zone.
  let zone: String
  private let times: [String]
  private var random: SeededGenerator
  private var now: Instant
  private var steps: [Scenario.Step] = []

  private static let titles = ["Pills", "Tea"]

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    // In half of the seeds, the clocks change in the first night.
    switch seed % 4 {
    case 1:
      (start, zone) = ("2026-03-28T20:00:00Z", "Europe/Berlin")
      times = ["02:30", "01:50,03:10", "02:00"]
    case 3:
      (start, zone) = ("2026-10-24T20:00:00Z", "Europe/Berlin")
      times = ["02:30", "02:00,03:00", "01:59"]
    default:
      (start, zone) = ("2026-11-20T08:00:00Z", "UTC")
      times = ["09:00", "09:00,09:20", "09:00,21:30"]
    }
    now = Instant(rfc3339: start)!
  }

  mutating func make() -> [Scenario.Step] {
    let flags = ["", " --persistent", " --strict"]
    add(
      .run(
        "add Pills --daily --at \(random.pick(times))\(random.pick(flags))"
      ))
    add(
      .run(
        "add Tea \(random.pick(["--daily", "--after-done 1d", "--daily --every 2"])) --at 10:00\(random.pick(flags))"
      ))
    add(.exchange)
    for _ in 0..<random.int(8...16) {
      switch random.int(0...19) {
      case 0...6: wait(seconds: random.pick([240, 900, 1500, 3600, 7200, 20_000, 50_000]))
      case 7, 8: add(.exchange)
      case 9: jump(seconds: random.pick([-90, -30, 45, 110, 1800, 40_000]))
      case 10 where random.one(in: 2):
        add(.move(random.pick(["Europe/Berlin", "America/New_York", "UTC"])))
      default: add(.attempt(command, elsewhere: random.one(in: 3)))
      }
    }
    add(.exchange)
    wait(seconds: 3600)
    return steps
  }

  /// Adds a step. No two commands run at the same time, because the order of their stamps would be that of the
  /// devices' random identifiers.
  private mutating func add(_ step: Scenario.Step) {
    steps.append(step)
    wait(seconds: 2)
  }

  private mutating func wait(seconds: Int64) {
    now = now.adding(seconds: seconds)
    steps.append(.until(now.description))
  }

  private mutating func jump(seconds: Int64) {
    now = now.adding(seconds: seconds)
    steps.append(.jump(now.description))
    wait(seconds: 2)
  }

  private var command: String {
    mutating get {
      let title = random.pick(RandomSteps.titles)
      let more = [
        "skip \(title) --yes", "unskip \(title)", "dismiss \(title)", "undo", "pause \(title) 1d",
        "resume \(title)", "edit \(title) --at \(random.pick(["09:10", "12:00", "20:00"]))",
        "edit \(title) --persistent", "edit \(title) --no-persistent", "disable \(title)",
        "enable \(title)", "settings set ringTimeout \(random.pick(["30m", "2h"]))",
        "done \(title) --early", "delete \(title) --yes",
      ]
      let answers = ["stop \(title)", "done \(title)", "snooze \(title) 10m", "skip \(title)"]
      return random.pick(random.one(in: 2) ? answers : more)
    }
  }
}
