import Foundation
import TestSupport
import Testing

/// Tests of the shipped hooks with real notification services.
@Suite(.serialized) struct ShippedHookTests {
  private let folder: String = {
    // The folder is next to the package's manifest, independent of the build folder.
    let here = URL(filePath: #filePath)
    return here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .path() + "hooks/deliver"
  }()

  private var hook: String { folder + "/missed" }

  @Test("The hook for people hides its address and message from other users of the machine")
  func person() async throws {
    let sandbox = try Sandbox()
    _ = try sandbox.script(
      "programs/curl",
      "echo \"$@\" > '\(sandbox.root)/arguments'\ncat > '\(sandbox.root)/input'\necho 200\n")
    let output = try await sandbox.run(
      folder + "/person", [],
      environment: [
        "PATH": "\(sandbox.root)/programs:/usr/bin:/bin",
        "BELFRY_ADDRESS": "https://ntfy.sh/se{cre}t", "BELFRY_TITLE": "Wake \"up\"",
        "BELFRY_MESSAGE": "@/etc/passwd",
      ])
    #expect(output.status == 0, "\(output.err)")
    let arguments = try sandbox.read(sandbox.root + "/arguments")
    for secret in ["ntfy", "Wake", "passwd"] { #expect(!arguments.contains(secret)) }
    // curl expands braces in addresses, and reads files that `data` names.
    #expect(arguments.contains("--globoff"))
    let input = try sandbox.read(sandbox.root + "/input")
    #expect(input.contains("url = \"https://ntfy.sh/se{cre}t\"\n"))
    #expect(input.contains("header = \"Title: Wake \\\"up\\\"\"\n"))
    #expect(input.contains("data-raw = \"@/etc/passwd\"\n"))
  }

  @Test("A hook continues if the daemon that reads its output has died")
  func deadReader() async throws {
    let sandbox = try Sandbox()
    let script = """
      mkfifo pipe
      : < pipe &
      sh -c '. "$0/common.sh"; echo delivered; echo continued > result' '\(folder)' > pipe
      cat result
      """
    let output = try await sandbox.run(
      "/bin/sh", ["-c", "cd '\(sandbox.root)'; \(script)"])
    #expect(output.out == "continued\n", "\(output.err)")
  }

  /// Creates a store with a stopped alarm and only the shipped hooks.
  private func pending() async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry("add", "Rent reminder", "--weekly", "mon", "--at", "09:00")
    _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z")
    _ = try await sandbox.belfry("stop", "rent", now: "2026-11-23T09:00:10Z")
    try FileManager.default.removeItem(atPath: sandbox.hooks)
    return sandbox
  }

  private func press(_ button: String, _ sandbox: Sandbox) async throws -> (
    out: String, state: String
  ) {
    let script = sandbox.root + "/desktop"
    try sandbox.write(
      """
      \(sandbox.desktop)
      export BELFRY_NOW=2026-11-23T09:30:10Z TZ=UTC BELFRY_DEVICE=laptop
      '\(Sandbox.binary)' tick
      dunstctl count displayed
      echo '\(button)' > '\(sandbox.root)/want'
      dunstctl context
      # Who attends ends once the button is dealt with.
      has_ended() { ! pgrep -f "attend --store $HOME/"; }
      wait_for has_ended
      stop
      """, to: script)
    let output = try await sandbox.run(
      "/usr/bin/timeout", ["400", "dbus-run-session", "--", "sh", script])
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-23T09:32:00Z")
    return (output.out + output.err, list.array.first?["state"] as? String ?? "")
  }

  @Test("Done on the notification marks a pending occurrence as done without a terminal")
  func doneButton() async throws {
    let sandbox = try await pending()
    let (out, state) = try await press("Done", sandbox)
    #expect(out.contains("Follow-up (1 of 3): Did you Rent reminder?"), "\(out)")
    #expect(state == "active", "\(out)")
    let log = try await sandbox.belfry("log", "--json", now: "2026-11-23T09:33:00Z").array
    #expect(log.contains { $0["action"] as? String == "done" })
  }

  @Test("Remind Me on the notification leaves the occurrence pending until the next follow-up")
  func remindMeButton() async throws {
    let sandbox = try await pending()
    let (out, state) = try await press("Remind Me", sandbox)
    #expect(state == "pending", "\(out)")
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-23T09:32:00Z").array
    let pending = list.first?["pending"] as? [String: Any]
    #expect(pending?["followUpsSent"] as? Int == 1)
    #expect(pending?["nextFollowUp"] as? String == "2026-11-23T10:00:10Z")
  }

  @Test func settingsNameNotificationService() async throws {
    let sandbox = try await pending()
    let script = sandbox.root + "/check"
    try sandbox.write(
      "\(sandbox.desktop)\n'\(Sandbox.binary)' settings --json\ndunstctl count\nstop\n", to: script
    )
    let output = try await sandbox.run(
      "/usr/bin/timeout", ["400", "dbus-run-session", "--", "sh", script])
    #expect(output.out.contains("\"detail\": \"desktop notifications (dunst "), "\(output.out)")
    #expect(output.out.contains("\"reachable\": true"))
    // The check showed no notification.
    #expect(output.out.contains("Currently displayed: 0"), "\(output.out)")
  }

  private func variables(_ title: String) -> String {
    """
    export BELFRY_KIND=missed BELFRY_ALARM=k7q2m4aaaaaaaaaaaaaaaaaaaa
    export BELFRY_HEADLINE='\(title)' BELFRY_BODY='a & b <i>c</i> %s'
    """
  }

  @Test func desktopNotificationShowsLiteralText() async throws {
    let sandbox = try Sandbox()
    let script = sandbox.root + "/desktop"
    try sandbox.write(
      """
      \(variables("<b>x</b> $(id) --help"))
      \(sandbox.desktop)
      echo '{}' | '\(hook)' || echo failed
      dunstctl close-all
      dunstctl history
      stop
      """, to: script)
    let output = try await sandbox.run(
      "/usr/bin/timeout", ["400", "dbus-run-session", "--", "sh", script])
    #expect(!output.out.contains("failed"), "\(output.err)")
    #expect(output.out.contains("\"data\" : \"<b>x</b> $(id) --help\""), "\(output.out)")
    #expect(output.out.contains("a &amp; b &lt;i&gt;c&lt;/i&gt; %s"))
    // A critical notification has no timeout.
    let compact = output.out.filter { !$0.isWhitespace }
    #expect(compact.contains("\"timeout\":{\"type\":\"x\",\"data\":0}"))
  }

  @Test(.enabled(if: TestMachine.isRoot, "only root can become another user"))
  func unreachableUserIsReported() async throws {
    let sandbox = try Sandbox()
    let script = sandbox.root + "/nobody"
    try sandbox.write("\(variables("Rent"))\necho '{}' | '\(hook)'\n", to: script)
    // A user without a terminal and a session bus.
    let output = try await sandbox.run(
      "/usr/bin/setpriv",
      ["--reuid", "65534", "--clear-groups", "sh", "-c", "cd /; . '\(script)'"],
      environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"])
    #expect(output.status == 1)
    #expect(output.err.split(separator: "\n").count == 1, "\(output.err)")
    #expect(output.out.isEmpty)
  }
}
