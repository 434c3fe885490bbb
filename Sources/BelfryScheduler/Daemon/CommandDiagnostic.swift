import BelfryStore

/// An error or a warning of a command. A command that the daemon runs reports each as a line of JSON on standard error.
public struct CommandDiagnostic: Hashable, Sendable {
  /// True for the error that made the command fail; false for a warning.
  public let isError: Bool
  /// The failed subject with the reason, as a sentence that begins in lower case.
  public let message: String
  /// The advice to the user.
  public let hints: [String]

  /// Creates a diagnostic.
  public init(isError: Bool, message: String, hints: [String] = []) {
    self.isError = isError
    self.message = message
    self.hints = hints
  }

  /// The environment variable that makes a command report in JSON.
  public static let variable = "BELFRY_DIAGNOSTICS"

  /// Parses a line of standard error; nil if it is no diagnostic.
  init?(line: String) {
    guard let json = try? JSON(parsing: Array(line.utf8)), let message = json["message"]?.string,
      let level = json["level"]?.string
    else { return nil }
    self.init(
      isError: level == "error", message: message,
      hints: (json["hints"]?.array ?? []).compactMap(\.string))
  }

  /// The diagnostic as a line of JSON: `{level, message, hints}`.
  public var line: String {
    JSON.object([
      "level": isError ? "error" : "warning", "message": .string(message),
      "hints": .array(hints.map { .string($0) }),
    ]).line
  }
}
