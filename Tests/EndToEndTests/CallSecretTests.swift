import Foundation
import TestSupport
import Testing

/// What a call is placed with stays with whoever places it, and an interrupted call ends.
@Suite struct CallSecretTests {
  /// The folders that the shipped hook has made and not removed.
  private func leftovers(_ sandbox: Sandbox) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: sandbox.root + "/tmp")) ?? [])
      .filter { $0.hasPrefix("belfry-call") }
  }

  /// Where the hook has its folders, and programs stand that note how the real ones are called.
  private func dependencies(_ sandbox: Sandbox, noting programs: [String] = []) throws -> [String:
    String]
  {
    let bin = sandbox.root + "/bin"
    for folder in [bin, sandbox.root + "/tmp"] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    for program in programs {
      try sandbox.write(
        """
        #!/bin/sh
        printf '%s\\n' "$*" >>'\(sandbox.root)/arguments'
        exec /usr/bin/\(program) "$@"
        """, to: "\(bin)/\(program)", mode: 0o755)
    }
    return [
      "TMPDIR": sandbox.root + "/tmp", "PATH": "\(bin):/usr/local/bin:/usr/bin:/bin",
      "TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": "2026-11-20T22:41:00Z",
    ]
  }

  private func http(_ sandbox: Sandbox, _ api: VoiceAPI, token: String) async throws {
    try sandbox.write(token + "\n", to: sandbox.root + "/token")
    let set = try await sandbox.belfry(
      "calls", "http", "--url", api.url, "--account", "AC1", "--token-file",
      sandbox.root + "/token", "--from", "+15557654321")
    #expect(set.status == 0, "\(set.err)")
  }

  /// Calls, and sends a signal once a condition holds, which is looked at in a shell.
  private func interrupt(
    _ sandbox: Sandbox, _ signal: String, when condition: String, _ variables: [String: String]
  ) async throws -> Sandbox.Output {
    // A shell has what it starts in the background ignore SIGINT.
    let script = """
      env --default-signal=INT '\(Sandbox.binary)' calls test 5551234567 & call=$!
      for i in $(seq 1200); do \(condition) && break; sleep 0.05; done
      \(condition) || echo "nothing to interrupt"
      kill -s \(signal) "$call"; wait "$call"
      """
    return try await sandbox.run("/bin/sh", ["-c", script], environment: variables)
  }

  @Test("a token may hold any character, and nothing of a call is on a command line")
  func token() async throws {
    let sandbox = try Sandbox()
    let token = #"se"cr\et 'to%ken"#
    let api = try await VoiceAPI(sandbox, answers: ["answered"], token: token)
    defer { api.stop() }
    try await http(sandbox, api, token: token)
    let call = try await sandbox.run(
      Sandbox.binary, ["calls", "test", "5551234567"],
      environment: try dependencies(sandbox, noting: ["curl"]))
    #expect(call.status == 0, "\(call.err)")
    #expect(api.requests.map { $0["password"] } == [token])
    #expect(api.requests.first?["To"] == "+15551234567")
    let arguments = try sandbox.read(sandbox.root + "/arguments")
    #expect(arguments.contains("-K -"))
    for word in ["5551234567", "5557654321", "automated", "AC1", "cr\\et", "127.0.0.1"] {
      #expect(!arguments.contains(word), "\(arguments)")
    }
    #expect(leftovers(sandbox).isEmpty)
  }

  @Test("baresip's command line has neither the number nor the password")
  func sip() async throws {
    let sandbox = try Sandbox()
    let telephone = try await Telephone(sandbox, .busy)
    defer { telephone.stop() }
    _ = try await sandbox.belfry(
      "calls", "sip", "--server", "127.0.0.1:\(telephone.port)", "--user", "belfry")
    let call = try await sandbox.run(
      Sandbox.binary, ["calls", "test", "5551234567"],
      environment: try dependencies(sandbox, noting: ["baresip", "espeak-ng", "sox"]))
    #expect(call.status == 6 && call.err.contains("the line was busy"), "\(call.err)")
    let arguments = try sandbox.read(sandbox.root + "/arguments")
    #expect(arguments.contains("-f "))
    for word in ["5551234567", "automated", "sip:"] {
      #expect(!arguments.contains(word), "\(arguments)")
    }
    #expect(leftovers(sandbox).isEmpty)
  }

  @Test("interrupting a call ends it and leaves no password", arguments: ["INT", "TERM", "HUP"])
  func interrupted(_ signal: String) async throws {
    let sandbox = try Sandbox()
    try sandbox.write("s3kr1t\n", to: sandbox.root + "/password")
    // Nobody answers there: it would ring for 45 seconds.
    let set = try await sandbox.belfry(
      "calls", "sip", "--server", "127.0.0.1:9", "--user", "belfry", "--password-file",
      sandbox.root + "/password")
    #expect(set.status == 0, "\(set.err)")
    // Once it dials, the file with the password is gone.
    let output = try await interrupt(
      sandbox, signal, when: "grep -qs connecting '\(sandbox.root)'/tmp/belfry-call.*/log",
      try dependencies(sandbox))
    #expect(output.status == ["INT": 130, "TERM": 143, "HUP": 129][signal], "\(output)")
    #expect(output.err.contains("the call was ended"), "\(output.err)")
    #expect(!output.out.contains("nothing to interrupt"))
    #expect(leftovers(sandbox).isEmpty)
    let left = try await sandbox.run("/usr/bin/pgrep", ["-f", "\(sandbox.root)/tmp/belfry-call"])
    #expect(left.out.isEmpty, "\(left.out)")
  }

  @Test("the password is on the disk only until baresip has read it")
  func passwordFile() async throws {
    let sandbox = try Sandbox()
    try sandbox.write("s3kr1t\n", to: sandbox.root + "/password")
    _ = try await sandbox.belfry(
      "calls", "sip", "--server", "127.0.0.1:9", "--user", "belfry", "--password-file",
      sandbox.root + "/password")
    // SIGKILL leaves nobody to clean up.
    let log = "grep -qs connecting '\(sandbox.root)'/tmp/belfry-call.*/log"
    let output = try await interrupt(
      sandbox, "KILL", when: log, try dependencies(sandbox))
    #expect(output.status == 137 && !output.out.contains("nothing to interrupt"), "\(output)")
    let found = try await sandbox.run("/bin/grep", ["-rl", "s3kr1t", sandbox.root + "/tmp"])
    #expect(found.out.isEmpty, "\(found.out)")
    // The hook goes on, as the call may still reach somebody; this test has no use for it.
    _ = try await sandbox.run(
      "/bin/sh",
      ["-c", "for p in $(pgrep -f '\(sandbox.root)/tmp/belfry-call'); do kill \"$p\"; done"])
  }

  @Test("interrupting a call that somebody has answered hangs up")
  func hangsUp() async throws {
    let sandbox = try Sandbox()
    let telephone = try await Telephone(sandbox)
    defer { telephone.stop() }
    _ = try await sandbox.belfry(
      "calls", "sip", "--server", "127.0.0.1:\(telephone.port)", "--user", "belfry")
    let output = try await interrupt(
      sandbox, "INT",
      when: "grep -qs 'established' '\(sandbox.root)'/tmp/belfry-call.*/log",
      try dependencies(sandbox))
    #expect(output.status == 130, "\(output)")
    // It ends for the other side as well, long before the message does.
    let heard = try #require(try await telephone.heard())
    #expect(heard.seconds < 8, "\(heard)")
    #expect(leftovers(sandbox).isEmpty)
  }

  @Test(
    "interrupting a call by a voice API has the API end it, also before its answer was read",
    arguments: [false, true])
  func endsByAPI(isReadSlowly: Bool) async throws {
    let sandbox = try Sandbox()
    let api = try await VoiceAPI(sandbox, answers: ["ringing"])
    defer { api.stop() }
    try await http(sandbox, api, token: "secret token")
    let variables = try dependencies(sandbox)
    if isReadSlowly {
      _ = try sandbox.script("bin/tr", "sleep 0.4\nexec /usr/bin/tr \"$@\"\n")
    }
    let output = try await interrupt(
      sandbox, "INT", when: "grep -qs queued '\(sandbox.root)'/tmp/belfry-call.*/answer", variables)
    #expect(output.status == 130, "\(output)")
    #expect(api.requests.count == 2)
    #expect(api.requests.last?["path"] == "/2010-04-01/Accounts/AC1/Calls/CA1.json")
    #expect(api.requests.last?["Status"] == "completed", "\(api.requests)")
    #expect(leftovers(sandbox).isEmpty)
  }

  @Test("a file with secrets that others may read is reported, and made private")
  func openFile() async throws {
    let sandbox = try Sandbox()
    let api = try await VoiceAPI(sandbox, answers: ["answered"])
    defer { api.stop() }
    try await http(sandbox, api, token: "secret token")
    let file = sandbox.home + "/.config/belfry/calls.json"
    func mode() throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    }
    for command in [["calls"], ["calls", "test", "5551234567"]] {
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
      let doctor = try await sandbox.belfry("doctor")
      #expect(doctor.out.contains("is open to others (mode 0644)"), "\(doctor.out)")
      #expect(doctor.out.contains("chmod 600 \(file)"), "\(doctor.out)")
      let output = try await sandbox.run(Sandbox.binary, command)
      #expect(output.status == 0, "\(output.err)")
      #expect(output.err.contains("was open to others (mode 0644); it is private now"))
      #expect(try mode() == 0o600)
      #expect(try await !sandbox.belfry("calls").err.contains("open to others"))
    }
    #expect(try await !sandbox.belfry("doctor").out.contains("open to others"))
  }

  @Test("a host that only begins like this machine is refused without TLS")
  func loopback() async throws {
    let sandbox = try Sandbox()
    try sandbox.write("token\n", to: sandbox.root + "/token")
    for url in ["http://localhost.evil.example/Calls.json", "http://127.0.0.1.evil.example/x"] {
      let set = try await sandbox.belfry(
        "calls", "http", "--url", url, "--account", "AC1", "--token-file",
        sandbox.root + "/token", "--from", "+15557654321")
      #expect(set.status == 2, "\(set.err)")
      #expect(set.err.contains("without https://"), "\(set.err)")
    }
    #expect(!FileManager.default.fileExists(atPath: sandbox.home + "/.config/belfry/calls.json"))
  }
}
