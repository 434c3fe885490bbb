import ArgumentParser
import Testing

@testable import BelfryCommands

/// The tree of commands, as the parser reads it at each start.
@Suite struct CommandTreeTests {
  /// Without a name of its own, a command's name is computed from its type's name at each start, which searches all
  /// protocol conformances of the binary three times for each command: more than half of the time of a start.
  @Test func everyCommandStatesItsName() {
    let commands = CommandTreeTests.tree(below: Belfry.self)
    #expect(commands.count > 90)
    for command in commands {
      #expect(command.configuration.commandName != nil, "\(command)")
    }
  }

  /// The parser keeps the line breaks of a discussion, and breaks its lines at 80 columns. A paragraph that is broken
  /// in the source, too, has short and long lines.
  @Test func paragraphsOfHelpAreOneLine() {
    for command in CommandTreeTests.tree(below: Belfry.self) {
      let lines = command.configuration.discussion.split(
        separator: "\n", omittingEmptySubsequences: false)
      for (line, next) in zip(lines, lines.dropFirst())
      where !next.isEmpty && line.first?.isLetter == true && !line.contains("  ") {
        #expect(".:;)".contains(line.last ?? "."), "\(command): \(line)")
      }
      for line in lines where line.hasPrefix("  ") {
        #expect(line.count <= 80, "\(command): \(line)")
      }
    }
  }

  /// The parser is first limited to the named command.
  @Test func narrowedParsingHasTheSameResults() throws {
    let paths = CommandTreeTests.paths(below: Belfry.self)
    #expect(paths.count > 90)
    let endings = [
      [], ["--help"], ["-h"], ["--version"], ["--unknown"], ["--json"], ["word"], ["two", "words"],
      ["+tag", "--json"],
      ["--experimental-dump-help"], ["--generate-completion-script", "bash"], ["--", "--help"],
      ["help"],
    ]
    for path in paths {
      for arguments in endings.map({ path + $0 }) + [
        ["--store", "/tmp/x"] + path, ["--store=/x"] + path, ["help"] + path,
      ] {
        let narrowed = CommandTreeTests.outcome { try Belfry.parse(process: arguments) }
        let complete = CommandTreeTests.outcome { try Belfry.parseAsRoot(arguments) }
        #expect(narrowed == complete, "\(arguments)")
      }
    }
    for arguments in [
      [], ["--help"], ["--version"], ["--store"], ["--store", "list"], ["--stores", "list"],
      ["lst"],
    ] {
      let narrowed = CommandTreeTests.outcome { try Belfry.parse(process: arguments) }
      let complete = CommandTreeTests.outcome { try Belfry.parseAsRoot(arguments) }
      #expect(narrowed == complete, "\(arguments)")
    }
  }

  @Test func narrowingEndsWithTheParsing() throws {
    _ = try Belfry.parse(process: ["list"])
    #expect(Belfry.configuration.subcommands.count > 40)
  }

  /// Returns a description of the parsed command and its values, the text of its help, or the error.
  private static func outcome(_ parse: () throws -> any ParsableCommand) -> String {
    do {
      var command = try parse()
      // The parser's own command is a request for help, which is an error when it runs.
      guard "\(type(of: command))" == "HelpCommand" else {
        var text = ""
        dump(command, to: &text)
        return text
      }
      try command.run()
      return "no help"
    } catch {
      return "\(Belfry.exitCode(for: error).rawValue): \(Belfry.fullMessage(for: error))"
    }
  }

  private static func paths(below command: any ParsableCommand.Type) -> [[String]] {
    command.configuration.subcommands.flatMap { subcommand in
      [[subcommand._commandName]] + paths(below: subcommand).map { [subcommand._commandName] + $0 }
    }
  }

  private static func tree(below command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
    [command] + command.configuration.subcommands.flatMap { tree(below: $0) }
  }
}
