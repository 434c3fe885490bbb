import BelfryTerminal
import Logging

/// A log handler that writes to standard error: `belfry: stopped.`, `belfry: warning: …`.
///
/// Each line of a message becomes a line of its own, after the time if there is one.
struct DaemonLogHandler: LogHandler {
  /// The time at the beginning of each line; nil if the receiver of standard error adds the time.
  let time: String?
  /// Writes one line.
  var write: @Sendable (String) -> Void = { Console.error($0) }

  var logLevel: Logger.Level = .info
  var metadata: Logger.Metadata = [:]

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let level = event.level >= .warning ? "\(event.level): " : ""
    let lines = "\(event.message)".split(separator: "\n", omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() {
      write("\(time.map { "\($0) " } ?? "")belfry: \(number == 0 ? level : "")\(line)")
    }
  }
}
