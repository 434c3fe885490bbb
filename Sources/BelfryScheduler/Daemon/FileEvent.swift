import Glibc

/// An event of inotify: a change in a watched folder.
struct FileEvent {
  /// The number of the watch.
  let watch: Int32
  /// The kinds of the event: `IN_MOVED_TO` and others.
  let mask: UInt32
  /// The name of the file in the folder; empty for an event of the folder itself.
  let name: String

  /// The size of an event without its name in bytes.
  private static let headSize = 16

  /// Returns all waiting events of an inotify descriptor that does not block.
  static func readAll(from descriptor: Int32) -> [FileEvent] {
    var events: [FileEvent] = []
    while case let more = read(from: descriptor), !more.isEmpty { events += more }
    return events
  }

  /// Returns the waiting events of an inotify descriptor, at most 64 KiB of them.
  static func read(from descriptor: Int32) -> [FileEvent] {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = Glibc.read(descriptor, &buffer, buffer.count)
    var events: [FileEvent] = []
    var offset = 0
    while offset + headSize <= count {
      let (number, mask, length) = buffer.withUnsafeBytes { raw in
        (
          raw.loadUnaligned(fromByteOffset: offset, as: Int32.self),
          raw.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self),
          Int(raw.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
        )
      }
      let start = offset + headSize
      let name = buffer[start..<min(start + length, buffer.count)].prefix { $0 != 0 }
      events.append(
        FileEvent(watch: number, mask: mask, name: String(decoding: name, as: UTF8.self)))
      offset = start + length
    }
    return events
  }
}
