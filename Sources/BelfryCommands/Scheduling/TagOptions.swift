import ArgumentParser
import BelfryCore
import BelfryStore
import BelfryTerminal

/// The option `--tag` of `add` and `edit`.
struct TagOptions: ParsableArguments {
  // A value can start with a hyphen: --tag -home.
  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Tags: home,pills; +home,-pills to change some; or none.", valueName: "tags"),
    completion: .tags)
  var tag: [String] = []

  /// True if the option is given.
  var isGiven: Bool { !tag.isEmpty }

  /// Returns an alarm's tags after the edit.
  ///
  /// - Throws: `CommandError` if a value is not valid.
  func changed(_ tags: Set<AlarmTag>) throws -> Set<AlarmTag> {
    guard isGiven else { return tags }
    do throws(TagEditError) {
      return try TagEdit(tag.joined(separator: ",")).applied(to: tags)
    } catch {
      throw TagOptions.error(error)
    }
  }

  /// Returns the error of a command for an edit of tags that is not valid or not possible.
  ///
  /// - Parameter option: The option that it is about; nil for arguments.
  static func error(_ error: TagEditError, of option: String? = "--tag") -> CommandError {
    CommandError(
      .usage, "\(option.map { "\($0): " } ?? "")\(text(of: error)).", hint: hint(error))
  }

  /// Returns the tags of an alarm that the option sets, also those that do not change.
  func stated(for alarm: Alarm) -> Set<AlarmTag> {
    // `changed` has reported an edit that is not valid.
    guard isGiven, let edit = try? TagEdit(tag.joined(separator: ",")) else { return [] }
    return edit.stated(alarm.tags.union(alarm.mergeState.tagStamps.keys))
  }

  private static func text(of error: TagEditError) -> String {
    switch error {
    case .invalid(let word, .empty) where word.isEmpty: "a tag is empty"
    case .invalid(let word, let error): "'\(Printable.text(word))' is not a tag: \(error.reason)"
    case .mixed: "some tags have + or -, and some do not"
    case .contradiction(let tag): "'\(tag)' is added and removed"
    case .tooMany(let count):
      "the alarm would have \(count) tags; the maximum is \(AlarmTag.maxCount)"
    }
  }

  private static func hint(_ error: TagEditError) -> String {
    switch error {
    case .mixed:
      "Write all tags, such as home,pills, or only changes, such as +home,-pills."
    case .contradiction: "Name each tag once."
    case .invalid, .tooMany: "Write tags such as home,pills. Nothing was changed."
    }
  }
}
