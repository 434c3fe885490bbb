import BelfryCore
import BelfryStore
import Foundation
import TestSupport

@testable import BelfryScheduler

/// A program that delivers what is due.
enum SchedulerKind: String, CaseIterable, Sendable {
  /// The event loop of the daemon, with commits in child commands.
  case daemon
  /// A tick that runs the hooks itself.
  case tick
  /// The command `tick`, whose hooks run in a helper process.
  case helper
}

/// A series of commands and clock changes on a device whose deliveries do not depend on the scheduler that makes them.
struct Scenario: Sendable, CustomStringConvertible {
  enum Step: Sendable {
    /// Runs a command on the device. Words are separated by spaces.
    case run(String)
    /// Runs a command that this state does not allow.
    case refused(String)
    /// Runs a command that the state may not allow, on this device or on the other one.
    case attempt(String, elsewhere: Bool)
    /// Runs a command on another device of the store, which has no scheduler.
    case elsewhere(String)
    /// Syncs this device, the other one, and this one again.
    case exchange
    /// Lets time pass. The scheduler evaluates at its own wake-ups.
    case until(String)
    /// Sets the clock, as a user does or as a wake-up from sleep does.
    case jump(String)
    /// Moves the device to another time zone.
    case move(String)
  }

  /// A short description.
  let name: String
  /// The steps.
  let steps: [Step]
  /// The time before the first step: 08:00 on 20 November 2026, a Friday, unless said otherwise.
  var start = "2026-11-20T08:00:00Z"
  /// The device's time zone.
  var zone = "UTC"
  /// The expected deliveries: `day time kind title occurrence`. Nil if only the schedulers are compared.
  let deliveries: [String]?

  init(_ name: String, _ steps: [Step], delivers deliveries: [String]?) {
    self.name = name
    self.steps = steps
    self.deliveries = deliveries
  }

  var description: String { name }
}

/// The result of a scenario, as a person sees it.
struct ScenarioOutcome: Equatable, CustomStringConvertible {
  /// The deliveries with their times.
  var deliveries: [String]
  /// The state of each alarm at the end.
  var states: [String]
  /// The actions in the log, by alarm and occurrence.
  var log: [String]
  /// The evaluations of a tick: their times, and the next wake-ups that they returned.
  var evaluations: [String] = []

  var description: String {
    (["deliveries:"] + deliveries + ["states:"] + states + ["log:"] + log + ["evaluations:"]
      + evaluations).joined(separator: "\n    ")
  }

  /// The lines that another outcome has or lacks.
  func differences(from other: ScenarioOutcome) -> [String] {
    func lines(_ outcome: ScenarioOutcome) -> [String] {
      outcome.deliveries.map { "delivery: \($0)" } + outcome.states.map { "state: \($0)" }
        + outcome.log.map { "log: \($0)" }
    }
    return lines(self).difference(from: lines(other)).map { change in
      switch change {
      case .insert(_, let line, _): "+ \(line)"
      case .remove(_, let line, _): "- \(line)"
      }
    }
  }

  /// Compares what a person sees.
  static func == (a: ScenarioOutcome, b: ScenarioOutcome) -> Bool {
    a.deliveries == b.deliveries && a.states == b.states && a.log == b.log
  }
}

/// Runs a scenario with one kind of scheduler.
final class ScenarioBench {
  private let kind: SchedulerKind
  private let bench: DaemonBench
  private var evaluations: [String] = []

  /// The number of evaluations after which a scheduler does not come to rest.
  private static let maxEvaluations = 300

  private init(_ scenario: Scenario, _ kind: SchedulerKind) async throws {
    self.kind = kind
    bench = try await DaemonBench(at: scenario.start, zone: scenario.zone)
    let sandbox = bench.sandbox
    let hook = """
      #!/bin/sh
      cat >/dev/null
      printf '%s\\n' "$(cat '\(sandbox.root)/clock') $BELFRY_KIND $BELFRY_TITLE $BELFRY_OCCURRENCE" >> '\(sandbox.rang)'
      """
    for name in ["follow-up", "missed"] {
      try sandbox.write(hook, to: "\(sandbox.hooks)/\(name)", mode: 0o755)
    }
    let shown = "\(sandbox.root)/shown-$BELFRY_ALARM-$BELFRY_OCCURRENCE"
    try sandbox.write(
      hook + "\n[ \"$BELFRY_KIND\" != firing ] || touch \"\(shown)\"\n",
      to: "\(sandbox.hooks)/notify", mode: 0o755)
    // The sound ends after the notification was recorded: a tick ends with the first of them.
    try sandbox.write(
      """
      #!/bin/sh
      cat >/dev/null
      \(sandbox.waitFor)
      wait_pause=0.02 wait_for [ -e "\(shown)" ]
      rm -f "\(shown)"
      """, to: "\(sandbox.hooks)/ring", mode: 0o755)
    if kind == .daemon { try await bench.start() }
  }

  /// Returns the outcome of a scenario.
  static func run(_ scenario: Scenario, with kind: SchedulerKind) async throws -> ScenarioOutcome {
    let bench = try await ScenarioBench(scenario, kind)
    if scenario.steps.contains(where: \.needsOtherDevice) { try await bench.addDevice() }
    for step in scenario.steps { try await bench.perform(step) }
    return try await bench.outcome()
  }

  // MARK: Steps

  private func perform(_ step: Scenario.Step) async throws {
    func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
    switch step {
    case .run(let text):
      try await belfry(words(text)).expectSuccess()
      try await evaluate()
    case .refused(let text):
      let output = try await belfry(words(text))
      if output.status == 0 { throw Unexpected(text: "\(text) succeeded") }
      try await evaluate()
    case .attempt(let text, elsewhere: false):
      let output = try await belfry(words(text))
      if !(0...7).contains(output.status) { try output.expectSuccess() }
      try await evaluate()
    case .attempt(let text, elsewhere: true):
      let output = try await bench.belfry(words(text), device: "desktop", home: otherHome)
      if !(0...7).contains(output.status) { try output.expectSuccess() }
    case .elsewhere(let text): try await other(words(text))
    case .exchange:
      try await belfry(["sync"]).expectSuccess()
      try await other(["sync"])
      try await belfry(["sync"]).expectSuccess()
      try await evaluate()
    case .until(let time): try await wait(until: time)
    case .jump(let time):
      try await bench.jump(to: time)
      try await evaluate()
    case .move(let zone):
      try await bench.move(to: zone)
      try await evaluate()
    }
  }

  private struct Unexpected: Error {
    let text: String
  }

  private func belfry(_ arguments: [String]) async throws -> Sandbox.Output {
    try await bench.belfry(arguments)
  }

  /// Lets time pass until a moment, with an evaluation at each wake-up of the scheduler.
  private func wait(until text: String) async throws {
    let end = Instant(rfc3339: text)!
    if kind == .daemon {
      return try await bench.wait(until: text) { try await self.awaitHelpers() }
    }
    var wake = try await evaluate()
    while let next = wake, next <= end {
      try bench.set(max(next, bench.now.adding(seconds: 1)))
      wake = try await evaluate()
    }
    try bench.set(end)
  }

  /// Evaluates the store now, as the daemon does after each change.
  ///
  /// - Returns: The time of the next evaluation; nil for a daemon, which knows it itself.
  @discardableResult private func evaluate() async throws -> Instant? {
    switch kind {
    case .daemon:
      // As its watch of the files reports a change.
      try await bench.handle(.settings)
      try await bench.handle(.poke)
      try await awaitHelpers()
      return nil
    case .tick:
      let report = try await bench.tick()
      if let failure = report.failures.first { throw failure }
      return try note(report.nextWake)
    case .helper:
      let output = try await belfry(["tick", "--json"])
      try output.expectSuccess()
      try await awaitHelpers()
      return try note((output.object["nextWake"] as? String).flatMap { Instant(rfc3339: $0) })
    }
  }

  /// Waits until the delivery helpers have ended. The hooks exit at once, but a helper records their end a little later,
  /// and its clock does not know of a jump.
  private func awaitHelpers() async throws {
    guard
      try await ProcessTable.waitUntilNone(
        has: "attend\0--store\0\(bench.sandbox.store)", in: .arguments)
    else { throw Unexpected(text: "the delivery helper does not end") }
  }

  private func note(_ wake: Instant?) throws -> Instant? {
    evaluations.append("\(bench.now.rfc3339Milliseconds) \(wake?.rfc3339Milliseconds ?? "never")")
    if evaluations.count > ScenarioBench.maxEvaluations {
      throw Unexpected(
        text:
          "too many evaluations, the last ones: \(evaluations.suffix(5).joined(separator: ", "))")
    }
    return wake
  }

  // MARK: The other device

  private var hub: String { bench.sandbox.root + "/hub.git" }
  private var otherHome: String { bench.sandbox.root + "/other" }

  private func addDevice() async throws {
    _ = try await bench.sandbox.git(
      "init", "-q", "--bare", "-b", "main", hub, in: bench.sandbox.root)
    try await belfry(["remote", "add", "origin", hub]).expectSuccess()
    try await belfry(["sync"]).expectSuccess()
    try FileManager.default.createDirectory(
      atPath: otherHome, withIntermediateDirectories: true)
    try await other(["clone", hub])
  }

  private func other(_ arguments: [String]) async throws {
    try await bench.belfry(arguments, device: "desktop", home: otherHome).expectSuccess()
  }

  // MARK: The outcome

  private func outcome() async throws -> ScenarioOutcome {
    let deliveries = bench.sandbox.rings.map { line in
      // 2026-11-20T09:00:00Z firing Pills 2026-11-20T09:00
      let words = line.split(separator: " ").map(String.init)
      let time = String(words[0].dropFirst(5).prefix(11)).replacing("T", with: " ")
      return ([time] + words.dropFirst()).joined(separator: " ")
    }
    let alarms =
      try await belfry(["list", "--json"]).array
      + belfry(["list", "--finished", "--json"]).array
    let log = try await belfry(["log", "--json"])
    try log.expectSuccess()
    return ScenarioOutcome(
      deliveries: deliveries.sorted(),
      states: alarms.map { "\($0["title"] ?? "") \($0["state"] ?? "")" }.sorted(),
      log: log.array.map {
        "\($0["title"] ?? "") \($0["occurrence"] ?? "-") \($0["action"] ?? "") \(($0["auto"] as? Bool) == true ? "auto" : "")"
      }.sorted(), evaluations: evaluations)
  }
}

extension Scenario.Step {
  fileprivate var needsOtherDevice: Bool {
    switch self {
    case .elsewhere, .exchange, .attempt(_, elsewhere: true): true
    case .run, .attempt, .refused, .until, .jump, .move: false
    }
  }
}
