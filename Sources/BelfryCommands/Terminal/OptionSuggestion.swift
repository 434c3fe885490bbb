import ArgumentParser
import BelfryInput

/// The suggestion for an unknown option.
struct OptionSuggestion {
  /// The unknown option, without its dashes.
  private let word: String
  /// The options of the command, without their dashes.
  private let options: [String]

  /// - Parameters:
  ///   - option: the unknown option as typed: `--time`.
  ///   - command: the type of the command.
  init(_ option: String, of command: any ParsableCommand.Type) {
    word = String(option.drop { $0 == "-" }.prefix { $0 != "=" }).lowercased()
    options = OptionSuggestion.names(of: command)
  }

  /// Names that other programs use, with the options of Belfry in the order of their likelihood.
  private static let synonyms: [String: [String]] = [
    "all-day": ["daily"], "category": ["tag"], "categories": ["tag"], "clear": ["done"],
    "advance": ["warn"], "before": ["warn", "until"], "colour": ["color"], "colors": ["color"],
    "comment": ["note"], "confirm": ["strict"], "count": ["times"], "critical": ["persistent"],
    "date": ["once", "start", "ends"],
    "day": ["weekly", "days", "once"], "description": ["note"], "device": ["on"],
    "devices": ["on"], "due": ["once", "at"], "end": ["ends", "until"], "exclude": ["except"],
    "exec": ["run"], "force": ["yes"], "format": ["json"], "from": ["start"], "hour": ["at"],
    "hours": ["at"], "html": ["format"], "ics": ["format"], "important": ["persistent"],
    "insist": ["persistent"], "interval": ["every"], "label": ["tag"], "limit": ["count"],
    "max": ["count"], "month": ["monthly"], "must-confirm": ["strict"], "nag": ["persistent"],
    "name": ["title"], "notice": ["warn"], "number": ["count"],
    "output": ["json"], "priority": ["persistent"], "project": ["tag"], "recur": ["schedule"],
    "remind": ["warn"], "reminder": ["warn"], "reminders": ["warn"], "repeat": ["schedule"],
    "require-confirmation": ["strict"], "rrule": ["schedule"],
    "rule": ["schedule"], "tags": ["tag"], "time": ["at"], "timezone": ["zone"],
    "tz": ["zone"], "until": ["ends"], "urgent": ["persistent"], "warning": ["warn"],
    "week": ["weekly"], "when": ["schedule", "once", "at"],
    "year": ["annual"], "yearly": ["annual"],
  ]

  /// A question that names the option that was probably meant: `Did you mean '--at'?`; nil if no option is similar.
  var text: String? {
    if let option = ofThisCommand { return "Did you mean '--\(option)'?" }
    guard let other = OptionSuggestion.verbs(with: word).first else { return nil }
    return "'--\(word)' is an option of 'belfry \(other)'."
  }

  private var ofThisCommand: String? {
    if let synonym = OptionSuggestion.synonyms[word]?.first(where: options.contains) {
      return synonym
    }
    // A single letter stands for the only option that it starts.
    let longer = options.filter { $0.hasPrefix(word) }
    if let only = longer.first, longer.count == 1 { return only }
    if word.count >= 3, let start = options.first(where: { word.hasPrefix($0) && $0.count >= 3 }) {
      return start
    }
    return EditDistance.nearest(to: word, in: options)
  }

  /// Returns the options that the help of a command lists, without their dashes.
  static func names(of command: any ParsableCommand.Type) -> [String] {
    let help = command.helpMessage(includeHidden: false, columns: 200)
    let names = help.split(separator: "\n").filter { $0.hasPrefix("  -") }.flatMap { line in
      line.split { " ,/".contains($0) }.prefix { $0.hasPrefix("-") || $0.hasPrefix("<") }
        .filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
    }
    return names.filter { !["help", "version"].contains($0) }
  }

  /// Returns the listed commands that have an option, as words.
  private static func verbs(with option: String) -> [String] {
    func search(_ command: any ParsableCommand.Type, _ path: [String]) -> [String] {
      let parts = command.configuration.subcommands
      let below = parts.filter { $0.configuration.shouldDisplay }
        .flatMap { search($0, path + [$0._commandName]) }
      let isVerb = parts.isEmpty && names(of: command).contains(option)
      return (isVerb ? [path.joined(separator: " ")] : []) + below
    }
    return search(Belfry.self, [])
  }
}
