import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore

struct TickCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tick",
    abstract: "Fire what is due now, and say when to look next.",
    discussion: """
      Safe to repeat, and to run beside itself: for cron and for systemd timers.

        * * * * * belfry tick
      """)

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try common.context(root)
    let store = try context.open()
    let report = try await Tick(store, delivery: context.hooks()).run()
    context.tell(report.problems)
    let output = AlarmOutput(store: store, style: context.style)
    if common.json { output.print(json(report, store)) } else { print(report, output) }
    for (notice, outcome) in report.fired {
      guard case .undelivered(let reasons) = outcome else { continue }
      // The last way left: the terminal of whoever ran this, or cron's mail.
      Console.error(
        "\u{07}belfry: warning: no notification could be shown for \(Printable.text(notice.title))."
      )
      for reason in reasons { Console.error("  \(Printable.text(reason))") }
    }
    if let failure = report.failures.first {
      let explained = CommandError(explaining: failure)
      throw CommandError(
        explained?.code ?? .failed,
        "what happened could not be recorded: \(explained?.message ?? "\(failure)")",
        hint: explained?.hint)
    }
  }

  private func print(_ report: TickReport, _ output: AlarmOutput) {
    for (notice, _) in report.fired {
      let late = notice.late ? " (late)" : ""
      Console.line(
        "Fired: \(Printable.text(notice.title)), \(notice.occurrence.spoken)\(late). Answer: belfry done|stop|snooze \(notice.alarm.short)"
      )
    }
    for item in report.missed {
      Console.line("Missed: \(Printable.text(item.title)), \(item.occurrence.spoken).")
    }
    for item in report.autoCompleted {
      Console.line(
        "Completed by itself: \(Printable.text(item.title)), \(item.occurrence.spoken).")
    }
    if report.fired.isEmpty, report.missed.isEmpty, report.autoCompleted.isEmpty {
      Console.line("Nothing is due.")
    }
    if let wake = report.nextWake { Console.line("Next look: \(output.when(wake)).") }
  }

  /// `{fired, followUps, missed, autoCompleted, nextWake?}`
  private func json(_ report: TickReport, _ store: Store) -> JSON {
    let zones = store.context.zones
    func item(_ item: TickReport.Item) -> JSON {
      .object([
        "alarm": JSON(item.alarm), "title": .string(item.title),
        "occurrence": JSON(item.occurrence),
        "due": .string(zones.text(item.due)),
      ])
    }
    return .object(omittingNil: [
      "fired": .array(
        report.fired.map { notice, _ in
          .object([
            "alarm": JSON(notice.alarm), "title": .string(notice.title),
            "occurrence": JSON(notice.occurrence), "due": .string(notice.due),
            "late": .bool(notice.late),
          ])
        }),
      "followUps": .array([]), "missed": .array(report.missed.map(item)),
      "autoCompleted": .array(report.autoCompleted.map(item)),
      "nextWake": report.nextWake.map { .string(zones.text($0)) },
    ])
  }
}
