import Foundation
import TestSupport
import Testing

/// Tests of commands that are killed while they change several values of git's configuration.
@Suite(.enabled(if: FaultLibrary.isAvailable)) struct InterruptedConfigurationTests {
  @Test(
    "A killed command leaves git's configuration either unchanged or completely changed",
    arguments: [
      ["remote", "add", "origin", "/nonexistent/origin.git"], ["remote", "remove", "other"],
      ["hooks", "install"], ["hooks", "uninstall"],
    ])
  func killedCommandIsAtomic(words: [String]) async throws {
    let sandbox = try await Sandbox.withTea()
    let config = sandbox.store + "/.git/config"
    _ = try await sandbox.git("remote", "add", "other", "/nonexistent/other.git")
    _ = try await sandbox.git("config", "branch.main.remote", "other")
    _ = try await sandbox.git("config", "branch.main.merge", "refs/heads/main")
    if words[0] == "remote", words[1] == "add" {
      _ = try await sandbox.git("config", "--remove-section", "branch.main")
    }
    if words == ["hooks", "uninstall"] { _ = try await sandbox.belfry("hooks", "install") }
    let before = try sandbox.read(config)
    let whole = try await run(sandbox, words)
    #expect(whole.status == 0, "\(whole.err)")
    let after = entries(try sandbox.read(config))
    #expect(after != entries(before))
    var kills = 0
    for number in 1...12 {
      try sandbox.write(before, to: config)
      try? FileManager.default.removeItem(atPath: config + ".lock")
      let killed = try await run(
        sandbox, words,
        try FaultLibrary.killing(before: "rename", number: number, below: config, in: sandbox))
      if killed.status == 0 { break }
      kills += 1
      let found = entries(try sandbox.read(config))
      #expect(found == entries(before) || found == after, "\(number): \(found)")
    }
    #expect(kills > 0)
  }

  @Test("The next command removes the configuration lock of a killed command")
  func staleConfigurationLockIsRemoved() async throws {
    let sandbox = try await Sandbox.withTea()
    let config = sandbox.store + "/.git/config"
    let words = ["remote", "add", "origin", "/nonexistent/origin.git"]
    let killed = try await run(
      sandbox, words, try FaultLibrary.killing(before: "rename", below: config, in: sandbox))
    #expect(killed.status != 0)
    #expect(FileManager.default.fileExists(atPath: config + ".lock"))
    let again = try await run(sandbox, words)
    #expect(again.status == 0, "\(again.err)")
    #expect(try sandbox.read(config).contains("/nonexistent/origin.git"))
  }

  @Test("A command fails and names the lock while another git process changes the configuration")
  func heldConfigurationLockIsReported() async throws {
    let sandbox = try await Sandbox.withTea()
    let lock = sandbox.store + "/.git/config.lock"
    try sandbox.write("", to: lock)
    // A git process that waits for input runs in the store.
    let git = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        """
        cd '\(sandbox.store)' && mkfifo ../input && { git hash-object --stdin <../input & }
        exec 3>../input
        BELFRY_LOCK_TIMEOUT=4 '\(Sandbox.binary)' remote add origin /nonexistent/origin.git
        """,
      ])
    #expect(git.status == 7, "\(git.err)")
    #expect(git.err.contains("is using the store"), "\(git.err)")
    #expect(git.err.contains("/config.lock"), "\(git.err)")
  }

  /// Runs a command in its own process group, so that a kill ends the whole group.
  private func run(
    _ sandbox: Sandbox, _ words: [String], _ variables: [String: String] = [:]
  ) async throws -> Sandbox.Output {
    try await sandbox.run(
      "/usr/bin/setsid", ["-w", Sandbox.binary] + words,
      environment: variables.merging(["BELFRY_DEVICE": "laptop", "TZ": "UTC"]) { $1 })
  }

  /// Returns the entries of remotes, branches and merge drivers, in order.
  private func entries(_ config: String) -> [String] {
    var section = ""
    var entries: [String] = []
    for line in config.split(separator: "\n") {
      if line.hasPrefix("[") { section = String(line) }
      let isKnown = ["[remote", "[branch", "[merge"].contains { section.hasPrefix($0) }
      if isKnown, !line.hasPrefix("[") { entries.append(section + line) }
    }
    return entries
  }
}
