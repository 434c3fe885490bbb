import Foundation
import TestSupport
import Testing

/// `belfry status --format`, the daemon's file for prompts, and the programs that show them.
@Suite struct StatusBarTests {
  private static let hostile = "<b>&%{A1:rm:}#(touch /tmp/belfry-ran)#[fg=red]$(touch x)`y`"

  private static func has(_ program: String) -> Bool {
    access("/usr/bin/\(program)", X_OK) == 0
  }

  /// A store with a pending, a snoozed and an upcoming alarm. Monday is 23 Nov 2026.
  private func store() async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    for title in [StatusBarTests.hostile, "Tea"] {
      _ = try await sandbox.belfry("add", title, "--daily", "--at", "09:00", now: early)
    }
    _ = try await sandbox.belfry("add", "Pills", "--daily", "--at", "21:00", now: early)
    return sandbox
  }

  private let early = "2026-11-23T08:00:00Z"
  private let morning = "2026-11-23T09:01:00Z"

  @Test("A line tells what needs an answer, or what rings next")
  func lines() async throws {
    let sandbox = try await store()
    func line(_ arguments: String..., now: String) async throws -> String {
      let output = try await sandbox.belfry(["status", "--format"] + arguments, now: now)
      #expect(output.status == 0 && output.err.isEmpty, "\(output.err)")
      #expect(output.out.hasSuffix("\n") && output.out.count { $0 == "\n" } == 1)
      return String(output.out.dropLast())
    }
    #expect(try await line("plain", "--width", "30", now: early).hasSuffix("… 09:00"))
    #expect(try await line("prompt", now: early) == "no scheduler")
    try await sandbox.prepare(["tick"], now: morning)
    #expect(try await line("prompt", now: morning) == "2 ringing")
    // A clock that lost an hour. The tick there was later.
    let behind = try await line("plain", now: "2026-11-23T08:50:00Z")
    #expect(behind.hasPrefix("clock behind · "), "\(behind)")
    _ = try await sandbox.belfry("stop", "tea", now: morning)
    _ = try await sandbox.belfry("snooze", "touch", now: morning)
    #expect(try await line("plain", now: morning) == "pending Tea · 1 snoozed")
    #expect(try await line("prompt", now: morning) == "1 pending")
    _ = try await sandbox.belfry("done", "tea", now: morning)
    #expect(try await line("plain", "--width", "60", now: morning).hasSuffix("… until 09:10"))
    _ = try await sandbox.belfry("done", "touch", now: morning)
    #expect(try await line("plain", now: morning) == "Pills 21:00")
    #expect(try await line("plain", "--relative", now: morning) == "Pills in 11 h 59 min")
    #expect(try await line("prompt", now: morning).isEmpty)
  }

  @Test("Without a store the line is empty; a named store that is missing is a problem")
  func withoutStore() async throws {
    let sandbox = try Sandbox()
    let output = try await sandbox.belfry("status", "--format", "plain")
    #expect(output.status == 0 && output.out == "\n" && output.err.isEmpty)
    let named = try await sandbox.belfry(
      "status", "--format", "plain", store: sandbox.root + "/none")
    #expect(named.out == "store missing\n")
  }

  @Test(
    "Options without a format, and combinations that make no sense, are usage errors",
    arguments: [
      ["--follow"], ["--width", "30"], ["--format", "tmux", "--json"],
      ["--format", "tmux", "--width", "3"], ["--format", "xmobar"],
    ])
  func usage(_ arguments: [String]) async throws {
    let sandbox = try await store()
    let output = try await sandbox.belfry(["status"] + arguments)
    #expect(output.status == 2)
  }

  @Test("A follower prints each change at once, and ends with its reader", .timeLimit(.minutes(2)))
  func follow() async throws {
    let sandbox = try Sandbox()
    let (root, belfry) = (sandbox.root, Sandbox.binary)
    try sandbox.write(
      """
      \(sandbox.waitFor)
      export TZ=UTC BELFRY_DEVICE=laptop BELFRY_NOW=2026-11-23T08:58:00Z XDG_RUNTIME_DIR='\(root)/run'
      mkdir -m 700 "$XDG_RUNTIME_DIR"
      prompt=$XDG_RUNTIME_DIR/belfry/prompt
      '\(belfry)' status --format plain --follow >'\(root)/lines' & follower=$!
      until_line() { wait_for last "$1"; }
      last() { [ "$(tail -n 1 '\(root)/lines')" = "$1" ]; }
      until_line ''
      '\(belfry)' tier plus
      '\(belfry)' add Milk --daily --at 12:00
      until_line 'no scheduler · Milk 12:00'
      '\(belfry)' daemon 2>'\(root)/log' & daemon=$!
      until_line 'Milk 12:00'
      wait_for [ -e "$prompt" ]
      [ -s "$prompt" ] && echo 'the prompt is not empty'
      export BELFRY_NOW=2026-11-23T12:00:30Z
      kill $daemon; wait $daemon
      until_line 'no scheduler · Milk 12:00'
      [ -e "$prompt" ] && echo 'the prompt is left'
      mv "$HOME/.local/share/belfry" "$HOME/away"
      until_line 'store missing'
      mv "$HOME/away" "$HOME/.local/share/belfry"
      until_line 'no scheduler · Milk 12:00'
      kill $follower; wait $follower; echo "ended with $?"
      BELFRY_NOW=2026-11-23T12:00:30Z '\(belfry)' daemon 2>'\(root)/log' & daemon=$!
      holds() { [ "$(cat "$prompt")" = "$1" ]; }
      wait_for holds '1 ringing'
      '\(belfry)' stop milk
      wait_for holds '1 pending'
      kill $daemon; wait $daemon
      '\(belfry)' status --format plain --follow | head -n 1
      echo over
      """, to: root + "/script")
    let output = try await sandbox.run("/usr/bin/timeout", ["100", "bash", root + "/script"])
    let lines = try sandbox.read(root + "/lines")
    #expect(output.out.contains("ended with 143\n"), "\(output.out)\(output.err)\(lines)")
    #expect(
      output.out.hasSuffix("pending Milk\nover\n"),
      "\(output.out)\(output.err)\(lines)")
    #expect(!output.out.contains("the prompt"), "\(output.out)")
  }

  // MARK: Real programs

  @Test(
    "Pango reads the markup for waybar as text",
    .enabled(if: has("python3"), "python3 is not installed"))
  func pango() async throws {
    let sandbox = try await store()
    let script = """
      import json, sys
      try:
          import gi
          gi.require_version("Pango", "1.0")
          from gi.repository import Pango
      except (ImportError, ValueError):
          print("skipped: python3-gi or gir1.2-pango-1.0 is not installed")
          sys.exit()
      line = json.load(sys.stdin)
      for key in ("text", "tooltip"):
          ok, attributes, text, _ = Pango.parse_markup(line[key], -1, "\\0")
          assert ok and not attributes.get_attributes(), line
          assert "<b>&%{A1:rm:}" in text, text
      """
    try sandbox.write(script, to: sandbox.root + "/pango.py")
    let output = try await sandbox.run(
      "/bin/bash",
      [
        "-c",
        "BELFRY_NOW=2026-11-23T09:01:00Z TZ=UTC '\(Sandbox.binary)' status --format waybar --width 90 | /usr/bin/python3 '\(sandbox.root)/pango.py'",
      ])
    #expect(output.status == 0, "\(output.err)")
  }

  @Test(
    "tmux shows a hostile title as it is, and runs nothing",
    .enabled(if: has("tmux"), "tmux is not installed"))
  func tmux() async throws {
    let sandbox = try await store()
    let (root, belfry) = (sandbox.root, Sandbox.binary)
    try sandbox.write(
      """
      \(sandbox.waitFor)
      export BELFRY_NOW=2026-11-23T09:01:00Z TZ=UTC
      cat >'\(root)/tmux.conf' <<'END'
      set -g status-right-length 150
      set -g status-interval 1
      set -g status-right "#(BELFRY_NOW=2026-11-23T09:01:00Z '\(belfry)' status --format tmux --width 120 --follow)|"
      set -g status-left ""
      set -g window-status-format ""
      set -g window-status-current-format ""
      END
      tmux -S '\(root)/outer' -f /dev/null new-session -d -x 200 -y 10 \\
        "env -u TMUX tmux -S '\(root)/inner' -f '\(root)/tmux.conf' new-session 'sleep 600'"
      screen() { tmux -S '\(root)/outer' capture-pane -p; }
      shows() { screen | grep -qF 'ringing <b>&%{A1:rm:}#(touch /tmp/belfry-ran)#[fg=red]$(touch x)`y` +1'; }
      wait_for shows
      screen
      tmux -S '\(root)/inner' kill-server; tmux -S '\(root)/outer' kill-server
      """, to: root + "/script")
    let output = try await sandbox.run("/usr/bin/timeout", ["60", "bash", root + "/script"])
    #expect(output.out.contains("#[fg=red]"), "\(output.out)\(output.err)")
    #expect(access("/tmp/belfry-ran", F_OK) != 0)
  }

  @Test(
    "The recipe for tmux opens the full screen in a popup, and q closes it",
    .enabled(if: has("tmux"), "tmux is not installed"))
  func popup() async throws {
    let sandbox = try await store()
    let (root, belfry) = (sandbox.root, Sandbox.binary)
    let recipe = try #require(
      try StatusBarTests.article().split(separator: "\n").first { $0.hasPrefix("bind B ") })
    try sandbox.write(
      recipe.replacing("belfry ui", with: "BELFRY_NOW=\(early) TZ=UTC \(belfry) ui") + "\n",
      to: root + "/tmux.conf")
    try sandbox.write(
      """
      \(sandbox.waitFor)
      tmux -S '\(root)/outer' -f /dev/null new-session -d -x 100 -y 30 \\
        "env -u TMUX tmux -S '\(root)/inner' -f '\(root)/tmux.conf' new-session 'echo ready; exec sleep 600'"
      screen() { tmux -S '\(root)/outer' capture-pane -p; }
      shows() { screen | grep -qF "$1"; }
      misses() { ! shows "$1"; }
      wait_for shows ready
      tmux -S '\(root)/outer' send-keys C-b
      tmux -S '\(root)/outer' send-keys B
      wait_for shows Pills
      screen
      tmux -S '\(root)/outer' send-keys q
      wait_for misses Pills
      tmux -S '\(root)/inner' kill-server; tmux -S '\(root)/outer' kill-server
      """, to: root + "/script")
    let output = try await sandbox.run("/usr/bin/timeout", ["60", "bash", root + "/script"])
    #expect(
      output.out.contains("1 Alarms") && output.out.contains("Pills"), "\(output.out)\(output.err)")
  }

  @Test("i3blocks passes on the block", .enabled(if: has("i3blocks"), "i3blocks is not installed"))
  func blocks() async throws {
    let sandbox = try await store()
    let (root, belfry) = (sandbox.root, Sandbox.binary)
    try sandbox.write(
      """
      [belfry]
      command=BELFRY_NOW=2026-11-23T09:01:00Z TZ=UTC '\(belfry)' status --format i3blocks --width 100 --follow
      interval=persist
      format=json
      markup=pango

      """, to: root + "/blocks")
    let output = try await sandbox.run(
      "/bin/bash", ["-c", "timeout 3 i3blocks -c '\(root)/blocks'; true"])
    let lines = output.out.split(separator: "\n").filter { $0.contains("belfry") }
    let last = try #require(lines.last, "\(output.out)\(output.err)")
    let text = last.drop { $0 != "[" }
    let blocks = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]]
    let block = try #require(blocks?.last)
    #expect((block["full_text"] as? String)?.contains(StatusBarTests.hostile) == true)
    #expect(block["markup"] as? String == "none")
    #expect(block["urgent"] as? Bool == true)
  }

  @Test("The recipe for i3bar and swaybar prints the header and an array for each change")
  func bar() async throws {
    let sandbox = try await store()
    let parts = try StatusBarTests.article().components(separatedBy: "```\n")
    let part = try #require(parts.first { $0.hasPrefix("#!/bin/sh") })
    try sandbox.write(
      part.replacing("belfry status", with: "'\(Sandbox.binary)' status"),
      to: sandbox.root + "/bar", mode: 0o755)
    let output = try await sandbox.run(
      "/bin/bash", ["-c", "timeout 2 '\(sandbox.root)/bar'; true"],
      environment: ["BELFRY_NOW": morning, "TZ": "UTC"])
    let lines = output.out.split(separator: "\n")
    #expect(lines.prefix(2) == ["{\"version\":1}", "["], "\(output.out)\(output.err)")
    for line in lines.dropFirst(2) {
      #expect(line.hasSuffix("],"))
      let array = try JSONSerialization.jsonObject(with: Data(line.dropLast().utf8))
      let block = try #require((array as? [[String: Any]])?.first)
      #expect(block["urgent"] as? Bool == true)
    }
    #expect(lines.count == 3, "\(output.out)")
  }

  private static func article() throws -> String {
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/belfry/belfry.docc/StatusBars.md")
    return try String(contentsOf: path, encoding: .utf8)
  }

  @Test(
    "The recipes for shells show the file, and nothing without it",
    arguments: ["bash", "zsh", "fish"])
  func prompts(_ shell: String) async throws {
    guard StatusBarTests.has(shell) else { return }
    let sandbox = try Sandbox()
    let text = try StatusBarTests.article()
    let part = try #require(text.components(separatedBy: "\n\(shell), in ").dropFirst().first)
    let recipe = part.components(separatedBy: "```")[1]
    let expand =
      switch shell {
      case "bash":
        "PS1='$ '\n\(recipe)\nshow() { eval \"$PROMPT_COMMAND\"; printf '%s|' \"${PS1@P}\"; }"
      case "zsh":
        "PROMPT='$ '\n\(recipe)\nshow() { belfry_prompt; print -rn -- \"${(%%)${(e)PROMPT}}|\"; }"
      default: "\(recipe)\nfunction show; printf '%s|' (fish_right_prompt | string collect); end"
      }
    try sandbox.write(
      """
      \(expand)
      show
      mkdir -p $XDG_RUNTIME_DIR/belfry
      printf '' > $XDG_RUNTIME_DIR/belfry/prompt
      show
      echo '1 ringing, 2 pending' > $XDG_RUNTIME_DIR/belfry/prompt
      show
      """, to: sandbox.root + "/script")
    let output = try await sandbox.run(
      "/usr/bin/\(shell)", [sandbox.root + "/script"],
      environment: ["XDG_RUNTIME_DIR": sandbox.root + "/run"])
    let shown = output.out.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    if shell == "fish" {
      #expect(output.out.replacing("|", with: "") == "1 ringing, 2 pending", "\(output.err)")
    } else {
      #expect(shown == ["$ ", "$ ", "[1 ringing, 2 pending] $ ", ""], "\(output.err)")
    }
    #expect(output.err.isEmpty, "\(output.err)")
  }
}
