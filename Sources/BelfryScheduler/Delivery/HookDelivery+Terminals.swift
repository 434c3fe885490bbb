import BelfryCore
import BelfryTerminal

/// The terminals as the last channel.
extension HookDelivery {
  /// The time in which another channel may deliver before a text is written over a full-screen program, in seconds. A
  /// sound has delivered once it was played completely; the longest shipped one takes six seconds.
  private static let lastResortDelay = 8

  /// Shows a notification on the terminals where that does no harm. If there are none, and no other channel delivers in
  /// time, writes it over the screen of a program: a missed alarm is worse than a disturbed screen. A silent notification
  /// is not worth that.
  ///
  /// - Parameters:
  ///   - hasDelivered: returns true if another channel has delivered.
  ///   - isAwaiting: returns true while another channel may deliver in its first attempt.
  /// - Returns: False if no terminal shows the notification.
  func show(
    _ rendered: RenderedNotification, on terminals: Terminals,
    hasDelivered: @Sendable () -> Bool, isAwaiting: @Sendable () -> Bool,
    _ active: ActiveDelivery
  ) async -> Bool {
    if await terminals.show(rendered.lines, bell: rendered.soundsBell) > 0 { return true }
    if !rendered.soundsBell { return false }
    for _ in 0..<(HookDelivery.lastResortDelay * 10) {
      if hasDelivered() || active.isOver { return false }
      if !isAwaiting() { break }
      do { try await TimerThread.sleep(for: .milliseconds(100)) } catch { return false }
    }
    return await terminals.show(rendered.lines, bell: true, isLastResort: true) > 0
  }
}
