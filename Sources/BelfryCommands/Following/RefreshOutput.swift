import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The text about a refresh of calendars that this device follows.
struct RefreshOutput {
  private let context: CommandContext
  private let isDryRun: Bool

  init(_ context: CommandContext, isDryRun: Bool = false) {
    self.context = context
    self.isDryRun = isDryRun
  }

  /// Prints warnings about refreshes in the background: edited alarms, and new failures. Known failures are not repeated.
  ///
  /// - Parameter before: The calendars before the refreshes.
  func warn(
    aboutNews reports: [CalendarRefresh.Report], since before: [CalendarSubscription]
  ) {
    for report in reports { warn(about: report, isBrief: true) }
    let news = reports.filter { report in
      let known = before.first { $0.name == report.subscription.name }?.state
      let state = report.subscription.state
      return state.failure != known?.failure || state.held != known?.held
    }
    error(news)?.warn()
  }

  /// Prints warnings about a refresh: edited alarms, items that Belfry cannot represent, damaged files.
  ///
  /// - Parameter isBrief: True to leave out those that every import of the calendar repeats.
  func warn(about report: CalendarRefresh.Report, isBrief: Bool = false) {
    let name = Printable.text(report.subscription.name)
    if !isBrief {
      for file in report.damaged {
        CommandDiagnostic.warn(
          "\(name): left out the damaged file \(Printable.text(file.name)): \(Printable.text(file.failure.reason))."
        )
      }
    }
    guard case .imported(let imported) = report.outcome else { return }
    ImportOutput(context, source: "calendar", isDryRun: isDryRun).warn(
      about: imported.result.alarms, present: Set(imported.feed.alarms.map(\.id)))
    if isBrief { return }
    let deleted = imported.result.deleted
    if !deleted.isEmpty {
      let titles = deleted.prefix(5).map { Printable.text($0.title) }.joined(separator: ", ")
      let more = deleted.count > 5 ? " and \(deleted.count - 5) more" : ""
      CommandDiagnostic.warn(
        "\(deleted.count) alarm\(deleted.count == 1 ? " was" : "s were") deleted before, and \(deleted.count == 1 ? "stays" : "stay") deleted: \(titles)\(more).",
        hints: ["To bring all of them back: belfry calendar refresh \(name) --restore"])
    }
    for remark in imported.feed.leftOut where remark.isFailure {
      CommandDiagnostic.warn(
        "left out: \(Printable.text(remark.title)): \(Printable.text(remark.reason)).")
    }
  }

  /// Prints the result of an import.
  func show(_ imported: CalendarRefresh.Import) {
    let silent = imported.feed.silentCount
    ImportOutput(context, source: "calendar", isDryRun: isDryRun).show(
      imported.result.alarms, imported.result.skipped, unchanged: imported.unchangedCount,
      // A cancelled event whose alarm is removed counts once.
      leftOut: imported.feed.leftOut.count { remark in
        !imported.result.alarms.removed.contains { $0.id == remark.ended }
      })
    if silent > 0 {
      Console.line(
        "  without a reminder: \(silent) event\(silent == 1 ? "" : "s"). To let all events ring: --all, or --before 15m"
      )
    }
  }

  /// Prints the result of a refresh in lines that begin with the calendar's name.
  func line(_ report: CalendarRefresh.Report) {
    let name = Printable.text(report.subscription.name)
    let isHeld = report.subscription.state.held != nil
    switch report.outcome {
    // The error says what is held.
    case .unchanged where isHeld: return
    case .notNeeded: Console.line("\(name): another process refreshes it now.")
    case .unchanged: Console.line("\(name): unchanged.")
    case .failed: return
    case .imported(let imported) where isHeld && imported.result.alarms.isUnchanged: return
    case .imported(let imported):
      Console.write("\(name): ")
      show(imported)
    }
  }

  /// Returns the error of the refreshes that failed or hold a loss; nil if there is none.
  func error(_ reports: [CalendarRefresh.Report]) -> CommandError? {
    var errors: [CommandError] = []
    for report in reports {
      let name = Printable.text(report.subscription.name)
      if case .failed(let failure) = report.outcome {
        errors.append(CommandError(name, causedBy: failure))
      } else if let held = report.subscription.state.held {
        errors.append(
          CommandError(
            .notPossible, "\(name): \(SubscriptionText.held(held))",
            hint: SubscriptionText.acceptHint(report.subscription.name)))
      }
    }
    guard let first = errors.first else { return nil }
    for error in errors.dropFirst() { error.warn() }
    return first
  }
}

extension CommandContext {
  /// Returns the refresh of the calendars that this device follows.
  func calendarRefresh(_ store: Store) -> CalendarRefresh {
    CalendarRefresh(store) { CommandError(refreshing: $0).clause }
  }
}

extension CommandError {
  /// Creates the error of a failed refresh.
  init(refreshing error: any Error) {
    switch error {
    case let failure as CalendarFailure:
      let kind: Kind = failure.kind == .other ? .failed : .network
      let hint =
        failure.kind == .denied
        ? "Give the user name and the password: --user NAME --password-file FILE, or ~/.netrc" : nil
      self.init(kind, "\(Printable.text(failure.reason)).", hint: hint, source: error)
    default: self.init(error)
    }
  }

  /// The message without its final period.
  fileprivate var clause: String { message.hasSuffix(".") ? String(message.dropLast()) : message }
}
