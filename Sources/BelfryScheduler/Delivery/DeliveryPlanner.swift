import BelfryCore
import BelfryStore

/// Turns the evaluation of an alarm into notifications, with the names and times that the store knows.
struct DeliveryPlanner {
  let store: Store
  let settings: Settings

  /// Returns the deliveries that an evaluation wants now, in the order in which they are due.
  ///
  /// - Parameter ledger: the ledger of the evaluation.
  func pendingDeliveries(
    _ evaluation: Evaluation, of alarm: Alarm, ledger: DeliveryLedger
  ) -> [PendingDelivery] {
    var result: [PendingDelivery] = []
    for firing in evaluation.firings {
      let step = cascadeStep(firing, of: alarm)
      let circumstances = Notification.Firing(
        isLate: firing.late, step: step, actions: actions(of: alarm),
        run: action(firing, of: alarm, ledger))
      result.append(
        PendingDelivery(
          due: firing.due,
          notification: .firing(content(alarm, firing.occurrence, at: firing.due), circumstances),
          mayBeAnswered: step != nil || firing.isStandIn))
    }
    for followUp in evaluation.followUps {
      let content = content(alarm, followUp.occurrence, at: followUp.due)
      result.append(
        PendingDelivery(due: followUp.due, notification: .followUp(content, followUp)))
    }
    for warning in evaluation.warnings {
      let content = content(alarm, warning.occurrence.civil, at: warning.occurrence.at)
      result.append(PendingDelivery(due: warning.due, notification: .advanceWarning(content)))
    }
    if let requested = evaluation.rehearsal {
      let occurrence = store.context.zones.local.civil(at: requested)
      let content = content(alarm, occurrence, at: requested)
      result.append(
        PendingDelivery(
          due: requested, notification: .rehearsal(content, requested: requested)))
    }
    return result
  }

  /// Returns true while a delivered notification still reflects the alarm's state. An alarm that cannot be read keeps its
  /// notifications: a false alarm is better than a missed one.
  func wants(_ id: DeliveryID, of alarm: Alarm?, ledger: DeliveryLedger) -> Bool {
    guard let alarm else { return true }
    return store.timeline(alarm).wants(
      id, at: store.context.now, settings: settings, ledger: ledger)
  }

  /// Returns true while a delivered notification still reflects the state in the store.
  func wants(_ id: DeliveryID, ledger: DeliveryLedger) -> Bool {
    // A work tree of the past has no current state.
    guard store.branch.detachedHead == nil, let alarm = id.key.alarm else { return true }
    return wants(id, of: (try? store.alarm(alarm)) ?? nil, ledger: ledger)
  }

  /// Returns the reason why an answer to deliveries is refused; nil if it is possible for one of them.
  ///
  /// - Parameter alarm: returns an alarm; nil if it cannot be read. The command that records the answer decides then.
  func refusal(
    of answer: DeliveredAnswer, to deliveries: [PendingDelivery], ledger: DeliveryLedger,
    alarm: (Identifier) -> Alarm?
  ) -> AnswerRefusal? {
    var first: AnswerRefusal?
    for delivery in deliveries {
      guard let id = delivery.key.alarm, let alarm = alarm(id),
        let refusal = refusal(of: answer, to: delivery.key, of: alarm, ledger)
      else { return nil }
      first = first ?? refusal
    }
    return first
  }

  private func refusal(
    of answer: DeliveredAnswer, to key: DeliveryKey, of alarm: Alarm, _ ledger: DeliveryLedger
  ) -> AnswerRefusal? {
    guard case .occurrence(let id, let kind) = key, kind != .advanceWarning else { return nil }
    guard case .answer(let answer) = answer else { return kind == .firing ? .notAFollowUp : nil }
    do throws(LifecycleError) {
      _ = try store.timeline(alarm).answer(
        answer, to: id.occurrence, at: store.context.now, settings: settings, ledger: ledger)
      return nil
    } catch {
      return .notPossible(error)
    }
  }

  /// Returns the content of a notification about an occurrence.
  func content(_ alarm: Alarm, _ occurrence: CivilDateTime, at time: Instant)
    -> Notification.Content
  {
    Notification.Content(
      id: OccurrenceID(alarm: alarm.id, occurrence: occurrence), title: alarm.title,
      note: alarm.note, zoneName: store.context.zones.foreignName(of: alarm), at: time,
      sound: alarm.delivery.sound, partner: alarm.partner?.name,
      movedTo: alarm.progress.moves[occurrence]?.time)
  }

  private func actions(of alarm: Alarm) -> [Notification.Action] {
    var actions: [Notification.Action] = [.stop, .done]
    if settings.snoozeEnabled { actions.append(.snooze) }
    if case .once = alarm.schedule.recurrence {} else { actions.append(.skip) }
    return actions
  }

  /// Returns the action that a firing runs; nil for none.
  ///
  /// An action runs at the time of the occurrence, not again after a snooze, on a later step of a cascade or with a
  /// strict alarm's follow-up. If no channel delivered, it has run with the first attempt. If the process died before it
  /// recorded an outcome, the action runs again.
  private func action(
    _ firing: Evaluation.Firing, of alarm: Alarm, _ ledger: DeliveryLedger
  ) -> ActionName? {
    guard let name = alarm.delivery.run, firing.step == 0,
      firing.due == store.timeline(alarm).occurrence(firing.occurrence).at
    else { return nil }
    let id = OccurrenceID(alarm: alarm.id, occurrence: firing.occurrence)
    let entry = ledger.entry(.occurrence(id, .firing), due: firing.due)
    return entry?.state == .undelivered ? nil : name
  }

  /// Returns the cascade step of a firing; nil if the device rings at the alarm's time.
  private func cascadeStep(
    _ firing: Evaluation.Firing, of alarm: Alarm
  ) -> Notification.CascadeStep? {
    guard firing.step > 0 else { return nil }
    let first = alarm.cascade?.plan(at: firing.due).primary
    return Notification.CascadeStep(
      number: firing.step, firstDevice: first.flatMap { store.deviceNames()[$0] },
      uncertainty: uncertainty)
  }

  /// The reason why the answers on other devices are unknown; nil if they were fetched recently.
  private var uncertainty: Notification.Uncertainty? {
    guard store.sync.hasRemote else { return .noRemote }
    let heartbeats = store.deviceHeartbeats
    if let since = heartbeats.unreachableSince { return .remoteUnreachable(since: since) }
    guard let fetched = heartbeats.fetched else { return .neverSynced }
    if store.context.now.seconds(since: fetched) <= CascadeRun.freshness { return nil }
    return .notSynced(since: fetched)
  }
}
