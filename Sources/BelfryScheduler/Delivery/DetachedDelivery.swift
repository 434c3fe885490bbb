import BelfryCore
import BelfryStore
import Git
import Glibc
import Subprocess
import Synchronization
import SystemPackage

/// Delivers through a process of its own session that outlives this one: what goes on until it is answered has
/// somebody who stays with it, also when a timer's command has long ended.
///
/// ```
/// tick ──{number, snooze, notice}──▶ attend ──▶ hooks
///      ◀──{number, outcome}──────────
/// ```
///
/// Neither side waits for the other to read, however much is due at once.
public final class DetachedDelivery: NotificationDelivery {
  /// A delivery whose outcome is awaited.
  private struct Waiting {
    let continuation: CheckedContinuation<DeliveryOutcome, Never>
    /// Gives it up in time.
    let timer: Task<Void, Never>
  }
  private struct State {
    /// Writes to the process; nil before it is started.
    var input: PipeWriter?
    var waiting: [Int: Waiting] = [:]
    var last = 0
    /// Why it has ended, once it has.
    var failure: String?
  }
  private let state = Mutex(State())
  private let command: String
  private let arguments: [String]
  private let timeout: Int

  /// The time in seconds that the process may take to deliver one notification: longer than all hooks together may.
  public static let patience = 180

  /// - Parameters:
  ///   - command: the binary.
  ///   - arguments: what makes it attend.
  ///   - timeout: how long it may take for one notice, in seconds.
  public init(command: String, arguments: [String], timeout: Int = DetachedDelivery.patience) {
    self.command = command
    self.arguments = arguments
    self.timeout = timeout
  }

  public func deliver(_ notification: Notification, snooze: Int64) async -> DeliveryOutcome {
    await withCheckedContinuation { continuation in
      let reason: String? = state.withLock { state in
        if state.input == nil, state.failure == nil { start(&state) }
        guard let input = state.input, state.failure == nil else { return state.failure ?? "" }
        state.last += 1
        let number = state.last
        let timer = Task.detached { [timeout] in
          do { try await Task.sleep(for: .seconds(timeout)) } catch { return }
          let reason = "the process that was to deliver it said nothing for \(timeout) seconds"
          self.finish(number, .undelivered([reason]))
        }
        state.waiting[number] = Waiting(continuation: continuation, timer: timer)
        input.send(
          JSON.object([
            "number": .integer(Int64(number)), "snooze": .integer(snooze),
            "notice": notification.handover,
          ]).line)
        return nil
      }
      if let reason { continuation.resume(returning: .undelivered([reason])) }
    }
  }

  private func finish(_ number: Int, _ outcome: DeliveryOutcome) {
    guard let waiting = state.withLock({ $0.waiting.removeValue(forKey: number) }) else { return }
    waiting.timer.cancel()
    waiting.continuation.resume(returning: outcome)
  }

  /// Ends all that is awaited, and all that is to come.
  private func fail(_ reason: String) {
    let numbers = state.withLock { state in
      if state.failure == nil { state.failure = reason }
      return Array(state.waiting.keys)
    }
    for number in numbers { finish(number, .undelivered([reason])) }
  }

  private func start(_ state: inout State) {
    do {
      try Descriptors.ensure()
      let pipe = try FileDescriptor.pipe()
      // Nobody else is to hold it open.
      _ = fcntl(pipe.writeEnd.rawValue, F_SETFD, FD_CLOEXEC)
      state.input = PipeWriter(pipe.writeEnd) {
        self.fail("what is to be delivered could not be handed over")
      }
      Task.detached { await self.run(pipe.readEnd) }
    } catch {
      state.failure = "\(error)"
    }
  }

  /// Runs the process until it ends, or this one does.
  private func run(_ input: FileDescriptor) async {
    var options = PlatformOptions()
    options.createSession = true
    var failure = "the process that was to deliver it has ended"
    do {
      _ = try await Subprocess.run(
        .path(FilePath(command)), arguments: Arguments(arguments), platformOptions: options,
        input: .fileDescriptor(input, closeAfterSpawningProcess: true), output: .sequence,
        error: .discarded
      ) { execution in
        // A reason may hold other line breaks.
        let lines = execution.standardOutput.strings(
          separatedBy: .unicodeScalarSequence(["\n"]), bufferingPolicy: .unbounded)
        for try await line in lines { self.heard(line) }
      }
    } catch {
      failure = "\(command): \(error)"
    }
    fail(failure)
  }

  private func heard(_ line: String) {
    guard let json = try? JSON(parsing: Array(line.utf8)), let number = json["number"]?.integer,
      let outcome = DeliveryOutcome(handover: json)
    else { return }
    finish(Int(number), outcome)
  }
}

extension DeliveryOutcome {
  fileprivate init?(handover json: JSON) {
    if let leaseOwner = json["keeper"]?.string {
      self = .attended(leaseOwner: leaseOwner)
    } else if json["withdrawn"]?.bool == true {
      self = .withdrawn
    } else if let reasons = json["reasons"]?.array {
      self = .undelivered(reasons.compactMap(\.string))
    } else if json["remind"]?.bool == true {
      self = .delivered(.remind)
    } else if let line = json["answer"]?.string {
      self = .delivered(DeliveredAnswer(line[...], snooze: 0))
    } else {
      self = .delivered(nil)
    }
  }

  fileprivate func handover(_ number: Int64) -> JSON {
    var members: [String: JSON] = ["number": .integer(number)]
    switch self {
    case .attended(let leaseOwner): members["keeper"] = .string(leaseOwner)
    case .withdrawn: members["withdrawn"] = true
    case .undelivered(let reasons): members["reasons"] = .array(reasons.map { .string($0) })
    case .delivered(.remind): members["remind"] = true
    case .delivered(.answer(.snooze(let seconds))):
      members["answer"] = .string("snooze \(Span.code(seconds))")
    case .delivered(.answer(.stop)): members["answer"] = "stop"
    case .delivered(.answer(.skip)): members["answer"] = "skip"
    case .delivered(.answer): members["answer"] = "done"
    case .delivered(nil): break
    }
    return .object(members)
  }
}

/// The other end of it: delivers what it is handed, and stays until all of it is over.
public struct DeliveryHelper: Sendable {
  private let open: @Sendable () throws -> Store?
  private let hooks: @Sendable (ActiveDeliveries) -> HookDelivery
  private let recorder: AnswerRecorder
  private let ledgerWriter = LedgerWriter()
  private let ended = EndedNotifications()

  /// - Parameters:
  ///   - open: the store as it is now; nil when it is gone.
  ///   - hooks: the hooks, attended by somebody.
  public init(
    recorder: AnswerRecorder, open: @escaping @Sendable () throws -> Store?,
    hooks: @escaping @Sendable (ActiveDeliveries) -> HookDelivery
  ) {
    self.recorder = recorder
    self.open = open
    self.hooks = hooks
  }

  /// How often it is looked whether what goes on is still wanted.
  private static let look = Duration.seconds(1)
  /// The time for which it keeps ringing while there is no store.
  private static let absence = Duration.seconds(300)
  /// The pause between two attempts to record the end of deliveries.
  private static let retry = Duration.milliseconds(100)
  /// The time that the starting process may take to read the outcome.
  private static let reporting = Duration.seconds(5)
  /// How long it stays at most: what still rings then is the next tick's to ring again.
  private static let longest = Duration.seconds(86_400)

  /// Reads notices from standard input, a line each, until its end, and then waits until nothing goes on any more.
  public func run() async {
    let (news, sender) = AsyncStream.makeStream(of: ActiveDeliveries.News.self)
    let activeDeliveries = ActiveDeliveries { sender.yield($0) }
    let delivery = hooks(activeDeliveries)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.deliver(delivery) }
      group.addTask { await self.watch(activeDeliveries, delivery) }
      group.addTask {
        for await item in news { await self.handle(item, delivery) }
        let end = ContinuousClock.now + DeliveryHelper.absence
        while self.recordEnds(delivery), ContinuousClock.now < end {
          do { try await Task.sleep(for: DeliveryHelper.retry) } catch { return }
        }
      }
      await group.next()
      await activeDeliveries.idle()
      // Those that watch end with it; what was answered is still to be recorded.
      sender.finish()
      await group.next()
      group.cancelAll()
    }
  }

  private func deliver(_ delivery: HookDelivery) async {
    // Who asked may have gone.
    let output = PipeWriter(.standardOutput)
    await withTaskGroup(of: Void.self) { group in
      for await line in DeliveryHelper.lines() {
        guard let json = try? JSON(parsing: line), let number = json["number"]?.integer,
          let snooze = json["snooze"]?.integer,
          let notification = json["notice"].flatMap({ Notification(handover: $0) })
        else { continue }
        group.addTask {
          output.send(await delivery.deliver(notification, snooze: snooze).handover(number).line)
        }
      }
    }
    _ = await output.flush(within: DeliveryHelper.reporting)
  }

  /// The lines of standard input, read by a thread of its own.
  private static func lines() -> AsyncStream<[UInt8]> {
    let (lines, sender) = AsyncStream.makeStream(of: [UInt8].self)
    BackgroundThread.start {
      var rest: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 64 << 10)
      while true {
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        rest += buffer.prefix(count)
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          sender.yield(Array(rest[..<end]))
          rest.removeFirst(end + 1)
        }
      }
      sender.finish()
    }
    return lines
  }

  private func watch(_ activeDeliveries: ActiveDeliveries, _ delivery: HookDelivery) async {
    let end = ContinuousClock.now + DeliveryHelper.longest
    var away: ContinuousClock.Instant?
    while !Task.isCancelled {
      do {
        try await Task.sleep(for: DeliveryHelper.look)
      } catch {
        return
      }
      _ = recordEnds(delivery)
      let notifications = activeDeliveries.notifications
      if notifications.isEmpty { continue }
      if ContinuousClock.now > end { activeDeliveries.withdraw { _ in true } }
      do {
        guard let store = try open() else {
          // Its disk may come back; whoever removed the store wants nothing of it any more.
          let since = away ?? ContinuousClock.now
          away = since
          if ContinuousClock.now > since + DeliveryHelper.absence {
            activeDeliveries.withdraw { _ in true }
          }
          continue
        }
        away = nil
        let (settings, ledger) = (try store.settings().settings, store.ledger())
        activeDeliveries.withdraw { !store.isWanted($0, settings, ledger) }
      } catch {
        // What cannot be read now may be read later; until then it rings.
        continue
      }
    }
  }

  private func handle(_ news: ActiveDeliveries.News, _ delivery: HookDelivery) async {
    switch news {
    case .answered(let notification, let answer):
      if let reason = await recorder.record(answer, to: notification) {
        _ = delivery.terminals?.show(
          ["** Your answer to \(notification.title) could not be recorded", "   \(reason)"],
          bell: true)
      }
    case .failed(let notification):
      ended.add(notification, hasFailed: true)
      _ = recordEnds(delivery)
    // Nobody reads what it would say; `doctor` finds hooks that cannot work.
    case .wayFailed: break
    case .ended(let notification):
      ended.add(notification, hasFailed: false)
      _ = recordEnds(delivery)
    }
  }

  /// Records in the ledger that deliveries have ended or failed. Returns true while some are not recorded.
  ///
  /// A delivery waits until the tick that handed it over has recorded its outcome. That outcome names this process, so
  /// that the next tick would ring again once this process is gone, and it would hide an earlier failure.
  private func recordEnds(_ delivery: HookDelivery) -> Bool {
    guard !ended.isEmpty || ledgerWriter.hasUnwritten, let store = (try? open()) ?? nil else {
      return false
    }
    let leases = DeliveryLeases(
      store: store, leaseOwner: delivery.leaseOwner, ledgerWriter: ledgerWriter)
    // A full disk may have room again.
    _ = leases.flush()
    let ledger = ledgerWriter.ledger(store)
    let ready = ended.take { notification in
      let key = DeliveryLedger.Key(alarm: notification.alarm, occurrence: notification.occurrence)
      guard let firing = ledger[key], firing.state == .claimed,
        let leaseOwner = firing.leaseOwner
      else {
        return true
      }
      return leaseOwner == delivery.leaseOwner.name || !delivery.leaseOwner.isAlive(leaseOwner)
    }
    for item in ready where item.hasFailed { leases.fail(item.notification) }
    let over = ready.filter { !$0.hasFailed }.map(\.notification)
    if !over.isEmpty { _ = leases.settle([], ended: over) }
    return !ended.isEmpty || ledgerWriter.hasUnwritten
  }
}

/// The deliveries that have ended or failed, and that the ledger still has as going on.
private final class EndedNotifications: Sendable {
  struct Item {
    let notification: Notification
    /// True if nobody was notified in the end, so that the next tick has to deliver again.
    let hasFailed: Bool
  }
  private let items = Mutex<[Item]>([])

  var isEmpty: Bool { items.withLock(\.isEmpty) }

  func add(_ notification: Notification, hasFailed: Bool) {
    items.withLock { $0.append(Item(notification: notification, hasFailed: hasFailed)) }
  }

  /// Removes and returns the deliveries whose notices fulfill a condition.
  func take(where isReady: (Notification) -> Bool) -> [Item] {
    items.withLock { items in
      let ready = items.filter { isReady($0.notification) }
      items.removeAll { isReady($0.notification) }
      return ready
    }
  }
}
