import Git
import Glibc

/// The terminals of a user, where they are told what no hook could bring to them.
public struct Terminals: Sendable {
  private let user: UInt32
  private let folder: String

  /// Where the system has its pseudo-terminals.
  public static let systemFolder = "/dev/pts"

  /// - Parameter folder: where the pseudo-terminals are. In another one than the system's nobody has logged in.
  public init(user: UInt32, folder: String = systemFolder) {
    self.user = user
    self.folder = folder
  }

  /// Those that would be written to. Whether each would take it, only a write could tell.
  ///
  /// Logins first: a pseudo-terminal that is nobody's login may be a program's that reads what appears on it.
  public var open: [String] {
    let logins = logins.filter(isOwn)
    return logins.isEmpty ? others : logins
  }

  /// Shows some lines, and returns how many terminals took them.
  public func show(_ lines: [String], bell: Bool) -> Int {
    // A background job may write even under `stty tostop`.
    signal(SIGTTOU, SIG_IGN)
    // A full-screen program may have turned off the terminal's own carriage returns.
    let text = (bell ? "\u{7}" : "") + "\n" + lines.map { $0 + "\r\n" }.joined()
    let logins = logins.filter(isOwn)
    let count = logins.count { write(text, to: $0) }
    return count > 0 ? count : others.filter { !logins.contains($0) }.count { write(text, to: $0) }
  }

  /// Whether `mesg` is off is not asked: that is for what other people write, and a line in the wrong place is
  /// better than a missed alarm.
  private func write(_ text: String, to path: String) -> Bool {
    // One that was stopped with Ctrl-S takes nothing, and must not be waited for.
    let file = Glibc.open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    let bytes = Array(text.utf8)
    return Glibc.write(file, bytes, bytes.count) == bytes.count
  }

  private func isOwn(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
      && status.st_uid == user
  }

  private var others: [String] {
    DurableFile.names(in: folder).filter { $0.utf8.allSatisfy { (48...57).contains($0) } }
      .sorted().map { "\(folder)/\($0)" }.filter(isOwn)
  }

  /// Where people have logged in. A console with a display is behind a desktop, where nobody sees it.
  private var logins: [String] {
    if folder != Terminals.systemFolder { return [] }
    var paths: [String] = []
    setutxent()
    defer { endutxent() }
    while let entry = getutxent() {
      guard entry.pointee.ut_type == Int16(USER_PROCESS) else { continue }
      func text<Tuple>(_ tuple: Tuple) -> String {
        withUnsafeBytes(of: tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      }
      let line = text(entry.pointee.ut_line)
      if line.hasPrefix("tty"), text(entry.pointee.ut_host).hasPrefix(":") { continue }
      let path = "/dev/\(line)"
      if !line.isEmpty, !paths.contains(path) { paths.append(path) }
    }
    return paths
  }
}
