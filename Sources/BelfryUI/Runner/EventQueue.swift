import CLinux
import Glibc
import Synchronization

/// Events from other threads, with a descriptor that can be read while some wait.
final class EventQueue: Sendable {
  private let events = Mutex<[UIEvent]>([])
  private let ends: (read: Int32, write: Int32)

  init() {
    var ends: [Int32] = [-1, -1]
    _ = pipe2(&ends, O_CLOEXEC | O_NONBLOCK)
    self.ends = (ends[0], ends[1])
  }

  deinit {
    close(ends.read)
    close(ends.write)
  }

  var descriptor: Int32 { ends.read }

  func send(_ event: UIEvent) {
    events.withLock { $0.append(event) }
    var byte: UInt8 = 1
    _ = write(ends.write, &byte, 1)
  }

  func takeAll() -> [UIEvent] {
    var buffer = [UInt8](repeating: 0, count: 64)
    while read(ends.read, &buffer, buffer.count) > 0 {}
    return events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}
