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

  private static func tree(below command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
    [command] + command.configuration.subcommands.flatMap { tree(below: $0) }
  }
}
