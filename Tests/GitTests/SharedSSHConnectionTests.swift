import Foundation
import Testing

@testable import Git

/// Tests of the decision to share an ssh connection.
@Suite struct SharedSSHConnectionTests {
  private let settings = """
    host server
    user ada
    hostname server.example.org
    port 22
    controlmaster false
    controlpersist no
    serveraliveinterval 0
    sessiontype default

    """

  private func canShare(_ output: String) -> Bool {
    SharedSSHConnection.Settings(output).canShare
  }

  @Test func connectionsAreSharedWithoutSettingsOfTheUser() {
    #expect(canShare(settings))
    #expect(canShare(settings + "controlpath none\n"))
    #expect(!canShare(""))
    #expect(!canShare("Bad configuration option\n"))
  }

  @Test(arguments: [
    ("controlmaster false", "controlmaster auto"), ("controlpersist no", "controlpersist 600"),
    ("port 22", "port 22\ncontrolpath /home/ada/.ssh/%C"),
  ])
  func settingsOfTheUserTakePrecedence(_ line: String, _ setting: String) {
    #expect(!canShare(settings.replacingOccurrences(of: line, with: setting)))
  }

  @Test func oldVersionsShareNothing() {
    // OpenSSH 8.4 doesn't print this setting, and its master process keeps git's standard error open.
    let old = settings.replacingOccurrences(of: "sessiontype default\n", with: "")
    #expect(!canShare(old))
  }

  @Test func proxiesAndChecksAreDetected() {
    let plain = SharedSSHConnection.Settings(settings)
    #expect(!plain.hasProxy && !plain.checksConnection)
    let jump = SharedSSHConnection.Settings(settings + "proxyjump gate\n")
    #expect(jump.hasProxy)
    let checking = SharedSSHConnection.Settings(
      settings.replacingOccurrences(of: "interval 0", with: "interval 60"))
    #expect(checking.checksConnection)
    // Debian's default for connections without prompts.
    let rarely = SharedSSHConnection.Settings(
      settings.replacingOccurrences(of: "interval 0", with: "interval 300"))
    #expect(!rarely.checksConnection)
  }

  @Test(arguments: [
    "ssh", "/usr/bin/ssh", "ssh -i ~/.ssh/belfry -o IdentitiesOnly=yes",
    "ssh -F '/my files/config'",
  ])
  func plainCommandsAreExtended(_ command: String) {
    #expect(SSHCommand.isPlain(command))
  }

  @Test(arguments: [
    "", "plink -batch", "tortoiseplink", "ssh -F $HOME/config", "ssh | tee log", "ssh; true",
    "ssh -F \"config\"", "env A=1 ssh", "ssh `id`", "ssh 'a\nb'", "ssh &", "myssh", "A=1/ssh",
    "ssh ''a", "ssh '",
  ])
  func otherCommandsAreNot(_ command: String) {
    #expect(!SSHCommand.isPlain(command))
  }

  // MARK: Connections

  /// Calls a closure with a runtime folder whose path is short enough for sockets.
  private func withRuntimeFolder(_ body: (String) async throws -> Void) async throws {
    let folder = "/tmp/belfry-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder)
  }

  private func connection(
    _ urls: String..., folder: String?, variables: [String: String] = [:]
  ) async throws -> SharedSSHConnection? {
    // A busy machine may start no process for some time.
    let connections = SSHConnections(runtimeFolder: folder, variables: variables, timeout: 600)
    return await connections.connection(for: try urls.map { try RemoteURL($0) }, in: "/")
  }

  private let plain = ["GIT_SSH_COMMAND": "ssh -F /dev/null"]

  @Test func aliasesOfOneHostHaveTheirOwnSockets() async throws {
    try await withRuntimeFolder { folder in
      let one = try #require(
        await connection("ada@a.example:x.git", folder: folder, variables: plain))
      let two = try #require(
        await connection("ada@b.example:x.git", folder: folder, variables: plain))
      let other = try #require(
        await connection("ada@a.example:y.git", folder: folder, variables: plain))
      #expect(one.prefix != two.prefix)
      #expect(one == other)
      #expect(
        one.command.hasPrefix(
          "exec ssh -F /dev/null -o ControlMaster=auto -o ControlPath=\(folder)/"))
      #expect(!one.isOpen)
    }
  }

  @Test func remotesWithoutSSHAndWithSeveralHostsShareNothing() async throws {
    try await withRuntimeFolder { folder in
      for urls in [
        ["https://a.example/x.git"], ["/srv/x.git"], ["a.example:x.git", "b.example:x.git"],
        ["ssh://a.example/x.git", "ssh://a.example:2222/x.git"],
      ] {
        let connections = SSHConnections(runtimeFolder: folder, variables: plain)
        let connection = await connections.connection(
          for: try urls.map { try RemoteURL($0) }, in: "/")
        #expect(connection == nil, "\(urls)")
      }
    }
  }

  @Test(arguments: [
    ["GIT_SSH": "/usr/bin/plink"], ["GIT_SSH_VARIANT": "putty"], ["GIT_SSH_COMMAND": "plink"],
  ])
  func otherProgramsShareNothing(_ variables: [String: String]) async throws {
    try await withRuntimeFolder { folder in
      let shared = try await connection("a.example:x", folder: folder, variables: variables)
      #expect(shared == nil)
    }
  }

  @Test func foldersOfOthersAndLongOrUnusualPathsAreNotUsed() async throws {
    try await withRuntimeFolder { folder in
      #expect(try await connection("a.example:x", folder: nil, variables: plain) == nil)
      #expect(try await connection("a.example:x", folder: "/none", variables: plain) == nil)
      let long = folder + "/" + String(repeating: "x", count: 60)
      try FileManager.default.createDirectory(atPath: long, withIntermediateDirectories: false)
      #expect(try await connection("a.example:x", folder: long, variables: plain) == nil)
      for name in ["a b", "a'b", "a%b"] {
        let unusual = "\(folder)/\(name)"
        try FileManager.default.createDirectory(atPath: unusual, withIntermediateDirectories: false)
        #expect(try await connection("a.example:x", folder: unusual, variables: plain) == nil)
      }
      try FileManager.default.createDirectory(
        atPath: folder + "/belfry-ssh", withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o755])
      #expect(try await connection("a.example:x", folder: folder, variables: plain) == nil)
    }
  }
}
