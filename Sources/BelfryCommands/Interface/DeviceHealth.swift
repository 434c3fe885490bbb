import BelfryCore
import BelfryScheduler
import Synchronization

/// The channels, the sound and the battery of this device, of which only other programs know.
///
/// They are asked in the background, so that no page waits for them, and again a minute later at the earliest.
final class DeviceHealth: Sendable {
  struct Findings: Hashable, Sendable {
    let reach: HookDelivery.Reach
    let sound: SoundOutput.State
    /// `82 %, charging`; nil without a battery.
    let battery: String?
  }

  private struct State {
    var findings: Findings?
    var readAt: ContinuousClock.Instant?
    var isReading = false
  }

  private let state = Mutex(State())
  private static let lifetime = Duration.seconds(60)

  /// Returns the latest findings; nil before the first ones.
  ///
  /// - Parameter changed: Called when there are other findings.
  func findings(
    _ context: CommandContext, changed: @escaping @Sendable () -> Void
  ) -> Findings? {
    let (findings, isOutdated) = state.withLock { state in
      let age = state.readAt.map { ContinuousClock.now - $0 }
      let isOutdated = !state.isReading && age.map { $0 > DeviceHealth.lifetime } ?? true
      if isOutdated { state.isReading = true }
      return (state.findings, isOutdated)
    }
    if isOutdated {
      Task.detached { [self] in
        let new = await DeviceHealth.read(context)
        let isNew = state.withLock { state in
          defer { state = State(findings: new, readAt: .now) }
          return state.findings != new
        }
        if isNew { changed() }
      }
    }
    return findings
  }

  private static func read(_ context: CommandContext) async -> Findings {
    let battery = await context.gauge.look(at: context.storeContext.now).standing?.reading
    return Findings(
      reach: await context.hooks().reach(), sound: await context.soundState(),
      battery: battery.map { reading in
        let level = reading.level.map { "\(Int($0.rounded(.down))) %" } ?? "unknown"
        return level + (reading.isCharging ? ", charging" : "")
      })
  }
}
