import BelfryStore

/// The daemon's checks that the sounds of alarms can be heard: at the start, when an alarm rings, and in each round.
struct SoundMonitor {
  private var state = SoundOutput.State.unknown
  private var isChecking = false

  /// Starts a check in the background, unless one runs.
  mutating func check(_ dependencies: Daemon.Dependencies, _ tasks: BackgroundTasks) {
    if isChecking { return }
    isChecking = true
    let check = dependencies.checkSound
    tasks.start { .soundChecked(await check()) }
  }

  /// Takes the result of a check. A change is logged, and recorded for commands.
  ///
  /// - Parameter store: the store; nil if it is missing.
  mutating func take(
    _ state: SoundOutput.State, _ store: Store?, _ dependencies: Daemon.Dependencies
  ) {
    isChecking = false
    if state.isInaudible, state != self.state {
      dependencies.log(.soundInaudible(state))
    } else if !state.isInaudible, self.state.isInaudible {
      dependencies.log(.soundAudible)
    }
    self.state = state
    if let store { InaudibleSoundFile(store).write(state.isInaudible) }
  }
}
