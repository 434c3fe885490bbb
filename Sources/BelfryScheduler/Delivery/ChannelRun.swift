import BelfryCore
import BelfryTerminal
import Glibc
import Synchronization

/// One channel of a notification, with its own attempts for as long as the notification is needed.
///
/// ```
/// attempt ──▶ delivered ──▶ the hook exits with status 0: the channel has ended
///    │            └──▶ it fails, or its answer is refused ──▶ next attempt
///    └──▶ every hook fails ──▶ the terminals ──▶ next attempt
/// ```
///
/// The terminals are a last resort: nobody may look at them, so the hooks of a ringing alarm are still tried. A text is
/// written once. A message of tmux, which the next key removes, is repeated with each attempt while no other channel
/// delivers.
struct ChannelRun: Sendable {
  let delivery: HookDelivery
  let active: ActiveDelivery
  /// The notification as the first attempt shows it.
  let rendered: RenderedNotification
  let snooze: Int64
  let channel: Channel
  /// The names of the hooks, the most specific first.
  let hooks: [String]
  /// Returns true if a channel has delivered.
  let hasDelivered: @Sendable () -> Bool

  /// The reason why an attempt has ended.
  enum Ending: Sendable {
    /// A hook has delivered and exited with status 0, or the notification is no longer needed.
    case done
    /// A hook has exited after an answer that was refused. The notification has to be shown again.
    case refused
    /// No hook has delivered.
    case failed
    /// A hook has failed after it had delivered.
    case lost(String)
  }

  /// The outcome of an attempt, and its end.
  private struct Attempt {
    let outcome: DeliveryOutcome
    /// True if only the terminals show the notification.
    var isOnTerminals = false
    let ending: FirstValue<Ending>

    init(_ outcome: DeliveryOutcome, _ ending: FirstValue<Ending>) {
      self.outcome = outcome
      self.ending = ending
    }

    init(_ outcome: DeliveryOutcome, _ ending: Ending) {
      self.init(outcome, FirstValue())
      self.ending.set(ending)
    }
  }

  /// The number of attempts. A firing is retried for as long as it rings.
  private var maxAttempts: Int {
    switch active.group.first.key {
    case .occurrence(_, .firing), .rehearsal: .max
    case .occurrence: DeliveryLedger.Entry.maxAttempts
    case .battery, .missedSummary, .message: 1
    }
  }

  /// Runs the channel until it has ended, or the notification is no longer needed.
  ///
  /// - Parameter number: the number of the channel in `outcomes`.
  func run(_ outcomes: ChannelOutcomes, _ number: Int) async {
    var pauses = ChannelPauses(isSound: channel.isSequential)
    var use = channel.fallsBackToTerminals ? TerminalTurn.show : .none
    for count in 1...maxAttempts {
      if active.isOver { return }
      let input =
        count == 1 ? rendered : delivery.text.render(active.wantedGroup ?? active.group)
      if use == .repeat, outcomes.hasDelivered(besides: number) { use = .none }
      let turn = use
      let work: @Sendable () async -> Attempt = {
        await makeAttempt(input, turn, outcomes, number)
      }
      let attempt: Attempt =
        channel.isSequential
        ? await delivery.soundLimiter.run(work) ?? Attempt(.withdrawn, .done) : await work()
      outcomes.record(attempt.outcome, of: number)
      if attempt.isOnTerminals {
        use = .repeat
      } else if use == .show, hasDelivered() {
        use = .none
      }
      let began = ContinuousClock.now
      let ending = await attempt.ending.value
      if case .lost(let reason) = ending, !active.isOver { outcomes.recordLoss(reason, of: number) }
      guard let pause = pauses.next(after: ending, lasting: ContinuousClock.now - began),
        !active.isOver
      else {
        return
      }
      do {
        try await TimerThread.sleep(for: delivery.pauseUnit * pause)
      } catch {
        return
      }
    }
  }

  /// The use of the terminals in an attempt whose hooks all fail.
  private enum TerminalTurn {
    case none, show, `repeat`
  }

  /// Makes one attempt: the hooks, or else the terminals.
  private func makeAttempt(
    _ input: RenderedNotification, _ turn: TerminalTurn, _ outcomes: ChannelOutcomes, _ number: Int
  ) async -> Attempt {
    // All own hooks come before the shipped ones: an own hook for firings also shows follow-ups.
    let own = delivery.own.map { folder in hooks.map { "\(folder)/\($0)" } } ?? []
    let paths = own + delivery.shipped.map { "\($0)/\(hooks[0])" }
    var reasons: [String] = []
    for (index, path) in paths.enumerated()
    where paths.firstIndex(of: path) == index && access(path, F_OK) == 0 {
      let attempt = await start(path, input)
      guard case .undelivered(let failures) = attempt.outcome else {
        if !reasons.isEmpty { outcomes.recordReplaced(reasons, of: number) }
        return attempt
      }
      // A hook that an answer terminates has not failed, and no other takes its place.
      if active.isOver { return Attempt(.withdrawn, .done) }
      reasons += failures
    }
    if reasons.isEmpty {
      reasons = ["none of these hooks exists: \(paths.joined(separator: ", "))"]
    }
    guard turn != .none, let terminals = delivery.terminals else {
      return Attempt(.undelivered(reasons), .failed)
    }
    if turn == .repeat {
      await terminals.repeat(input.lines, bell: input.soundsBell)
      return Attempt(.undelivered(reasons), .failed)
    }
    let isShown = await delivery.show(
      input, on: terminals, hasDelivered: hasDelivered,
      isAwaiting: { outcomes.isAwaiting(besides: number) }, active)
    guard isShown else {
      return Attempt(.undelivered(reasons + ["no text could be shown on your terminals"]), .failed)
    }
    outcomes.recordReplaced(reasons, of: number)
    guard active.group.first.notification.rings else { return Attempt(.delivered(nil), .done) }
    var attempt = Attempt(.ongoing(owner: delivery.leaseOwner.name), .failed)
    attempt.isOnTerminals = true
    return attempt
  }

  /// Starts one hook. Returns once it has delivered or failed; it may continue then.
  private func start(_ path: String, _ input: RenderedNotification) async -> Attempt {
    let process = HookProcess(
      path: path, input: input.document,
      variables: delivery.variables.merging(input.variables) { $1 }
        .merging(["BELFRY_SNOOZE": Span.exact(snooze)]) { $1 },
      registry: delivery.registry, deliveries: active.group.ids)
    let (first, ended) = (FirstValue<DeliveryOutcome>(), FirstValue<Ending>())
    let shown = DeliveryOutcome.ongoing(owner: delivery.leaseOwner.name)
    let answers = HookAnswers { await accept($0, first) }
    let task = active.start {
      let termination = await process.run { line in
        if line == "delivered" {
          first.set(shown)
        } else if let answer = DeliveredAnswer(line, snooze: snooze) {
          answers.add(answer)
        }
      }
      let isRefused = await answers.isLastRefused()
      let reason: String
      switch termination {
      case .exited(0, _):
        first.set(isRefused ? shown : .delivered(nil))
        ended.set(isRefused ? .refused : .done)
        return
      case .exited(let status, let message): reason = message ?? "exited with status \(status)"
      case .failed(let message): reason = message
      }
      let hasFailed = first.set(.undelivered(["\(path): \(reason)"]))
      ended.set(hasFailed ? .failed : .lost("\(path): \(reason)"))
    }
    guard let task else { return Attempt(.withdrawn, .done) }
    let timeout = delivery.timeout
    let limit = TimerThread.shared.run(after: .seconds(timeout)) {
      if first.set(.undelivered(["\(path): timed out after \(timeout) s"])) {
        task.cancel()
      }
    }
    let outcome = await first.value
    TimerThread.shared.cancel(limit)
    return Attempt(outcome, ended)
  }

  /// Decides about an answer of a hook, and ends the notification if it is accepted. Returns true in this case.
  private func accept(
    _ answer: DeliveredAnswer, _ first: FirstValue<DeliveryOutcome>
  ) async -> Bool {
    guard await delivery.activeDeliveries.accepts(answer, to: active) else { return false }
    if !first.set(.delivered(answer)) { delivery.activeDeliveries.answered(active, answer) }
    // The other channels must not ring until the answer is recorded.
    active.withdraw()
    return true
  }
}

/// The answers that one hook prints, one after the other.
private final class HookAnswers: Sendable {
  private let last = Mutex<Task<Bool, Never>?>(nil)
  private let accept: @Sendable (DeliveredAnswer) async -> Bool

  /// - Parameter accept: decides about an answer. Returns true if it is accepted.
  init(_ accept: @escaping @Sendable (DeliveredAnswer) async -> Bool) {
    self.accept = accept
  }

  func add(_ answer: DeliveredAnswer) {
    last.withLock { last in
      let earlier = last
      // A detached task, because the end of the hook must not cancel the decision.
      last = Task.detached { [accept] in
        if await earlier?.value == true { return true }
        return await accept(answer)
      }
    }
  }

  /// Waits for the decisions. Returns true if there was an answer, and none was accepted.
  func isLastRefused() async -> Bool {
    guard let last = last.withLock({ $0 }) else { return false }
    return await !last.value
  }
}

/// The pauses between the attempts of one channel.
struct ChannelPauses {
  /// True if the channel is a sound, which a failure ends without a trace.
  let isSound: Bool
  private var failures = 0

  init(isSound: Bool) {
    self.isSound = isSound
  }

  /// The time for which an attempt has to last, so that the next failure counts as the first one, in seconds.
  private static let stableTime = 60

  /// Returns the pause after an attempt in seconds; nil if no other follows.
  ///
  /// - Parameter duration: the time since the attempt has delivered or failed.
  mutating func next(after ending: ChannelRun.Ending, lasting duration: Duration) -> Int? {
    if duration > .seconds(ChannelPauses.stableTime) { failures = 0 }
    defer { failures = min(failures + 1, 10) }
    switch ending {
    case .done: return nil
    case .refused: return min(60, 1 << failures)
    // A sound server or a desktop may start shortly after the alarm.
    case .failed: return min(60, 5 << failures)
    case .lost where isSound: return min(60, 5 << failures)
    // The earlier notification may still be on the screen.
    case .lost: return min(600, 30 << failures)
    }
  }
}
