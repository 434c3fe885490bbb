import BelfryCore
import BelfryStore
import Glibc
import Synchronization

/// The helper process of a tick: delivers the notifications that it is handed on standard input, reports the outcomes on
/// standard output, and stays until all deliveries have ended.
///
/// It drives a `DeliveryEngine`. The process that has claimed a delivery records its outcome; the helper records the
/// end. The lease of an answered delivery stays with the helper until the answer is recorded, so that no tick rings in
/// between; a snooze that could not be recorded ends with the lease.
public final class DeliveryHelper: Sendable {
  private let open: @Sendable () throws -> Store?
  private let hooks: @Sendable (ActiveDeliveries) -> HookDelivery
  private let recorder: AnswerRecorder

  /// Creates a helper. It does not run yet.
  ///
  /// - Parameters:
  ///   - recorder: records the users' answers.
  ///   - open: opens the store with the current time; nil if there is none.
  ///   - hooks: returns the hook channels, which register their deliveries in the argument.
  public init(
    recorder: AnswerRecorder, open: @escaping @Sendable () throws -> Store?,
    hooks: @escaping @Sendable (ActiveDeliveries) -> HookDelivery
  ) {
    self.recorder = recorder
    self.open = open
    self.hooks = hooks
  }

  /// The interval between two checks of the deliveries in progress.
  private static let checkInterval = Duration.seconds(1)
  /// The time for which notifications stay while there is no store.
  private static let absenceTimeout = Duration.seconds(300)
  /// The pause between two attempts to record the end of deliveries.
  private static let retryPause = Duration.milliseconds(100)
  /// The time that the starting process may take to read the outcomes.
  private static let reportTimeout = Duration.seconds(5)
  /// The maximum lifetime. The next tick delivers again what still rings then.
  private static let maxLifetime = Duration.seconds(86_400)

  private enum Input: Sendable {
    case line([UInt8])
    case endOfInput
    case engine(DeliveryEngine.Event)
    case deliveryChanged(ActiveDeliveries.Change)
    case check
    case responded(Set<DeliveryID>, AnswerRecorder.Result)
    case snoozeEnded(Set<DeliveryID>)
  }

  /// Runs until the end of standard input and of all deliveries.
  public func run() async {
    let (inputs, sender) = AsyncStream.makeStream(of: Input.self)
    let active = ActiveDeliveries { sender.yield(.deliveryChanged($0)) }
    var loop = Loop(
      helper: self, delivery: hooks(active), active: active, output: PipeWriter(.standardOutput),
      send: { sender.yield($0) })
    DeliveryHelper.readLines { sender.yield($0) }
    let timer = Task.detached {
      while true {
        do { try await Task.sleep(for: DeliveryHelper.checkInterval) } catch { return }
        sender.yield(.check)
      }
    }
    for await input in inputs {
      loop.handle(input)
      if loop.isFinished { break }
    }
    timer.cancel()
    _ = await loop.output.flush(within: DeliveryHelper.reportTimeout)
  }

  /// Reads the lines of standard input in a thread of its own.
  private static func readLines(_ send: @escaping @Sendable (Input) -> Void) {
    BackgroundThread.start {
      var rest: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 64 << 10)
      while true {
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        // A line has several megabytes if many alarms with long notes are due, so its start is not searched again.
        for part in buffer.prefix(count).split(
          separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        ).enumerated() {
          if part.offset > 0 {
            send(.line(rest))
            rest = []
          }
          rest += part.element
        }
      }
      send(.endOfInput)
    }
  }

  // MARK: The event loop

  private struct Loop {
    let helper: DeliveryHelper
    let delivery: HookDelivery
    let active: ActiveDeliveries
    let ledger: SharedLedger
    let output: PipeWriter
    let send: @Sendable (Input) -> Void
    var engine: DeliveryEngine
    var hasEndOfInput = false
    /// The number of answers that are being recorded.
    var responding = 0
    let started = ContinuousClock.now
    /// The start of the store's absence; nil while there is a store.
    var absentSince: ContinuousClock.Instant?
    /// The start of the attempts to record the last ends; nil while deliveries are in progress.
    var finishingSince: ContinuousClock.Instant?

    init(
      helper: DeliveryHelper, delivery: HookDelivery, active: ActiveDeliveries, output: PipeWriter,
      send: @escaping @Sendable (Input) -> Void
    ) {
      self.helper = helper
      self.delivery = delivery
      self.active = active
      ledger = SharedLedger(owner: delivery.leaseOwner)
      self.output = output
      self.send = send
      engine = DeliveryEngine(owner: delivery.leaseOwner.name)
    }

    /// True after the last delivery has ended and is recorded, or cannot be.
    var isFinished: Bool {
      guard hasEndOfInput, responding == 0, engine.phases.isEmpty, !active.runsActions else {
        return false
      }
      if engine.isIdle, !ledger.hasUnwritten { return true }
      return finishingSince.map { ContinuousClock.now > $0 + DeliveryHelper.absenceTimeout }
        ?? false
    }

    mutating func handle(_ input: Input) {
      switch input {
      case .line(let line): receive(line)
      case .endOfInput: hasEndOfInput = true
      case .engine(let event): process(event)
      case .deliveryChanged(let change): handle(change)
      case .check: check()
      case .responded(let ids, let result):
        responding -= 1
        process(.answerRecorded(ids, isAccepted: !result.isRefused))
      // The store may not have the snooze yet. The next tick then rings.
      case .snoozeEnded(let ids): process(.answerRecorded(ids, isAccepted: true))
      }
      if hasEndOfInput, engine.phases.isEmpty, finishingSince == nil {
        finishingSince = ContinuousClock.now
      }
    }

    private mutating func receive(_ line: [UInt8]) {
      guard let json = try? JSON(parsing: line), let number = json["number"]?.integer,
        let snooze = json["snooze"]?.integer,
        let group = DeliveryGroup(
          (json["deliveries"]?.array ?? []).compactMap(PendingDelivery.init(json:)))
      else { return }
      engine.handed(group)
      deliver(group, number: number, snooze: snooze)
    }

    private mutating func handle(_ change: ActiveDeliveries.Change) {
      switch change {
      case .answerGiven(let group, let answer, let decision): decide(decision, answer, group)
      case .answered(let group, let answer): process(.answered(group.deliveries, answer))
      case .ended(let group):
        for id in group.ids { process(.ended(id)) }
      // The helper has no log; `belfry doctor` finds hooks that cannot work.
      case .channelFailed, .actionEnded: break
      }
    }

    /// Decides about an answer, with the alarms in the store.
    private func decide(
      _ decision: AnswerDecision, _ answer: DeliveredAnswer, _ group: DeliveryGroup
    ) {
      var isAccepted = true
      // The command that records the answer reports an error of the store.
      if let store = (try? helper.open()) ?? nil, let settings = try? store.settings().settings,
        let recorded = ledger.recorded(store)
      {
        let refusal = DeliveryPlanner(store: store, settings: settings).refusal(
          of: answer, to: group.deliveries, ledger: recorded
        ) { (try? store.alarm($0)) ?? nil }
        isAccepted = refusal == nil
      }
      decision.decide(isAccepted: isAccepted)
    }

    private mutating func process(_ event: DeliveryEngine.Event) {
      for effect in engine.handle(event) {
        switch effect {
        case .recordSoon:
          let send = send
          Task.detached {
            try? await Task.sleep(for: DeliveryHelper.retryPause)
            send(.engine(.recordingDue))
          }
        case .record(let recording): record(recording)
        case .respond(let deliveries, let answer): respond(to: deliveries, answer)
        }
      }
    }

    /// Runs the channels of deliveries, and sends the outcome with the number of the message that requested them.
    private func deliver(_ group: DeliveryGroup, number: Int64, snooze: Int64) {
      let (delivery, output, send) = (delivery, output, send)
      Task.detached {
        let outcome = await delivery.deliver(group, snooze: snooze)
        output.send(JSON.object(["number": .integer(number), "outcome": outcome.json]).line)
        for id in group.ids { send(.engine(.finished(id, outcome))) }
      }
    }

    /// Records the ends. Those whose outcomes are not recorded yet are postponed: the outcome names this process, so that
    /// the next tick would ring again once this process is gone.
    private mutating func record(_ recording: DeliveryEngine.Recording) {
      guard let store = (try? helper.open()) ?? nil, let recorded = ledger.recorded(store) else {
        return process(.postponed(released: recording.released, withdrawn: recording.withdrawn))
      }
      func isOutcomeRecorded(_ id: DeliveryID) -> Bool {
        guard let entry = recorded.entry(id.key, due: id.due), entry.state == .claimed,
          let owner = entry.owner
        else { return true }
        return owner == delivery.leaseOwner.name || !delivery.leaseOwner.isAlive(owner)
      }
      var ready = DeliveryEngine.Recording()
      ready.released = recording.released.filter(isOutcomeRecorded)
      ready.withdrawn = recording.withdrawn.filter(isOutcomeRecorded)
      if !ready.isEmpty { _ = ledger.record(ready, in: store) }
      if ready != recording {
        process(
          .postponed(
            released: recording.released.subtracting(ready.released),
            withdrawn: recording.withdrawn.subtracting(ready.withdrawn)))
      }
    }

    private mutating func respond(to deliveries: [PendingDelivery], _ answer: DeliveredAnswer) {
      responding += 1
      let (recorder, terminals, send) = (helper.recorder, delivery.terminals, send)
      let ids = Set(deliveries.map(\.id))
      if case .answer(.snooze(let seconds)) = answer {
        TimerThread.shared.run(after: .seconds(seconds)) { send(.snoozeEnded(ids)) }
      }
      // The time is unknown while there is no store.
      let now = ((try? helper.open()) ?? nil).map { Instant(seconds: $0.context.now.seconds) }
      Task.detached {
        let result = await recorder.record(answer, to: deliveries.map(\.key), at: now)
        if case .failed(let reason) = result {
          let subject =
            deliveries.count == 1
            ? deliveries[0].notification.title : "\(deliveries.count) alarms"
          _ = await terminals?.show(
            [
              "** Your answer to \(subject) could not be recorded",
              "   \(reason)",
            ], bell: true, isLastResort: true)
        }
        send(.responded(ids, result))
      }
    }

    /// Withdraws the notifications that no longer reflect the state in the store.
    private mutating func check() {
      let running = Set(engine.phases.keys)
      if ledger.hasUnwritten, let store = (try? helper.open()) ?? nil {
        // A full disk may have room again.
        _ = ledger.flush(store)
      }
      if running.isEmpty { return }
      if ContinuousClock.now > started + DeliveryHelper.maxLifetime { return withdraw(running) }
      do {
        guard let store = try helper.open() else {
          // The store's disk may come back. If the store was removed, its alarms are no longer needed.
          let since = absentSince ?? ContinuousClock.now
          absentSince = since
          if ContinuousClock.now > since + DeliveryHelper.absenceTimeout { withdraw(running) }
          return
        }
        absentSince = nil
        let planner = DeliveryPlanner(store: store, settings: try store.settings().settings)
        guard let recorded = ledger.recorded(store) else { return }
        withdraw(running.filter { !planner.wants($0, ledger: recorded) })
      } catch {
        // An unreadable store may be readable later. Until then the notifications stay.
        return
      }
    }

    private mutating func withdraw(_ ids: Set<DeliveryID>) {
      if ids.isEmpty { return }
      engine.withdrawn(ids)
      active.withdraw(ids.contains)
    }
  }
}
