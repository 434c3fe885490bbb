import ArgumentParser
import BelfryCore
import BelfryStore
import BelfryTerminal
import BelfryUI
import Files

/// The form of a command that lacks values: `belfry add` without a schedule, `belfry edit` without a change.
///
/// It is that of the full screen, which shows what the values mean as they are typed. Where there is no screen, such as on a
/// dumb terminal, `AlarmForm` asks line by line.
struct FormScreen {
  private let context: CommandContext
  private let session: TerminalSession

  /// Returns nil if the terminal cannot show a form.
  init?(_ context: CommandContext) {
    let environment = context.environment
    guard !Style.isDumb(environment["TERM"]), let session = TerminalSession(colors: context.colors)
    else { return nil }
    let (size, least) = (session.size, Layout.least)
    guard size.columns >= least.columns, size.rows >= least.rows else { return nil }
    (self.context, self.session) = (context, session)
  }

  /// Shows the prompt of a new alarm.
  ///
  /// - Parameter words: The words that are known.
  /// - Throws: `CommandError` if nothing was added; `ExitCode` after a signal.
  func add(_ words: [String]) throws {
    let text = words.map { ShellWord.quoted($0) }.joined(separator: " ")
    try run(.add(text.isEmpty ? "" : text + " "), unfinished: "no alarm was added.")
  }

  /// Shows the form of an alarm.
  ///
  /// - Throws: `CommandError` if nothing was changed; `ExitCode` after a signal.
  func edit(_ alarm: AlarmSummary) throws {
    try run(
      .edit(alarm.id, title: Printable.text(alarm.shownTitle)), unfinished: "nothing was changed.")
  }

  private func run(_ purpose: UIState.Purpose, unfinished: String) throws {
    let runner = UIRunner(
      StoreBackend(context), session, keys: .standard, purpose: purpose)
    let result = runner.run()
    if let number = session.endingSignal { throw ExitCode(128 + number) }
    guard let result else { throw CommandError(.failed, unfinished) }
    for line in result.lines {
      Console.line(context.style.isColored ? line : StyledText.plain(line))
    }
  }
}
