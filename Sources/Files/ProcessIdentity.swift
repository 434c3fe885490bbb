import Glibc

/// The identity of a process, unique even if its process number is reused.
///
/// A process number alone is reused, after a reboot and after each start of a container.
public struct ProcessIdentity: Hashable, Sendable {
  /// The process number within `namespace`.
  public let number: Int32
  /// The start time of the process, in clock ticks since the boot.
  public let started: UInt64
  /// The kernel's identifier of the current boot.
  public let boot: String
  /// The inode of the PID namespace that `number` belongs to.
  public let namespace: UInt64

  /// Creates an identity that another process has recorded.
  public init(number: Int32, started: UInt64, boot: String, namespace: UInt64) {
    self.number = number
    self.started = started
    self.boot = boot
    self.namespace = namespace
  }

  /// The kernel's identifier of the current boot; nil if `/proc` is not mounted.
  public static let currentBoot: String? =
    (try? DurableFile.readStream("/proc/sys/kernel/random/boot_id")).map {
      String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

  /// The identity of this process; nil if `/proc` is not mounted.
  public static let current: ProcessIdentity? = {
    var status = stat()
    guard let started = startTicks(of: getpid()), stat("/proc/self/ns/pid", &status) == 0,
      let boot = currentBoot
    else { return nil }
    return ProcessIdentity(
      number: getpid(), started: started, boot: boot, namespace: UInt64(status.st_ino))
  }()

  /// The state of a process.
  public enum State: Sendable {
    /// The process is running.
    case running
    /// The process has ended.
    case gone
    /// The process belongs to a PID namespace that the observer cannot see, such as a container's.
    case unknown
  }

  /// Returns the state of the process as `observer` sees it, by default this process.
  public func state(observer: ProcessIdentity? = .current) -> State {
    guard let observer else { return .unknown }
    if boot != observer.boot { return .gone }
    if namespace != observer.namespace { return .unknown }
    return ProcessIdentity.startTicks(of: number) == started ? .running : .gone
  }

  /// Returns the start time of a process in clock ticks since the boot; nil for a zombie or a missing process.
  public static func startTicks(of number: Int32) -> UInt64? {
    guard let line = try? DurableFile.readStream("/proc/\(number)/stat"),
      // The name, in parentheses, may contain any character.
      let name = line.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    let fields = line[name...].split(separator: UInt8(ascii: " "))
    // `fields` starts at the name (field 2): `fields[1]` is the state, and `fields[20]` is field 22, the start time.
    guard fields.count > 20, !fields[1].elementsEqual("Z".utf8) else { return nil }
    return UInt64(String(decoding: fields[20], as: UTF8.self))
  }
}
