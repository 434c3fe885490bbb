import CLinux
import Glibc
import Synchronization

/// The signals received, for the event loop to poll.
enum TerminalSignals {
  // Lock-free, as signal handlers write them on any thread.
  private static let received = Atomic<Int32>(0)
  private static let continued = Atomic<Bool>(false)

  static var ending: Int32? {
    let number = received.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }

  /// The ends of a pipe with a byte for each signal.
  private static let pipe: (read: Int32, write: Int32) = {
    var ends: [Int32] = [-1, -1]
    _ = pipe2(&ends, O_CLOEXEC | O_NONBLOCK)
    return (ends[0], ends[1])
  }()

  /// A descriptor that can be read after a signal.
  static var descriptor: Int32 { pipe.read }

  static func drain() {
    var buffer: UInt64 = 0
    while read(pipe.read, &buffer, 8) > 0 {}
  }

  private static func wake() {
    let number = errno
    var byte: UInt8 = 1
    _ = write(pipe.write, &byte, 1)
    errno = number
  }

  static func install() {
    // Initializes the static variables before a handler can access them.
    received.store(0, ordering: .relaxed)
    continued.store(false, ordering: .relaxed)
    _ = pipe
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
      signal(number) {
        TerminalSignals.received.store($0, ordering: .relaxed)
        TerminalSignals.wake()
      }
    }
    signal(SIGCONT) { _ in
      TerminalSignals.continued.store(true, ordering: .relaxed)
      TerminalSignals.wake()
    }
    signal(SIGWINCH) { _ in TerminalSignals.wake() }
  }

  static func forgetInterrupts() {
    let number = received.load(ordering: .relaxed)
    if number == SIGINT || number == SIGQUIT { received.store(0, ordering: .relaxed) }
  }

  static func hangUp() { received.store(SIGHUP, ordering: .relaxed) }

  static func wasContinued() -> Bool { continued.exchange(false, ordering: .relaxed) }
}
