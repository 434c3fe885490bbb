import BelfryCore
import Files
import Glibc

extension LeaseOwner {
  /// This process.
  public static let thisProcess = process(getpid())

  /// Returns a process as an owner, named after the boot, the process id and the start time.
  static func process(_ id: pid_t) -> LeaseOwner {
    let prefix = "\((ProcessIdentity.currentBoot ?? "").prefix(8))-"
    let own = prefix + identity(of: "\(id)")
    return LeaseOwner(name: own) { name in
      if name == own { return true }
      guard name.hasPrefix(prefix) else { return false }
      let rest = name.dropFirst(prefix.count)
      guard let number = rest.split(separator: "-").first else { return false }
      return identity(of: String(number)) == rest
    }
  }

  /// Returns the identity of a process: its process id and its start time in ticks since the boot. Without such a
  /// process, the process id alone.
  static func identity(of number: String) -> String {
    // The command name in parentheses may contain any character.
    let line = (try? DurableFile.readStream("/proc/\(number)/stat")) ?? []
    guard let name = line.lastIndex(of: UInt8(ascii: ")")) else { return number }
    let fields = line[name...].split(separator: UInt8(ascii: " "))
    // The start time is the 22nd field of the line. A zombie counts as gone.
    guard fields.count > 20, !fields[1].elementsEqual("Z".utf8) else { return number }
    return "\(number)-\(String(decoding: fields[20], as: UTF8.self))"
  }
}
