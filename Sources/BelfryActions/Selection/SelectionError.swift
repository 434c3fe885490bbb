import BelfryCore
import BelfryStore

/// The reason why words select no alarm.
public enum SelectionError: Error {
  /// Names and filter words are mixed.
  case mixed
  /// No alarm matches the words of a listing.
  case noMatch(words: [String])
  /// The verb applies to no alarm that matches the filter words. The last payload are the alarms that match.
  case nothing(AnswerVerb, filters: [String], matching: [AlarmSummary])
  /// The verb applies to several alarms, and none was named.
  case unclear(AnswerVerb, [AlarmSummary])
  /// A name matches no alarm. The title of one, or a word in that title, is similar.
  case misspelled(name: String, AlarmSummary)
  /// A name matches several alarms.
  case ambiguous(name: String, [AlarmSummary])
  /// A name matches an alarm only inside of a word, maybe by chance.
  case partOfWord(name: String, AlarmSummary)
  /// The words behind a name are a schedule, and also the title of an alarm.
  case scheduleOrAlarm(words: String, AlarmSummary)
  /// A tag is not valid.
  case badTag(word: String, TagError)
}
