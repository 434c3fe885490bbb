import BelfryCore
import BelfryPhone
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The text about the tasks on the phone.
struct PhoneText {
  private let context: CommandContext

  init(_ context: CommandContext) { self.context = context }

  /// Shows the result of a run.
  func show(_ report: PhoneReport, in store: Store) {
    for recorded in report.recorded {
      let when = recorded.occurrence.map { ", \(context.times.full($0))" } ?? ""
      Console.line("\(recorded.action.label): \(Printable.text(recorded.title))\(when).")
    }
    warn(about: report.refusals)
    if report.isStandby {
      return Console.line("Another device publishes the tasks at present.")
    }
    if report.isUnchanged {
      Console.line("Nothing has changed: \(count(report.tasks, "task")).")
    } else {
      Console.line(
        "\(count(report.tasks, "task")): \(report.written) written, \(report.removed) removed.")
    }
    showHeld(report.held, in: store)
    showProblems(report.problems)
  }

  /// Shows the present state.
  func show(_ status: PhoneStatus, in store: Store) {
    let configuration = status.configuration
    Console.line("Folder    \(Printable.text(configuration.folder)) (\(status.server.name))")
    if let url = configuration.url { Console.line("Server    \(Printable.text(url))") }
    let closed = status.closed == 0 ? "" : ", \(status.closed) completed"
    Console.line("Tasks     \(status.tasks) open\(closed)")
    Console.line("Alarms    \(filter(configuration.options))")
    if status.leftAlone > 0 {
      Console.line("Other     \(count(status.leftAlone, "task")) from before the setup, left alone")
    }
    if let changed = status.changed, changed > 0 {
      Console.line(
        "Waiting   \(count(changed, "changed file")) for the daemon, the next tick or: belfry phone sync"
      )
    }
    if let failure = status.failure { CommandError(failure).warn() }
    showHeld(status.held, in: store)
    showProblems(status.problems)
  }

  /// Warns about moves on the phone that are not possible.
  func warn(about refusals: [PhoneReport.Refusal]) {
    let output = AlarmOutput(
      now: context.storeContext.now, zones: context.storeContext.zones, style: context.style)
    for refusal in refusals {
      let reason = MoveErrorText(refusal.alarm, output).error(refusal.reason).message
      CommandDiagnostic.warn(
        "\(Printable.text(refusal.alarm.title)), \(context.times.full(refusal.occurrence)), was moved on the phone, and is back at its time: \(reason)"
      )
    }
  }

  /// The choices, in one line: `+health, without titles`.
  func filter(_ options: PhoneOptions) -> String {
    var parts = [
      options.tags.isEmpty
        ? "all" : options.tags.map(\.text).sorted().map { "+\($0)" }.joined(separator: ", ")
    ]
    if options.isNeutral { parts.append("without titles") }
    if !options.acceptsEdits { parts.append("answers only") }
    return parts.joined(separator: ", ")
  }

  /// Shows the deleted tasks that wait for a decision.
  func showHeld(_ held: [OccurrenceID], in store: Store) {
    if held.isEmpty { return }
    let titles = Dictionary(grouping: held.sorted(), by: \.alarm)
      .map { id, held -> (CivilDateTime, String) in
        let title = ((try? store.alarm(id)) ?? nil).map { Printable.text($0.title) } ?? id.short
        let times = held.prefix(PhoneText.maxHeld).map { context.times.full($0.occurrence) }
        let more = held.count > times.count ? ["\(held.count - times.count) more"] : []
        return (held[0].occurrence, "\(title): \((times + more).joined(separator: "; "))")
      }
      .sorted { $0.0 < $1.0 }.map(\.1)
    CommandDiagnostic.warn(
      "\(count(held.count, "task")) were deleted on the phone at once; nothing was skipped yet.",
      hints: titles.prefix(PhoneText.maxProblems) + [
        "To skip these occurrences: belfry phone sync --skip-deleted. To have the tasks back, which happens after an hour: belfry phone sync --restore-deleted"
      ])
  }

  private func showProblems(_ problems: [PhoneReport.Problem]) {
    for problem in problems.prefix(PhoneText.maxProblems) {
      CommandDiagnostic.warn(
        problem.name.map { "\(Printable.text($0)) is ignored: \(problem.reason)." }
          ?? "in the folder, \(problem.reason).")
    }
    if problems.count > PhoneText.maxProblems {
      CommandDiagnostic.warn("\(problems.count - PhoneText.maxProblems) other files are ignored.")
    }
  }

  private static let maxProblems = 10
  /// The number of deleted tasks of an alarm that are named.
  private static let maxHeld = 3

  private func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }
}
