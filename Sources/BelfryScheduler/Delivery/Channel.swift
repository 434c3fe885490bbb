import BelfryCore

/// One way to deliver notifications, through hooks.
///
/// All channels of a notification start at the same time. A new channel needs an element of `all` and an executable in
/// `hooks/deliver`. Calls and messages of a cascade are not channels, because the devices elect one of them to place a
/// call: see `CallHook`.
struct Channel: Sendable {
  /// The names of the channel's hooks.
  let hooks: [String]
  /// Returns the names of the hooks that deliver a notification, the most specific first; none if the channel does not
  /// deliver it. Of the shipped hooks, only the first one runs.
  let hooksFor: @Sendable (Notification) -> [String]
  /// True if the user's terminals show the notification when no hook has delivered it.
  let fallsBackToTerminals: Bool
  /// True if deliveries start one after the other, such as sounds.
  let isSequential: Bool

  /// The channels, in the order in which their failures are reported.
  static let all = [visible, sound, screen]

  /// The visible notification. The hook of a kind of notification falls back to the user's `notify`.
  static let visible = Channel(
    hooks: ["notify", "follow-up", "missed", "battery", "message"],
    hooksFor: { notification in
      switch notification {
      case .firing, .advanceWarning, .rehearsal: ["notify"]
      case .followUp: ["follow-up", "notify"]
      case .missedSummary: ["missed", "notify"]
      case .batteryWarning: ["battery", "notify"]
      case .message: ["message", "notify"]
      }
    },
    fallsBackToTerminals: true, isSequential: false)

  /// The sound of a firing or rehearsal.
  static let sound = Channel(
    hooks: ["ring"], hooksFor: { $0.rings ? ["ring"] : [] }, fallsBackToTerminals: false,
    isSequential: true)

  /// The firing screen, which opens by itself if the setting `openScreen` is on.
  static let screen = Channel(
    hooks: ["screen"],
    hooksFor: { if case .firing = $0 { ["screen"] } else { [] } }, fallsBackToTerminals: false,
    isSequential: false)
}
