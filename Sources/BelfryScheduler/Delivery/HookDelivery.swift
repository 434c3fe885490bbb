import BelfryCore
import BelfryTerminal

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
///
/// Each channel has its own outcome and its own retries (`ChannelRun`). If all fail at first, the delivery has failed, and
/// the ledger says when it is tried again.
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
  /// The unit of the pauses between two attempts of a channel: a second.
  let pauseUnit: Duration
  /// The user's actions; nil if there is no folder for them.
  private let actions: ActionFolder?
  private let opensScreen: @Sendable () -> Bool
  private let currentVariables: @Sendable () -> [String: String]
  private let times: @Sendable () -> TimeText
  /// Sounds start one after the other. Visible notifications do not wait for them.
  let soundLimiter: RateLimiter

  /// Creates a delivery.
  ///
  /// - Parameters:
  ///   - variables: returns the environment variables of all hooks.
  ///   - registryFolder: the folder of the registry of running hooks; nil to register none.
  ///   - soundWait: the time that a sound waits for the previous one to start.
  ///   - pauseUnit: the unit of the pauses between two attempts of a channel.
  ///   - actions: the user's actions; nil to run none.
  ///   - opensScreen: returns true if the firing screen opens by itself.
  ///   - times: returns the formatter of times and dates of the moment.
  package init(
    own: String?, shipped: [String],
    variables: @escaping @Sendable () -> [String: String] = { [:] }, timeout: Int = 30,
    terminals: Terminals? = nil, activeDeliveries: ActiveDeliveries = ActiveDeliveries { _ in },
    leaseOwner: LeaseOwner = .thisProcess, registryFolder: String? = nil,
    soundWait: Duration = .seconds(5), pauseUnit: Duration = .seconds(1),
    actions: ActionFolder? = nil, opensScreen: @escaping @Sendable () -> Bool = { false },
    times: @escaping @Sendable () -> TimeText
  ) {
    soundLimiter = RateLimiter(timeout: soundWait, spacing: .milliseconds(300))
    registry = registryFolder.map { HookRegistry(folder: $0, leaseOwner: leaseOwner) }
    self.pauseUnit = pauseUnit
    self.own = own
    self.actions = actions
    self.opensScreen = opensScreen
    self.shipped = shipped
    currentVariables = variables
    self.timeout = timeout
    self.terminals = terminals
    self.activeDeliveries = activeDeliveries
    self.leaseOwner = leaseOwner
    self.times = times
  }

  /// The text of notifications as hooks and terminals get it.
  var text: NotificationText { NotificationText(times()) }

  /// The names of all hooks, including those that place calls and send messages.
  static let hookNames = Channel.all.flatMap(\.hooks) + ["call", "person"]

  /// The channels of the moment.
  private var channels: [Channel] {
    opensScreen() ? Channel.all : Channel.all.filter { $0.hooks != Channel.screen.hooks }
  }

  /// Starts all channels, and returns the first outcome. Channels may continue after it.
  public func deliver(_ deliveries: DeliveryGroup, snooze: Int64) async -> DeliveryOutcome {
    let first = FirstValue<DeliveryOutcome>()
    let rendered = text.render(deliveries)
    startActions(of: deliveries)
    // All channels start at once, so that one that hangs does not delay another.
    activeDeliveries.begin(deliveries) { active in
      let channels = channels.map { ($0, $0.hooksFor(deliveries.first.notification)) }
        .filter { !$0.1.isEmpty }
      let outcomes = ChannelOutcomes(
        count: channels.count, of: active, in: activeDeliveries, owner: leaseOwner.name, first)
      await withTaskGroup(of: Void.self) { group in
        for (index, (channel, hooks)) in channels.enumerated() {
          let run = ChannelRun(
            delivery: self, active: active, rendered: rendered, snooze: snooze, channel: channel,
            hooks: hooks, hasDelivered: { first.isSet })
          group.addTask { await run.run(outcomes, index) }
        }
      }
      first.set(.withdrawn)
    }
    return await first.value
  }

  /// Starts the action of each firing. An action neither delivers the notification nor delays it.
  private func startActions(of deliveries: DeliveryGroup) {
    guard let actions else { return }
    for pending in deliveries.deliveries {
      guard case .firing(_, let firing) = pending.notification, let action = firing.run else {
        continue
      }
      activeDeliveries.begin(action, of: pending, in: actions, text.render(DeliveryGroup(pending)))
    }
  }
}
