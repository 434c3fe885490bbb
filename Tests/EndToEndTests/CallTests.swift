import Foundation
import TestSupport
import Testing

/// Calls over SIP to a telephone on the loopback, and over HTTP to a voice API.
@Suite struct CallTests {
  private func configureSIP(_ sandbox: Sandbox, _ telephone: Telephone) async throws {
    let set = try await sandbox.belfry(
      "calls", "sip", "--server", "127.0.0.1:\(telephone.port)", "--user", "belfry")
    #expect(set.status == 0, "\(set.err)")
  }

  @Test("An answered SIP call plays the message")
  func sip() async throws {
    let sandbox = try Sandbox()
    let telephone = try await Telephone(sandbox)
    try await configureSIP(sandbox, telephone)
    let call = try await sandbox.belfry("calls", "test", "5551234567")
    #expect(call.status == 0, "\(call.err)")
    #expect(call.out == "The call was answered.\n")
    let heard = try #require(try await telephone.heard())
    telephone.stop()
    // Speech has pauses, so some samples are silent but not all.
    #expect((0.15...0.9).contains(heard.loud), "\(heard)")
    // The voice speaks the message twice.
    let message =
      "This is a test of an automated backup alarm from laptop. Nothing is due."
    try sandbox.write("\(message)\n\n\(message)\n\n", to: sandbox.root + "/message")
    let spoken = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        "espeak-ng -s 140 -g 8 -w \(sandbox.root)/m.wav -f \(sandbox.root)/message && soxi -D \(sandbox.root)/m.wav",
      ])
    let length = try #require(Double(spoken.out.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(abs(heard.seconds - length) < 1.5, "heard \(heard.seconds), spoken \(length)")
  }

  @Test("A call to a busy or unknown number fails", arguments: [Telephone.Behavior.busy, .unknown])
  func unanswered(_ behavior: Telephone.Behavior) async throws {
    let sandbox = try Sandbox()
    let telephone = try await Telephone(sandbox, behavior)
    try await configureSIP(sandbox, telephone)
    let call = try await sandbox.belfry("calls", "test", "5551234567")
    telephone.stop()
    #expect(call.status == 6, "\(call.out)\(call.err)")
    if behavior == .busy { #expect(call.err.contains("the line was busy"), "\(call.err)") }
  }

  @Test("A voice API call is retried after a 500, a timeout and a 429")
  func http() async throws {
    let sandbox = try Sandbox()
    let api = try await VoiceAPI(sandbox, answers: ["500", "timeout", "429", "answered"])
    try sandbox.write("secret token\n", to: sandbox.root + "/token")
    let set = try await sandbox.belfry(
      "calls", "http", "--url", api.url, "--account", "AC1", "--token-file",
      sandbox.root + "/token", "--from", "+15557654321")
    #expect(set.status == 0, "\(set.err)")
    // The secrets are in a private file, and in no commit.
    let file = sandbox.home + "/.config/belfry/calls.json"
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(try await !sandbox.git("log", "-p").out.contains("secret token"))
    let now = "2026-11-22T20:00:00Z"
    _ = try await sandbox.belfry("tier", "plus", now: now)
    _ = try await sandbox.belfry("add", "Tea & <cake>", "--daily", "--at", "05:00", now: now)
    let remote = sandbox.root + "/remote.git"
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", remote, in: sandbox.root)
    _ = try await sandbox.belfry("remote", "add", "origin", remote, now: now)
    _ = try await sandbox.belfry("sync", now: now)
    _ = try await sandbox.belfry(
      "cascade", "add", "tea", "phone", "5551234567", "--message", "Room \"412\".", now: now)
    let id = String((try sandbox.alarmFile() as NSString).lastPathComponent.dropLast(5))
    let place = try await sandbox.belfry(
      "cascade", "contact", id, "--occurrence", "2026-11-23T05:00", "--target",
      "phone +15551234567",
      "--due", "2026-11-23T05:02:00Z", now: "2026-11-23T05:02:00Z")
    #expect(place.status == 0, "\(place.err)")
    let requests = api.requests
    api.stop()
    #expect(requests.count == 4)
    for request in requests {
      #expect(request["user"] == "AC1" && request["password"] == "secret token")
      #expect(request["path"] == "/2010-04-01/Accounts/AC1/Calls.json")
      #expect(request["To"] == "+15551234567" && request["From"] == "+15557654321")
      let said =
        "This is an automated backup alarm from laptop. Tea &amp; &lt;cake&gt;, due at 05:00. Room &quot;412&quot;."
      #expect(
        request["Twiml"]
          == "<Response><Say>\(said)</Say><Pause length=\"1\"/><Say>\(said)</Say></Response>")
    }
    let log = try await sandbox.belfry("log", now: "2026-11-23T05:05:00Z")
    #expect(log.out.split(separator: "\n").count { $0.contains("  Called  ") } == 2)
    for text in [
      ", (555) 123-4567: the voice API did not answer in time, try 1\n",
      ", (555) 123-4567: answered, try 2\n",
    ] {
      #expect(log.out.contains(text), "\(log.out)")
    }
    // The progress of the cascade agrees with the log.
    let progress = try await sandbox.belfry("cascade", "status", "tea", now: "2026-11-23T05:03:00Z")
    #expect(progress.out.contains("answered at 5:02, call 2"), "\(progress)")
    let json = try await sandbox.belfry("log", "--json", now: "2026-11-23T05:05:00Z")
    let calls = json.array.compactMap { $0["payload"] as? [String: Any] }
      .filter { $0["kind"] as? String == "call" }
    #expect(
      Set(calls.map { "\($0["attempt"] ?? "") \($0["outcome"] ?? "")" }) == [
        "1 failed", "2 answered",
      ], "\(calls)")
  }

  @Test("A provider that refuses the credentials is reported and not retried")
  func refused() async throws {
    let sandbox = try Sandbox()
    let api = try await VoiceAPI(sandbox, answers: [])
    try sandbox.write("wrong\n", to: sandbox.root + "/token")
    _ = try await sandbox.belfry(
      "calls", "http", "--url", api.url, "--account", "AC1", "--token-file",
      sandbox.root + "/token", "--from", "+15557654321")
    let call = try await sandbox.belfry("calls", "test", "5551234567")
    api.stop()
    #expect(call.status == 6)
    #expect(call.err.contains("answered with status 401: Authenticate"), "\(call.err)")
    #expect(api.requests.count == 1)
  }

  @Test("A device without a provider places no calls, and doctor reports it")
  func none() async throws {
    let sandbox = try Sandbox()
    let call = try await sandbox.belfry("calls", "test", "5551234567")
    #expect(call.status == 4)
    #expect(call.err.contains("cannot place calls yet"))
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "05:00")
    _ = try await sandbox.belfry("cascade", "add", "tea", "phone", "5551234567")
    let doctor = try await sandbox.belfry("doctor")
    #expect(doctor.out.contains("no device of this store can"), "\(doctor.out)")
    for wrong in [
      ["sip", "--server", "a b", "--user", "x"], ["sip", "--server", "a", "--user", "x;y"],
      ["http", "--url", "ftp://x", "--account", "a", "--token-file", "/dev/null", "--from", "1"],
    ] {
      let set = try await sandbox.run(Sandbox.binary, ["calls"] + wrong)
      #expect(set.status == 2, "\(wrong) \(set.err)")
    }
  }
}
