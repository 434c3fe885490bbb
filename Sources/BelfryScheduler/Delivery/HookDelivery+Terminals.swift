import BelfryCore

/// The terminals as the last channel.
extension HookDelivery {
  /// The time in which another channel may deliver before a text is written over a full-screen program, in seconds.
  private static let lastResortDelay = 3

  /// Shows a notification on the terminals where that does no harm. If there are none, and no other channel delivers in
  /// time, writes it over the screen of a program: a missed alarm is worse than a disturbed screen. A silent notification
  /// is not worth that.
  ///
  /// - Parameter hasDelivered: returns true if another channel has delivered.
  /// - Returns: False if no terminal shows the notification.
  func show(
    _ rendered: RenderedNotification, on terminals: Terminals,
    hasDelivered: @Sendable () -> Bool, _ active: ActiveDelivery
  ) async -> Bool {
    if await terminals.show(rendered.lines, bell: rendered.soundsBell) > 0 { return true }
    if !rendered.soundsBell { return false }
    for _ in 0..<(HookDelivery.lastResortDelay * 10) {
      if hasDelivered() || active.isOver { return false }
      do { try await TimerThread.sleep(for: .milliseconds(100)) } catch { return false }
    }
    return await terminals.show(rendered.lines, bell: true, isLastResort: true) > 0
  }
}
