import Files
import Glibc

/// A connection to systemd that reports the state of the service, with the protocol of sd_notify(3).
public struct ServiceNotifier: Sendable {
  private let path: String
  /// The interval between two keep-alive messages, in seconds: half the watchdog timeout. Nil without a watchdog.
  public let interval: Double?

  /// Creates a connection; nil if no service manager listens.
  ///
  /// - Parameters:
  ///   - environment: the variables of this process: `NOTIFY_SOCKET`, `WATCHDOG_USEC`, `WATCHDOG_PID`.
  ///   - process: the identifier of this process.
  public init?(environment: [String: String], process: Int32) {
    guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@"),
      path.utf8.count < 108
    else { return nil }
    self.path = path
    let owner = environment["WATCHDOG_PID"].flatMap { Int32($0) }
    let limit = environment["WATCHDOG_USEC"].flatMap { Double($0) }
    interval =
      owner == nil || owner == process ? limit.flatMap { $0 > 0 ? $0 / 2_000_000 : nil } : nil
  }

  /// Reports that the service has started, with a status line for `systemctl status`.
  public func ready(_ status: String) { send("READY=1\nSTATUS=\(oneLine(status))") }

  /// Reports that the event loop is alive.
  public func keepAlive() { send("WATCHDOG=1") }

  /// Reports that the service is stopping.
  public func stopping() { send("STOPPING=1") }

  private func oneLine(_ text: String) -> String { text.replacing("\n", with: " ") }

  /// Sends a message. A failure is ignored, because the daemon works without systemd.
  private func send(_ message: String) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let data = Array(message.utf8)
    _ = LocalSocketAddress.with(path) { address, length in
      // MSG_DONTWAIT: a service manager that does not read must not block the event loop.
      sendto(
        descriptor, data, data.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), address, length)
    }
  }
}
