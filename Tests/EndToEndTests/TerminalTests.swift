import Foundation
import TestSupport
import Testing

/// Notifications on terminals: Belfry's own screen, tmux, and full-screen programs.
@Suite struct TerminalTests {
  /// Returns a store with an alarm at 09:00 that has a title with tmux's markup, and only the shipped hooks. Without a
  /// desktop and a sound, terminals are the last channel.
  private func sandbox() async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry(
      "add", "Tea #(touch ran) 5%H;", "--daily", "--at", "09:00")
    try FileManager.default.removeItem(atPath: sandbox.hooks)
    return sandbox
  }

  /// Runs a script with these functions:
  ///
  /// - `open NAME COMMAND…`: runs a command on a terminal of its own. What it shows is in the file NAME, and it reads the
  ///   keys that are written to the file descriptor 3. The terminal counts as one of the user's.
  /// - `shows NAME TEXT`: succeeds once a terminal has shown a text.
  /// - `wait_for COMMAND…`: see `Sandbox.waitFor`.
  private func run(_ sandbox: Sandbox, _ script: String) async throws -> Sandbox.Output {
    let text = """
      export TZ=UTC BELFRY_DEVICE=laptop BELFRY_NOW=2026-11-23T09:00:01Z TERM=xterm-256color
      export BELFRY_TERMINALS='\(sandbox.root)/terminals' TMUX_TMPDIR='\(sandbox.root)' XDG_RUNTIME_DIR='\(sandbox.root)'
      # The servers of other tests do not count.
      export BELFRY_PROC='\(sandbox.root)/proc'
      belfry='\(Sandbox.binary)' store='\(sandbox.store)'
      cd '\(sandbox.root)'
      mkdir -p terminals
      # The helper of a tick ends with the answer.
      trap '"$belfry" stop Tea >/dev/null 2>&1; kill $opened' EXIT
      \(sandbox.waitFor)
      shows() { grep -qF -e "$2" "$1"; }
      open() {
        name=$1; shift
        mkfifo $name.keys
        script -qfec "ln -sf \\$(tty) terminals/$((++number)); stty cols 100 rows 30; $*" $name < $name.keys >/dev/null 2>&1 &
        opened="$opened $!"
        exec 3> $name.keys
      }
      \(script)
      """
    try sandbox.write(text, to: sandbox.root + "/script")
    let output = try await sandbox.run(
      "/usr/bin/timeout", ["300", "bash", sandbox.root + "/script"])
    #expect(!output.out.contains("never"), "\(output.out)\(output.err)")
    return output
  }

  @Test("tmux shows a message on its client, as typed, and nothing in the window's program")
  func tmux() async throws {
    let sandbox = try await sandbox()
    let output = try await run(
      sandbox,
      """
      open client 'tmux -f /dev/null new-session "stty raw -echo; ln -s \\$(tty) terminals/90; exec sleep 600"'
      wait_for [ -e terminals/90 ]
      "$belfry" tick
      wait_for shows client 'belfry ring'
      tmux capture-pane -p -t 0 | grep Tea && echo 'never in the window'
      # The next key removes the message, which is repeated as long as nothing else delivers.
      printf x >&3
      repeated() { [ "$(tmux show-messages | grep -c 'message: .*Tea')" -ge 2 ]; }
      wait_for repeated
      tmux kill-server
      """)
    let shown = try sandbox.read(sandbox.root + "/client")
    #expect(shown.contains("** Tea #(touch ran) 5%H;"), "\(shown)\(output.err)")
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/ran"))
    #expect(output.out.contains("Fired: Tea"), "\(output.out)")
  }

  @Test("tmux shows no message over Belfry's own screen")
  func screenInTmux() async throws {
    let sandbox = try await sandbox()
    let output = try await run(
      sandbox,
      """
      echo "exec '$belfry' ring --wait --store '$store'" > screen.sh
      open client 'tmux -f /dev/null new-session "sh screen.sh"'
      wait_for sh -c 'tmux capture-pane -p | grep -q Tea'
      "$belfry" tick
      sleep 1
      tmux show-messages | grep 'message: .*Tea' && echo 'never over the screen'
      tmux kill-server
      """)
    #expect(output.out.contains("Fired: Tea"), "\(output.out)")
  }

  @Test("With openScreen, the firing screen opens in a popup of tmux, once for all alarms")
  func popup() async throws {
    let sandbox = try await sandbox()
    _ = try await sandbox.belfry("add", "Milk", "--daily", "--at", "09:00")
    _ = try await sandbox.belfry("settings", "set", "openScreen", "on")
    _ = try await run(
      sandbox,
      """
      open client 'tmux -f /dev/null new-session "exec sleep 600"'
      wait_for tmux list-clients -F '#{client_tty}'
      "$belfry" tick
      # Keys that the user types for another program do not count.
      wait_for shows client 'after a pause'
      # The client of tmux, the lock and the screen, of one popup.
      one() { [ "$(pgrep -fc "ring --automatic --store=$store")" = 3 ]; }
      wait_for one
      state() { "$belfry" list --json | grep -c '"state": "pending"'; }
      stopped() { [ "$(state)" = $1 ]; }
      # tmux writes only the cells that change, so that no text of the next screen is certain.
      press() { stopped $1 || { sleep 2.5; printf s >&3; sleep 1; stopped $1; }; }
      wait_for press 1
      # The screen of the next alarm ignores a key that comes at once.
      printf s >&3
      sleep 1
      wait_for stopped 1
      wait_for press 2
      wait_for stopped 2
      # The screen closes when nothing rings.
      closed() { ! pgrep -f "ring --automatic --store=$store"; }
      wait_for closed
      tmux kill-server
      """)
  }

  @Test(
    "The screens of two stores open in a tmux server with a socket of its own, although a popup is open there"
  )
  func busyTmux() async throws {
    let sandbox = try await sandbox()
    let hook =
      URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().path() + "hooks/deliver/screen"
    // Stands for the screen, and records its arguments.
    let screen = try sandbox.script(
      "ring", "echo \"$@\" >> '\(sandbox.root)/opened'; exec sleep 600\n")
    let output = try await run(
      sandbox,
      """
      unset DISPLAY WAYLAND_DISPLAY TMUX
      mkdir -p proc/1
      printf 'A=b\\0TMUX=%s,1,0\\0' "$PWD/socket" > proc/1/environ
      open client 'tmux -S "$PWD/socket" -f /dev/null new-session "exec sleep 600"'
      clients() { tmux -S socket list-clients -F '#{client_tty}' | grep .; }
      wait_for clients
      tmux -S socket display-popup -c "$(clients)" -E 'touch popup; exec sleep 600' &
      wait_for [ -e popup ]
      export BELFRY_COMMAND='\(screen)'
      for store in /a /a /b; do BELFRY_STORE=$store '\(hook)' < /dev/null || echo "never opened: $store"; done
      echo "windows: $(tmux -S socket list-windows | wc -l)"
      tmux -S socket kill-server
      """)
    #expect(output.out.contains("windows: 3"), "\(output.out)\(output.err)")
    let opened = try sandbox.read(sandbox.root + "/opened")
    #expect(opened == "ring --automatic --store=/a\nring --automatic --store=/b\n", "\(opened)")
  }

  @Test("Belfry's own screen gets no text, counts as reached, and repaints what others write")
  func ownScreen() async throws {
    let sandbox = try await sandbox()
    let output = try await run(
      sandbox,
      """
      open screen "'$belfry' ring --wait"
      wait_for shows screen '[s] stop'
      "$belfry" tick
      printf '\\033[5;5HJUNK' > $(readlink terminals/1)
      wait_for shows screen JUNK
      # Nothing else has changed on the screen since the junk.
      repainted() { sed '1,/JUNK/d' screen | grep -qF '[s] stop' || sed 's/.*JUNK//' screen | grep -qF '[s] stop'; }
      wait_for repainted
      grep -qF '** Tea' screen && echo 'never a text'
      printf q >&3
      """)
    #expect(output.out.contains("Fired: Tea"), "\(output.out)")
  }

  @Test(
    "A screen that was opened for one alarm names another that begins to ring, and shows it after the answer"
  )
  func screenOfOneAlarm() async throws {
    let sandbox = try await sandbox()
    _ = try await sandbox.belfry("add", "Milk", "--daily", "--at", "09:01")
    let output = try await run(
      sandbox,
      """
      "$belfry" tick
      # The clock of the test passes 09:01 while the screen is open.
      export BELFRY_NOW=2026-11-23T09:00:58Z
      open screen "'$belfry' ring Tea"
      wait_for shows screen '[s] stop'
      export BELFRY_NOW=2026-11-23T09:01:01Z
      "$belfry" tick
      wait_for shows screen 'Also ringing: Milk'
      grep -qF '** Milk' screen && echo 'never a text'
      printf s >&3
      answered() { "$belfry" list --json | grep -q '"state": "pending"'; }
      wait_for answered
      # Keys do not count at once on an alarm that follows.
      wait_for shows screen 'after a pause'
      "$belfry" stop Milk
      """)
    #expect(output.out.contains("Fired: Milk"), "\(output.out)")
  }

  @Test("A full-screen program is written over only if no other channel delivers")
  func lastResort() async throws {
    let sandbox = try await sandbox()
    _ = try await run(
      sandbox,
      """
      open program 'stty raw -echo; exec sleep 600'
      wait_for [ -e terminals/1 ]
      mkdir -p '\(sandbox.hooks)'
      printf '#!/bin/sh\\necho delivered; exec sleep 600\\n' > '\(sandbox.hooks)/ring'
      chmod 755 '\(sandbox.hooks)/ring'
      "$belfry" tick
      wait_for shows program "$(printf '\\a')"
      sleep 4
      grep -qF '** Tea' program && echo 'never a text beside a sound'
      "$belfry" stop Tea
      rm '\(sandbox.hooks)/ring'
      export BELFRY_NOW=2026-11-24T09:00:01Z
      "$belfry" tick
      wait_for shows program '** Tea'
      """)
  }
}
