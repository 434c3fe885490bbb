import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of the ssh connection that the git processes of a sync share.
@Suite struct SharedSSHConnectionTests {
  /// A store that syncs with a bare repository through ssh, and another device that syncs with it by path.
  private struct Fixture {
    let sandbox: Sandbox
    let server: SSHServer
    /// A runtime folder whose path is short enough for sockets.
    let runtime = "/tmp/belfry-\(UUID().uuidString.prefix(8))"
    let one: String
    let two: String
    let remote: String

    init() async throws {
      sandbox = try Sandbox()
      server = try await SSHServer(sandbox)
      (one, two, remote) = (
        sandbox.root + "/one", sandbox.root + "/two", sandbox.root + "/remote.git"
      )
      try FileManager.default.createDirectory(
        atPath: runtime, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", remote, in: sandbox.root)
      _ = try await sandbox.belfry("add", "Rent", "--daily", "--at", "09:00", store: one)
      _ = try await sandbox.belfry("remote", "add", "origin", server.alias(remote), store: one)
      try await sandbox.git("push", "-q", remote, "main", in: one).expectSuccess()
      try await sandbox.belfry("clone", remote, store: two, device: "two").expectSuccess()
      try await sandbox.belfry("sync", store: two, device: "two").expectSuccess()
    }

    func remove() {
      server.stop()
      try? FileManager.default.removeItem(atPath: runtime)
    }

    func sync(_ environment: [String: String] = [:]) async throws -> Sandbox.Output {
      let variables = ["GIT_SSH_COMMAND": server.command, "XDG_RUNTIME_DIR": runtime]
      return try await sandbox.belfry(
        "sync", store: one, environment: variables.merging(environment) { $1 })
    }

    func edit(_ store: String, _ words: String...) async throws {
      try await sandbox.belfry(["edit", "rent"] + words, store: store).expectSuccess()
    }

    /// The number of ssh connections to the server so far.
    var connections: Int {
      get throws { try sandbox.read(server.log).matches(of: /Accepted publickey/).count }
    }

    /// The sockets of shared connections.
    var sockets: [String] {
      let names = try? FileManager.default.contentsOfDirectory(atPath: runtime + "/belfry-ssh")
      return (names ?? []).filter { !$0.hasPrefix("settings-") }
    }

    /// Returns the process that holds a shared connection.
    func process(of socket: String) -> pid_t? {
      ProcessTable.first(with: "\(runtime)/belfry-ssh/\(socket)", in: .arguments)
    }

    func expectSame() async throws {
      try await sandbox.belfry("sync", store: two, device: "two").expectSuccess()
      let heads = [
        try await sandbox.git("rev-parse", "HEAD", in: one).out,
        try await sandbox.git("rev-parse", "HEAD", in: two).out,
        try await sandbox.git("rev-parse", "main", in: remote).out,
      ]
      #expect(Set(heads).count == 1)
    }
  }

  @Test func syncOfTwoChangedSidesConnectsOnce() async throws {
    let fixture = try await Fixture()
    defer { fixture.remove() }
    var (connections, sockets) = (0, 0)
    // On a busy machine, the connection can end during a sync, and no connection is shared if ssh starts too slowly.
    for attempt in 0..<10 where connections != 1 || sockets != 1 {
      try await fixture.edit(fixture.one, "--title", "Pay rent \(attempt)")
      try await fixture.edit(fixture.two, "--note", "To the landlord \(attempt)")
      try await fixture.sandbox.belfry("sync", store: fixture.two, device: "two").expectSuccess()
      let before = try fixture.connections
      let sync = try await fixture.sync()
      #expect(sync.status == 0, "\(sync.err)")
      connections = try fixture.connections - before
      // The sync did not wait for the end of the connection, which would have removed the socket.
      sockets = fixture.sockets.count
    }
    #expect(connections == 1)
    #expect(sockets == 1)
    try await fixture.expectSame()
  }

  @Test func connectionThatNoLongerRespondsIsReplaced() async throws {
    let fixture = try await Fixture()
    defer { fixture.remove() }
    var process: pid_t?
    // On a busy machine, the connection can end before it is found.
    for _ in 0..<10 where process == nil {
      try await fixture.sync().expectSuccess()
      process = fixture.sockets.first.flatMap { fixture.process(of: $0) }
    }
    let held = try #require(process)
    // The connection stays open, but its process is stopped.
    kill(held, SIGSTOP)
    defer { kill(held, SIGKILL) }
    try await fixture.edit(fixture.one, "--title", "Pay rent")
    let sync = try await fixture.sync(["BELFRY_NETWORK_TIMEOUT": "20"])
    #expect(sync.status == 0, "\(sync.err)")
    try await fixture.expectSame()
  }

  @Test func settingsOfTheUserForSharedConnectionsStay() async throws {
    let fixture = try await Fixture()
    defer { fixture.remove() }
    let configuration = try fixture.sandbox.read(fixture.server.configuration)
    try fixture.sandbox.write(
      configuration + "\n  ControlMaster auto\n  ControlPath \(fixture.runtime)/own\n",
      to: fixture.server.configuration)
    var sync = try await fixture.sync()
    // The user's own connection can end while another process joins it.
    for _ in 0..<3 where sync.status == 6 { sync = try await fixture.sync() }
    #expect(sync.status == 0, "\(sync.out)\(sync.err)")
    #expect(fixture.sockets.isEmpty)
  }

  @Test func changesOfOneSideArePushedWithoutFetch() async throws {
    let fixture = try await Fixture()
    defer { fixture.remove() }
    // A heartbeat would need further processes.
    _ = try await fixture.sync()
    try await fixture.edit(fixture.one, "--title", "Pay rent")
    let trace = fixture.sandbox.root + "/trace"
    let sync = try await fixture.sync(["GIT_TRACE": trace])
    #expect(sync.status == 0, "\(sync.err)")
    #expect(sync.out.contains("1 pushed"), "\(sync.out)")
    let commands = try fixture.sandbox.read(trace)
    #expect(commands.contains("--force-with-lease"))
    #expect(!commands.contains("fetch-pack") && !commands.contains(" fetch --progress"))
    try await fixture.expectSame()
  }

  @Test(arguments: [true, false])
  func moveOfTheRemoteIsJoinedBeforeThePush(_ isRewound: Bool) async throws {
    let fixture = try await Fixture()
    defer { fixture.remove() }
    try await fixture.edit(fixture.one, "--note", "First")
    try await fixture.sync().expectSuccess()
    if isRewound {
      try await fixture.sandbox.git("update-ref", "refs/heads/main", "main~1", in: fixture.remote)
        .expectSuccess()
    } else {
      try await fixture.sandbox.belfry("sync", store: fixture.two, device: "two").expectSuccess()
      try await fixture.edit(fixture.two, "--note", "Second")
      try await fixture.sandbox.belfry("sync", store: fixture.two, device: "two").expectSuccess()
    }
    try await fixture.edit(fixture.one, "--title", "Pay rent")
    let sync = try await fixture.sync()
    #expect(sync.status == 0, "\(sync.err)")
    #expect(sync.err.contains("was rewound") == isRewound, "\(sync.err)")
    try await fixture.expectSame()
    let alarm = try await fixture.sandbox.belfry("list", "--json", store: fixture.two).array[0]
    #expect(alarm["title"] as? String == "Pay rent")
    #expect(alarm["note"] as? String == (isRewound ? "First" : "Second"))
  }
}
