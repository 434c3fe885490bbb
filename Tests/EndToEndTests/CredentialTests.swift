import Foundation
import TestSupport
import Testing

/// Passwords and tokens in URLs. They stay in the local files that need them.
@Suite struct CredentialTests {
  /// A part of every secret in these tests, so that one search finds all secrets.
  private static let secret = "s3kr1t"
  /// A URL without a server.
  private static let url = "http://you:\(secret)@127.0.0.1:1/alarms.git"

  /// The commands that the test does not run, with the reason.
  private static let excluded: [String: String] = [
    "git": "the user's own git, which shows what it is asked for",
    "partner keys export": "prints secrets, which is what it is for",
    "attend": "runs until its input ends", "ring": "takes a whole terminal",
    "daemon": "has a test of its own", "sounds play": "makes noise",
    "service install": "changes the machine", "service uninstall": "changes the machine",
    "calls off": "would remove a secret that others are to be tried with",
    "calls hook": "would remove a secret that others are to be tried with",
  ]
  /// The commands whose first argument is free text, which is stored unchanged.
  private static let takingText: Set = ["add"]

  /// A command without subcommands, from the parser's dump.
  private struct Leaf {
    let words: [String]
    let needsArgument: Bool
    let takesArgument: Bool
    let hasJSON: Bool
  }

  private func leafCommands(_ command: [String: Any], _ path: [String] = []) -> [Leaf] {
    let subcommands = (command["subcommands"] as? [[String: Any]] ?? [])
      .filter { $0["commandName"] as? String != "help" }
    if !subcommands.isEmpty {
      return subcommands.flatMap { leafCommands($0, path + [$0["commandName"] as? String ?? ""]) }
    }
    let arguments = command["arguments"] as? [[String: Any]] ?? []
    let positional = arguments.filter { $0["kind"] as? String == "positional" }
    let required = arguments.filter {
      $0["kind"] as? String != "flag" && $0["isOptional"] as? Bool == false
    }
    return [
      Leaf(
        words: path, needsArgument: !required.isEmpty, takesArgument: !positional.isEmpty,
        hasJSON: arguments.contains { $0["valueName"] as? String == "json" })
    ]
  }

  /// Returns a store with a secret in a remote, in a partner's mailbox URL and in the configuration of calls.
  private func store() async throws -> Sandbox {
    let sandbox = try Sandbox()
    let mailbox = sandbox.root + "/mailbox.git"
    _ = try await sandbox.git("init", "-q", "--bare", mailbox, in: sandbox.root)
    _ = try await sandbox.belfry("tier", "premium")
    _ = try await sandbox.belfry("add", "Rent", "--daily", "--at", "09:00")
    let add = try await sandbox.belfry("remote", "add", "origin", CredentialTests.url)
    #expect(add.status == 0, "\(add.err)")
    try expectNoSecret(add, "remote add")
    #expect(add.err.contains("credential helper"), "\(add.err)")
    try sandbox.write("token\n", to: sandbox.root + "/token")
    let calls = try await sandbox.belfry(
      "calls", "http", "--url", "https://127.0.0.1:1/Calls.json", "--account", "AC1",
      "--token-file", sandbox.root + "/token", "--from", "+15557654321")
    #expect(calls.status == 0, "\(calls.err)")
    // An earlier version accepted such URLs.
    let setup = sandbox.home + "/.config/belfry/calls.json"
    try replace(
      "https://127.0.0.1:1/", "https://you:\(CredentialTests.secret)@127.0.0.1:1/", in: setup,
      sandbox)
    let invite = try await sandbox.belfry(
      "partner", "invite", "--remote", mailbox, "--no-wait", "--yes", "--json")
    #expect(invite.status == 0, "\(invite.err)")
    let partner = try #require(partnerFiles(sandbox).first)
    try replace("\"\(mailbox)\"", "\"\(CredentialTests.url)\"", in: partner, sandbox)
    return sandbox
  }

  private func partnerFiles(_ sandbox: Sandbox) -> [String] {
    let folder = sandbox.store + "/.git/belfry/partners"
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
      .filter { $0.hasSuffix(".json") }.map { "\(folder)/\($0)" }
  }

  private func replace(
    _ text: String, _ other: String, in path: String, _ sandbox: Sandbox
  ) throws {
    let before = try sandbox.read(path)
    #expect(before.contains(text))
    try sandbox.write(before.replacingOccurrences(of: text, with: other), to: path, mode: 0o600)
  }

  private func expectNoSecret(_ output: Sandbox.Output, _ command: String) throws {
    #expect(!output.out.contains(CredentialTests.secret), "\(command): \(output.out)")
    #expect(!output.err.contains(CredentialTests.secret), "\(command): \(output.err)")
  }

  /// Returns the files below the home that contain a secret without a need for it.
  private func leaks(_ sandbox: Sandbox) async throws -> [String] {
    let found = try await sandbox.run(
      "/bin/grep", ["-rl", CredentialTests.secret, sandbox.home])
    let allowed = [
      sandbox.store + "/.git/config", sandbox.home + "/.config/belfry/calls.json",
    ]
    return found.out.split(separator: "\n").map(String.init).filter {
      !allowed.contains($0) && !partnerFiles(sandbox).contains($0)
    }
  }

  @Test("No command shows or stores a secret of a URL where others can see it")
  func everyCommand() async throws {
    let sandbox = try await store()
    let dump = try await sandbox.run(Sandbox.binary, ["--experimental-dump-help"])
    let commands = leafCommands(try #require(dump.object["command"] as? [String: Any]))
    #expect(commands.count > 60)
    var runs: [[String]] = []
    for leaf in commands {
      let name = leaf.words.joined(separator: " ")
      if CredentialTests.excluded[name] != nil { continue }
      if !leaf.needsArgument {
        runs.append(leaf.words)
        if leaf.hasJSON { runs.append(leaf.words + ["--json"]) }
      }
      if leaf.takesArgument, !CredentialTests.takingText.contains(name) {
        runs.append(leaf.words + [CredentialTests.url])
      }
    }
    for words in runs {
      let output = try await sandbox.run(
        Sandbox.binary, words,
        environment: ["BELFRY_NOW": "2026-11-20T22:41:00Z", "TZ": "UTC", "BELFRY_DEVICE": "laptop"])
      try expectNoSecret(output, words.joined(separator: " "))
    }
    // The store still contains the secrets, so the commands could have shown them.
    #expect(try sandbox.read(sandbox.store + "/.git/config").contains(CredentialTests.secret))
    #expect(try sandbox.read(partnerFiles(sandbox)[0]).contains(CredentialTests.secret))
    let shown = try await sandbox.belfry("status", "--json")
    let remotes = shown.object["remotes"] as? [[String: Any]]
    #expect(remotes?.first?["url"] as? String == "http://***@127.0.0.1:1/alarms.git")
    let partners = try await sandbox.belfry("partner", "list", "--json").array
    #expect(partners.first?["mailbox"] as? String == "http://***@127.0.0.1:1/alarms.git")
    let calls = try await sandbox.belfry("calls")
    #expect(calls.out.contains("https://***@127.0.0.1:1/Calls.json as AC1"), "\(calls.out)")
    // No commit, reflog, journal or cache contains a secret.
    let history = try await sandbox.git("log", "-p", "--all", "--reflog")
    #expect(history.out.contains("Rent") && !history.out.contains(CredentialTests.secret))
    #expect(try await leaks(sandbox) == [])
  }

  @Test("An error about a refused URL hides its password")
  func refused() async throws {
    let sandbox = try await store()
    let secret = CredentialTests.secret
    let token = sandbox.root + "/token"
    for (words, status) in [
      (["remote", "add", "other", "ftp://you:\(secret)@127.0.0.1/x"], Int32(2)),
      (["remote", "add", "other", "http://you:\(secret)/1@127.0.0.1/x"], 2),
      (["remote", "add", "other", "http://you:\(secret) 1@127.0.0.1/x"], 2),
      (["remote", "add", "other", "http://\(secret)@127.0.0.1"], 2),
      (["remote", "add", CredentialTests.url, "origin"], 2),
      (["remote", "add", "other", "https://127.0.0.1/x", "http://you:\(secret) 1@127.0.0.1/x"], 2),
      (["remote", "remove", CredentialTests.url], 2),
      (["sync", "http://you:\(secret) 1@127.0.0.1/x"], 2),
      (["list", "--remote=\(CredentialTests.url)"], 2),
      (["--store", sandbox.root + "/other", "clone", CredentialTests.url], 6),
      (["--store", sandbox.root + "/other", "clone", "ftp://you:\(secret)@127.0.0.1/x"], 2),
      (["partner", "invite", "--yes", "--no-wait", "--remote", CredentialTests.url], 2),
      (["partner", "invite", "--yes", "--no-wait", "--remote=ssh://you:\(secret)@host/x"], 2),
      (["partner", "invite", "--yes", "--no-wait", "--remote", "https://\(secret)@host/x.git"], 2),
      (
        [
          "calls", "http", "--url", "https://you:\(secret)@host/x", "--account", "AC1",
          "--token-file", token, "--from", "+15557654321",
        ], 2
      ),
    ] {
      let output = try await sandbox.run(
        Sandbox.binary, words, environment: ["BELFRY_NOW": "2026-11-20T22:41:00Z", "TZ": "UTC"])
      #expect(output.status == status, "\(words) \(output.err)")
      try expectNoSecret(output, words.joined(separator: " "))
    }
    #expect(try await leaks(sandbox) == [])
  }

  @Test("An invitation contains no credentials, and one with credentials is refused")
  func invitation() async throws {
    let sandbox = try Sandbox()
    let mailbox = sandbox.root + "/mailbox.git"
    _ = try await sandbox.git("init", "-q", "--bare", mailbox, in: sandbox.root)
    _ = try await sandbox.belfry("tier", "premium")
    let refused = try await sandbox.belfry(
      "partner", "invite", "--yes", "--no-wait", "--remote", "https://you:s3kr1t@host/x.git")
    #expect(refused.status == 2 && refused.out.isEmpty, "\(refused.out)")
    #expect(
      refused.err.contains("credential helper")
        && refused.err.contains("--remote https://host/x.git"),
      "\(refused.err)")
    #expect(partnerFiles(sandbox).isEmpty)
    let invite = try await sandbox.belfry(
      "partner", "invite", "--yes", "--no-wait", "--json", "--remote", mailbox)
    let link = try #require(invite.object["link"] as? String)
    let other = link.replacingOccurrences(
      of: "&m=\(mailbox)", with: "&m=https://you:s3kr1t@host/x.git")
    #expect(other != link)
    let accept = try await sandbox.belfry("partner", "accept", "--yes", "--no-wait", other)
    #expect(accept.status == 2)
    #expect(accept.err.contains("contains a password or token"), "\(accept.err)")
    try expectNoSecret(accept, "partner accept")
  }

  @Test("The daemon's log hides the password of an unreachable remote")
  func daemon() async throws {
    let sandbox = try await store()
    let log = sandbox.root + "/daemon.log"
    let script = """
      \(sandbox.waitFor)
      '\(Sandbox.binary)' daemon >'\(log)' 2>&1 & daemon=$!
      wait_for grep -q 'belfry sync failed' '\(log)'
      kill "$daemon"; wait "$daemon"
      """
    _ = try await sandbox.run("/bin/sh", ["-c", script])
    let said = try sandbox.read(log)
    #expect(said.contains("http://***@127.0.0.1:1/alarms.git"), "\(said)")
    #expect(!said.contains(CredentialTests.secret), "\(said)")
    #expect(try await leaks(sandbox) == [])
  }

  @Test("A remote whose URL has a password syncs, and the password is hidden")
  func syncWithPassword() async throws {
    let sandbox = try Sandbox()
    let remote = sandbox.root + "/remote.git"
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", remote, in: sandbox.root)
    let server = try await HTTPSServer(sandbox)
    defer { server.stop() }
    try sandbox.write(
      "[http]\n  sslCAInfo = \(server.authority)\n", to: sandbox.home + "/.gitconfig")
    func url(_ password: String) -> String {
      "https://\(server.user):\(password)@127.0.0.1:\(server.port)/remote.git"
    }
    _ = try await sandbox.belfry("add", "Rent", "--daily")
    let add = try await sandbox.belfry("remote", "add", "origin", url("open%20sesame"), "--json")
    #expect(add.object["url"] as? String == "https://***@127.0.0.1:\(server.port)/remote.git")
    let sync = try await sandbox.belfry("sync")
    #expect(sync.status == 0, "\(sync.err)")
    let other = sandbox.root + "/other"
    let clone = try await sandbox.belfry("clone", url("open%20sesame"), store: other)
    #expect(clone.status == 0 && clone.err.contains("credential helper"), "\(clone.err)")
    #expect(!(clone.out + clone.err).contains("sesame"))
    _ = try await sandbox.git("config", "remote.origin.url", url("s3kr1t"), in: other)
    let refused = try await sandbox.belfry("sync", store: other)
    #expect(refused.status == 6)
    try expectNoSecret(refused, "sync")
    let doctor = try await sandbox.belfry("doctor", store: other)
    try expectNoSecret(doctor, "doctor")
    #expect(
      doctor.out.contains("The URL of origin contains a password or a token"), "\(doctor.out)")
  }
}
