/// The parts of a task as Belfry has written them, each as a hash: `1.5a…-….…`.
///
/// A part whose hash differs was changed by the phone. So Belfry needs no copy of what it has written, and any device can
/// read the answers in a folder that another one has filled.
struct TaskRevision: Hashable, Sendable {
  /// The title.
  let title: UInt32
  /// The note.
  let note: UInt32
  /// The due time.
  let due: UInt32
  /// The times of the reminders, and of the acknowledgment.
  let alerts: UInt32
  /// The status.
  let status: UInt32
  /// The tags and the priority, which the phone may change without an effect.
  let labels: UInt32

  /// The version of the format. Files of another version are written again.
  private static let version = "1"

  init(title: String, note: String, due: String, alerts: String, status: String, labels: String) {
    self.title = TaskRevision.hash(title)
    self.note = TaskRevision.hash(note)
    self.due = TaskRevision.hash(due)
    self.alerts = TaskRevision.hash(alerts)
    self.status = TaskRevision.hash(status)
    self.labels = TaskRevision.hash(labels)
  }

  /// Parses a revision; nil for one of another version.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "-")
    guard parts.count == 7, parts[0] == TaskRevision.version else { return nil }
    let numbers = parts.dropFirst().compactMap { UInt32($0, radix: 36) }
    guard numbers.count == 6 else { return nil }
    (title, note, due) = (numbers[0], numbers[1], numbers[2])
    (alerts, status, labels) = (numbers[3], numbers[4], numbers[5])
  }

  /// The revision as text.
  var text: String {
    ([TaskRevision.version]
      + [title, note, due, alerts, status, labels].map {
        String($0, radix: 36)
      }).joined(separator: "-")
  }

  /// Returns the hash of a text without the white space around it, which apps change: FNV-1a.
  static func hash(_ text: String) -> UInt32 {
    func isSpace(_ byte: UInt8) -> Bool { byte <= 0x20 }
    let bytes = Array(text.utf8)
    let start = bytes.firstIndex { !isSpace($0) } ?? bytes.endIndex
    let end = bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes[start..<end] where byte != UInt8(ascii: "\r") {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return UInt32(truncatingIfNeeded: hash ^ hash >> 32)
  }
}
