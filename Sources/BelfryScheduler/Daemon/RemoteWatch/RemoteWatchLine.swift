import Git

/// A line of the output of `RemoteWatchScript`. The host is not trusted: any other line is invalid.
enum RemoteWatchLine: Hashable, Sendable {
  /// The script runs.
  case started
  /// The repository cannot be watched.
  case unavailable
  /// The commit of the branch; nil if it has none.
  case head(ObjectID?)
  /// Nothing has changed.
  case alive

  /// Parses a line without its newline.
  init?(_ line: [UInt8]) {
    let text = String(decoding: line, as: UTF8.self)
    switch text {
    case "belfry-watch 1": self = .started
    case "unavailable": self = .unavailable
    case "alive": self = .alive
    case "head -": self = .head(nil)
    default:
      guard text.hasPrefix("head "), let commit = ObjectID(hexadecimal: text.dropFirst(5)) else {
        return nil
      }
      self = .head(commit)
    }
  }
}
