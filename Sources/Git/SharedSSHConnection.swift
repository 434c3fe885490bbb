import Crypto
import Glibc
import Subprocess
import Synchronization

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
  /// The time in seconds between two checks of an idle connection. Two missing responses close it.
  private static let checkInterval = 20

  init(sshCommand: String, folder: String, prefix: String, settings: Settings) {
    var options = [
      "ControlMaster=auto", "ControlPath=\(folder)/\(prefix)%C",
      "ControlPersist=\(SharedSSHConnection.idleTime)",
      // Otherwise the user's forwarded ports would stay in use as long as the connection.
      "ClearAllForwardings=yes",
    ]
    if !settings.checksConnection {
      options += [
        "ServerAliveInterval=\(SharedSSHConnection.checkInterval)", "ServerAliveCountMax=2",
      ]
    }
    let words = ([sshCommand] + options.map { "-o \($0)" }).joined(separator: " ")
    // The master process must not keep the store's file system in use. Relative paths need the folder.
    command = sshCommand == SSHConnections.defaultCommand ? "cd / && exec \(words)" : words
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
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }

  // MARK: Settings

  /// The user's settings for a host, from the output of `ssh -G`.
  struct Settings: Hashable, Sendable {
    /// True if OpenSSH is recent enough, and the user has no settings for shared connections.
    let canShare: Bool
    /// True if ssh connects through another program.
    let hasProxy: Bool
    /// True if the user has a setting for the check of idle connections.
    let checksConnection: Bool

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
      checksConnection = isSet("serveraliveinterval")
      // OpenSSH 8.7 and later print `sessiontype`. The master process of 8.4 and earlier keeps git's standard error open.
      canShare =
        values["hostname"] != nil && values["sessiontype"] != nil && !isSet("controlmaster")
        && !isSet("controlpath") && !isSet("controlpersist")
    }
  }
}

/// The ssh connections that git processes share, and the user's configuration of ssh.
public final class SSHConnections: Sendable {
  /// git's command if the user has set none.
  static let defaultCommand = "ssh"
  /// The length of a socket's name after its prefix: the hash, and the suffix while OpenSSH creates it.
  private static let suffixLength = 40 + 17
  /// The time in seconds after which reading the user's configuration is aborted.
  private static let timeout = 5

  private struct Host: Hashable {
    let user: String?
    let host: String?
    let port: String?
    let folder: String
  }

  /// The folder of the sockets; nil if connections are not shared.
  private let folder: String?
  private let variables: [String: String]
  private let known = Mutex<[Host: Task<SharedSSHConnection?, Never>]>([:])

  /// Creates the connections of a user.
  ///
  /// - Parameters:
  ///   - runtimeFolder: The user's runtime folder (`XDG_RUNTIME_DIR`); nil to share no connections.
  ///   - variables: The environment variables.
  public init(runtimeFolder: String?, variables: [String: String]) {
    // The folder's name becomes part of an option of ssh, and of a command line.
    let isPlain = runtimeFolder?.wholeMatch(of: /[A-Za-z0-9\/._-]+/) != nil
    folder = isPlain ? runtimeFolder.map { "\($0)/belfry-ssh" } : nil
    self.variables = variables
  }

  /// Returns the shared connection for the URLs of a remote.
  ///
  /// - Parameters:
  ///   - urls: The URLs of the remote.
  ///   - repository: The folder of the repository, whose configuration may set `core.sshCommand`.
  /// - Returns: The connection; nil if the URLs have several hosts, or if the user has settings for shared connections.
  public func connection(
    for urls: [RemoteURL], in repository: String
  ) async -> SharedSSHConnection? {
    await preparation(for: urls, in: repository)?.value
  }

  /// Starts to read the user's configuration for the URLs of a remote, and returns immediately.
  public func prepare(for urls: [RemoteURL], in repository: String) {
    _ = preparation(for: urls, in: repository)
  }

  private func preparation(
    for urls: [RemoteURL], in repository: String
  ) -> Task<SharedSSHConnection?, Never>? {
    guard let folder, let url = urls.first, url.transport == .ssh,
      urls.allSatisfy({
        $0.transport == .ssh && $0.host == url.host && $0.user == url.user && $0.port == url.port
      })
    else { return nil }
    let host = Host(user: url.user, host: url.host, port: url.port, folder: repository)
    return known.withLock { known in
      if let task = known[host] { return task }
      let task = Task { await makeConnection(to: url, in: repository, folder) }
      known[host] = task
      return task
    }
  }

  private func makeConnection(
    to url: RemoteURL, in repository: String, _ folder: String
  ) async -> SharedSSHConnection? {
    guard let command = await command(in: repository),
      let prefix = prefix(command, url), SSHConnections.makePrivate(folder),
      let settings = await SSHConnections.settings(command, url), settings.canShare
    else { return nil }
    return SharedSSHConnection(
      sshCommand: command, folder: folder, prefix: prefix, settings: settings)
  }

  /// Returns the start of a socket's name, or nil if the name would be too long. It differs for aliases of one host,
  /// which may use different keys.
  private func prefix(_ command: String, _ url: RemoteURL) -> String? {
    guard let folder else { return nil }
    var hash = Insecure.SHA1()
    for part in [command, variables["SSH_AUTH_SOCK"], url.user, url.host, url.port] {
      hash.update(data: Array("\(part ?? "")\0".utf8))
    }
    let digits = hash.finalize().prefix(6).map { byte in
      let text = String(byte, radix: 16)
      return text.utf8.count == 1 ? "0" + text : text
    }
    let prefix = digits.joined() + "-"
    let length = folder.utf8.count + 1 + prefix.utf8.count + SSHConnections.suffixLength
    return length < MemoryLayout<sockaddr_un>.size - MemoryLayout<sa_family_t>.size ? prefix : nil
  }

  /// Creates the folder of the sockets. Returns false unless it, and the folder above, belong to this user only.
  private static func makePrivate(_ folder: String) -> Bool {
    var status = stat()
    guard lstat(DurableFile.parent(of: folder), &status) == 0, status.st_uid == geteuid(),
      status.st_mode & S_IFMT == S_IFDIR
    else { return false }
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST, lstat(folder, &status) == 0 else {
      return false
    }
    return status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
      && status.st_mode & 0o077 == 0
  }

  // MARK: The user's configuration

  /// Returns the shell command with which git runs ssh; nil if that is no OpenSSH, or cannot be extended by options.
  func command(in repository: String) async -> String? {
    if let variant = variables["GIT_SSH_VARIANT"], !["ssh", "auto"].contains(variant) {
      return nil
    }
    let outcome = try? await GitCommand.run(
      ["config", "--get-regexp", #"^(core\.sshcommand|ssh\.variant)$"#], in: repository)
    var configured: String?
    for line in outcome?.output.split(separator: "\n") ?? [] {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2 else { return nil }
      if words[0] == "core.sshcommand" {
        configured = words[1]
      } else if !["ssh", "auto"].contains(words[1]) {
        return nil
      }
    }
    if let command = variables["GIT_SSH_COMMAND"] ?? configured {
      return SSHConnections.isPlain(command) ? command : nil
    }
    return variables["GIT_SSH"] == nil ? SSHConnections.defaultCommand : nil
  }

  /// Returns true for a command line that consists of the program `ssh` and words without further shell syntax.
  static func isPlain(_ command: String) -> Bool {
    command.wholeMatch(of: /([A-Za-z0-9\/._-]*\/)?ssh( +([A-Za-z0-9\/._:,@%+=~-]+|'[^'\n]*'))*/)
      != nil
  }

  /// Returns the user's settings for a host; nil if they cannot be read.
  private static func settings(
    _ command: String, _ url: RemoteURL
  ) async -> SharedSSHConnection.Settings? {
    guard let host = url.host, (try? Descriptors.ensure()) != nil else { return nil }
    let port = url.port.map { ["-p", $0] } ?? []
    let output = await withTaskGroup(of: String?.self) { group in
      group.addTask {
        let result = try? await Subprocess.run(
          .path("/bin/sh"),
          arguments: Arguments(
            ["-c", "exec \(command) -G \"$@\"", "sh"] + port + [
              url.user.map { "\($0)@\(host)" } ?? host
            ]),
          environment: .inherit.updating(["LC_ALL": "C"]),
          output: .string(limit: 64 << 10), error: .discarded)
        return result?.terminationStatus.isSuccess == true ? result?.standardOutput : nil
      }
      group.addTask {
        try? await Task.sleep(for: .seconds(timeout))
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
    return output.map { SharedSSHConnection.Settings($0) }
  }
}
