import BelfryScheduler
import BelfryTerminal
import Glibc

extension CommandDiagnostic {
  /// Prints the diagnostic on standard error: as text, or as a line of JSON for the daemon.
  func print() {
    if let value = getenv(CommandDiagnostic.variable), String(cString: value) == "json" {
      return Console.error(line)
    }
    Console.error("\(isError ? "error" : "warning"): \(message)")
    for hint in hints { Console.error("hint: \(hint)") }
  }

  /// Prints a warning on standard error.
  static func warn(_ message: String, hints: [String] = []) {
    CommandDiagnostic(isError: false, message: message, hints: hints).print()
  }
}
