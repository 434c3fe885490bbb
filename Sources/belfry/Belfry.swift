import ArgumentParser
import Dispatch
import Git
import Glibc

/// Where the process begins: most commands run here to their end, without a second thread.
@main
enum Main {
  /// How many files Dispatch opens when the first task begins, and one to spare.
  private static let descriptorsOfDispatch = 5

  static func main() {
    // A hook that does not read, or a reader that has gone, is an error to handle, not the end.
    signal(SIGPIPE, SIG_IGN)
    #if compiler(>=6.3) && compiler(<6.4)
      ThreadPool.install()
    #endif
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      try Belfry.checkHelp(arguments)
      var command = try Belfry.parseAsRoot(arguments)
      guard let parsed = command as? any AsyncParsableCommand else {
        try command.run()
        exit(0)
      }
      // Dispatch ends the process where it finds none left for its own.
      try Descriptors.ensure(Main.descriptorsOfDispatch)
      // Sound: only the task below uses the command from here on. This thread never touches it again.
      nonisolated(unsafe) let handed = parsed
      Task.detached {
        var asynchronous = handed
        do {
          try await asynchronous.run()
          exit(0)
        } catch {
          exit(Belfry.report(error, arguments: arguments))
        }
      }
      dispatchMain()
    } catch {
      exit(Belfry.report(error, arguments: arguments))
    }
  }
}

/// `belfry VERB [ALARM] …`
struct Belfry: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "belfry",
    abstract: "Recurring alarms as files in a git repository.",
    discussion: """
      ALARM is the start of an identifier, a title, or a part of one.
      Times are civil: 09:00 is nine o'clock wherever you are, unless --zone names a place.
      """,
    version: "0.1.0",
    groupedSubcommands: [
      CommandGroup(
        name: "ALARMS",
        subcommands: [
          Add.self, List.self, Next.self, Show.self, Edit.self, Enable.self, Disable.self,
          PauseCommand.self, Resume.self, Delete.self,
        ]),
      CommandGroup(
        name: "WHAT RINGS",
        subcommands: [
          TickCommand.self, Ring.self, Stop.self, Done.self, Snooze.self, Skip.self, Unskip.self,
          Pending.self, Dismiss.self, Undo.self,
          Attend.self,
        ]),
      CommandGroup(
        name: "AT WORK",
        subcommands: [Service.self, DaemonCommand.self, Poke.self, BatteryCommand.self]),
      CommandGroup(
        name: "WHEN A DEVICE STAYS SILENT",
        subcommands: [CascadeCommand.self, Calls.self]),
      CommandGroup(name: "PARTNERS", subcommands: [PartnerCommand.self]),
      CommandGroup(
        name: "HISTORY", subcommands: [Log.self, Stats.self, GitPassthrough.self]),
      CommandGroup(
        name: "CHOICES",
        subcommands: [SettingsCommand.self, TierCommand.self, Sounds.self, Catalog.self]),
      CommandGroup(
        name: "OTHER DEVICES",
        subcommands: [
          RemoteCommand.self, SyncCommand.self, Clone.self, Status.self, DeviceCommand.self,
          Conflicts.self,
          Explain.self,
        ]),
      CommandGroup(
        name: "PLAIN GIT",
        subcommands: [Hooks.self, MergeDriverCommand.self]),
      CommandGroup(name: "SAFETY", subcommands: [Doctor.self, Export.self, Import.self]),
    ])

  @Option(
    name: .customLong("store"),
    help: "The store's folder (default: BELFRY_STORE, else the data folder).")
  var store: String?

  /// Tells what went wrong, and returns the exit code.
  fileprivate static func report(_ error: any Error, arguments: [String]) -> Int32 {
    if let failure = CommandError(explaining: error)?.masked(arguments) {
      Console.error("belfry: \(failure.message)")
      if let hint = failure.hint { Console.error(hint) }
      return failure.code.rawValue
    }
    if exitCode(for: error).isSuccess {
      // Help or the version was asked for.
      Console.write(fullMessage(for: error) + "\n")
      return 0
    }
    if let code = error as? ExitCode { return code.rawValue }
    let isUsage = exitCode(for: error) == .validationFailure
    let failure =
      (isUsage
      ? usageError(error, arguments: arguments)
      : CommandError(.failed, "\(Printable.text("\(error)")).", hint: "See 'belfry doctor'."))
      .masked(arguments)
    Console.error("belfry: \(failure.message)")
    if let hint = failure.hint { Console.error(hint) }
    return failure.code.rawValue
  }

  /// The parser answers `help` for a command that there is not with the whole help, as if all were well.
  fileprivate static func checkHelp(_ arguments: [String]) throws {
    guard arguments.first == "help", let verb = arguments.dropFirst().first, !verb.hasPrefix("-"),
      !(configuration.subcommands.map { $0._commandName } + ["help"]).contains(verb)
    else { return }
    throw unknownCommand(verb)
  }

  private static func unknownCommand(_ unknown: String) -> CommandError {
    let verbs = configuration.subcommands.map { $0._commandName }
    let near = verbs.min { distance($0, unknown) < distance($1, unknown) }
    let guess = near.flatMap { distance($0, unknown) <= 2 ? "Did you mean '\($0)'? " : nil } ?? ""
    return CommandError(
      .usage, "'\(Printable.text(unknown))' is not a belfry command.",
      hint: "\(guess)See 'belfry --help'.")
  }

  /// What the parser has to say, in two lines.
  private static func usageError(_ error: any Error, arguments: [String]) -> CommandError {
    let verbs = configuration.subcommands.map { $0._commandName }
    let words = arguments.filter { !$0.hasPrefix("-") }
    if !words.contains(where: verbs.contains), let unknown = words.first, arguments.first == unknown
    {
      return unknownCommand(unknown)
    }
    let line = message(for: error).split(separator: "\n").first.map(String.init) ?? "wrong usage"
    return CommandError(.usage, Printable.text(line), hint: "See 'belfry \(help(for: words))'.")
  }

  /// The command that explains what was meant: `help service install`.
  private static func help(for words: [String]) -> String {
    var path: [String] = []
    var command: any ParsableCommand.Type = self
    for word in words {
      guard
        let next = command.configuration.subcommands.first(where: { $0._commandName == word })
      else { continue }
      path.append(word)
      command = next
    }
    return path.isEmpty ? "--help" : (["help"] + path).joined(separator: " ")
  }

  /// How many letters two words differ by (Levenshtein).
  private static func distance(_ a: String, _ b: String) -> Int {
    var row = Array(0...b.count)
    for (i, x) in a.enumerated() {
      var previous = row[0]
      row[0] = i + 1
      for (j, y) in b.enumerated() {
        let replaced = previous + (x == y ? 0 : 1)
        previous = row[j + 1]
        row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[b.count]
  }
}
