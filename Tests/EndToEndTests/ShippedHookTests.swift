import Foundation
import TestSupport
import Testing

/// The hook that is shipped, with real parts around it.
@Suite(.serialized) struct ShippedHookTests {
  private let hook: String = {
    // Beside the package's manifest, wherever the tests were built.
    let here = URL(filePath: #filePath)
    return here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .path() + "hooks/deliver/notify"
  }()

  private func variables(_ title: String) -> String {
    """
    export BELFRY_ALARM=k7q2m4aaaaaaaaaaaaaaaaaaaa BELFRY_WHEN='Mon 23 Nov 2026, 09:00' BELFRY_LATE=false
    export BELFRY_TITLE='\(title)' BELFRY_NOTE='a & b <i>c</i> %s'
    """
  }

  @Test func aDesktopNotificationShowsTheTextAsItWasTyped() async throws {
    let sandbox = try Sandbox()
    let script = sandbox.root + "/desktop"
    try sandbox.write(
      """
      \(variables("<b>x</b> $(id) --help"))
      Xvfb -displayfd 3 -nolisten tcp 3>'\(sandbox.root)/display' 2>/dev/null &
      x=$!
      while [ ! -s '\(sandbox.root)/display' ]; do sleep 0.1; done
      export DISPLAY=:$(cat '\(sandbox.root)/display')
      dunst >/dev/null 2>&1 &
      d=$!
      for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        dunstctl count >/dev/null 2>&1 && break
        sleep 0.2
      done
      echo '{}' | '\(hook)' || echo failed
      dunstctl close-all
      dunstctl history
      kill $d $x
      """, to: script)
    let output = try await sandbox.run(
      "/usr/bin/timeout", ["60", "dbus-run-session", "--", "sh", script])
    #expect(!output.out.contains("failed"), "\(output.err)")
    #expect(output.out.contains("\"data\" : \"<b>x</b> $(id) --help\""), "\(output.out)")
    #expect(output.out.contains("a &amp; b &lt;i&gt;c&lt;/i&gt; %s"))
    // Critical: it stays until it is seen.
    let compact = output.out.filter { !$0.isWhitespace }
    #expect(compact.contains("\"timeout\":{\"type\":\"x\",\"data\":0}"))
  }

  @Test func withNobodyToReachItSaysSo() async throws {
    let sandbox = try Sandbox()
    let script = sandbox.root + "/nobody"
    try sandbox.write("\(variables("Rent"))\necho '{}' | '\(hook)'\n", to: script)
    // A user who has no terminal and no session bus.
    let user = try await sandbox.run("/usr/bin/id", ["-u"]).out == "0\n" ? "65534" : nil
    guard let user else { return }
    let output = try await sandbox.run(
      "/usr/bin/setpriv", ["--reuid", user, "--clear-groups", "sh", "-c", "cd /; . '\(script)'"],
      environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"])
    #expect(output.status == 1)
    #expect(output.err.split(separator: "\n").count == 1, "\(output.err)")
    #expect(output.out.isEmpty)
  }
}
