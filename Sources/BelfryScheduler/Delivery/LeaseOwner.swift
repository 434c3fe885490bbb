import BelfryStore
import Git
import Glibc

/// Whoever is about a delivery: a process, told apart from every other before and after it.
public struct LeaseOwner: Sendable {
  /// As it is noted.
  public let name: String
  /// Whether the process of a name is still there.
  public let isAlive: @Sendable (String) -> Bool

  public init(name: String, isAlive: @escaping @Sendable (String) -> Bool) {
    self.name = name
    self.isAlive = isAlive
  }

  /// This process: by its number, when it was started and in which run of the machine.
  public static let thisProcess: LeaseOwner = {
    let boot = content(of: "/proc/sys/kernel/random/boot_id")
    let prefix = "\(boot.prefix(8))-"
    let own = prefix + identity(of: "\(getpid())")
    return LeaseOwner(name: own) { name in
      if name == own { return true }
      guard name.hasPrefix(prefix) else { return false }
      let rest = name.dropFirst(prefix.count)
      guard let number = rest.split(separator: "-").first else { return false }
      return identity(of: String(number)) == rest
    }
  }()

  private static func content(of path: String) -> String {
    String(decoding: (try? DurableFile.readStream(path)) ?? [], as: UTF8.self)
  }

  /// A process's number and when it was started, in ticks since the machine was; the number alone when there is none.
  static func identity(of number: String) -> String {
    // The name, in parentheses, may hold anything.
    let line = (try? DurableFile.readStream("/proc/\(number)/stat")) ?? []
    guard let name = line.lastIndex(of: UInt8(ascii: ")")) else { return number }
    let fields = line[name...].split(separator: UInt8(ascii: " "))
    // The 22nd field; a zombie is gone.
    guard fields.count > 20, !fields[1].elementsEqual("Z".utf8) else { return number }
    return "\(number)-\(String(decoding: fields[20], as: UTF8.self))"
  }
}
