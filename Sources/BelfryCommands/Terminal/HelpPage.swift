import ArgumentParser
import BelfryTerminal

/// The pages of `belfry --help`: the everyday commands on one screen, and all commands with `--all`.
enum HelpPage {
  /// The commands that most people use every day, by their groups.
  private static let everyday: [(title: String, commands: [any ParsableCommand.Type])] = [
    ("ALARMS", [Add.self, List.self, Next.self, Show.self, Edit.self, Delete.self]),
    ("RESPONDING", [Done.self, Stop.self, Snooze.self, Skip.self, Move.self, Undo.self]),
    ("MORE", [Month.self, Log.self, SyncCommand.self, SettingsCommand.self]),
  ]

  /// Returns the page that some arguments request; nil if they request none of these pages.
  ///
  /// - Parameter arguments: The arguments without the name of the program.
  static func text(for arguments: [String], _ style: Style) -> String? {
    let rest = Belfry.withoutRootOptions(arguments)
    let words = Set(rest)
    let asks = !words.isDisjoint(with: ["--help", "-h", "help"]) || rest.isEmpty
    guard asks, words.isSubset(of: ["--help", "-h", "help", "--all"]),
      !words.contains("help") || rest.first == "help"
    else { return nil }
    return words.contains("--all") ? Belfry.helpMessage() + "\n" : short(style)
  }

  private static func short(_ style: Style) -> String {
    let columns = style.width ?? 80
    func wrapped(_ text: String, indent: Int = 0) -> String {
      TextWidth.wrapped(text, to: max(8, columns - indent))
        .joined(separator: "\n" + String(repeating: " ", count: indent)) + "\n"
    }
    var text = wrapped(
      "Usage: belfry COMMAND [ALARM] …, with the title of an alarm or a part of it")
    text += "\n  " + wrapped("belfry add \"Pay rent\" every month on the 1st at 9am", indent: 4)
    for group in everyday {
      text += style.paint(group.title, .bold) + "\n"
      for command in group.commands {
        let configuration = command.configuration
        let name = configuration.commandName ?? ""
        text +=
          "  " + style.paint(name, .cyan) + String(repeating: " ", count: 10 - name.utf8.count)
        text += wrapped(configuration.abstract, indent: 12)
      }
    }
    return text
      + wrapped("Options of a command: belfry help COMMAND. All commands: belfry help --all")
  }
}
