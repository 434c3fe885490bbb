import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore

/// Calls a phone number or messages a person, for the daemon. It runs until the person answers, or until the contact is
/// no longer needed.
struct CascadeContact: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "contact", abstract: "Call a number or message a person.",
    shouldDisplay: false)

  @Argument var alarm: String
  @Option var occurrence: String
  @Option var target: String?
  @Option var due: String
  @Flag var test = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CascadeCommand

  func run() async throws {
    let opened = ElapsedTime()
    let context = try common.context(parent.root)
    context.restrictCallsFile()
    let store = try context.open(welcome: false, creates: false)
    guard let id = Identifier(alarm), let occurrence = CivilDateTime(occurrence),
      let due = Instant(rfc3339: due),
      let wanted = target ?? context.environment[Callout.targetVariable]
    else { throw ValidationError("The daemon runs this command.") }
    guard let alarm = try store.alarm(id),
      let plan = alarm.cascadePlan(at: test ? context.storeContext.now : due),
      let target = plan.targets.first(where: { $0.key == wanted })
    else { return }
    guard let lock = try store.lockForCall(Store.callKey(id, occurrence, target)) else { return }
    defer { withExtendedLifetime(lock) {} }
    let callout = Callout(
      alarm: id, occurrence: occurrence, target: target, due: due, isTest: test)
    let contact = ContactCall(context: context, opened: opened, alarm: alarm, plan: plan, callout)
    let attempt = CallAttempt(
      store, callout,
      callers: CallElection.callers(for: target, of: plan, among: store.currentDevices()),
      leases: try store.callClaims(id, occurrence, target), contact.dependencies(store))
    guard let attempt else {
      // Another device calls.
      return try store.keep(
        Store.CallNote(isOver: true, at: context.storeContext.now), of: callout.key)
    }
    try await attempt.run()
  }
}

/// The dependencies of one call by this device.
private struct ContactCall: Sendable {
  private let context: CommandContext
  private let opened: ElapsedTime
  private let alarm: Alarm
  private let plan: Cascade.Plan
  private let callout: Callout

  init(
    context: CommandContext, opened: ElapsedTime, alarm: Alarm, plan: Cascade.Plan,
    _ callout: Callout
  ) {
    self.context = context
    self.opened = opened
    self.alarm = alarm
    self.plan = plan
    self.callout = callout
  }

  func dependencies(_ store: Store) -> CallAttempt.Dependencies {
    @Sendable func present() -> Store { store.with(context.present(after: opened).storeContext) }
    return CallAttempt.Dependencies(
      now: { context.present(after: opened).storeContext.now },
      sleep: { try await Task.sleep(for: .seconds($0)) },
      isWanted: { isWanted(present()) },
      call: {
        await context.callHook.run(
          callout.target, message: message(present()), alarm: alarm,
          occurrence: callout.occurrence, isTest: callout.isTest)
      },
      record: { attempt, outcome in
        // The call has happened, even if it cannot be recorded.
        try? present().commit(
          Event(.called, occurrence, detail: logDetail(store, attempt, outcome)), of: alarm)
      })
  }

  /// The occurrence for the log entry; nil for a rehearsal, which has none.
  private var occurrence: CivilDateTime? { callout.isTest ? nil : callout.occurrence }

  private func isWanted(_ store: Store) -> Bool {
    // If the alarm cannot be read, the contact is still needed.
    guard let alarm = try? store.alarm(callout.alarm) else { return true }
    if callout.isTest {
      return alarm.enabled && !alarm.isDeleted && alarm.progress.rehearsal == callout.due
        && store.timeline(alarm).isRehearsing(at: store.context.now)
    }
    guard let status = try? store.status(alarm) else { return true }
    guard status.state == .ringing, status.current == callout.occurrence else { return false }
    return store.timeline(alarm).cascadeRun(of: callout.occurrence).map { $0.ended == nil } ?? false
  }

  private func message(_ store: Store) -> String {
    let primary = store.devices().devices.first { $0.id == plan.primary }
    var note: String?
    if case .phone(_, let message) = callout.target { note = message }
    let due =
      callout.isTest
      ? store.timeline(alarm).next(after: store.context.now)?.civil ?? callout.occurrence
      : callout.occurrence
    return CallHook.message(
      alarm, due: due, from: CallHook.source(primary), note: note, isTest: callout.isTest)
  }

  private func logDetail(_ store: Store, _ attempt: Int, _ outcome: CallOutcome) -> String {
    let label = callout.target.label(store.deviceNames())
    let test = callout.isTest ? " (a test)" : ""
    switch outcome {
    case .answered: return "\(label): answered, try \(attempt)\(test)"
    case .failed(let reason): return "\(label): \(Printable.text(reason)), try \(attempt)\(test)"
    }
  }
}
