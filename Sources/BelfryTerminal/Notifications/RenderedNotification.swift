/// A notification as channels get it.
package struct RenderedNotification: Sendable {
  /// The JSON document on a hook's standard input.
  package var document: [UInt8]
  /// The environment variables of a hook.
  package var variables: [String: String]
  /// The lines for a terminal, without control characters.
  package var lines: [String]
  /// True if a terminal sounds its bell.
  package var soundsBell: Bool

  /// Creates a rendered notification.
  package init(document: [UInt8], variables: [String: String], lines: [String], soundsBell: Bool) {
    self.document = document
    self.variables = variables
    self.lines = lines
    self.soundsBell = soundsBell
  }
}
