import Foundation
import Glibc
import TestSupport
import Testing

/// The daemon while its settings, hooks, remotes and its store's folder change.
@Suite struct DaemonSurroundingsTests {
  /// Runs a shell script beside a daemon, which `start` starts. `wait_for COMMAND…` waits until a command succeeds.
  private func run(
    _ sandbox: Sandbox, _ script: String, now: String?, shell: [String] = ["bash"]
  ) async throws {
    let text = """
      \(now.map { "export BELFRY_NOW=\($0)" } ?? "")
      export TZ=UTC BELFRY_DEVICE=laptop
      unset BELFRY_SOUND
      belfry='\(Sandbox.binary)' store='\(sandbox.store)' log='\(sandbox.root)/daemon.log'
      \(sandbox.waitFor)
      start() { "$belfry" daemon 2>>"$log" & daemon=$!; wait_for grep -q watching "$log"; }
      \(script)
      kill $daemon
      wait $daemon
      """
    try sandbox.write(text, to: sandbox.root + "/script")
    let output = try await sandbox.run(
      "/usr/bin/timeout", ["500"] + shell + [sandbox.root + "/script"])
    #expect(!output.out.contains("never"), "\(output.out)\(output.err)\(sandbox.daemonLog)")
    #expect(output.status == 0, "\(output.out)\(output.err)\(sandbox.daemonLog)")
  }

  @Test("A running daemon takes over settings, hooks and actions at once")
  func settings() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00", "--run", "light")
    try FileManager.default.removeItem(atPath: sandbox.hooks + "/notify")
    try await run(
      sandbox,
      """
      start
      "$belfry" settings set sound chime
      "$belfry" settings set clock 12h
      "$belfry" settings set snooze 20m
      "$belfry" settings set snoozeEnabled off
      hook() { printf '#!/bin/sh\\n%s\\n' "$2" > "$1.new"; chmod 755 "$1.new"; mv "$1.new" "$1"; }
      hook '\(sandbox.hooks)/notify' 'echo "notify $BELFRY_WHEN, $BELFRY_SNOOZE, $BELFRY_ACTIONS" >> "\(sandbox.rang)"'
      hook '\(sandbox.hooks)/ring' 'echo "ring $BELFRY_SOUND" >> "\(sandbox.rang)"'
      mkdir -p '\(sandbox.home)/.config/belfry/actions'
      hook '\(sandbox.home)/.config/belfry/actions/light' 'echo "light $BELFRY_SOUND" >> "\(sandbox.rang)"'
      wait_for grep -q light '\(sandbox.rang)'
      wait_for grep -q ring '\(sandbox.rang)'
      wait_for grep -q notify '\(sandbox.rang)'
      """, now: "2026-11-23T08:59:45Z")
    #expect(
      sandbox.rings.sorted() == [
        "light chime", "notify Mon 23 Nov 2026, 9:00 AM, 20 min, stop done skip", "ring chime",
      ])
  }

  @Test("A running daemon syncs with a new remote, and with a corrected one, at once")
  func remotes() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    try await run(
      sandbox,
      """
      start
      git init -q --bare -b main '\(sandbox.root)/one.git'
      "$belfry" remote add origin '\(sandbox.root)/one.git'
      wait_for git -C '\(sandbox.root)/one.git' rev-parse -q --verify main
      mv '\(sandbox.root)/one.git' '\(sandbox.root)/two.git'
      "$belfry" add Milk --daily --at 10:00
      wait_for grep -q 'belfry sync failed' "$log"
      began=$(date +%s)
      git -C "$store" remote set-url origin '\(sandbox.root)/two.git'
      same() { [ "$(git -C '\(sandbox.root)/two.git' rev-parse main)" = "$(git -C "$store" rev-parse main)" ]; }
      wait_for same
      # After a failure, the next interval is 15 s or longer.
      [ $(($(date +%s) - began)) -lt 12 ] || echo "never at once"
      """, now: "2026-11-23T08:00:00Z")
  }

  @Test(
    "A daemon changes over to another store that a link or a mount puts in the place of its store")
  func replacedStore() async throws {
    let sandbox = try Sandbox()
    // A mount needs root and a mount namespace.
    let canMount = geteuid() == 0
    let probe = try await sandbox.run("/usr/bin/unshare", canMount ? ["-m", "true"] : ["--help"])
    try await run(
      sandbox,
      """
      # An alarm that is overdue rings at once, and not only at the next minute.
      overdue() { BELFRY_NOW=$(date -u -d '-2 minutes' +%FT%TZ) "$belfry" in 1s "$1"; }
      "$belfry" tier plus
      mv "$store" '\(sandbox.root)/one'
      cp -a '\(sandbox.root)/one' '\(sandbox.root)/two'
      cp -a '\(sandbox.root)/one' '\(sandbox.root)/three'
      ln -s '\(sandbox.root)/one' "$store"
      start
      ln -sfn '\(sandbox.root)/two' "$store"
      wait_for grep -q 'another store is at .* now; changed over to it' "$log"
      "$belfry" list 2>&1 | grep 'scheduler does not run' && echo "never a scheduler"
      overdue Fresh
      wait_for grep -q Fresh '\(sandbox.rang)'
      \(canMount && probe.status == 0 ? """
      : > "$log"
      mount --bind '\(sandbox.root)/three' '\(sandbox.root)/two'
      wait_for grep -q 'another store is at .* now; changed over to it' "$log"
      overdue Mounted
      wait_for grep -q Mounted '\(sandbox.rang)'
      umount '\(sandbox.root)/two'
      """ : "")
      """, now: nil, shell: canMount && probe.status == 0 ? ["unshare", "-m", "bash"] : ["bash"])
  }

  @Test(
    "A daemon whose binary an update replaces or has removed rings with a sound, and records the answer",
    arguments: ["mv \"$belfry.new\" \"$belfry\"", "rm \"$belfry\""])
  func replacedBinary(update: String) async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    try FileManager.default.removeItem(atPath: sandbox.hooks)
    let hooks =
      URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().path() + "hooks"
    for name in ["pw-play", "paplay"] { _ = try sandbox.script("players/\(name)", "exit 1\n") }
    _ = try sandbox.script(
      "players/aplay", "cat >/dev/null\necho played >> '\(sandbox.rang)'\nsleep 1\n")
    try await run(
      sandbox,
      """
      prefix='\(sandbox.root)/prefix'
      mkdir -p "$prefix/bin" "$prefix/libexec/belfry"
      cp "$belfry" "$prefix/bin/belfry"
      cp -r '\(hooks)' "$prefix/libexec/belfry/hooks"
      belfry="$prefix/bin/belfry"
      export PATH='\(sandbox.root)/players:/usr/bin:/bin'
      start
      cp "$belfry" "$belfry.new"
      \(update)
      wait_for grep -q played '\(sandbox.rang)'
      [ -e "$belfry" ] || mv "$belfry.new" "$belfry"
      export BELFRY_NOW=2026-11-23T09:00:30Z
      fired() { "$belfry" log | grep -q Fired; }
      wait_for fired
      "$belfry" done tea
      quiet() { ! pgrep -f "($prefix/bin/belfry|/proc/$daemon/exe) sounds play"; }
      wait_for quiet
      """, now: "2026-11-23T08:59:55Z")
  }
}
