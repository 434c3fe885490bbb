import BelfryCore
import BelfryTerminal

/// Everything that the screen needs from outside: the store, its actions, and the commands of belfry.
///
/// The runner calls it on threads of its own: one for what is read, one for answers and commands in the order of the keys, and
/// one for a sync.
package protocol UIBackend: AnyObject, Sendable {
  func list(filter: String, columns: Int) -> ListContent
  func details(_ id: Identifier, columns: Int) -> [String]
  func page(_ tab: Tab, _ size: Size, month: Int) -> [PageLine]
  /// Returns what a phrase means: the alarm and its next dates, or what is missing.
  func preview(_ phrase: String, columns: Int) -> [String]
  /// Returns the values of an alarm for the form; none if they cannot be read.
  func form(_ id: Identifier) -> [FormField]
  /// Returns what the words of a form change, or why they are not valid.
  func preview(edit words: [String], columns: Int) -> [String]
  /// Returns the words that can complete a command line.
  func completions(_ line: String) -> [String]
  func answer(_ answer: UIAnswer, _ ids: [Identifier]) -> UIEvent.Outcome
  func run(_ words: [String], columns: Int) -> UIEvent.Outcome
  /// Runs a command on the terminal, which the screen has left. Returns nil if nothing has to be shown.
  func runOnTerminal(_ words: [String]) -> UIEvent.Outcome?
  func editFile(_ id: Identifier) -> UIEvent.Outcome?
  /// Reports changes of the store from the first reading of the list on, until the end of the process.
  func watch(_ changed: @escaping @Sendable () -> Void)
  /// The time until something on the screen changes by itself, in milliseconds: the next minute, or an alarm.
  func untilChange() -> Int
}
