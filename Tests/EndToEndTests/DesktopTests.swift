import Foundation
import TestSupport
import Testing

/// Responses to notifications, with a real notification service, a real daemon and the shipped hooks.
@Suite struct DesktopTests {
  private let title = "<b>x</b> $(id) --help"

  /// Returns a store with a daily alarm at 09:00, and only the shipped hooks.
  private func sandbox(_ arguments: [String] = []) async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    let added = try await sandbox.run(
      Sandbox.binary,
      ["add", "--daily", "--at", "09:00", "--note", "a & b <i>c</i> \\n %s"] + arguments
        + ["--", title],
      environment: ["BELFRY_NOW": "2026-11-23T08:00:00Z", "TZ": "UTC", "BELFRY_DEVICE": "laptop"])
    #expect(added.status == 0, "\(added.err)")
    try FileManager.default.removeItem(atPath: sandbox.hooks)
    return sandbox
  }

  private func state(_ sandbox: Sandbox, _ now: String) async throws -> String? {
    try await sandbox.belfry("list", "--json", now: now).array.first?["state"] as? String
  }

  private func actions(_ sandbox: Sandbox) async throws -> [String] {
    try await sandbox.belfry("log", "--json", now: "2026-11-23T12:00:00Z").array
      .compactMap { $0["action"] as? String }
  }

  @Test("Done on a firing notification creates the commit, and the text is shown as typed")
  func done() async throws {
    let sandbox = try await sandbox()
    let out = try await sandbox.onDesktop(
      """
      start_daemon
      until_shown 1
      press Done
      until_said 'answered:'
      until_shown 0
      dunstctl history
      """, now: "2026-11-23T08:59:58Z")
    #expect(out.out.contains("\"data\" : \"\(title)\""), "\(out.out)")
    #expect(out.out.contains("a &amp; b &lt;i&gt;c&lt;/i&gt; \\\\n %s"), "\(out.out)")
    let compact = out.out.filter { !$0.isWhitespace }
    // A critical notification does not time out.
    #expect(compact.contains("\"timeout\":{\"type\":\"x\",\"data\":0}"), "\(compact)")
    let buttons = try sandbox.read(sandbox.root + "/buttons")
    for button in ["Stop", "Done", "Snooze 9 min", "Skip"] {
      #expect(buttons.contains(button), "\(buttons)")
    }
    #expect(try await actions(sandbox).contains("done"))
    #expect(try await state(sandbox, "2026-11-23T09:01:00Z") == "active")
    let subject = try await sandbox.git("log", "--format=%s").out
    #expect(subject.contains("Done: \(title) (2026-11-23 09:00)"), "\(subject)")
  }

  @Test(
    "The Stop, Snooze and Skip buttons record their response",
    arguments: [
      ("Stop", "pending", "stopped"), ("Snooze", "snoozed", "snoozed"),
      ("Skip", "active", "skipped"),
    ])
  func buttons(button: String, state: String, action: String) async throws {
    let sandbox = try await sandbox()
    _ = try await sandbox.onDesktop(
      "start_daemon\nuntil_shown 1\npress \(button)\nuntil_said 'answered:'\nuntil_shown 0",
      now: "2026-11-23T08:59:58Z")
    #expect(try await self.state(sandbox, "2026-11-23T09:01:00Z") == state)
    #expect(try await actions(sandbox).contains(action))
  }

  @Test(
    "Without buttons, the text names the commands, and a click opens the ring screen in a terminal")
  func click() async throws {
    let sandbox = try await sandbox()
    // A terminal emulator whose user presses d.
    let terminal = sandbox.root + "/terminal"
    try sandbox.write(
      """
      #!/bin/sh
      printf '%s\\n' "$@" > '\(sandbox.root)/window'
      shift
      export BELFRY_NOW=2026-11-23T09:00:10Z
      (sleep 3; printf d; sleep 3) | script -qec "$*" '\(sandbox.root)/screen'
      touch '\(sandbox.root)/closed'
      """, to: terminal)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: terminal)
    let out = try await sandbox.onDesktop(
      """
      export TERMINAL='\(terminal)'
      start_daemon
      until_shown 1
      dunstctl action 0
      until_shown 0
      wait_for [ -e '\(sandbox.root)/closed' ]
      dunstctl history
      """, now: "2026-11-23T08:59:58Z")
    #expect(out.out.contains("To answer: belfry stop"), "\(out.out)")
    let words = try sandbox.read(sandbox.root + "/window").split(separator: "\n")
    #expect(words.first == "-e" && words.contains("ring"), "\(words)")
    #expect(try await state(sandbox, "2026-11-23T09:01:00Z") == "active")
    #expect(try await actions(sandbox).contains("done"))
  }

  @Test("Reply on a partner's notification asks for it in a terminal, and the alarm rings on")
  func reply() async throws {
    let sandbox = try Sandbox()
    let hook =
      URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().path() + "hooks/deliver/notify"
    let terminal = try sandbox.script(
      "terminal", "printf '%s\\n' \"$@\" > '\(sandbox.root)/window'; exec sleep 600\n")
    _ = try await sandbox.onDesktop(
      """
      export TERMINAL='\(terminal)' BELFRY_COMMAND=/bin/belfry BELFRY_STORE=/store BELFRY_ALARM=abcd
      export BELFRY_KIND=firing BELFRY_PARTNER=Chris BELFRY_HEADLINE='From Chris'
      export BELFRY_ACTIONS='stop done snooze'
      '\(hook)' < /dev/null > '\(sandbox.root)/answers' &
      hook=$!
      until_shown 1
      press Reply
      wait_for [ -s '\(sandbox.root)/window' ]
      kill $hook
      pkill -f '\(terminal)'
      """, now: "2026-11-23T09:00:00Z")
    #expect(
      try sandbox.read(sandbox.root + "/window")
        == "-e\n/bin/belfry\npartner\nreply\n--store=/store\nabcd\n")
    // It is no answer.
    #expect(try sandbox.read(sandbox.root + "/answers") == "delivered\n")
  }

  @Test("Without a terminal emulator, a click answers nothing, and the notification reappears")
  func clickWithoutTerminal() async throws {
    let sandbox = try await sandbox()
    // A path without the terminal emulators of this machine.
    let programs = sandbox.root + "/programs"
    _ = try await sandbox.onDesktop(
      """
      mkdir '\(programs)'
      for name in /usr/bin/* /bin/*; do
        case ${name##*/} in
        *term* | *konsole* | foot | kitty | alacritty | ptyxis) ;;
        *) ln -sf "$name" '\(programs)' ;;
        esac
      done
      unset TERMINAL
      PATH='\(programs)' start_daemon
      until_shown 1
      # Without a default action, the service opens its menu, in which the user chooses nothing.
      echo nothing > '\(sandbox.root)/want'
      dunstctl action 0
      sleep 1
      until_shown 1
      """, now: "2026-11-23T08:59:58Z")
    #expect(try await state(sandbox, "2026-11-23T09:01:00Z") == "ringing")
  }

  @Test(
    "The notification is withdrawn when the alarm is done, deleted or disabled",
    arguments: [
      "done x", "delete x --yes", "disable x",
    ])
  func withdrawn(command: String) async throws {
    let sandbox = try await sandbox()
    _ = try await sandbox.onDesktop(
      """
      start_daemon
      until_shown 1
      BELFRY_NOW=2026-11-23T09:00:05Z '\(Sandbox.binary)' \(command)
      until_shown 0
      """, now: "2026-11-23T08:59:58Z")
  }

  @Test("A dismissed notification reappears while the alarm rings")
  func dismissed() async throws {
    let sandbox = try await sandbox()
    _ = try await sandbox.onDesktop(
      """
      start_daemon
      until_shown 1
      dunstctl close
      until_shown 0
      until_shown 1
      """, now: "2026-11-23T08:59:58Z")
    #expect(try await state(sandbox, "2026-11-23T09:01:00Z") == "ringing")
    // The hook ends with the daemon.
    let left = try await sandbox.run("/usr/bin/pgrep", ["-f", "\(sandbox.root)/"])
    #expect(left.out.isEmpty, "\(left.out)")
  }

  @Test("Done on a follow-up notification confirms the occurrence")
  func followUp() async throws {
    let sandbox = try await sandbox()
    _ = try await sandbox.belfry("stop", "x", now: "2026-11-23T09:00:00Z")
    let out = try await sandbox.onDesktop(
      """
      start_daemon
      until_shown 1
      # The daemon records the follow-up shortly after it, and one that is answered before that is not recorded.
      is_recorded() { '\(Sandbox.binary)' log --json | grep -q reminded; }
      wait_for is_recorded
      press Done
      until_said 'answered:'
      dunstctl history
      """, now: "2026-11-23T09:29:58Z")
    #expect(out.out.contains("Did you \(title)?"), "\(out.out)")
    #expect(try sandbox.read(sandbox.root + "/buttons").contains("Remind Me"))
    #expect(try await state(sandbox, "2026-11-23T09:31:00Z") == "active")
    #expect(try await actions(sandbox).contains("reminded"))
  }

  @Test("A tick leaves a delivery helper that waits for the button")
  func tick() async throws {
    let sandbox = try await sandbox()
    let out = try await sandbox.onDesktop(
      """
      '\(Sandbox.binary)' tick
      until_shown 1
      press Stop
      has_ended() { ! pgrep -f "attend --store $HOME/"; }
      wait_for has_ended
      dunstctl count displayed
      """, now: "2026-11-23T09:00:00Z")
    #expect(out.out.contains("Fired: \(title)"), "\(out.out)\(out.err)")
    #expect(out.out.hasSuffix("0\n"), "\(out.out)")
    #expect(try await state(sandbox, "2026-11-23T09:01:00Z") == "pending")
  }

  @Test("An advance warning has normal urgency and no buttons, and does not ring")
  func warning() async throws {
    let sandbox = try await sandbox(["--warn", "10m"])
    let out = try await sandbox.onDesktop(
      """
      start_daemon
      until_said 'sent an advance warning:'
      dunstctl close-all
      dunstctl history
      """, now: "2026-11-23T08:49:58Z")
    let compact = out.out.filter { !$0.isWhitespace }
    // The notification times out.
    #expect(!compact.contains("\"timeout\":{\"type\":\"x\",\"data\":0}"), "\(compact)")
    #expect(out.out.contains("Due Mon 23 Nov 2026, 09:00."), "\(out.out)")
    #expect(try await state(sandbox, "2026-11-23T08:51:00Z") == "active")
  }

  @Test("All missed occurrences are in one notification")
  func missed() async throws {
    let sandbox = try await sandbox()
    let out = try await sandbox.onDesktop(
      """
      start_daemon
      until_said 'rang late:'
      until_shown 2
      dunstctl close-all
      dunstctl history
      """, now: "2026-11-26T12:00:00Z")
    #expect(out.out.contains("Missed 3 times: "), "\(out.out)")
  }
}
