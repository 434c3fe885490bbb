import Foundation
import Glibc
import TestSupport
import Testing

/// Daemons that watch their remotes: a change arrives long before the next sync of an idle daemon, which is after ten
/// minutes.
@Suite struct RemoteWatchTests {
  /// Two stores that sync with a bare repository: one by path, the other by the given URL.
  private struct Fixture {
    let sandbox: Sandbox
    let one: String
    let two: String
    let remote: String

    init(_ sandbox: Sandbox, url: (String) -> String, environment: [String: String] = [:])
      async throws
    {
      self.sandbox = sandbox
      (one, two, remote) = (
        sandbox.root + "/one", sandbox.root + "/two", sandbox.root + "/remote.git"
      )
      _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", remote, in: sandbox.root)
      _ = try await sandbox.belfry("add", "Rent", "--daily", "--at", "09:00", store: one)
      _ = try await sandbox.belfry("remote", "add", "origin", remote, store: one)
      try await sandbox.belfry("sync", store: one).expectSuccess()
      try await sandbox.belfry(
        "clone", url(remote), store: two, device: "two", environment: environment
      ).expectSuccess()
      for (store, device) in [(two, "two"), (one, "one")] {
        try await sandbox.belfry("sync", store: store, device: device, environment: environment)
          .expectSuccess()
      }
    }

    var log: String { sandbox.root + "/two.log" }

    /// Runs a shell script while a daemon of the second store runs.
    ///
    /// In the script, `wait_for COMMAND` waits until a command succeeds, and `said N WORDS` succeeds when the daemon has
    /// logged the words N times.
    func run(_ script: String, environment: [String: String] = [:]) async throws -> String {
      let text = """
        export BELFRY_NOW=2026-11-20T22:45:00Z TZ=UTC BELFRY_DEVICE=two
        \(sandbox.waitFor)
        said() { [ "$(grep -c -e "$2" '\(log)')" -ge "$1" ]; }
        arrived() { '\(Sandbox.binary)' list --store '\(two)' 2>/dev/null | grep -q "$1"; }
        change() { '\(Sandbox.binary)' edit "$(basename '\(one)'/alarms/*.json .json)" --title "$1" \
          --store '\(one)' >/dev/null 2>&1 &&
          '\(Sandbox.binary)' sync --store '\(one)' >/dev/null 2>&1; }
        is_gone() { ! kill -0 "$1" 2>/dev/null; }
        '\(Sandbox.binary)' daemon --store '\(two)' 2>'\(log)' & daemon=$!
        wait_for said 1 'watching 1 alarm'
        \(script)
        kill $daemon
        wait $daemon
        echo "ended with $?"
        """
      try sandbox.write(text, to: sandbox.root + "/script")
      let output = try await sandbox.run(
        "/usr/bin/timeout", ["500", "bash", sandbox.root + "/script"], environment: environment)
      let log = (try? sandbox.read(log)) ?? ""
      #expect(!output.out.contains("never"), "\(output.out)\(output.err)\(log)")
      #expect(output.out.hasSuffix("ended with 0\n"), "\(output.out)\(output.err)\(log)")
      return output.out
    }
  }

  /// Waits until no process has a text in its command line.
  private func expectNoneRunning(_ text: String) async throws {
    #expect(try await ProcessTable.waitUntilNone(has: text, in: .arguments))
  }

  @Test(arguments: ["", "file://"])
  func changeOfAFolderArrivesAtOnce(_ scheme: String) async throws {
    let fixture = try await Fixture(try Sandbox()) { scheme + $0 }
    _ = try await fixture.run(
      """
      wait_for said 1 'watching the remote origin'
      change Milk
      wait_for arrived Milk
      git -C '\(fixture.remote)' pack-refs --all
      change Bread
      wait_for arrived Bread
      """)
  }

  @Test func missingFolderIsWatchedWhenItIsBack() async throws {
    let fixture = try await Fixture(try Sandbox()) { $0 }
    let away = fixture.sandbox.root + "/away"
    _ = try await fixture.run(
      """
      shows() { '\(Sandbox.binary)' status --store '\(fixture.two)' | grep -q "origin.*$1"; }
      wait_for said 1 'watching the remote origin'
      wait_for shows 'watched, so changes arrive at once'
      '\(Sandbox.binary)' status --json --store '\(fixture.two)' | grep -q '"watched": true' || echo never
      mv '\(fixture.remote)' '\(away)'
      wait_for said 1 'lost the connection to the remote origin'
      wait_for shows 'synced at intervals'
      mv '\(away)' '\(fixture.remote)'
      wait_for said 2 'watching the remote origin'
      change Milk
      wait_for arrived Milk
      """)
  }

  @Test func remotesThatAreAddedAndRemovedLater() async throws {
    let fixture = try await Fixture(try Sandbox()) { $0 }
    _ = try await fixture.run(
      """
      wait_for said 1 'watching the remote origin'
      '\(Sandbox.binary)' remote remove origin --store '\(fixture.two)' >/dev/null
      '\(Sandbox.binary)' remote add other '\(fixture.remote)' --store '\(fixture.two)' >/dev/null
      '\(Sandbox.binary)' sync --store '\(fixture.two)' >/dev/null 2>&1
      '\(Sandbox.binary)' poke --store '\(fixture.two)' >/dev/null
      wait_for said 1 'watching the remote other'
      change Milk
      wait_for arrived Milk
      """)
  }

  /// Calls a closure with stores whose remote is reached by ssh, and the environment for it.
  private func withSSHFixture(
    _ body: (Fixture, [String: String]) async throws -> Void
  ) async throws {
    let sandbox = try Sandbox()
    let server = try await SSHServer(sandbox)
    defer { server.stop() }
    let environment = ["GIT_SSH_COMMAND": server.command]
    let fixture = try await Fixture(sandbox, url: server.url, environment: environment)
    try await body(fixture, environment)
  }

  @Test func changeArrivesThroughSSHAtOnceAndNothingStaysBehind() async throws {
    try await withSSHFixture { fixture, environment in
      _ = try await fixture.run(
        """
        wait_for said 1 'watching the remote origin'
        change Milk
        wait_for arrived Milk
        # The connection is lost, and made again.
        ssh=$(pgrep -P $daemon ssh)
        kill $ssh
        wait_for said 1 'lost the connection to the remote origin'
        wait_for said 2 'watching the remote origin'
        change Bread
        wait_for arrived Bread
        """, environment: environment)
      try await expectNoneRunning(fixture.remote)
    }
  }

  @Test func killedDaemonLeavesNothingAtTheRemote() async throws {
    try await withSSHFixture { fixture, environment in
      _ = try await fixture.run(
        """
        wait_for said 1 'watching the remote origin'
        kill -9 $daemon
        wait $daemon
        # The words of the killed daemon must not count.
        : >'\(fixture.log)'
        '\(Sandbox.binary)' daemon --no-sync --store '\(fixture.two)' 2>'\(fixture.log)' & daemon=$!
        wait_for said 1 'watching 1 alarm'
        """, environment: environment)
      try await expectNoneRunning(fixture.remote)
    }
  }

  @Test func accountWithoutShellIsSyncedAtIntervals() async throws {
    let sandbox = try Sandbox()
    let server = try await SSHServer(sandbox)
    defer { server.stop() }
    let key = try sandbox.read(server.authorizedKeys)
    try sandbox.write(
      "command=\"git-shell -c \\\"$SSH_ORIGINAL_COMMAND\\\"\" \(key)", to: server.authorizedKeys)
    let environment = ["GIT_SSH_COMMAND": server.command]
    let fixture = try await Fixture(sandbox, url: server.url, environment: environment)
    _ = try await fixture.run(
      """
      # A local change is pushed nevertheless.
      '\(Sandbox.binary)' edit rent --title Milk --store '\(fixture.two)' >/dev/null 2>&1
      pushed() { git -C '\(fixture.remote)' grep -q Milk main -- alarms; }
      wait_for pushed
      """, environment: environment)
    let log = try sandbox.read(fixture.log)
    #expect(!log.contains("the remote origin") && !log.contains("failed"), "\(log)")
  }

  @Test func daemonWithoutSyncWatchesNothing() async throws {
    let fixture = try await Fixture(try Sandbox()) { $0 }
    _ = try await fixture.run(
      """
      kill $daemon
      wait $daemon
      '\(Sandbox.binary)' daemon --no-sync --store '\(fixture.two)' 2>'\(fixture.log)' & daemon=$!
      wait_for said 1 'watching 1 alarm'
      '\(Sandbox.binary)' poke --store '\(fixture.two)' >/dev/null
      sleep 1
      """)
    #expect(try !fixture.sandbox.read(fixture.log).contains("watching the remote"))
  }
}
