import Glibc
import Synchronization

/// Lets threads pass, or blocks them while it is closed.
public final class Gate: Sendable {
  private let closed = Mutex(false)

  /// Creates an open gate.
  public init() {}

  /// Blocks the threads that come.
  public func close() { closed.withLock { $0 = true } }
  /// Lets all threads pass.
  public func open() { closed.withLock { $0 = false } }
  /// True if threads can pass.
  public var isOpen: Bool { closed.withLock { !$0 } }

  /// Returns once the gate is open.
  public func pass() {
    while closed.withLock({ $0 }) { usleep(2_000) }
  }
}
