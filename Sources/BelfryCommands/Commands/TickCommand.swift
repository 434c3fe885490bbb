import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct TickCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tick",
    abstract: "Evaluate the store once and deliver everything due.",
    discussion: """
      A tick is safe to repeat and to run beside the daemon or another tick. Run it from cron or a systemd timer:

        * * * * * belfry tick --quiet
      """)

  @Flag(help: "Open the firing screen if an alarm rings (on a terminal).")
  var ring = false

  @Flag(help: "Deliver nothing; only record firings and outcomes.")
  var settle = false

  @Flag(help: "Print only problems, for cron.")
  var quiet = false

  @Flag(help: "Wake the machine for the next alarm (needs systemd).")
  var wake = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try common.context(root)
    let store = try context.open(.evaluating, welcome: false)
    await context.restoreSoundOutput()
    let report = try await Tick(store, delivery: TickCommand.delivery(context, store))
      .run(delivers: !settle)
    context.warnings.warn(about: report.problems)
    if !quiet, !settle { context.warnings.warn(aboutPartnersOf: store) }
    let output = AlarmOutput(store: store, style: context.style)
    let text = NotificationText(context.times)
    // A daemon does the rest itself.
    let isAlone = !settle && DaemonHandle(store).process == nil
    let batteryWarning = isAlone ? await checkBattery(context, store) : nil
    let callouts = isAlone ? report.callouts : []
    if common.json {
      try Console.write(
        TickDocument(
          report, callouts: callouts, batteryWarning: batteryWarning, zones: output.zones))
    } else if !quiet {
      print(report, callouts, output)
      if let batteryWarning {
        Console.line(
          "Battery warning: \(Printable.text(batteryWarning.title)). \(Printable.text(text.headline(batteryWarning)))."
        )
      }
    }
    if !report.delivered.isEmpty {
      SilentDeviceWarning.print(
        store, about: Set(report.delivered.compactMap(\.notification.key.alarm)))
    }
    for (notification, outcome) in report.delivered {
      guard case .undelivered(let reasons) = outcome else { continue }
      // The last resort: the terminal that runs this command, or cron's mail.
      Console.error(
        "\u{07}warning: no notification could be shown for \(Printable.text(text.headline(notification)))"
      )
      for reason in reasons { Console.error("  \(Printable.text(reason))") }
    }
    await startCalls(callouts, context)
    if isAlone { await refreshCalendars(context, store) }
    if let failure = report.failures.first {
      throw CommandError("the firings could not be recorded", causedBy: failure)
    }
    for (alarm, event) in report.answered { await context.runDoneAction(after: event, of: alarm) }
    if isAlone { await syncPhone(context, store) }
    if wake, let next = report.nextWake { try await ServiceManager(context).systemd.wake(at: next) }
    if ring, !common.json { try RingLoop(context).runIfRinging() }
    await context.maintain(store)
  }

  /// Brings the store and the phone's tasks together. A failure is printed, and does not fail the tick.
  private func syncPhone(_ context: CommandContext, _ store: Store) async {
    guard let tasks = PhoneTasks(context, store) else { return }
    do {
      let report = try await tasks.run()
      let isShown = !quiet && !common.json && !report.recorded.isEmpty
      if isShown { PhoneText(context).show(report, in: store) }
      await tasks.ask(about: report)
    } catch {
      CommandDiagnostic.warn(
        "the phone's tasks were not updated: \(CommandError.text(of: error))",
        hints: CommandError(error).hints)
    }
  }

  /// Starts a background process for each call. A call may take minutes, and cron must not wait for it.
  private func startCalls(_ callouts: [Callout], _ context: CommandContext) async {
    guard let command = context.environment.executable else { return }
    for callout in callouts {
      let call = ChildCommand.contact(callout)
      let arguments = call.arguments(store: context.storePath)
      let outcome = await TimedProcess.run(
        .path("/bin/sh"),
        ["-c", "setsid \"$0\" \"$@\" </dev/null >/dev/null 2>&1 &", command] + arguments,
        variables: call.variables, seconds: 10)
      if case .ended(0, _, _) = outcome { continue }
      CommandDiagnostic.warn("a call could not be started.", hints: ["The next tick retries it."])
    }
  }

  /// Imports the calendars that are due. A failure is printed once, and does not fail the tick.
  private func refreshCalendars(_ context: CommandContext, _ store: Store) async {
    let subscriptions = SubscriptionFolder(store).all()
    if subscriptions.isEmpty { return }
    var options = CalendarRefresh.Options()
    options.onlyDue = true
    let reports = await context.calendarRefresh(store).run(subscriptions, options)
    RefreshOutput(context).warn(aboutNews: reports, since: subscriptions)
  }

  /// Records a sample of the battery and delivers a battery warning if one is due. A failure is printed and does not
  /// fail the tick.
  ///
  /// - Returns: the delivered warning; nil if there is none.
  private func checkBattery(_ context: CommandContext, _ store: Store) async -> Notification? {
    let check = BatteryCheck(store, delivery: TickCommand.delivery(context, store))
    let report = await check.run(context.gauge) { (try? store.overview().summaries) ?? [] }
    if let failure = report.failure {
      CommandDiagnostic.warn(
        "the battery sample was not recorded: \(CommandError.text(of: failure))")
    }
    guard let (notification, outcome) = report.warning else { return nil }
    guard case .undelivered(let reasons) = outcome else { return notification }
    Console.error(
      "\u{07}warning: the battery warning was not delivered: \(Printable.text(NotificationText(context.times).headline(notification))), \(Printable.text(notification.title))."
    )
    for reason in reasons { Console.error("  \(Printable.text(reason))") }
    return nil
  }

  /// Runs a tick without output.
  static func run(_ context: CommandContext) async throws {
    let store = try context.open(.evaluating, welcome: false)
    _ = try await Tick(store, delivery: delivery(context, store)).run()
  }

  /// Returns a delivery through helper processes that outlive this one; if the path of the binary is unknown, through
  /// this process.
  private static func delivery(
    _ context: CommandContext, _ store: Store
  ) -> any NotificationDelivery {
    let registry = HookRegistry.folder(of: store)
    guard let command = context.environment.executable else {
      return context.hooks(registry: registry)
    }
    return DetachedDelivery(
      command: command,
      arguments: ChildCommand.attend(hookRegistry: registry).arguments(store: context.storePath))
  }

  /// Returns the line about a call or message.
  ///
  /// The compiler of Swift 6.3.1 crashes if it inlines the computed properties of a callout here.
  @inline(never)
  private static func line(_ callout: Callout, _ times: TimeText) -> String {
    let occurrence = callout.occurrence.map { ", \(times.full($0))" } ?? ", a test"
    return "Started: \(Printable.text(callout.target.action([:])))\(occurrence)."
  }

  private func print(_ report: TickReport, _ callouts: [Callout], _ output: AlarmOutput) {
    let text = NotificationText(output.times)
    for (notification, _) in report.delivered {
      let title = Printable.text(notification.content?.shownTitle ?? notification.title)
      switch notification {
      case .firing(let content, let firing):
        let occurrence = output.times.full(content.time)
        let answers = [.done, .stop, .snooze, .skip].filter(firing.actions.contains)
          .map(\.rawValue).joined(separator: "|")
        Console.line(
          "Fired: \(title), \(occurrence)\(firing.isLate ? " (late)" : ""). Answer: belfry \(answers) \(content.id.alarm.short)"
        )
      case .followUp(let content, let followUp):
        let last = followUp.isLast ? ", the last" : ""
        Console.line(
          "Follow-up (\(followUp.number) of \(followUp.count)\(last)): \(Printable.text(text.headline(notification))) Answer: belfry done \(content.id.alarm.short)"
        )
      case .advanceWarning(let content):
        Console.line("Advance warning: \(title), \(output.times.full(content.time)).")
      case .rehearsal: Console.line("A test of the cascade: \(title).")
      case .missedSummary, .batteryWarning, .message: break
      }
    }
    for line in callouts.map({ TickCommand.line($0, output.times) }) { Console.line(line) }
    for (alarm, event) in report.answered {
      let when = event.occurrence.map { ", \(output.times.full($0))" } ?? ""
      Console.line("Answered: \(Printable.text(alarm.title))\(when): \(event.action.rawValue).")
    }
    summarize("Missed", report.missed, output.times)
    summarize("Completed automatically", report.autoCompleted, output.times)
    if report.delivered.isEmpty, report.missed.isEmpty, report.autoCompleted.isEmpty,
      callouts.isEmpty
    {
      Console.line("Nothing is due.")
    }
    if let wake = report.nextWake { Console.line("Next wake-up: \(output.when(wake)).") }
  }

  /// Prints one line for each alarm, however many occurrences it has.
  private func summarize(_ outcome: String, _ items: [TickReport.Item], _ times: TimeText) {
    for (_, group) in Dictionary(grouping: items, by: \.alarm).sorted(by: {
      $0.value[0].due < $1.value[0].due
    }) {
      let title = Printable.text(group[0].title)
      let last = times.full(group[group.count - 1].time)
      let more = MissedText.text(group[0].payload, times).map { ", \($0)" } ?? ""
      Console.line(
        group.count == 1
          ? "\(outcome): \(title), \(last)\(more)."
          : "\(outcome): \(title), \(group.count) times from \(times.full(group[0].time)) to \(last)\(more)."
      )
    }
  }
}
