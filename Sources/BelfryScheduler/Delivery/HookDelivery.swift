import BelfryCore
import Git
import Glibc
import Subprocess
import Synchronization
import SystemPackage

/// Reaches a person through executables: the user's own first, then the shipped one; at last on their terminals.
///
/// ```
/// firing     notify (shown, with buttons) → the terminals     and beside it   ring (heard)
/// follow-up  follow-up → notify           → the terminals
/// missed     missed → notify              → the terminals
/// warning    notify                       → the terminals, without the bell
/// battery    battery → notify             → the terminals
/// rehearsal  as a firing
/// ```
///
/// A hook has reached the person once it says `delivered`, gives an answer, or ends well; until then it has
/// `timeout` seconds. Having said `delivered` it may stay, and is attended until it ends or is not wanted any more.
public struct HookDelivery: NotificationDelivery {
  /// The folder of the user's own hooks: executables named as the delivery is.
  public let own: String?
  /// The folders that the shipped ones may be in.
  public let shipped: [String]
  /// What hooks get beside the notification: `BELFRY_COMMAND`, `BELFRY_STORE`, `BELFRY_SOUND` where the alarm names none.
  public let variables: [String: String]
  /// How long a hook may take to reach the person, in seconds.
  public let timeout: Int
  /// The last way; nil where there is none.
  public let terminals: Terminals?
  /// Who stays with what goes on.
  public let activeDeliveries: ActiveDeliveries
  public let leaseOwner: LeaseOwner
  /// Where hooks are noted as long as they run; nil where that is nowhere.
  public let notes: HookRegistry?
  /// Noises begin one after the other: of two hundred that are due together one is enough to begin with, and what is
  /// shown is not to wait for them.
  private let noise: RateLimiter

  /// - Parameter soundWait: how long a sound waits for the one before it to begin.
  public init(
    own: String?, shipped: [String], variables: [String: String] = [:], timeout: Int = 30,
    terminals: Terminals? = nil, activeDeliveries: ActiveDeliveries = ActiveDeliveries { _ in },
    leaseOwner: LeaseOwner = .thisProcess, notes: String? = nil, soundWait: Duration = .seconds(5)
  ) {
    noise = RateLimiter(timeout: soundWait, spacing: .milliseconds(300))
    self.notes = notes.map { HookRegistry(folder: $0, leaseOwner: leaseOwner) }
    self.own = own
    self.shipped = shipped
    self.variables = variables
    self.timeout = timeout
    self.terminals = terminals
    self.activeDeliveries = activeDeliveries
    self.leaseOwner = leaseOwner
  }

  // MARK: Delivering

  public func deliver(_ notification: Notification, snooze: Int64) async -> DeliveryOutcome {
    let decision = Decision()
    // Two ways at once: who is not reached by one may be by the other, and one that hangs holds up nothing.
    activeDeliveries.begin(notification) { active in
      await withTaskGroup(of: (way: Int, outcome: DeliveryOutcome).self) { group in
        group.addTask { (0, await show(notification, in: active, snooze: snooze)) }
        if notification.rings {
          group.addTask { (1, await sound(notification, in: active, snooze: snooze)) }
        }
        var failures: [Int: [String]] = [:]
        for await (way, outcome) in group {
          switch outcome {
          case .undelivered(let reasons): failures[way] = reasons
          case .withdrawn: break
          case .delivered(let answer):
            // Who answers after the other way was heard has answered all the same.
            if !decision.settle(outcome), let answer {
              activeDeliveries.answered(notification, answer)
            }
          case .attended: decision.settle(outcome)
          }
        }
        if active.isOver { decision.settle(.withdrawn) }
        let reasons = failures.sorted { $0.key < $1.key }.flatMap(\.value)
        if !active.isOver, !reasons.isEmpty, !decision.settle(.undelivered(reasons)) {
          activeDeliveries.wayFailed(notification, reasons)
        }
      }
    }
    return await decision.outcome
  }

  /// Shows a notice: through a hook, else on the terminals.
  private func show(
    _ notification: Notification, in active: ActiveDelivery, snooze: Int64
  ) async -> DeliveryOutcome {
    let outcome = await run(notification.hooks, in: active, snooze: snooze)
    guard case .undelivered(let reasons) = outcome, let terminals else { return outcome }
    if active.isOver { return .withdrawn }
    if terminals.show(notification.lines, bell: notification.sounds) > 0 {
      activeDeliveries.wayFailed(notification, reasons)
      return .delivered(nil)
    }
    return .undelivered(reasons + ["no terminal of yours is open"])
  }

  /// Makes the noise of a notice, after those that were due before it.
  private func sound(
    _ notification: Notification, in active: ActiveDelivery, snooze: Int64
  ) async -> DeliveryOutcome {
    await noise.run { await run(["ring"], in: active, snooze: snooze) } ?? .withdrawn
  }

  /// Hands a notice to the hooks of some names: the first that works counts. An answer ends the list: a hook that it
  /// ends has not failed, and no other takes its place.
  private func run(
    _ names: [String], in active: ActiveDelivery, snooze: Int64
  ) async -> DeliveryOutcome {
    // Who is reached by a way of their own for firings is to be reached by it for questions too.
    let own = self.own.map { folder in names.map { "\(folder)/\($0)" } } ?? []
    let paths = own + shipped.map { "\($0)/\(names[0])" }
    var reasons: [String] = []
    for (index, path) in paths.enumerated()
    where paths.firstIndex(of: path) == index && access(path, F_OK) == 0 {
      let outcome = await run(path, in: active, snooze: snooze)
      guard case .undelivered(let why) = outcome else {
        if !reasons.isEmpty { activeDeliveries.wayFailed(active.notification, reasons) }
        return outcome
      }
      if active.isOver { return .withdrawn }
      reasons += why
    }
    return .undelivered(
      reasons.isEmpty ? ["there is none of \(paths.joined(separator: ", "))"] : reasons)
  }

  /// Runs one hook until it has reached the person, and attends it from then on.
  private func run(
    _ path: String, in active: ActiveDelivery, snooze: Int64
  ) async -> DeliveryOutcome {
    let notification = active.notification
    let process = HookProcess(
      path: path, input: notification.json.document,
      variables: variables.merging(notification.variables) { $1 }
        .merging(["BELFRY_SNOOZE": Span.exact(snooze)]) { $1 },
      registry: notes)
    let decision = Decision()
    let (leaseOwner, activeDeliveries) = (leaseOwner.name, activeDeliveries)
    let task = active.start {
      let ending = await process.run { line in
        if line == "delivered" {
          decision.settle(.attended(leaseOwner: leaseOwner))
        } else if let answer = DeliveredAnswer(line, snooze: snooze),
          !decision.settle(.delivered(answer))
        {
          activeDeliveries.answered(notification, answer)
        }
      }
      let reason: String
      switch ending {
      case .exited(0, _):
        decision.settle(.delivered(nil))
        return
      case .exited(let status, let message): reason = message ?? "it ended with \(status)"
      case .failed(let words): reason = words
      }
      // One that gives up after it had reached the person, unasked, has them told anew.
      if !decision.settle(.undelivered(["\(path): \(reason)"])), !Task.isCancelled {
        activeDeliveries.failed(notification)
      }
    }
    guard let task else { return .withdrawn }
    let limit = Task { [timeout] in
      try await Task.sleep(for: .seconds(timeout))
      if decision.settle(.undelivered(["\(path): it did not end within \(timeout) seconds"])) {
        task.cancel()
      }
    }
    let outcome = await decision.outcome
    limit.cancel()
    // Its other half rings on until somebody hears of the answer.
    if case .delivered(.some) = outcome { active.withdraw() }
    return outcome
  }

  /// What becomes of one hook: the first word counts.
  private final class Decision: Sendable {
    private enum State {
      case open(CheckedContinuation<DeliveryOutcome, Never>?)
      case settled(DeliveryOutcome)
    }
    private let state = Mutex(State.open(nil))

    /// Returns whether it was open.
    @discardableResult func settle(_ outcome: DeliveryOutcome) -> Bool {
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

  // MARK: Asking

  /// How a person would be reached now, without reaching anybody.
  public enum Reach: Hashable, Sendable {
    public enum Way: Hashable, Sendable {
      case desktop, ownHook, terminals
    }
    /// In words: `desktop notifications (dunst 1.9.0)`.
    case reachable(String, by: Way)
    case unreachable(String)
  }

  /// Asks the first hook for firings; one of the user's own is taken at its word.
  public func reach() async -> Reach {
    let paths = ([own].compactMap { $0 } + shipped).map { "\($0)/notify" }
    guard let path = paths.first(where: { access($0, F_OK) == 0 }) else {
      return .unreachable("there is none of \(paths.joined(separator: ", "))")
    }
    guard access(path, X_OK) == 0 else { return .unreachable("\(path) is not executable") }
    if let own, path.hasPrefix(own) { return .reachable("your own hook, \(path)", by: .ownHook) }
    let outcome = await TimedProcess.run(
      .path(FilePath(path)), ["--check"], variables: variables, seconds: timeout)
    let words: String
    switch outcome {
    case .ended(0, let output, _):
      let line = String(decoding: output.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      return .reachable(line.isEmpty ? path : line, by: .desktop)
    case .ended(let status, _, let error):
      words = error.split(separator: "\n").last.map(String.init) ?? "it ended with \(status)"
    case .timedOut: words = "it did not end within \(timeout) seconds"
    case .failed(let reason): words = reason
    }
    let open = terminals?.open.count ?? 0
    return open > 0
      ? .reachable("terminals only (\(open) open; no desktop: \(words))", by: .terminals)
      : .unreachable(words)
  }

  // MARK: Looking at the hooks

  /// A hook's file, and what keeps it from working.
  public struct HookFile: Hashable, Sendable {
    public enum Fault: Hashable, Sendable {
      case notExecutable
      /// The program that its first line names.
      case interpreterMissing(String)
      /// No delivery has this name.
      case unknownName
    }
    public let path: String
    public let fault: Fault?
  }

  /// The names of the hooks.
  static let names = [
    "ring", "notify", "follow-up", "missed", "battery", "message", "call", "person",
  ]

  /// The files in the folder of the user's own hooks.
  public func ownHooks() -> [HookFile] {
    guard let own else { return [] }
    return DurableFile.names(in: own).sorted().map { name in
      let path = "\(own)/\(name)"
      var fault: HookFile.Fault?
      if !HookDelivery.names.contains(name) {
        fault = .unknownName
      } else if access(path, X_OK) != 0 {
        fault = .notExecutable
      } else if let program = HookDelivery.interpreter(of: path), access(program, X_OK) != 0 {
        fault = .interpreterMissing(program)
      }
      return HookFile(path: path, fault: fault)
    }
  }

  /// The first of the folders with shipped hooks that has any; nil when none has.
  public var shippedFolder: String? {
    shipped.first { folder in
      HookDelivery.names.contains { access("\(folder)/\($0)", X_OK) == 0 }
    }
  }

  /// The program that runs a script, by its first line; nil for a binary.
  private static func interpreter(of path: String) -> String? {
    guard let file = (try? DurableFile.read(path, limit: 1 << 20)) ?? nil,
      file.bytes.starts(with: "#!".utf8)
    else { return nil }
    let line = String(
      decoding: file.bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    return line.split(separator: " ").first.map(String.init)
  }
}
