import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The event loop of the clock that `ring --wait` shows while no alarm rings.
struct BedsideClock {
  /// The result of the wait.
  enum Ending {
    /// Alarms ring: the store and the alarms.
    case rings(Store, [AlarmSummary])
    /// The user closed the screen, or a signal asks the process to end.
    case closed
  }

  private let context: CommandContext
  private let first: Identifier?
  private let opened: ElapsedTime

  /// The time between two looks at the store, in milliseconds. Another process may have changed it.
  private static let interval: Int64 = 2000

  /// - Parameters:
  ///   - first: the alarm to show before the others; nil for the order of their titles.
  ///   - opened: the time since the context was created.
  init(_ context: CommandContext, first: Identifier?, opened: ElapsedTime) {
    self.context = context
    self.first = first
    self.opened = opened
  }

  /// Shows the clock until an alarm rings or the user closes it. If the store cannot be read, it says so and tries again.
  ///
  /// - Parameter message: the result of the last answer; nil for none.
  func wait(_ session: TerminalSession, message: String?) -> Ending {
    var state = State()
    var lastLook = Int64.min
    while session.endingSignal == nil {
      let present = context.refreshed(after: opened)
      let elapsed = opened.milliseconds
      let isDue = state.next.map { $0.at <= present.storeContext.now } ?? false
      if lastLook == .min || elapsed - lastLook >= BedsideClock.interval || isDue {
        lastLook = elapsed
        do {
          let store = try present.open(.reading, welcome: false)
          let summaries = try RingLoop.summaries(of: store, first: first)
          let ringing = summaries.filter { $0.status.state == .ringing }
          if !ringing.isEmpty { return .rings(store, ringing) }
          state = State(summaries, scheduler: SchedulerState(store))
        } catch {
          state.failure = CommandError(error).message
        }
      }
      session.show(
        screen(state, present.times, message: message).render(session.size),
        repaintingAfter: RingLoop.repaintInterval)
      for case .key(let key) in session.read(milliseconds: 500).events where key.closes {
        return .closed
      }
    }
    return .closed
  }

  /// What the clock shows of the store.
  private struct State {
    var next: (title: String, at: Instant)?
    var pending = 0
    var scheduler: SchedulerState?
    /// The reason why the store cannot be read; nil if it can.
    var failure: String?

    init() {}

    init(_ summaries: [AlarmSummary], scheduler: SchedulerState) {
      next = summaries.flatMap { summary in
        [summary.status.next?.at, summary.status.snooze?.until].compactMap { $0 }
          .map { (title: summary.title, at: $0) }
      }.min { $0.at < $1.at }
      pending = summaries.count { !$0.status.pending.isEmpty }
      self.scheduler = scheduler
    }
  }

  private func screen(_ state: State, _ times: TimeText, message: String?) -> ClockScreen {
    let civil = times.zones.local.civil(at: times.now)
    var screen = ClockScreen(
      time: times.time(civil.time), date: times.date(civil.date), pending: state.pending,
      message: message)
    if let next = state.next {
      screen.nextTitle = next.title
      let seconds = next.at.seconds(since: times.now)
      screen.nextTime = "\(times.relative(next.at)), \(Span.until(max(0, seconds)))"
    }
    if let failure = state.failure {
      screen.problems.append("The store cannot be read: \(failure)")
    } else if state.scheduler?.isRunning == false {
      screen.problems.append(
        "The scheduler does not run: alarms ring only while this screen is open.")
    }
    return screen
  }
}
