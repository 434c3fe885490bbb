import Foundation
import TestSupport
import Testing

/// Scenarios that every scheduler must deliver alike: the daemon, a tick, and a tick with a helper process.
///
/// The daemon keeps alarms in memory and commits in other processes, so that a fault of its copy does not show where
/// only ticks are tested.
@Suite struct ScenarioTests {
  @Test("Every scheduler makes the same deliveries", arguments: Scenario.all)
  func sameDeliveries(_ scenario: Scenario) async throws {
    let daemon = try await compare(scenario)
    #expect(daemon.deliveries == scenario.deliveries, "\(daemon)")
  }

  /// The seeds of the random scenarios, which `BELFRY_SCENARIOS=FIRST-LAST` changes.
  private static let seeds: ClosedRange<UInt64> = {
    let bounds = ProcessInfo.processInfo.environment["BELFRY_SCENARIOS"]?.split(separator: "-")
      .compactMap { UInt64($0) }
    guard let bounds, bounds.count == 2 else { return 0...5 }
    return bounds[0]...bounds[1]
  }()

  @Test("Every scheduler makes the same deliveries in a random scenario", arguments: seeds)
  func randomDeliveries(seed: UInt64) async throws {
    _ = try await compare(Scenario(seed: seed))
  }

  /// Runs a scenario with every scheduler, and returns the outcome with the daemon.
  private func compare(_ scenario: Scenario) async throws -> ScenarioOutcome {
    let daemon = try await ScenarioBench.run(scenario, with: .daemon)
    for kind in [SchedulerKind.tick, .helper] {
      let outcome = try await ScenarioBench.run(scenario, with: kind)
      let differences = outcome.differences(from: daemon)
      let details = """
        \(kind), compared with the daemon:
        \(differences.joined(separator: "\n"))
        daemon: \(daemon)
        \(kind): \(outcome)
        steps: \(scenario.steps)
        """
      #expect(differences.isEmpty, Comment(rawValue: details))
    }
    return daemon
  }
}
