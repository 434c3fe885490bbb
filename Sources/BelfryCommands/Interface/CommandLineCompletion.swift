import ArgumentParser
import BelfryCore
import BelfryStore
import BelfryTerminal
import Files

/// The words that can complete a command line of the full screen: those that a shell would offer.
struct CommandLineCompletion {
  /// The words before the one that is typed.
  private let words: [String]
  /// The word that is typed.
  private let last: String
  private let source: CompletionSource

  /// The greatest number of words.
  private static let limit = 12

  /// Returns nil for an empty line.
  init?(_ line: String, context: CommandContext) {
    let all = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard !line.isEmpty, let last = all.last else { return nil }
    (words, self.last) = (all.dropLast(), last)
    source = CompletionSource(words: all, index: all.count - 1, prefix: last, context)
  }

  /// The words in their order, with quotation marks where a shell needs them. They need not be typed.
  var completions: [String] {
    let typed = last.lowercased()
    let found = Set(candidates).filter { $0.lowercased().hasPrefix(typed) && $0 != last }
    return found.sorted().prefix(CommandLineCompletion.limit).map { word in
      // The prompt gives no meaning to the other characters of a shell.
      word.contains { $0.isWhitespace || "'\"\\".contains($0) } ? ShellWord.quoted(word) : word
    }
  }

  private var candidates: [String] {
    var commands = Belfry.configuration.groupedSubcommands.flatMap(\.subcommands)
    var path: [String] = []
    var found: (any ParsableCommand.Type)?
    for word in words {
      guard let command = commands.first(where: { $0._commandName == word }) else { break }
      path.append(word)
      found = command
      commands = command.configuration.subcommands
    }
    if !commands.isEmpty, path.count == words.count {
      return commands.filter { $0.configuration.shouldDisplay }.compactMap { $0._commandName }
    }
    if let found, last.hasPrefix("-") { return OptionSuggestion.names(of: found).map { "--\($0)" } }
    return values(of: path).map(\.value)
  }

  /// Returns the values of the option before, or else the arguments of a command.
  private func values(of path: [String]) -> [CompletionSource.Candidate] {
    switch words.last {
    case "--sound": return CompletionSource.sounds
    case "--zone": return source.zones
    case "--tag": return source.tags
    case "--on", "--device": return source.devices
    default: break
    }
    switch path.first {
    case "settings":
      return words.count == path.count ? CompletionSource.settings : source.settingValues
    case "tier": return Settings.Tier.allCases.map { CompletionSource.Candidate($0.rawValue) }
    case "device": return source.devices
    case "remote", "sync": return source.remotes
    case "partner": return source.partners
    case "calendar": return source.calendars + source.followedCalendars
    case "sounds": return CompletionSource.sounds
    case "log": return source.alarms() + source.logWords
    default: return source.alarms() + source.filterWords
    }
  }
}
