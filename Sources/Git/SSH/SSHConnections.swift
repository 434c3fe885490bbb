import Crypto
import Files
import Glibc
import Subprocess
import Synchronization

/// The ssh connections that git processes share, and the user's configuration of ssh.
public final class SSHConnections: Sendable {
  /// The length of a socket's name after its prefix: the hash, and the suffix while OpenSSH creates it.
  private static let suffixLength = 40 + 17
  private struct Host: Hashable {
    let user: String?
    let host: String?
    let port: String?
    let folder: String
  }

  /// The folder of the sockets; nil if connections are not shared.
  private let folder: String?
  private let variables: [String: String]
  /// The time in seconds after which reading the user's configuration is aborted.
  private let timeout: Int
  private struct Known {
    var connections: [Host: Task<SharedSSHConnection?, Never>] = [:]
  }
  private let known = Mutex(Known())

  /// Creates the connections of a user.
  ///
  /// - Parameters:
  ///   - runtimeFolder: The user's runtime folder (`XDG_RUNTIME_DIR`); nil to share no connections.
  ///   - variables: The environment variables.
  ///   - timeout: The time in seconds after which reading the user's configuration is aborted, and no connection is
  ///     shared.
  public init(runtimeFolder: String?, variables: [String: String], timeout: Int = 5) {
    self.timeout = timeout
    // The folder's name becomes part of an option of ssh, and of a command line.
    let isPlain = runtimeFolder?.allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "/._-".contains($0))
    }
    folder = isPlain == true ? runtimeFolder.map { "\($0)/belfry-ssh" } : nil
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
      if let task = known.connections[host] { return task }
      let task = Task { await makeConnection(to: url, in: repository, folder) }
      known.connections[host] = task
      return task
    }
  }

  /// Makes the next transfer read the user's configuration of ssh again.
  public func forget() { known.withLock { $0.connections = [:] } }

  private func makeConnection(
    to url: RemoteURL, in repository: String, _ folder: String
  ) async -> SharedSSHConnection? {
    guard let command = await command(in: repository),
      let prefix = prefix(command, url), SSHConnections.makePrivate(folder)
    else { return nil }
    let cache = SSHSettingsCache(path: "\(folder)/settings-\(prefix)")
    var settings = cache.read()
    if settings == nil {
      settings = await self.settings(command, url)
      if let settings { cache.write(settings) }
    }
    guard let settings, settings.canShare else { return nil }
    return SharedSSHConnection(
      sshCommand: command, folder: folder, prefix: prefix, settings: settings)
  }

  /// Returns the shell command with which git runs ssh; nil if that is no OpenSSH, or cannot be extended by options.
  func command(in repository: String) async -> String? {
    await SSHCommand.find(in: repository, variables: variables)
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
      && status.st_mode & 0o077 == 0 && access(folder, W_OK) == 0
  }

  // MARK: The user's configuration

  /// Returns the user's settings for a host; nil if they cannot be read.
  private func settings(
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
      group.addTask { [timeout] in
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
