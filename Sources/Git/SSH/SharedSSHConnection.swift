import Files
import Glibc

/// An ssh connection that several git processes share, through a socket of OpenSSH (`ControlMaster`).
///
/// The first process connects and leaves a master process behind, which ends after 15 idle seconds. The following
/// processes need no handshake.
public struct SharedSSHConnection: Hashable, Sendable {
  /// The shell command that runs ssh, for `GIT_SSH_COMMAND`.
  let command: String
  /// The folder of the socket.
  let folder: String
  /// The start of the socket's name. OpenSSH appends a hash of the resolved host, port and user.
  let prefix: String
  /// True if ssh connects through another program, whose error messages OpenSSH discards for shared connections.
  let hasProxy: Bool

  /// The time in seconds after which an idle connection closes.
  private static let idleTime = 15
  /// The options that close a connection within a minute if the host no longer responds.
  static let checkOptions = ["ServerAliveInterval=30", "ServerAliveCountMax=1"]

  init(sshCommand: String, folder: String, prefix: String, settings: Settings) {
    var options = [
      "ControlMaster=auto", "ControlPath=\(folder)/\(prefix)%C",
      "ControlPersist=\(SharedSSHConnection.idleTime)",
      // Otherwise the user's forwarded ports would stay in use as long as the connection.
      "ClearAllForwardings=yes",
    ]
    if !settings.checksConnection { options += SharedSSHConnection.checkOptions }
    let words = ([sshCommand] + options.map { "-o \($0)" }).joined(separator: " ")
    // The master process must not keep the store's file system in use. Relative paths need the folder.
    let change = sshCommand == SSHCommand.standard ? "cd / && " : ""
    command = "\(change)exec \(words)"
    (self.folder, self.prefix, hasProxy) = (folder, prefix, settings.hasProxy)
  }

  /// The paths of the sockets.
  private var sockets: [String] {
    DurableFile.names(in: folder).filter { $0.hasPrefix(prefix) }.map { "\(folder)/\($0)" }
  }

  /// True if a master process accepts connections.
  var isOpen: Bool { sockets.contains { SharedSSHConnection.accepts($0) } }

  /// Removes the sockets, so that the next process connects anew.
  func abandon() {
    for socket in sockets { _ = unlink(socket) }
  }

  private static func accepts(_ path: String) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return LocalSocketAddress.with(path) { connect(descriptor, $0, $1) == 0 } ?? false
  }

  // MARK: Settings

  /// The user's settings for a host, from the output of `ssh -G`.
  struct Settings: Hashable, Sendable {
    /// True if OpenSSH is recent enough, and the user has no settings for shared connections.
    let canShare: Bool
    /// True if ssh connects through another program.
    let hasProxy: Bool
    /// True if the user has set a check of idle connections at least once a minute.
    let checksConnection: Bool

    init(canShare: Bool, hasProxy: Bool, checksConnection: Bool) {
      self.canShare = canShare
      self.hasProxy = hasProxy
      self.checksConnection = checksConnection
    }

    /// Parses the output of `ssh -G`.
    init(_ output: String) {
      var values: [Substring: Substring] = [:]
      for line in output.split(separator: "\n") {
        let words = line.split(separator: " ", maxSplits: 1)
        if words.count == 2, values[words[0]] == nil { values[words[0]] = words[1] }
      }
      func isSet(_ name: Substring) -> Bool {
        values[name].map { !["none", "no", "false", "0"].contains($0) } ?? false
      }
      hasProxy = isSet("proxycommand") || isSet("proxyjump")
      checksConnection =
        values["serveraliveinterval"].flatMap { Int($0) }.map { (1...60).contains($0) } ?? false
      // OpenSSH 8.7 and later print `sessiontype`. The master process of 8.4 and earlier keeps git's standard error open.
      canShare =
        values["hostname"] != nil && values["sessiontype"] != nil && !isSet("controlmaster")
        && !isSet("controlpath") && !isSet("controlpersist")
    }
  }
}
