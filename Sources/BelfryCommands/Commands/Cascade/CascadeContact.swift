import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// Calls a phone number or messages a person, for the daemon. It runs until the person answers, or until the contact is
/// no longer needed.
struct CascadeContact: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "contact", abstract: "Call a number or message a person.",
    shouldDisplay: false)

  @Argument var alarm: String
  @Option var occurrence: String?
  @Option var due: String?
  @Option var resumed: String?
  @Option var rehearsal: String?
  @Option var target: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CascadeCommand

  func run() async throws {
    let opened = ElapsedTime()
    let context = try common.context(parent.root)
    context.restrictCallsFile()
    let store = try context.open(.writing, welcome: false)
    guard let id = Identifier(alarm),
      let (subject, due) = ChildCommand.contact(
        id, occurrence: occurrence, due: due, resumed: resumed, rehearsal: rehearsal),
      let wanted = target ?? context.environment[ChildCommand.targetVariable]
    else { throw ValidationError("The daemon runs this command.") }
    guard let alarm = try store.alarm(id),
      let plan = alarm.cascadePlan(at: rehearsal == nil ? due : context.storeContext.now),
      let target = plan.targets.first(where: { $0.key == wanted })
    else { return }
    let callout = Callout(subject, target, due: due)
    let progress = CallProgressFile(store)
    guard let lock = try progress.lock(callout.id) else { return }
    defer { withExtendedLifetime(lock) {} }
    let contact = ContactCall(context: context, opened: opened, alarm: alarm, plan: plan, callout)
    let attempt = CallAttempt(
      store, callout,
      callers: CallElection.callers(for: target, of: plan, among: store.devices.current()),
      leases: try store.callClaims(callout.id), contact.dependencies(store))
    guard let attempt else {
      // Another device calls.
      return try progress.save(
        CallProgress(isOver: true, at: context.storeContext.now), of: callout.id)
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
        let call = notification(present())
        return await context.callHook.run(call, message: NotificationText.message(call))
      },
      record: { attempt, outcome in
        // The call has happened, even if it cannot be recorded.
        let call = LogPayload.Call(
          target: callout.target, attempt: attempt, outcome: outcome, isTest: callout.isTest)
        try? present().commit(Event(.called, callout.occurrence, payload: .call(call)), of: alarm)
      })
  }

  private func isWanted(_ store: Store) -> Bool {
    // If the alarm cannot be read, the contact is still needed.
    guard let alarm = try? store.alarm(callout.alarm) else { return true }
    guard let occurrence = callout.occurrence else {
      return alarm.enabled && !alarm.isDeleted && alarm.progress.rehearsal == callout.due
        && store.timeline(alarm).isRehearsing(at: store.context.now)
    }
    guard let status = try? store.status(alarm) else { return true }
    guard status.state == .ringing, status.current == occurrence else { return false }
    let timeline = store.timeline(alarm)
    guard let run = timeline.cascadeRun(of: occurrence, ledger: store.ledger.read()),
      run.ended == nil
    else { return false }
    // After a snooze, another process makes the calls again.
    return timeline.resumption(of: occurrence, run, at: store.context.now) == callout.resumed
  }

  private func notification(_ store: Store) -> Notification.Call {
    let primary = store.devices.all().devices.first { $0.id == plan.primary }
    var note: String?
    if case .phone(_, let message) = callout.target { note = message }
    let occurrence =
      callout.occurrence ?? store.timeline(alarm).next(after: store.context.now)?.civil
    return Notification.Call(
      callout.target,
      subject: Notification.Call.Subject(
        alarm: alarm.id, title: alarm.title, occurrence: occurrence,
        movedTo: occurrence.flatMap { alarm.progress.moves[$0]?.time }),
      source: NotificationText.source(primary), note: note, isTest: callout.isTest)
  }
}
