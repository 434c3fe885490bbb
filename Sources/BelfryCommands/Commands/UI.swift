import ArgumentParser
import BelfryScheduler
import BelfryTerminal
import BelfryUI
import Files
import Glibc

struct UI: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ui",
    abstract: "Open the full screen: list, answer, add and look back.",
    discussion: """
      'belfry' alone does this on a terminal.

      The keys are those of vi and of most full-screen programs; ? shows them. d marks as done, s stops, z snoozes, S skips, \
      a adds, / filters, u undoes, q quits. What others change is shown at once.

        belfry ui
        belfry ui --plain      # lines instead of a screen, for screen readers

      Other keys: lines such as 'done = D' in the file 'keys' of the configuration folder.
      """)

  @Flag(help: "Print lines, and read commands: for screen readers and pipes.")
  var plain = false

  @Option(help: "The store's folder (default: BELFRY_STORE, else the data folder).")
  var store: String?

  @ParentCommand var root: Belfry

  func run() throws {
    if ChildOfScreen.isThisProcess {
      throw CommandError(.notPossible, "the full screen is open.")
    }
    let context = try CommandContext(store: store ?? root.store, color: root.color ?? .auto)
    if plain { return PlainRunner(StoreBackend(context, hasCountdowns: false)).run() }
    let terminal = context.environment["TERM"] ?? ""
    if Style.isDumb(terminal) {
      throw CommandError(
        .notPossible,
        "the full screen needs a terminal that can move its cursor, and TERM is '\(Printable.text(terminal))'.",
        hint:
          "Lines instead of a screen: belfry ui --plain. Or the commands: belfry list, belfry done."
      )
    }
    guard let session = TerminalSession(colors: context.colors) else {
      throw CommandError(
        .notPossible, "the full screen needs a terminal.", hint: "In a script: belfry list --json")
    }
    let (keys, problems) = keys(context)
    for problem in problems { Console.error("warning: \(problem)") }
    // Notifications that have no other way are not written over what shows them already.
    let mark = ScreenMark(store: context.storePath)
    defer { withExtendedLifetime(mark) {} }
    UIRunner(StoreBackend(context), session, keys: keys).run()
    if let number = session.endingSignal { throw ExitCode(128 + number) }
  }

  /// Returns the keys, with those of the person's file.
  private func keys(_ context: CommandContext) -> (KeyTable, [String]) {
    guard let folder = try? context.environment.configuration,
      case let path = "\(folder)/keys",
      let file = (try? DurableFile.read(path, limit: 64 << 10)) ?? nil
    else { return (.standard, []) }
    let (table, problems) = KeyTable.standard.reading(String(decoding: file.bytes, as: UTF8.self))
    return (table, problems.map { "\(Printable.text(path)), \($0)" })
  }
}
