import Glibc

/// Reports the state of a service to systemd through `$NOTIFY_SOCKET` (the protocol of sd_notify(3)).
public struct ServiceNotifier: Sendable {
  private let path: String
  /// Seconds between two signs of life that systemd expects at the latest, halved; nil when it expects none.
  public let interval: Double?

  /// - Parameters:
  ///   - environment: the variables of this process: `NOTIFY_SOCKET`, `WATCHDOG_USEC`, `WATCHDOG_PID`.
  ///   - process: the identifier of this process.
  /// - Returns: nil when no service manager listens.
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

  /// The service has started.
  public func ready(_ status: String) { send("READY=1\nSTATUS=\(oneLine(status))") }

  /// The event loop has turned.
  public func keepAlive() { send("WATCHDOG=1") }

  /// The service is about to end.
  public func stopping() { send("STOPPING=1") }

  private func oneLine(_ text: String) -> String { text.replacing("\n", with: " ") }

  /// Sends one message; nobody but systemd needs it, so that a failure is ignored.
  private func send(_ message: String) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(path.utf8)
    // An abstract name begins with a zero byte.
    if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = MemoryLayout<sa_family_t>.size + bytes.count
    let data = Array(message.utf8)
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        // A manager that does not read must not hold up the event loop.
        _ = sendto(
          descriptor, data, data.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), pointer,
          socklen_t(length))
      }
    }
  }
}
