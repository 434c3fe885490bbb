import BelfryCore
import Synchronization

/// The outcomes of the channels of one notification. The first channel that delivers determines the outcome of the
/// delivery; it fails if all channels fail at first.
///
/// A failure is logged once another channel has delivered, and again only for another reason.
final class ChannelOutcomes: Sendable {
  private struct State {
    var latest: [DeliveryOutcome?]
    var isDelivered = false
    /// The failures that are not in the log yet.
    var unlogged: [Int: [String]] = [:]
    var logged: [Int: [String]] = [:]
  }
  private let state: Mutex<State>
  private let active: ActiveDelivery
  private let deliveries: ActiveDeliveries
  private let owner: String
  private let first: FirstValue<DeliveryOutcome>

  /// Creates the outcomes of a number of channels.
  ///
  /// - Parameter first: receives the outcome of the delivery.
  init(
    count: Int, of active: ActiveDelivery, in deliveries: ActiveDeliveries, owner: String,
    _ first: FirstValue<DeliveryOutcome>
  ) {
    state = Mutex(State(latest: Array(repeating: nil, count: count)))
    self.active = active
    self.deliveries = deliveries
    self.owner = owner
    self.first = first
  }

  /// Records the outcome of a channel's attempt.
  func record(_ outcome: DeliveryOutcome, of channel: Int) {
    switch outcome {
    case .delivered(let answer?):
      // Another channel may have delivered before.
      if !first.set(outcome) { deliveries.answered(active, answer) }
    case .delivered(nil), .ongoing:
      let hasEnded = state.withLock { state in
        state.latest[channel] = outcome
        state.isDelivered = true
        return state.latest.allSatisfy { $0 == DeliveryOutcome.delivered(nil) }
      }
      first.set(hasEnded ? outcome : .ongoing(owner: owner))
      log()
    case .undelivered(let reasons):
      let failures: [String]? = state.withLock { state in
        state.latest[channel] = outcome
        if state.logged[channel] != reasons { state.unlogged[channel] = reasons }
        let all = state.latest.compactMap { outcome -> [String]? in
          if case .undelivered(let reasons)? = outcome { reasons } else { nil }
        }
        return all.count == state.latest.count && !state.isDelivered ? all.flatMap { $0 } : nil
      }
      if let failures, !active.isOver, first.set(.undelivered(failures)) {
        // The ledger says when all channels are tried again.
        active.withdraw()
      }
      log()
    case .withdrawn: break
    }
  }

  /// Returns true if a channel other than the given one has delivered in its latest attempt.
  func hasDelivered(besides channel: Int) -> Bool {
    state.withLock { state in
      state.latest.enumerated().contains { index, outcome in
        switch outcome {
        case .delivered, .ongoing: index != channel
        case .undelivered, .withdrawn, nil: false
        }
      }
    }
  }

  /// Returns true if the first attempt of a channel other than the given one has no outcome yet.
  func isAwaiting(besides channel: Int) -> Bool {
    state.withLock { state in
      state.latest.enumerated().contains { $0 != channel && $1 == nil }
    }
  }

  /// Records that other hooks of the channel, or the terminals, have taken the place of some that failed.
  func recordReplaced(_ reasons: [String], of channel: Int) {
    state.withLock { state in
      if state.logged[channel] != reasons { state.unlogged[channel] = reasons }
      state.isDelivered = true
    }
    log()
  }

  /// Records that a hook has failed after it had delivered.
  func recordLoss(_ reason: String, of channel: Int) {
    state.withLock { $0.unlogged[channel] = [reason] }
    log()
  }

  /// Logs failures, once a channel has delivered.
  private func log() {
    if active.isOver { return }
    let reasons: [String] = state.withLock { state in
      guard state.isDelivered else { return [] }
      defer { state.unlogged = [:] }
      state.logged.merge(state.unlogged) { $1 }
      return state.unlogged.sorted { $0.key < $1.key }.flatMap(\.value)
    }
    if !reasons.isEmpty { deliveries.channelFailed(active, reasons) }
  }
}
