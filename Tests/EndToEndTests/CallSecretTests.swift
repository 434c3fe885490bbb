import Foundation
import TestSupport
import Testing

/// Secrets of calls: they leave no trace on command lines or the disk. An interrupted call ends.
@Suite struct CallSecretTests {
  /// Returns the folders that the shipped hook created and did not remove.
  private func leftovers(_ sandbox: Sandbox) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: sandbox.root + "/tmp")) ?? [])
      .filter { $0.hasPrefix("belfry-call") }
  }

  /// Returns the variables for the hook's temporary folder and for wrappers that record the arguments of programs.
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

  /// Places a call and sends it a signal when a shell condition holds.
  private func interrupt(
    _ sandbox: Sandbox, _ signal: String, when condition: String, _ variables: [String: String]
  ) async throws -> Sandbox.Output {
    // A shell starts background processes with SIGINT ignored.
    let script = """
      \(sandbox.waitFor)
      is_reached() { \(condition); }
      env --default-signal=INT '\(Sandbox.binary)' calls test 5551234567 & call=$!
      wait_for is_reached
      kill -s \(signal) "$call"; wait "$call"
      """
    return try await sandbox.run("/bin/sh", ["-c", script], environment: variables)
  }

  @Test("A token may contain any character, and command lines contain no data of a call")
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
    // Without the paths, whose random names could contain one of the words.
    let arguments = try sandbox.read(sandbox.root + "/arguments")
      .replacing(sandbox.root, with: "").replacing(/belfry-call\.\w+/, with: "")
    #expect(arguments.contains("-K -"))
    for word in ["5551234567", "5557654321", "automated", "AC1", "cr\\et", "127.0.0.1"] {
      #expect(!arguments.contains(word), "\(arguments)")
    }
    #expect(leftovers(sandbox).isEmpty)
  }

  @Test("The command line of baresip contains neither number nor password")
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

  @Test("A signal ends the call and leaves no password", arguments: ["INT", "TERM", "HUP"])
  func interrupted(_ signal: String) async throws {
    let sandbox = try Sandbox()
    try sandbox.write("s3kr1t\n", to: sandbox.root + "/password")
    // No server listens on the port, so the call would ring for 45 seconds.
    let set = try await sandbox.belfry(
      "calls", "sip", "--server", "127.0.0.1:9", "--user", "belfry", "--password-file",
      sandbox.root + "/password")
    #expect(set.status == 0, "\(set.err)")
    // The hook removes the password file before baresip dials.
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

  @Test("The password file is removed as soon as baresip has read it")
  func passwordFile() async throws {
    let sandbox = try Sandbox()
    try sandbox.write("s3kr1t\n", to: sandbox.root + "/password")
    _ = try await sandbox.belfry(
      "calls", "sip", "--server", "127.0.0.1:9", "--user", "belfry", "--password-file",
      sandbox.root + "/password")
    // SIGKILL prevents any cleanup.
    let log = "grep -qs connecting '\(sandbox.root)'/tmp/belfry-call.*/log"
    let output = try await interrupt(
      sandbox, "KILL", when: log, try dependencies(sandbox))
    #expect(output.status == 137, "\(output)")
    let found = try await sandbox.run("/bin/grep", ["-rl", "s3kr1t", sandbox.root + "/tmp"])
    #expect(found.out.isEmpty, "\(found.out)")
    // The hook continues, because the call may still be answered. This test ends it.
    _ = try await sandbox.run(
      "/bin/sh",
      ["-c", "for p in $(pgrep -f '\(sandbox.root)/tmp/belfry-call'); do kill \"$p\"; done"])
  }

  @Test("Interrupting an answered call hangs up")
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
    // The call ends for the called side too, before the message is complete.
    let heard = try #require(try await telephone.heard())
    #expect(heard.seconds < 8, "\(heard)")
    #expect(leftovers(sandbox).isEmpty)
  }

  @Test(
    "Interrupting a voice API call makes the API end it, even before its response is read",
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

  @Test("A secrets file that other users can read is reported and made private")
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

  @Test("A host name that starts with a loopback name is refused without TLS")
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
