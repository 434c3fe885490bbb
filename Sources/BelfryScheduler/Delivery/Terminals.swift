import Git
import Glibc

/// The terminals of a user, as the last channel after the hooks.
public struct Terminals: Sendable {
  private let user: UInt32
  private let folder: String

  /// The system's folder of pseudo-terminals.
  public static let systemFolder = "/dev/pts"

  /// Creates the terminals of a user.
  ///
  /// - Parameters:
  ///   - user: the user id.
  ///   - folder: the folder of pseudo-terminals. In a folder other than the system's, there are no logins.
  public init(user: UInt32, folder: String = systemFolder) {
    self.user = user
    self.folder = folder
  }

  /// The paths of the terminals that `show` would try. A write to them can still fail.
  ///
  /// Logins are preferred, because a pseudo-terminal without a login may belong to a program that parses its output.
  public var open: [String] {
    let logins = logins.filter(isOwn)
    return logins.isEmpty ? others : logins
  }

  /// Writes lines to the terminals. Returns the number of terminals on which that succeeded.
  ///
  /// - Parameter bell: true to ring the terminal bell.
  public func show(_ lines: [String], bell: Bool) -> Int {
    // A background job may write even under `stty tostop`.
    signal(SIGTTOU, SIG_IGN)
    // A full-screen program may have disabled the terminal's own carriage returns.
    let text = (bell ? "\u{7}" : "") + "\n" + lines.map { $0 + "\r\n" }.joined()
    let logins = logins.filter(isOwn)
    let count = logins.count { write(text, to: $0) }
    return count > 0 ? count : others.filter { !logins.contains($0) }.count { write(text, to: $0) }
  }

  /// Writes to one terminal, even if `mesg` is off: that setting is for messages of other users.
  ///
  /// - Returns: False on failure.
  private func write(_ text: String, to path: String) -> Bool {
    // O_NONBLOCK: a write to a terminal that was stopped with Ctrl-S would block.
    let file = Glibc.open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    let bytes = Array(text.utf8)
    return Glibc.write(file, bytes, bytes.count) == bytes.count
  }

  /// Returns true for a character device of this user.
  private func isOwn(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
      && status.st_uid == user
  }

  /// The user's pseudo-terminals, with and without a login.
  private var others: [String] {
    DurableFile.names(in: folder).filter { $0.utf8.allSatisfy { (48...57).contains($0) } }
      .sorted().map { "\(folder)/\($0)" }.filter(isOwn)
  }

  /// The terminals of all logins. A console with a display is omitted, because the desktop hides it.
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
