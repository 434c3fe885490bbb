import Foundation
import TestSupport
import Testing

/// Tests of real servers on the loopback interface, which the user's git reaches with its keys,
/// credentials and certificates. A refused sync prints two lines and changes nothing.
@Suite struct RemoteTests {
  /// Creates a sandbox with a bare repository.
  private func begin() async throws -> (Sandbox, remote: String) {
    let sandbox = try Sandbox()
    let remote = sandbox.root + "/remote.git"
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", remote, in: sandbox.root)
    return (sandbox, remote)
  }

  /// Creates a device's store with an alarm and a remote, without a sync.
  private func device(
    _ name: String, _ title: String, at url: String, in sandbox: Sandbox
  ) async throws -> String {
    let store = "\(sandbox.root)/\(name)"
    _ = try await sandbox.belfry(
      "add", title, "--daily", "--at", "09:00", store: store, device: name)
    let add = try await sandbox.belfry("remote", "add", "origin", url, store: store, device: name)
    #expect(add.status == 0, "\(add.err)")
    return store
  }

  private func titles(_ sandbox: Sandbox, _ store: String) async throws -> [String] {
    try await sandbox.belfry("list", "--json", store: store).array
      .compactMap { $0["title"] as? String }.sorted()
  }

  private func head(_ sandbox: Sandbox, _ store: String) async throws -> String {
    try await sandbox.git("rev-parse", "HEAD", in: store).out
  }

  /// Expects that a device and its clone exchange their alarms through a remote.
  private func expectExchange(
    _ sandbox: Sandbox, at url: String, environment: [String: String] = [:]
  ) async throws {
    let one = try await device("one", "Rent", at: url, in: sandbox)
    let two = sandbox.root + "/two"
    let first = try await sandbox.belfry("sync", store: one, environment: environment)
    #expect(first.status == 0, "\(first.err)")
    let clone = try await sandbox.belfry(
      "clone", url, store: two, device: "two", environment: environment)
    #expect(clone.status == 0, "\(clone.err)")
    _ = try await sandbox.belfry("add", "Milk", "--daily", "--at", "07:00", store: two)
    for store in [two, one] {
      let sync = try await sandbox.belfry("sync", store: store, environment: environment)
      #expect(sync.status == 0, "\(sync.err)")
    }
    try await expectSame(sandbox, [one, two], ["Milk", "Rent"])
  }

  private func expectSame(
    _ sandbox: Sandbox, _ stores: [String], _ expected: [String]
  ) async throws {
    var trees: Set<String> = []
    for store in stores {
      #expect(try await titles(sandbox, store) == expected)
      trees.insert(try await sandbox.git("rev-parse", "HEAD^{tree}", in: store).out)
    }
    #expect(trees.count == 1)
  }

  /// Expects that a sync exits with code 6, prints two clean lines and leaves the store unchanged.
  @discardableResult
  private func expectRefused(
    _ sandbox: Sandbox, _ store: String, saying words: String,
    now: String = "2026-11-20T22:41:00Z", environment: [String: String] = [:]
  ) async throws -> Sandbox.Output {
    let before = try await head(sandbox, store)
    let sync = try await sandbox.belfry("sync", now: now, store: store, environment: environment)
    #expect(sync.status == 6)
    #expect(sync.out.isEmpty)
    let lines = sync.err.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 3 && lines[0].hasPrefix("error: ") && lines[1].hasPrefix("hint: "))
    #expect(lines.last?.isEmpty == true)
    #expect(!lines.joined().unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
    #expect(sync.err.lowercased().contains(words.lowercased()), "\(sync.err)")
    #expect(try await head(sandbox, store) == before)
    #expect(try await sandbox.git("status", "--porcelain", in: store).out.isEmpty)
    return sync
  }

  /// Returns true if the condition holds within about a minute.
  private func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
    for _ in 0..<600 {
      if try await condition() { return true }
      try await Task.sleep(for: .milliseconds(100))
    }
    return false
  }

  // MARK: ssh

  @Test func twoDevicesSyncThroughSSHWithKey() async throws {
    let (sandbox, remote) = try await begin()
    let server = try await SSHServer(sandbox)
    defer { server.stop() }
    try await expectExchange(
      sandbox, at: server.url(remote), environment: ["GIT_SSH_COMMAND": server.command])
    #expect(try sandbox.read(server.log).contains("Accepted publickey for \(server.user)"))
  }

  @Test func sshConfigurationAliasWorksAsRemote() async throws {
    let (sandbox, remote) = try await begin()
    let server = try await SSHServer(sandbox)
    defer { server.stop() }
    try await expectExchange(
      sandbox, at: server.alias(remote), environment: ["GIT_SSH_COMMAND": server.command])
  }

  @Test func sshCommandOfStoreConfigurationIsUsed() async throws {
    let (sandbox, remote) = try await begin()
    let server = try await SSHServer(sandbox)
    defer { server.stop() }
    let one = try await device("one", "Rent", at: server.alias(remote), in: sandbox)
    let two = try await device("two", "Milk", at: server.alias(remote), in: sandbox)
    for store in [one, two] {
      _ = try await sandbox.git("config", "core.sshCommand", server.command, in: store)
    }
    for store in [one, two, one] {
      let sync = try await sandbox.belfry("sync", store: store)
      #expect(sync.status == 0, "\(sync.err)")
    }
    try await expectSame(sandbox, [one, two], ["Milk", "Rent"])
  }

  @Test func unknownHostKeyIsRefusedBeforeAuthentication() async throws {
    let (sandbox, remote) = try await begin()
    let server = try await SSHServer(sandbox)
    defer { server.stop() }
    try sandbox.write("", to: server.knownHosts)
    let store = try await device("one", "Rent", at: server.url(remote), in: sandbox)
    let sync = try await expectRefused(
      sandbox, store, saying: "key", environment: ["GIT_SSH_COMMAND": server.command])
    #expect(sync.err.contains(/[Hh]ost('s)? key/) && sync.err.contains("is unknown"), "\(sync.err)")
    // The connection ends at the host key check, before ssh offers the user's key.
    let log = try sandbox.read(server.log)
    #expect(log.contains("Connection from") && !log.contains("publickey"), "\(log)")
    #expect(try sandbox.read(server.knownHosts).isEmpty)
  }

  @Test func changedHostKeyIsRefusedBeforeAuthentication() async throws {
    let (sandbox, remote) = try await begin()
    let server = try await SSHServer(sandbox)
    defer { server.stop() }
    let other = try sandbox.read(server.key + ".pub")
    try sandbox.write("[127.0.0.1]:\(server.port) \(other)", to: server.knownHosts)
    let store = try await device("one", "Rent", at: server.url(remote), in: sandbox)
    let sync = try await expectRefused(
      sandbox, store, saying: "key", environment: ["GIT_SSH_COMMAND": server.command])
    #expect(sync.err.contains(/[Hh]ost('s)? key/) && !sync.err.contains("not known"), "\(sync.err)")
    let log = try sandbox.read(server.log)
    #expect(log.contains("Connection from") && !log.contains("publickey"), "\(log)")
  }

  @Test func rejectedUserKeyIsReported() async throws {
    let (sandbox, remote) = try await begin()
    let server = try await SSHServer(sandbox)
    defer { server.stop() }
    try sandbox.write("", to: server.authorizedKeys)
    let store = try await device("one", "Rent", at: server.url(remote), in: sandbox)
    try await expectRefused(
      sandbox, store, saying: "Permission denied", environment: ["GIT_SSH_COMMAND": server.command])
    #expect(try sandbox.read(server.log).contains("Failed publickey for \(server.user)"))
  }

  // MARK: https

  /// Writes the user's git configuration: a credential helper with a password, and further lines.
  private func configure(
    _ sandbox: Sandbox, _ server: HTTPSServer, password: String? = nil, more: String = ""
  ) throws {
    let credentials = sandbox.root + "/credentials"
    try sandbox.write(
      "username=\(server.user)\npassword=\(password ?? server.password)\n", to: credentials)
    try sandbox.write(
      """
      [credential]
        helper = "!cat '\(credentials)'; :"
      \(more)
      """, to: sandbox.home + "/.gitconfig")
  }

  @Test(arguments: ["configuration", "environment"])
  func twoDevicesSyncThroughHTTPSWithCertificateAndPassword(_ source: String) async throws {
    let (sandbox, _) = try await begin()
    let server = try await HTTPSServer(sandbox)
    defer { server.stop() }
    let isConfigured = source == "configuration"
    try configure(
      sandbox, server, more: isConfigured ? "[http]\n  sslCAInfo = \(server.authority)" : "")
    try await expectExchange(
      sandbox, at: server.url("remote.git"),
      environment: isConfigured ? [:] : ["GIT_SSL_CAINFO": server.authority])
    #expect(try sandbox.read(server.requests).contains("git-receive-pack 200 [Basic "))
  }

  @Test func untrustedCertificateIsRefusedBeforeAnyRequest() async throws {
    let (sandbox, _) = try await begin()
    let server = try await HTTPSServer(sandbox)
    defer { server.stop() }
    try configure(sandbox, server)
    let store = try await device("one", "Rent", at: server.url("remote.git"), in: sandbox)
    try await expectRefused(sandbox, store, saying: "certificate")
    #expect(try sandbox.read(server.requests).isEmpty)
  }

  @Test func wrongPasswordIsReportedWithoutShowingIt() async throws {
    let (sandbox, _) = try await begin()
    let server = try await HTTPSServer(sandbox)
    defer { server.stop() }
    try configure(
      sandbox, server, password: "shibboleth", more: "[http]\n  sslCAInfo = \(server.authority)")
    let store = try await device("one", "Rent", at: server.url("remote.git"), in: sandbox)
    let sync = try await expectRefused(sandbox, store, saying: "authentication failed")
    #expect(!sync.err.contains("shibboleth"))
    #expect(try sandbox.read(server.requests).contains(" 401 [Basic "))
  }

  @Test(arguments: ["", " \"https://127.0.0.1:PORT\""])
  func redirectIsNotFollowedDespiteConfiguration(_ section: String) async throws {
    let (sandbox, _) = try await begin()
    let server = try await HTTPSServer(sandbox)
    defer { server.stop() }
    try configure(
      sandbox, server,
      more: """
        [http]
          sslCAInfo = \(server.authority)
        [http\(section.replacing("PORT", with: "\(server.port)"))]
          followRedirects = true
        """)
    let store = try await device("one", "Rent", at: server.moved("remote.git"), in: sandbox)
    try await expectRefused(sandbox, store, saying: "redirect")
    #expect(try sandbox.read(server.requests).contains(" 301 [-]"))
    #expect(try sandbox.read(server.otherRequests).isEmpty)
  }

  // MARK: git

  @Test func twoDevicesSyncThroughGitDaemon() async throws {
    let (sandbox, _) = try await begin()
    let server = try await GitServer(sandbox)
    defer { server.stop() }
    try await expectExchange(sandbox, at: server.url("remote.git"))
  }

  @Test func fourConcurrentPushesThroughGitDaemonLoseNothing() async throws {
    let (sandbox, _) = try await begin()
    let server = try await GitServer(sandbox)
    defer { server.stop() }
    var stores = [try await device("one", "Alarm 0", at: server.url("remote.git"), in: sandbox)]
    try await sandbox.plus(store: stores[0])
    #expect(try await sandbox.belfry("sync", store: stores[0]).status == 0)
    for number in 1...3 {
      let store = "\(sandbox.root)/clone-\(number)"
      let clone = try await sandbox.belfry(
        "clone", server.url("remote.git"), store: store, device: "clone \(number)")
      #expect(clone.status == 0, "\(clone.err)")
      stores.append(store)
    }
    for (number, store) in stores.enumerated() {
      let add = try await sandbox.belfry("add", "Alarm \(number + 1)", "--daily", store: store)
      #expect(add.status == 0, "\(add.err)")
    }
    try await withThrowingTaskGroup(of: Sandbox.Output.self) { group in
      for store in stores { group.addTask { try await sandbox.belfry("sync", store: store) } }
      for try await sync in group { #expect(sync.status == 0, "\(sync.err)") }
    }
    for store in stores {
      let sync = try await sandbox.belfry("sync", store: store)
      #expect(sync.status == 0, "\(sync.err)")
    }
    try await expectSame(sandbox, stores, (0...4).map { "Alarm \($0)" })
  }

  // MARK: Unreachable servers

  @Test func killedSyncLeavesNoProcess() async throws {
    let sandbox = try Sandbox()
    let server = try await SilentServer(sandbox)
    defer { server.stop() }
    let repository = sandbox.root + "/never.git"
    let store = try await device("one", "Rent", at: server.url("git", repository), in: sandbox)
    let script = """
      \(sandbox.waitFor)
      BELFRY_STORE='\(store)' '\(Sandbox.binary)' sync &
      wait_for grep -q accepted '\(server.log)'
      kill -9 $!
      """
    _ = try await sandbox.run("/bin/sh", ["-c", script])
    let isOver = try await eventually {
      try await sandbox.run("/usr/bin/pgrep", ["-f", repository]).out.isEmpty
    }
    #expect(isOver)
  }

  @Test(arguments: ["git", "ssh", "https"])
  func silentServerTimesOutWithoutBlockingLocalCommands(_ scheme: String) async throws {
    let sandbox = try Sandbox()
    let server = try await SilentServer(sandbox)
    defer { server.stop() }
    let repository = sandbox.root + "/never.git"
    let store = try await device("one", "Rent", at: server.url(scheme, repository), in: sandbox)
    async let stalled = sandbox.belfry(
      "sync", store: store,
      environment: ["BELFRY_NETWORK_TIMEOUT": "10", "GIT_SSH_COMMAND": "ssh -F none"])
    let isWaiting = try await eventually { try sandbox.read(server.log).contains("accepted") }
    #expect(isWaiting)
    let add = try await sandbox.belfry(
      "add", "Milk", "--daily", store: store, environment: ["BELFRY_LOCK_TIMEOUT": "0"])
    #expect(add.status == 0, "\(add.err)")
    #expect(try await titles(sandbox, store) == ["Milk", "Rent"])
    let sync = try await stalled
    #expect(sync.status == 6)
    #expect(sync.err.split(separator: "\n").count == 2, "\(sync.err)")
    // No git or ssh process remains.
    let isOver = try await eventually {
      try await sandbox.run("/usr/bin/pgrep", ["-f", repository]).out.isEmpty
    }
    #expect(isOver)
  }

  @Test func unreachableHostIsReportedWithLastSync() async throws {
    let (sandbox, _) = try await begin()
    let server = try await GitServer(sandbox)
    defer { server.stop() }
    let url = server.url("remote.git")
    let one = try await device("one", "Rent", at: url, in: sandbox)
    #expect(try await sandbox.belfry("sync", store: one).status == 0)
    let two = try await device("two", "Milk", at: url, in: sandbox)
    server.stop()
    try await expectRefused(sandbox, two, saying: "never synced")
    let sync = try await expectRefused(
      sandbox, one, saying: "last synced 2 h ago", now: "2026-11-21T00:41:00Z")
    #expect(sync.err.contains("Connection refused"), "\(sync.err)")
    let three = sandbox.root + "/three"
    #expect(try await sandbox.belfry("clone", url, store: three).status == 6)
    #expect(!FileManager.default.fileExists(atPath: three))
  }

  // MARK: Refusals

  @Test func hookMessageIsReportedWithEscapedControlCharacters() async throws {
    let (sandbox, remote) = try await begin()
    let store = try await device("one", "Rent", at: remote, in: sandbox)
    #expect(try await sandbox.belfry("sync", store: store).status == 0)
    let before = try await head(sandbox, remote)
    let hook = remote + "/hooks/pre-receive"
    try sandbox.write(
      "#!/bin/sh\ncat >/dev/null\nprintf '\\033[31mNo bells\\007 on Sundays\\n' >&2\nexit 1\n",
      to: hook, mode: 0o755)
    // Like large hosts, the server prints progress of unpacking before the hook's output.
    _ = try await sandbox.git("config", "receive.unpackLimit", "1", in: remote)
    for hour in 10...15 {
      _ = try await sandbox.belfry(
        "edit", "rent", "--at", "\(hour):00", now: "2026-11-20T23:\(hour):00Z", store: store)
    }
    let sync = try await expectRefused(sandbox, store, saying: "No bells")
    #expect(sync.err.contains("on Sundays") && sync.err.contains("\\u{1b}[31m"), "\(sync.err)")
    #expect(try await head(sandbox, remote) == before)
    _ = try await sandbox.run("/bin/rm", [hook])
    #expect(try await sandbox.belfry("sync", store: store).status == 0)
    #expect(try await head(sandbox, remote) == head(sandbox, store))
  }

  @Test(arguments: [
    "/srv/bells.git", "file:///srv/bells.git", "ssh://you@host:2222/srv/bells.git",
    "you@host:bells.git", "bells:/srv/bells.git", "https://host/bells.git",
    "http://host:8080/bells.git", "git://host/bells.git",
  ])
  func anyURLThatGitSupportsIsARemote(_ url: String) async throws {
    let sandbox = try Sandbox()
    let store = try await device("one", "Rent", at: url, in: sandbox)
    #expect(try await sandbox.git("config", "remote.origin.url", in: store).out == url + "\n")
  }

  @Test(arguments: [
    "ext::sh -c touch% evil", "ext::touch", "fd::3", "-oProxyCommand=touch evil:x",
    "-oProxyCommand=touch:x", "you@-oProxyCommand=touch:x", "ssh://-oProxyCommand=touch/x",
    "ssh://you@-oProxyCommand=touch/x", "git://-x/y", "ftp://host/x", "https:///x",
    "https://host/\u{1B}[31m", "/srv/bells\n.git", "host:",
  ])
  func urlThatCouldRunACommandIsRejected(_ url: String) async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Rent", "--daily")
    for command in [["remote", "add", "origin", "--", url], ["clone", "--", url]] {
      let output = try await sandbox.run(
        Sandbox.binary, command,
        environment: command[0] == "clone" ? ["BELFRY_STORE": sandbox.root + "/clone"] : [:])
      #expect(output.status == 2, "\(output.err)")
      #expect(output.err.split(separator: "\n").count == 2, "\(output.err)")
    }
    #expect(try await sandbox.git("config", "--get-regexp", "^remote").out.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/clone"))
  }
}
