import BelfryCore
import Glibc
import Synchronization

/// Delivers notifications through the hooks of all channels.
///
/// A channel tries the user's own hooks, the most specific first, then the shipped hook, and as a last resort the
/// terminals, if it falls back to them. A sound has only the hook `ring`.
///
/// ```
/// follow-up: own `follow-up` → own `notify` → shipped `follow-up` → the terminals
/// ```
///
/// A hook has delivered once it prints `delivered`, prints an answer, or exits with status 0. It has `timeout` seconds
/// for that. After `delivered` it may continue until the notification is answered or no longer needed.
public struct HookDelivery: NotificationDelivery {
  /// The folder of the user's own hooks, which have the names in `hookNames`; nil if there is none.
  public let own: String?
  /// The folders to search for the shipped hooks.
  public let shipped: [String]
  /// The environment variables of all hooks: `BELFRY_COMMAND`, `BELFRY_STORE`, `BELFRY_SOUND` for alarms without a sound
  /// of their own. They follow the settings of the moment.
  public var variables: [String: String] { currentVariables() }
  /// The time that a hook may take to deliver, in seconds.
  public let timeout: Int
  /// The user's terminals; nil to use none.
  public let terminals: Terminals?
  /// The deliveries in progress.
  public let activeDeliveries: ActiveDeliveries
  /// The name under which continuing deliveries are recorded.
  public let leaseOwner: LeaseOwner
  /// The registry of running hooks; nil to register none.
  public let registry: HookRegistry?
  /// The user's actions; nil if there is no folder for them.
  private let actions: ActionFolder?
  private let opensScreen: @Sendable () -> Bool
  private let currentVariables: @Sendable () -> [String: String]
  private let render: @Sendable (DeliveryGroup) -> RenderedNotification
  /// Sounds start one after the other. Visible notifications do not wait for them.
  private let soundLimiter: RateLimiter

  /// Creates a delivery.
  ///
  /// - Parameters:
  ///   - variables: returns the environment variables of all hooks.
  ///   - registryFolder: the folder of the registry of running hooks; nil to register none.
  ///   - soundWait: the time that a sound waits for the previous one to start.
  ///   - actions: the user's actions; nil to run none.
  ///   - opensScreen: returns true if the firing screen opens by itself.
  ///   - render: makes the text of the notification of a group.
  public init(
    own: String?, shipped: [String],
    variables: @escaping @Sendable () -> [String: String] = { [:] }, timeout: Int = 30,
    terminals: Terminals? = nil, activeDeliveries: ActiveDeliveries = ActiveDeliveries { _ in },
    leaseOwner: LeaseOwner = .thisProcess, registryFolder: String? = nil,
    soundWait: Duration = .seconds(5), actions: ActionFolder? = nil,
    opensScreen: @escaping @Sendable () -> Bool = { false },
    render: @escaping @Sendable (DeliveryGroup) -> RenderedNotification
  ) {
    soundLimiter = RateLimiter(timeout: soundWait, spacing: .milliseconds(300))
    registry = registryFolder.map { HookRegistry(folder: $0, leaseOwner: leaseOwner) }
    self.own = own
    self.actions = actions
    self.opensScreen = opensScreen
    self.shipped = shipped
    currentVariables = variables
    self.timeout = timeout
    self.terminals = terminals
    self.activeDeliveries = activeDeliveries
    self.leaseOwner = leaseOwner
    self.render = render
  }

  /// The names of all hooks, including those that place calls and send messages.
  static let hookNames = Channel.all.flatMap(\.hooks) + ["call", "person"]

  /// The channels of the moment.
  private var channels: [Channel] {
    opensScreen() ? Channel.all : Channel.all.filter { $0.hooks != Channel.screen.hooks }
  }

  /// Starts all channels, and returns the first outcome. Channels may continue after it.
  public func deliver(_ deliveries: DeliveryGroup, snooze: Int64) async -> DeliveryOutcome {
    let first = FirstOutcome()
    let rendered = render(deliveries)
    startActions(of: deliveries)
    // All channels start at once, so that one that hangs does not delay another.
    activeDeliveries.begin(deliveries) { active in
      let run = HookRun(
        delivery: self, active: active, rendered: rendered, snooze: snooze,
        hasDelivered: { first.isSet })
      await withTaskGroup(of: (channel: Int, outcome: DeliveryOutcome).self) { group in
        for (index, channel) in channels.enumerated() {
          let hooks = channel.hooksFor(deliveries.first.notification)
          if hooks.isEmpty { continue }
          group.addTask {
            let deliver = { @Sendable in await run.deliver(through: channel, hooks) }
            if !channel.isSequential { return (index, await deliver()) }
            return (index, await soundLimiter.run(deliver) ?? .withdrawn)
          }
        }
        var failures: [Int: [String]] = [:]
        for await (channel, outcome) in group {
          switch outcome {
          case .undelivered(let reasons): failures[channel] = reasons
          case .withdrawn: break
          case .delivered(let answer):
            // Another channel may have delivered before.
            if !first.set(outcome), let answer { activeDeliveries.answered(active, answer) }
          case .ongoing: first.set(outcome)
          }
        }
        if active.isOver { first.set(.withdrawn) }
        let reasons = failures.sorted { $0.key < $1.key }.flatMap(\.value)
        if !active.isOver, !reasons.isEmpty, !first.set(.undelivered(reasons)) {
          activeDeliveries.channelFailed(active, reasons)
        }
      }
    }
    return await first.outcome
  }

  /// Starts the action of each firing. An action neither delivers the notification nor delays it.
  private func startActions(of deliveries: DeliveryGroup) {
    guard let actions else { return }
    for pending in deliveries.deliveries {
      guard case .firing(_, let firing) = pending.notification, let action = firing.run else {
        continue
      }
      activeDeliveries.begin(action, of: pending, in: actions, render(DeliveryGroup(pending)))
    }
  }

  /// The first outcome of a delivery or of a hook. Later ones are ignored.
  fileprivate final class FirstOutcome: Sendable {
    private enum State {
      case open(CheckedContinuation<DeliveryOutcome, Never>?)
      case settled(DeliveryOutcome)
    }
    private let state = Mutex(State.open(nil))

    /// True if there is an outcome.
    var isSet: Bool { state.withLock { if case .settled = $0 { true } else { false } } }

    /// Sets the outcome. Returns false if it was set before.
    @discardableResult func set(_ outcome: DeliveryOutcome) -> Bool {
      let (wasOpen, waiting) = state.withLock { state in
        guard case .open(let waiting) = state else {
          return (false, CheckedContinuation<DeliveryOutcome, Never>?.none)
        }
        state = .settled(outcome)
        return (true, waiting)
      }
      waiting?.resume(returning: outcome)
      return wasOpen
    }

    /// The outcome, once there is one.
    var outcome: DeliveryOutcome {
      get async {
        await withCheckedContinuation { continuation in
          let settled: DeliveryOutcome? = state.withLock { state in
            if case .settled(let outcome) = state { return outcome }
            state = .open(continuation)
            return nil
          }
          if let settled { continuation.resume(returning: settled) }
        }
      }
    }
  }
}

/// The hooks of one delivery.
private struct HookRun: Sendable {
  let delivery: HookDelivery
  let active: ActiveDelivery
  let rendered: RenderedNotification
  let snooze: Int64
  /// Returns true if another channel has delivered.
  let hasDelivered: @Sendable () -> Bool

  /// Delivers through a channel: its hooks, or else the terminals if the channel falls back to them.
  func deliver(through channel: Channel, _ names: [String]) async -> DeliveryOutcome {
    let outcome = await runFirst(names)
    guard channel.fallsBackToTerminals else { return outcome }
    guard case .undelivered(let reasons) = outcome, let terminals = delivery.terminals else {
      return outcome
    }
    if active.isOver { return .withdrawn }
    if await delivery.show(rendered, on: terminals, hasDelivered: hasDelivered, active) {
      delivery.activeDeliveries.channelFailed(active, reasons)
      return .delivered(nil)
    }
    return .undelivered(reasons + ["no text could be shown on your terminals"])
  }

  /// Runs the hooks with some names until one delivers. An answer ends the list: a hook that it terminates has not
  /// failed, and no other takes its place.
  private func runFirst(_ names: [String]) async -> DeliveryOutcome {
    // All own hooks come before the shipped ones: an own hook for firings also shows follow-ups.
    let own = delivery.own.map { folder in names.map { "\(folder)/\($0)" } } ?? []
    let paths = own + delivery.shipped.map { "\($0)/\(names[0])" }
    var reasons: [String] = []
    for (index, path) in paths.enumerated()
    where paths.firstIndex(of: path) == index && access(path, F_OK) == 0 {
      let outcome = await run(path)
      guard case .undelivered(let failures) = outcome else {
        if !reasons.isEmpty { delivery.activeDeliveries.channelFailed(active, reasons) }
        return outcome
      }
      if active.isOver { return .withdrawn }
      reasons += failures
    }
    return .undelivered(
      reasons.isEmpty ? ["none of these hooks exists: \(paths.joined(separator: ", "))"] : reasons)
  }

  /// Runs one hook. Returns once it has delivered or failed; it may continue then.
  private func run(_ path: String) async -> DeliveryOutcome {
    let process = HookProcess(
      path: path, input: rendered.document,
      variables: delivery.variables.merging(rendered.variables) { $1 }
        .merging(["BELFRY_SNOOZE": Span.exact(snooze)]) { $1 },
      registry: delivery.registry)
    let first = HookDelivery.FirstOutcome()
    let (owner, deliveries) = (delivery.leaseOwner.name, delivery.activeDeliveries)
    let active = active
    let task = active.start {
      let ending = await process.run { line in
        if line == "delivered" {
          first.set(.ongoing(owner: owner))
        } else if let answer = DeliveredAnswer(line, snooze: snooze),
          !first.set(.delivered(answer))
        {
          deliveries.answered(active, answer)
        }
      }
      let reason: String
      switch ending {
      case .exited(0, _):
        first.set(.delivered(nil))
        return
      case .exited(let status, let message): reason = message ?? "exited with status \(status)"
      case .failed(let message): reason = message
      }
      // A hook that fails after it had delivered causes a redelivery.
      if !first.set(.undelivered(["\(path): \(reason)"])), !Task.isCancelled {
        deliveries.gaveUp(active)
      }
    }
    guard let task else { return .withdrawn }
    let timeout = delivery.timeout
    let limit = TimerThread.shared.run(after: .seconds(timeout)) {
      if first.set(.undelivered(["\(path): timed out after \(timeout) s"])) {
        task.cancel()
      }
    }
    let outcome = await first.outcome
    TimerThread.shared.cancel(limit)
    // The other channels must not ring until the answer is recorded.
    if case .delivered(.some) = outcome { active.withdraw() }
    return outcome
  }
}
