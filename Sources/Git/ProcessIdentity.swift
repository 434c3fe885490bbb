import Glibc

/// A process, distinguished from every other process before and after it.
///
/// A process number alone is reused: after a restart of the machine, and in a container after each of its starts.
public struct ProcessIdentity: Hashable, Sendable {
  /// The process number within `namespace`.
  public let number: Int32
  /// The start of the process, in clock ticks since the machine's.
  public let started: UInt64
  /// The kernel's identifier for the time since the machine started.
  public let boot: String
  /// The inode of the PID namespace that `number` belongs to.
  public let namespace: UInt64

  /// An identity as another process has recorded it.
  public init(number: Int32, started: UInt64, boot: String, namespace: UInt64) {
    self.number = number
    self.started = started
    self.boot = boot
    self.namespace = namespace
  }

  /// This process; nil where `/proc` is not mounted.
  public static let current: ProcessIdentity? = {
    var status = stat()
    guard let started = startTicks(of: getpid()), stat("/proc/self/ns/pid", &status) == 0,
      let boot = try? DurableFile.readStream("/proc/sys/kernel/random/boot_id")
    else { return nil }
    return ProcessIdentity(
      number: getpid(), started: started,
      boot: String(decoding: boot.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self),
      namespace: UInt64(status.st_ino))
  }()

  /// The state of a process as this one can tell it.
  public enum Presence: Sendable {
    case running, gone
    /// The process belongs to a PID namespace, such as a container's, that the observer cannot see.
    case unknown
  }

  /// Returns whether the process still runs, as far as this process can see.
  public func presence(observer: ProcessIdentity? = .current) -> Presence {
    guard let observer else { return .unknown }
    if boot != observer.boot { return .gone }
    if namespace != observer.namespace { return .unknown }
    return ProcessIdentity.startTicks(of: number) == started ? .running : .gone
  }

  /// Returns the start of a process, in clock ticks since the machine's; nil when there is no such process, or only a
  /// zombie.
  static func startTicks(of number: Int32) -> UInt64? {
    guard let line = try? DurableFile.readStream("/proc/\(number)/stat"),
      // The name, in parentheses, may contain anything.
      let name = line.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    let fields = line[name...].split(separator: UInt8(ascii: " "))
    // Counted from the name, the state is the second field, and field 22 of the line is the 21st.
    guard fields.count > 20, !fields[1].elementsEqual("Z".utf8) else { return nil }
    return UInt64(String(decoding: fields[20], as: UTF8.self))
  }
}
