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
  func show(_ report: PhoneReport) {
    for recorded in report.recorded {
      let when = recorded.occurrence.map { ", \(context.times.full($0))" } ?? ""
      Console.line("\(recorded.action.label): \(Printable.text(recorded.title))\(when).")
    }
    if report.isStandby {
      return Console.line("Another device publishes the tasks at present.")
    }
    if report.isUnchanged {
      Console.line("Nothing has changed: \(count(report.tasks, "task")).")
    } else {
      Console.line(
        "\(count(report.tasks, "task")): \(report.written) written, \(report.removed) removed.")
    }
    showHeld(report.held.count)
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
    showHeld(status.held.count)
    showProblems(status.problems)
  }

  private func filter(_ options: PhoneOptions) -> String {
    var parts = [
      options.tags.isEmpty
        ? "all" : options.tags.map(\.text).sorted().map { "+\($0)" }.joined(separator: ", ")
    ]
    if options.isNeutral { parts.append("without titles") }
    if !options.acceptsEdits { parts.append("answers only") }
    return parts.joined(separator: ", ")
  }

  func showHeld(_ number: Int) {
    if number == 0 { return }
    CommandDiagnostic.warn(
      "\(count(number, "task")) were deleted on the phone at once; nothing was skipped yet.",
      hints: [
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

  private func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }
}
