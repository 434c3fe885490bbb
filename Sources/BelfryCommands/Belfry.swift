import ArgumentParser
import BelfryInput
import BelfryTerminal

/// The root command, `belfry VERB [ALARM] …`.
struct Belfry: ParsableCommand {
  static var configuration: CommandConfiguration { narrowed ?? complete }

  /// The configuration with one command, during the first attempt of `parse(process:)`.
  @TaskLocal private static var narrowed: CommandConfiguration?

  /// The configuration with all commands.
  private static let complete = CommandConfiguration(
    commandName: "belfry",
    abstract: "Manage recurring alarms as files in a git repository.",
    discussion: """
      ALARM is a title, or the start of an id or of a word of the title. Many commands take several alarms, and words \
      that select them: +tag, a state such as pending, due:week.
      Times are wall-clock times: 09:00 is nine o'clock wherever the device is, unless --zone names a time zone.
      A schedule is written as in "every other tue 7pm": see 'belfry help when'.
      """,
    version: BuildVersion.text,
    groupedSubcommands: [
      CommandGroup(
        name: "ALARMS",
        subcommands: [
          UI.self, Add.self, At.self, In.self, When.self, List.self, Next.self, Month.self,
          Week.self,
          Year.self, Show.self, Edit.self,
          Rename.self, NoteCommand.self, TagCommand.self, TagsCommand.self,
          Enable.self, Disable.self,
          PauseCommand.self, Resume.self, Delete.self,
        ]),
      CommandGroup(
        name: "RESPONDING",
        subcommands: [
          Ring.self, Stop.self, Done.self, Snooze.self, Skip.self, Move.self, Unskip.self,
          Pending.self,
          Dismiss.self, Undo.self, Redo.self, Why.self,
        ]),
      CommandGroup(
        name: "BACKGROUND SERVICE",
        subcommands: [
          Service.self, DaemonCommand.self, TickCommand.self, BatteryCommand.self, Poke.self,
          Attend.self, RecordAnswer.self,
        ]),
      CommandGroup(name: "CASCADE", subcommands: [CascadeCommand.self, Calls.self]),
      CommandGroup(
        name: "SYNC",
        subcommands: [
          SyncCommand.self, RemoteCommand.self, Clone.self, Status.self, DeviceCommand.self,
          PhoneCommand.self, Conflicts.self, Explain.self, Hooks.self, MergeDriverCommand.self,
        ]),
      CommandGroup(
        name: "HISTORY", subcommands: [Log.self, Stats.self, GitPassthrough.self]),
      CommandGroup(name: "PARTNERS", subcommands: [PartnerCommand.self]),
      CommandGroup(
        name: "SETTINGS",
        subcommands: [
          SettingsCommand.self, CalendarCommand.self, TierCommand.self, Sounds.self,
          CompletionCommand.self, Catalog.self,
        ]),
      CommandGroup(
        name: "MAINTENANCE", subcommands: [Doctor.self, Backup.self, Export.self, Import.self]),
    ])

  @Option(
    name: .customLong("store"),
    help: "The store's folder (default: BELFRY_STORE, else the data folder).",
    completion: .directory)
  var store: String?

  @Option(help: "Colors: auto, always or never (default: auto).")
  var color: ColorChoice?

  @Flag(help: "Do not show long output in a pager.")
  var noPager = false

  /// Parses the arguments of a process.
  ///
  /// The parser builds a tree of all commands, which takes longer than most commands. If the arguments name a command,
  /// the first attempt is limited to it. If that fails, the error is that of a second attempt with all commands.
  ///
  /// - Parameter arguments: the arguments without the name of the program.
  /// - Throws: an error for `report(_:arguments:)`, also for a request for the version or a completion script.
  static func parse(process arguments: [String]) throws -> any ParsableCommand {
    try checkHelp(arguments)
    let arguments = withRemovals(arguments)
    if let name = commandName(in: arguments),
      let command = complete.subcommands.first(where: { $0._commandName == name }),
      !arguments.contains(where: { $0.hasPrefix("--generate-completion-script") })
    {
      // Below a super-command, the parser doesn't first search the arguments for requests of a completion script.
      let narrowed = CommandConfiguration(
        commandName: complete.commandName, _superCommandName: "", version: complete.version,
        subcommands: [command])
      let parsed = $narrowed.withValue(narrowed) { try? parseAsRoot(arguments) }
      if let parsed { return parsed }
    }
    return try parseAsRoot(arguments)
  }

  /// Returns the first argument that is neither an option of the root command nor its value.
  private static func commandName(in arguments: [String]) -> String? {
    commandIndex(in: arguments).map { arguments[$0] }
  }

  /// Returns the arguments behind the options of the root command and their values. An option without its value is kept.
  static func withoutRootOptions(_ arguments: [String]) -> [String] {
    if let index = commandIndex(in: arguments) { return Array(arguments[index...]) }
    return arguments.suffix(1).filter { ["--store", "--color"].contains($0) }
  }

  private static func commandIndex(in arguments: [String]) -> Int? {
    var rest = arguments[...]
    while let option = rest.first {
      if ["--store", "--color"].contains(option) {
        rest = rest.dropFirst(2)
      } else if option == "--no-pager" || option.hasPrefix("--store=")
        || option.hasPrefix("--color=")
      {
        rest = rest.dropFirst()
      } else {
        break
      }
    }
    return rest.isEmpty ? nil : rest.startIndex
  }

  /// Returns the arguments with the tags that `tag -kids` removes as values of an option.
  private static func withRemovals(_ arguments: [String]) -> [String] {
    guard let index = commandIndex(in: arguments),
      arguments[index] == TagCommand.configuration.commandName
    else { return arguments }
    return Array(arguments[...index]) + TagCommand.removals(in: arguments[(index + 1)...])
  }

  /// Prints the error and its hint on standard error, or help on standard output.
  ///
  /// - Returns: the exit code.
  static func report(_ error: any Error, arguments: [String]) -> Int32 {
    if let failure = CommandError(explaining: error) {
      failure.report(arguments: arguments)
      return failure.kind.rawValue
    }
    if exitCode(for: error).isSuccess {
      // The parser reports a request for help or the version as an error.
      Console.write(fullMessage(for: error) + "\n")
      return 0
    }
    if let code = error as? ExitCode { return code.rawValue }
    let isUsage = exitCode(for: error) == .validationFailure
    let failure =
      isUsage
      ? usageError(error, arguments: arguments)
      : CommandError(error).with(hints: ["See 'belfry doctor'."])
    failure.report(arguments: arguments)
    return failure.kind.rawValue
  }

  /// The names of the commands.
  private static var commandNames: [String] { configuration.subcommands.map { $0._commandName } }

  /// The names of the commands that `--help` lists.
  private static var listedNames: [String] {
    configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
  }

  /// Rejects `help` for an unknown command. The parser would print the general help and exit with 0.
  ///
  /// - Throws: `CommandError` if there is no such command.
  private static func checkHelp(_ arguments: [String]) throws {
    guard arguments.first == "help", let name = arguments.dropFirst().first, !name.hasPrefix("-"),
      !(commandNames + ["help"]).contains(name)
    else { return }
    throw unknownCommand(name)
  }

  /// The commands for the names that other programs use.
  private static let synonyms = [
    "rm": "delete", "remove": "delete", "del": "delete", "ls": "list", "new": "add",
    "create": "add", "annotate": "note", "label": "tag", "title": "rename",
    "modify": "edit", "change": "edit", "set": "edit", "info": "show", "complete": "done",
    "finish": "done", "ack": "done", "unpause": "resume", "history": "log", "push": "sync",
    "pull": "sync", "config": "settings", "cal": "month", "agenda": "week", "restore": "clone",
    "reschedule": "move", "postpone": "move", "shift": "move", "defer": "snooze",
    "upcoming": "next", "search": "list", "find": "list", "off": "disable", "on": "enable",
  ]

  /// Returns the error for an unknown command, with the most similar listed command if one is similar enough.
  private static func unknownCommand(_ unknown: String) -> CommandError {
    let word = unknown.lowercased()
    let nearest = listedNames.min {
      EditDistance.typingErrors($0, word) < EditDistance.typingErrors($1, word)
    }
    // Two wrong letters of three are another word.
    let limit = word.count > 3 ? 2 : 1
    let similar = nearest.flatMap { EditDistance.typingErrors($0, word) <= limit ? $0 : nil }
    let guess = (synonyms[word] ?? similar).map { "Did you mean '\($0)'? " } ?? ""
    return CommandError(
      .usage, "'\(Printable.text(unknown))' is not a belfry command.",
      hint: "\(guess)See 'belfry --help'.")
  }

  /// Returns the parser's message as an error with a hint. The parser's own text has several lines of usage.
  private static func usageError(_ error: any Error, arguments: [String]) -> CommandError {
    let values = arguments.filter { !$0.hasPrefix("-") }
    let words = withoutRootOptions(arguments)
    if let first = words.first, !first.hasPrefix("-"), !words.contains(where: commandNames.contains)
    {
      return unknownCommand(first)
    }
    let line = message(for: error).split(separator: "\n").first.map(String.init) ?? "wrong usage"
    let (command, path) = command(in: values)
    let help = path.isEmpty ? "--help" : (["help"] + path).joined(separator: " ")
    let see = "See 'belfry \(help)'."
    let parts = line.split(separator: "'", maxSplits: 2)
    guard parts.count > 1, parts[0] == "Unknown option ", let unknown = parts.dropFirst().first
    else {
      return CommandError(.usage, sentence(line), hint: see)
    }
    let verb = path.joined(separator: " ")
    let suggestion = OptionSuggestion(String(unknown), of: command).text
    let owner = verb.isEmpty ? "belfry" : "belfry \(verb)"
    return CommandError(
      .usage, "'\(Printable.text(String(unknown)))' is not an option of '\(owner)'.",
      hint: [suggestion, see].compactMap { $0 }.joined(separator: " "))
  }

  /// Returns a message of the parser in the form of Belfry's own: lower case, with a full stop.
  private static func sentence(_ line: String) -> String {
    let text = Printable.text(line)
    let isName = text.hasPrefix("--") || text.dropFirst().first?.isUppercase == true
    let start = isName ? String(text.prefix(1)) : text.prefix(1).lowercased()
    return start + text.dropFirst() + (text.last.map { ".?!".contains($0) } ?? true ? "" : ".")
  }

  /// Returns the command that the arguments name, and its path: `service`, `install`.
  private static func command(
    in arguments: [String]
  ) -> (type: any ParsableCommand.Type, path: [String]) {
    var path: [String] = []
    var command: any ParsableCommand.Type = self
    for argument in arguments {
      guard
        let next = command.configuration.subcommands.first(where: { $0._commandName == argument })
      else { continue }
      path.append(argument)
      command = next
    }
    // `conflicts` alone is `conflicts list`.
    return (command.configuration.defaultSubcommand ?? command, path)
  }
}
