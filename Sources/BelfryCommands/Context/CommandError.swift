import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Git

/// A failure of a command: its kind, the message, the error that caused it, and hints on what to do next.
struct CommandError: Error {
  /// The kind of a failure, which is its exit code.
  typealias Kind = ChildCommand.ExitCode

  let kind: Kind
  /// The failed subject with the reason, as a sentence that begins in lower case.
  let message: String
  /// The advice to the user, in the order of the output.
  let hints: [String]
  /// The error that caused the failure; nil if the command found the failure itself.
  let source: (any Error)?
  /// True if the command works on a terminal, where it can ask or show a screen.
  private(set) var needsTerminal = false

  init(_ kind: Kind, _ message: String, hints: [String], source: (any Error)? = nil) {
    self.kind = kind
    self.message = URLMask.masked(message)
    self.hints = hints.map { URLMask.masked($0) }
    self.source = source
  }

  init(_ kind: Kind, _ message: String, hint: String? = nil, source: (any Error)? = nil) {
    self.init(kind, message, hints: hint.map { [$0] } ?? [], source: source)
  }

  /// Creates the error for a subject that failed because of another error, in the form `SUBJECT: REASON`.
  init(_ subject: String, causedBy error: any Error) {
    let cause = CommandError(error)
    self.init(
      cause.kind, "\(subject): \(cause.message)", hints: cause.hints, source: cause.source ?? error)
  }

  /// Returns the name that matches no alarm, if that is the error; nil for any other one.
  static func missingAlarm(_ error: any Error) -> String? {
    let cause = (error as? CommandError)?.source ?? error
    guard case StoreError.noSuchAlarm(let name)? = cause as? StoreError else { return nil }
    return name
  }

  /// All hints as one text; nil if there are none.
  var hint: String? { hints.isEmpty ? nil : hints.joined(separator: " ") }

  /// Returns the error with other hints.
  func with(hints: [String]) -> CommandError {
    var error = CommandError(kind, message, hints: hints, source: source)
    error.needsTerminal = needsTerminal
    return error
  }

  /// Returns the error of a command that works on a terminal. The full screen runs the command again there.
  func needingTerminal() -> CommandError {
    var error = self
    error.needsTerminal = true
    return error
  }

  // MARK: Output

  /// Prints the error and its hints on standard error, with credentials masked.
  ///
  /// - Parameter arguments: the arguments of the command, whose URLs the error may quote.
  func report(arguments: [String] = []) {
    let error = masked(arguments)
    CommandDiagnostic(
      isError: true, message: error.message, hints: error.hint.map { [$0] } ?? []
    ).print()
  }

  /// Prints the error and its hints as a warning on standard error.
  func warn() {
    CommandDiagnostic.warn(message, hints: hint.map { [$0] } ?? [])
  }

  /// Returns the error with the credentials masked in URLs that it quotes from the command's arguments.
  private func masked(_ arguments: [String]) -> CommandError {
    let urls = arguments.filter { $0.contains("://") }
      .flatMap { url -> [(quoted: String, shown: String)] in
        let shown = Printable.text(URLMask.masked(url: url))
        return [(url, shown), (Printable.text(url), shown)]
      }
      .sorted { $0.quoted.count > $1.quoted.count }
    func replaced(_ text: String) -> String {
      urls.reduce(text) { $0.replacing($1.quoted, with: $1.shown) }
    }
    return CommandError(kind, replaced(message), hints: hints.map(replaced), source: source)
  }
}
