import Foundation
import TestSupport
import Testing

/// Remotes that refuse a push, or that cannot be used: the error has the reason, and the hint says what to do.
@Suite struct RemoteRefusalTests {
  private func store() async throws -> (Sandbox, remote: String) {
    let sandbox = try await Sandbox.withTea()
    let remote = sandbox.root + "/remote.git"
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", remote, in: sandbox.root)
    return (sandbox, remote)
  }

  private func head(_ sandbox: Sandbox, _ folder: String? = nil) async throws -> String {
    try await sandbox.git("rev-parse", "main", in: folder).out
  }

  @Test("A stale lock on a server is named after one push")
  func staleLockOnServer() async throws {
    let (sandbox, remote) = try await store()
    // The command runs here instead of on a server, and pushes are counted.
    try sandbox.write(
      """
      #!/bin/sh
      for word; do last=$word; done
      case " $*" in *" -G "*) exit 0 ;; *" -O "* | *" -N"*) exit 255 ;; esac
      case $last in git-receive-pack*) echo push >> '\(sandbox.root)/pushes' ;; esac
      exec sh -c "$last"

      """, to: sandbox.root + "/ssh", mode: 0o755)
    _ = try await sandbox.git("config", "--global", "core.sshCommand", sandbox.root + "/ssh")
    _ = try await sandbox.git("config", "--global", "ssh.variant", "simple")
    _ = try await sandbox.belfry("remote", "add", "origin", "ssh://host\(remote)")
    let first = try await sandbox.belfry("sync", now: "2026-11-20T22:42:00Z")
    #expect(first.status == 0, "\(first.err)")
    _ = try await sandbox.belfry("edit", "tea", "--note", "green", now: "2026-11-20T22:43:00Z")
    let lock = remote + "/refs/heads/main.lock"
    try sandbox.write("", to: lock)
    try sandbox.write("", to: sandbox.root + "/pushes")
    let began = ContinuousClock.now
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:44:00Z")
    #expect(sync.status == 6)
    #expect(ContinuousClock.now - began < .seconds(40))
    #expect(sync.err.contains("main.lock': File exists"), "\(sync.err)")
    #expect(sync.err.contains("remove that file on the remote"), "\(sync.err)")
    #expect(try sandbox.read(sandbox.root + "/pushes") == "push\n")
    try FileManager.default.removeItem(atPath: lock)
    #expect(try await sandbox.belfry("sync", now: "2026-11-20T22:45:00Z").status == 0)
    #expect(try await head(sandbox) == head(sandbox, remote))
  }

  @Test("Each of several push URLs gets the branch, and a dead one fails every sync")
  func severalPushURLs() async throws {
    let (sandbox, remote) = try await store()
    let (dead, other) = (sandbox.root + "/dead.git", sandbox.root + "/other.git")
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", other, in: sandbox.root)
    _ = try await sandbox.belfry("remote", "add", "origin", remote)
    for url in [dead, remote, other] {
      _ = try await sandbox.git("remote", "set-url", "--add", "--push", "origin", url)
    }
    for minute in 42...43 {
      let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:\(minute):00Z")
      #expect(sync.status == 6)
      #expect(sync.err.contains("dead.git: there is no repository"), "\(sync.err)")
      // The URLs after the dead one are served.
      for folder in [remote, other] {
        #expect(try await head(sandbox) == head(sandbox, folder))
      }
    }
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", dead, in: sandbox.root)
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:44:00Z")
    #expect(sync.status == 0, "\(sync.err)")
    #expect(try await head(sandbox) == head(sandbox, dead))
    let status = try await sandbox.belfry("status", "--json", now: "2026-11-20T22:45:00Z")
    #expect(
      (status.object["remotes"] as? [[String: Any]])?.first?["ahead"] as? Int == 0, "\(status.out)")
  }

  @Test("git also pushes to the second of two URLs without special ones for pushing")
  func severalURLs() async throws {
    let (sandbox, remote) = try await store()
    let other = sandbox.root + "/other.git"
    _ = try await sandbox.belfry("remote", "add", "origin", remote)
    _ = try await sandbox.git("remote", "set-url", "--add", "origin", other)
    #expect(try await sandbox.belfry("sync", now: "2026-11-20T22:42:00Z").status == 6)
    #expect(try await sandbox.belfry("sync", now: "2026-11-20T22:43:00Z").status == 6)
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", other, in: sandbox.root)
    #expect(try await sandbox.belfry("sync", now: "2026-11-20T22:44:00Z").status == 0)
    #expect(try await head(sandbox) == head(sandbox, other))
  }

  @Test("The words of a pre-push hook that refuses are shown, with its path")
  func prePushHook() async throws {
    let (sandbox, remote) = try await store()
    _ = try await sandbox.belfry("remote", "add", "origin", remote)
    let hooks = sandbox.root + "/githooks"
    try FileManager.default.createDirectory(atPath: hooks, withIntermediateDirectories: true)
    // The words are not those of a missing repository.
    try sandbox.write(
      "#!/bin/sh\necho 'scanner: the license was not found' >&2\nexit 1\n", to: hooks + "/pre-push",
      mode: 0o755)
    _ = try await sandbox.git("config", "--global", "core.hooksPath", hooks)
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:42:00Z")
    #expect(sync.status == 6)
    #expect(
      sync.err.contains("git's hook pre-push refuses the push: scanner: the license was not found"),
      "\(sync.err)")
    #expect(sync.err.contains(hooks + "/pre-push"), "\(sync.err)")
    #expect(!sync.err.contains("can be reached"))
  }

  @Test("A remote with SHA-256 is named as such, empty or not", arguments: [false, true])
  func otherObjectFormat(_ hasBranch: Bool) async throws {
    let sandbox = try await Sandbox.withTea()
    let remote = sandbox.root + "/remote.git"
    _ = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        """
        git init -q --bare -b main --object-format=sha256 '\(remote)'
        ! \(hasBranch) || {
          git clone -q '\(remote)' '\(sandbox.root)/work' && cd '\(sandbox.root)/work' &&
          git -c user.name=a -c user.email=b commit -q --allow-empty -m x && git push -q origin HEAD:main; }
        """,
      ])
    _ = try await sandbox.belfry("remote", "add", "origin", remote)
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:42:00Z")
    #expect(sync.status == 6)
    #expect(sync.err.contains("its repository uses SHA-256"), "\(sync.err)")
    #expect(sync.err.contains("--object-format=sha1"), "\(sync.err)")
  }

  @Test("For a repository with a README, an empty repository is recommended")
  func readme() async throws {
    let (sandbox, remote) = try await store()
    _ = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        """
        git clone -q '\(remote)' '\(sandbox.root)/work' && cd '\(sandbox.root)/work' && echo x > README.md &&
        git add README.md && git -c user.name=a -c user.email=b commit -q -m x && git push -q origin HEAD:main
        """,
      ])
    _ = try await sandbox.belfry("remote", "add", "origin", remote)
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:42:00Z")
    #expect(sync.status == 1)
    #expect(sync.err.contains("create one without a README"), "\(sync.err)")
  }
}
