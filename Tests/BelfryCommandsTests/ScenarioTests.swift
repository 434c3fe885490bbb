import TestSupport
import Testing

/// Scenarios that every scheduler must deliver alike: the daemon, a tick, and a tick with a helper process.
///
/// The daemon keeps alarms in memory and commits in other processes, so that a fault of its copy does not show where
/// only ticks are tested.
@Suite struct ScenarioTests {
  @Test("Every scheduler makes the same deliveries", arguments: Scenario.all)
  func sameDeliveries(_ scenario: Scenario) async throws {
    let daemon = try await ScenarioBench.run(scenario, with: .daemon)
    #expect(daemon.deliveries == scenario.deliveries, "\(daemon)")
    for kind in [SchedulerKind.tick, .helper] {
      let outcome = try await ScenarioBench.run(scenario, with: kind)
      #expect(outcome == daemon, "\(kind): \(outcome)\n  daemon: \(daemon)")
    }
  }
}
