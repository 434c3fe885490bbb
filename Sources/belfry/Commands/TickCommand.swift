import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore

struct TickCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tick",
    abstract: "Fire what is due now, ask what is pending, and say when to look next.",
    discussion: """
      Safe to repeat, and to run beside itself and the daemon: for cron and for systemd timers.

        * * * * * belfry tick --quiet
      """)

  @Flag(help: "On a terminal: open the firing screen when something rings.")
  var ring = false

  @Flag(help: "Tell nobody: only record what has rung and what the clock has settled.")
  var settle = false

  @Flag(help: "Print nothing unless something is wrong: for cron.")
  var quiet = false

  @Flag(help: "Have systemd wake the machine for what is due next: for its timers.")
  var wake = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try common.context(root)
    let store = try context.open(welcome: false, creates: false)
    let report = try await Tick(store, delivery: TickCommand.delivery(context))
      .run(pendingDelivery: !settle)
    context.tell(report.problems)
    let output = AlarmOutput(store: store, style: context.style)
    let batteryWarning =
      settle || store.daemonProcess != nil ? nil : await lookAtBattery(context, store)
    if common.json {
      output.print(json(report, batteryWarning, output))
    } else if !quiet {
      print(report, output)
      if let batteryWarning {
        Console.line(
          "Warned of the battery: \(Printable.text(batteryWarning.title)). \(Printable.text(batteryWarning.headline))."
        )
      }
    }
    if !report.delivered.isEmpty {
      SilentDeviceWarning.tell(store, about: Set(report.delivered.map(\.notification.alarm)))
    }
    for (notification, outcome) in report.delivered {
      guard case .undelivered(let reasons) = outcome else { continue }
      // The last way left: the terminal of whoever ran this, or cron's mail.
      Console.error(
        "\u{07}belfry: warning: no notification could be shown for \(Printable.text(notification.headline))"
      )
      for reason in reasons { Console.error("  \(Printable.text(reason))") }
    }
    if !settle, store.daemonProcess == nil { await callOut(report.callouts, context) }
    if let failure = report.failures.first {
      let explained = CommandError(explaining: failure)
      throw CommandError(
        explained?.code ?? .failed,
        "what happened could not be recorded: \(explained?.message ?? "\(failure)")",
        hint: explained?.hint)
    }
    if wake, let next = report.nextWake { try await ServiceManager(context).wake(at: next) }
    if ring, !common.json { try await RingLoop(context).runIfRinging() }
    await context.upkeep(store)
  }

  /// Leaves a process behind for each call: it may take minutes, and cron is not to wait.
  private func callOut(_ callouts: [Callout], _ context: CommandContext) async {
    guard let command = context.executable else { return }
    for callout in callouts {
      let words = callout.arguments + ["--store", context.storePath]
      let outcome = await TimedProcess.run(
        .path("/bin/sh"),
        ["-c", "setsid \"$0\" \"$@\" </dev/null >/dev/null 2>&1 &", command] + words,
        variables: callout.variables, seconds: 10)
      if case .ended(0, _, _) = outcome { continue }
      Console.error("belfry: warning: a call could not be begun.")
      Console.error("It is tried again by the next tick.")
    }
  }

  /// Tells somebody whose battery will not last, and returns what they were told. That it cannot is no failure of the
  /// tick's.
  private func lookAtBattery(_ context: CommandContext, _ store: Store) async -> Notification? {
    let tick = Tick(store, delivery: TickCommand.delivery(context))
    let report = await tick.lookAtBattery(context.gauge) { (try? store.overview().summaries) ?? [] }
    if let failure = report.failure {
      Console.error(
        "belfry: warning: what the battery tells is not kept: \(CommandError.words(failure))")
    }
    guard let (notification, outcome) = report.batteryWarning else { return nil }
    guard case .undelivered(let reasons) = outcome else { return notification }
    Console.error(
      "\u{07}belfry: warning: nobody could be told of the battery: \(Printable.text(notification.headline)), \(Printable.text(notification.title))."
    )
    for reason in reasons { Console.error("  \(Printable.text(reason))") }
    return nil
  }

  /// The same for who wants to hear nothing of it.
  static func run(_ context: CommandContext) async throws {
    _ = try await Tick(
      try context.open(welcome: false, creates: false), delivery: delivery(context)
    ).run()
  }

  /// Through a process that stays when this one has ended; where the binary cannot be found, as long as this one runs.
  private static func delivery(_ context: CommandContext) -> any NotificationDelivery {
    guard let command = context.executable else { return context.hooks() }
    return DetachedDelivery(command: command, arguments: ["attend", "--store", context.storePath])
  }

  private func print(_ report: TickReport, _ output: AlarmOutput) {
    for (notification, _) in report.delivered {
      let title = Printable.text(notification.title)
      let id = notification.alarm.short
      switch notification.kind {
      case .firing(let late):
        Console.line(
          "Fired: \(title), \(notification.occurrence.spoken)\(late ? " (late)" : ""). Answer: belfry done|stop|snooze|skip \(id)"
        )
      case .followUp(let followUp):
        let last = followUp.isLast ? ", the last" : ""
        Console.line(
          "Asked (\(followUp.number) of \(followUp.count)\(last)): \(Printable.text(notification.headline)) Answer: belfry done \(id)"
        )
      case .warning:
        Console.line("Ahead: \(title), \(notification.occurrence.spoken).")
      case .rehearsal: Console.line("A test of the cascade: \(title).")
      case .missed, .batteryWarning, .word: break
      }
    }
    for (alarm, event) in report.answered {
      let when = event.occurrence.map { ", \($0.spoken)" } ?? ""
      Console.line("Answered: \(Printable.text(alarm.title))\(when): \(event.action.rawValue).")
    }
    summarize("Missed", report.missed)
    summarize("Completed by itself", report.autoCompleted)
    if report.delivered.isEmpty, report.missed.isEmpty, report.autoCompleted.isEmpty {
      Console.line("Nothing is due.")
    }
    if let wake = report.nextWake { Console.line("Next look: \(output.when(wake)).") }
  }

  /// A line an alarm, however long the machine was down.
  private func summarize(_ what: String, _ items: [TickReport.Item]) {
    for (_, group) in Dictionary(grouping: items, by: \.alarm).sorted(by: {
      $0.value[0].due < $1.value[0].due
    }) {
      let title = Printable.text(group[0].title)
      let last = group[group.count - 1].occurrence.spoken
      let more = group[0].detail.map { ", \(Printable.text($0))" } ?? ""
      Console.line(
        group.count == 1
          ? "\(what): \(title), \(last)\(more)."
          : "\(what): \(title), \(group.count) times from \(group[0].occurrence.spoken) to \(last)\(more)."
      )
    }
  }

  /// What a script is told of a nudge.
  private static let ofBatteryWarnings: Set = [
    "alarm", "title", "occurrence", "due", "risk", "predicted", "more",
  ]

  /// `{fired, followUps, warnings, answered, missed, autoCompleted, batteryWarning?, nextWake?}`; the batteryWarning is
  /// `{alarm, title, occurrence, due, risk, predicted, more}`.
  private func json(_ report: TickReport, _ batteryWarning: Notification?, _ output: AlarmOutput)
    -> JSON
  {
    func notifications(_ wanted: (Notification.Kind) -> Bool) -> JSON {
      .array(
        report.delivered.filter { wanted($0.notification.kind) }.map { notification, outcome in
          guard case .object(var members) = notification.json else { return .null }
          // What only whoever shows it needs.
          for key in ["kind", "note", "body", "sound"] { members[key] = nil }
          if case .followUp = notification.kind {} else { members["headline"] = nil }
          if case .undelivered = outcome { members["delivered"] = false }
          return .object(members)
        })
    }
    func item(_ item: TickReport.Item) -> JSON {
      .object([
        "alarm": JSON(item.alarm), "title": .string(item.title),
        "occurrence": JSON(item.occurrence), "due": .string(output.zones.text(item.due)),
      ])
    }
    return .object(omittingNil: [
      "fired": notifications { if case .firing = $0 { true } else { false } },
      "followUps": notifications { if case .followUp = $0 { true } else { false } },
      "warnings": notifications { $0 == .warning },
      "answered": .array(
        report.answered.map { alarm, event in
          .object(omittingNil: [
            "alarm": JSON(alarm.id), "title": .string(alarm.title),
            "occurrence": event.occurrence.map { JSON($0) },
            "action": .string(event.action.rawValue),
          ])
        }),
      "missed": .array(report.missed.map(item)),
      "autoCompleted": .array(report.autoCompleted.map(item)),
      "nudge": batteryWarning.map { batteryWarning in
        .object(
          (batteryWarning.json.object ?? [:]).filter {
            TickCommand.ofBatteryWarnings.contains($0.key)
          })
      },
      "nextWake": report.nextWake.map { .string(output.zones.text($0)) },
    ])
  }
}
