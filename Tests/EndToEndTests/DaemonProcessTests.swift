import Foundation
import TestSupport
import Testing

/// The daemon process, with concurrent git commands, editors and other daemons.
@Suite struct DaemonProcessTests {
  /// Runs a shell script.
  ///
  /// In the script, `until_told N` waits until the hooks have recorded N lines, and `until_said WORDS` until the
  /// daemon has logged the words.
  private func run(_ sandbox: Sandbox, _ script: String, now: String) async throws -> Sandbox.Output
  {
    let (root, binary) = (sandbox.root, Sandbox.binary)
    let text = """
      export BELFRY_NOW=\(now) TZ=UTC BELFRY_DEVICE=laptop
      \(sandbox.waitFor)
      told() { [ "$(cat '\(sandbox.rang)' 2>/dev/null | wc -l)" -ge "$1" ]; }
      until_told() { wait_for told "$1"; }
      until_said() { wait_for grep -q "$1" '\(root)/daemon.log'; }
      start() { '\(binary)' daemon "$@" 2>>'\(root)/daemon.log' & daemon=$!; until_said 'watching'; }
      \(script)
      kill $daemon
      wait $daemon
      status=$?
      # A command that it had started finishes what it writes.
      is_idle() { ! pgrep -f "settle --store $HOME/"; }
      wait_for is_idle
      echo "ended with $status"
      """
    try sandbox.write(text, to: root + "/script")
    let output = try await sandbox.run("/usr/bin/timeout", ["400", "sh", root + "/script"])
    let log = (try? sandbox.read(root + "/daemon.log")) ?? ""
    #expect(!output.out.contains("never"), "\(output.out)\(output.err)\(log)")
    #expect(output.out.hasSuffix("ended with 0\n"), "\(output.out)\(log)")
    return output
  }

  @Test func newAlarmRings() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    let out = try await run(
      sandbox,
      """
      start
      '\(Sandbox.binary)' add Tea --daily --at 09:00
      until_told 1
      """, now: "2026-11-23T08:59:57Z")
    _ = out
    #expect(sandbox.rings == ["Tea 2026-11-23T09:00"])
  }

  @Test("The daemon notices at once that a branch with a name of its own was moved")
  func movedBranchWithOwnName() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "12:00")
    let other = sandbox.root + "/other"
    _ = try await sandbox.git("clone", "-q", sandbox.store, other, in: sandbox.root)
    _ = try await sandbox.belfry("add", "Milk", "--daily", "--at", "09:00", "--store", other)
    _ = try await sandbox.git("fetch", "-q", other, "main")
    _ = try await sandbox.run(
      "/bin/sh",
      ["-c", "cd '\(sandbox.store)' && git checkout -q -b first && git checkout -q -b home/alarms"])
    _ = try await run(
      sandbox,
      """
      start
      git -C '\(sandbox.store)' update-ref refs/heads/home/alarms FETCH_HEAD
      until_told 1
      """, now: "2026-11-23T08:59:55Z")
    #expect(sandbox.rings == ["Milk 2026-11-23T09:00"])
  }

  @Test("A daemon terminates the hooks of its killed predecessor, also in a linked work tree")
  func hooksOfKilledDaemon() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    let linked = sandbox.root + "/linked"
    try sandbox.write(
      "#!/bin/sh\ncat > /dev/null\necho $$ >> '\(sandbox.rang)'\necho delivered\nexec sleep 300\n",
      to: sandbox.hooks + "/notify", mode: 0o755)
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    _ = try await sandbox.git("worktree", "add", "-q", "-b", "linked", linked)
    _ = try await run(
      sandbox,
      """
      export BELFRY_STORE='\(linked)'
      start
      until_told 1
      read -r hook < '\(sandbox.rang)'
      is_registered() { [ -n "$(ls '\(sandbox.store)'/.git/worktrees/linked/belfry/hooks)" ]; }
      wait_for is_registered
      kill -9 $daemon
      wait $daemon
      kill -0 "$hook" || echo "the hook never ran"
      : > '\(sandbox.root)/daemon.log'
      start
      has_ended() { ! kill -0 "$hook"; }
      wait_for has_ended
      """, now: "2026-11-23T08:59:58Z")
  }

  @Test("The daemon notices at once that the rules of its time zone were replaced")
  func zoneRules() async throws {
    let sandbox = try Sandbox()
    let zone = sandbox.root + "/localtime"
    _ = try await sandbox.run("/bin/cp", ["/usr/share/zoneinfo/Africa/Algiers", zone])
    _ = try await sandbox.belfry(
      "add", "Tea", "--daily", "--at", "09:00", now: "2026-06-30T20:00:00Z", zone: ":\(zone)")
    // In Berlin it is an hour later than in Algiers.
    _ = try await run(
      sandbox,
      """
      export TZ=':\(zone)'
      start
      cp /usr/share/zoneinfo/Europe/Berlin '\(zone)'
      until_told 1
      """, now: "2026-07-01T06:59:55Z")
    #expect(sandbox.rings == ["Tea 2026-07-01T09:00"])
  }

  @Test("An answer ends the hooks of a killed daemon, and not those that an alarm still needs")
  func answerAfterKilledDaemon() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    // It does not end by itself.
    try sandbox.write(
      "#!/bin/sh\ntrap '' TERM\ncat > /dev/null\necho \"$BELFRY_TITLE $$\" >> '\(sandbox.rang)'\necho delivered\nwhile :; do sleep 1; done\n",
      to: sandbox.hooks + "/notify", mode: 0o755)
    for title in ["Tea", "Milk"] {
      _ = try await sandbox.belfry("add", title, "--daily", "--at", "09:00")
    }
    _ = try await run(
      sandbox,
      """
      start
      until_told 2
      tea=$(sed -n 's/^Tea //p' '\(sandbox.rang)')
      milk=$(sed -n 's/^Milk //p' '\(sandbox.rang)')
      are_registered() { [ "$(ls '\(sandbox.store)/.git/belfry/hooks' | wc -l)" = 2 ]; }
      wait_for are_registered
      kill -9 $daemon
      wait $daemon
      # An orphan that has ended can stay in the table of processes.
      runs() { grep -qs '^State:.[^Z]' "/proc/$1/status"; }
      has_ended() { ! runs "$1"; }
      BELFRY_NOW=2026-11-23T09:00:10Z '\(Sandbox.binary)' done tea
      wait_for has_ended "$tea"
      runs "$milk" || echo "the hook of Milk never stayed"
      BELFRY_NOW=2026-11-23T09:00:20Z '\(Sandbox.binary)' delete milk --yes
      wait_for has_ended "$milk"
      : > '\(sandbox.root)/daemon.log'
      start
      """, now: "2026-11-23T08:59:58Z")
  }

  @Test("A snooze that cannot be recorded is carried out, and recorded later")
  func snoozeDuringAnUnfinishedOperation() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    try sandbox.write(
      """
      #!/bin/sh
      cat > /dev/null
      echo ring >> '\(sandbox.rang)'
      echo delivered
      [ "$(wc -l < '\(sandbox.rang)')" = 1 ] && { sleep 0.5; echo snooze 5s; }
      sleep 300
      """, to: sandbox.hooks + "/notify", mode: 0o755)
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let out = try await run(
      sandbox,
      """
      start
      git -C '\(sandbox.store)' rev-parse HEAD > '\(sandbox.store)/.git/CHERRY_PICK_HEAD'
      until_told 1
      until_said 'could not record it yet'
      # It rings again, although the store cannot be written.
      until_told 2
      grep -q 'answered: Tea' '\(sandbox.root)/daemon.log' && echo "never to be recorded"
      rm '\(sandbox.store)/.git/CHERRY_PICK_HEAD'
      until_said 'answered: Tea, snooze'
      sleep 1
      wc -l < '\(sandbox.rang)'
      """, now: "2026-11-23T08:59:57Z")
    #expect(out.out.contains("2\n"), "\(out.out)")
    let log = try await sandbox.belfry("log", "--json", now: "2026-11-23T12:00:00Z").array
    let snooze = try #require(log.first { $0["action"] as? String == "snoozed" })
    // The time of the answer.
    let time = try #require(snooze["at"] as? String)
    #expect(time.hasPrefix("2026-11-23T09:00:0"), "\(snooze)")
  }

  @Test("A hook receives the zone of an alarm in another time zone")
  func foreignZone() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    try sandbox.write(
      "#!/bin/sh\ncat >> '\(sandbox.rang)'\necho \"$BELFRY_ZONE,$BELFRY_BODY\" >> '\(sandbox.root)/body'\n",
      to: sandbox.hooks + "/notify", mode: 0o755)
    _ = try await sandbox.belfry(
      "add", "Call", "--daily", "--at", "10:00", "--zone", "Europe/Berlin",
      now: "2026-11-23T08:00:00Z")
    _ = try await sandbox.belfry(
      "add", "Tea", "--daily", "--at", "09:00", now: "2026-11-23T08:00:00Z")
    _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z")
    let told = try sandbox.read(sandbox.rang)
    #expect(told.components(separatedBy: "\"zone\": \"Europe/Berlin\"").count == 2, "\(told)")
    let bodies = try sandbox.read(sandbox.root + "/body").split(separator: "\n").sorted()
    #expect(
      bodies == [
        ",Mon 23 Nov 2026, 09:00", "Europe/Berlin,Mon 23 Nov 2026, 10:00 Europe/Berlin",
      ])
  }

  @Test(.enabled(if: FaultLibrary.isAvailable))
  func daemonWithoutLockRingsAndWarns() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let variables = try FaultLibrary.refusing("flock", "ENOLCK", below: sandbox.store, in: sandbox)
    let exports = variables.map { "export \($0)='\($1)'" }.joined(separator: "\n")
    _ = try await run(
      sandbox,
      """
      \(exports)
      start
      until_said 'Belfry cannot detect a second daemon'
      until_told 1
      """, now: "2026-11-23T08:59:57Z")
    #expect(sandbox.rings == ["Tea 2026-11-23T09:00"])
  }

  @Test func daemonWithoutLocalFolderRings() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    _ = try await run(
      sandbox,
      """
      rm -r '\(sandbox.store)/.git/belfry'
      echo mine > '\(sandbox.store)/.git/belfry'
      start
      until_said 'commands cannot wake the daemon'
      until_told 1
      """, now: "2026-11-23T08:59:57Z")
    #expect(sandbox.rings == ["Tea 2026-11-23T09:00"])
  }

  @Test("The daemon imports a hand edit and rings for it")
  func handEdit() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await run(
      sandbox,
      """
      # The folder of the alarms comes with the first of them.
      start
      '\(Sandbox.binary)' add Tea --daily --at 22:00
      sleep 0.5
      sed -i 's/22:00/09:00/' '\(sandbox.store)'/alarms/*.json
      until_told 1
      is_imported() { git -C '\(sandbox.store)' log --format=%s | grep -q 'Edited by hand'; }
      wait_for is_imported
      """, now: "2026-11-23T08:59:56Z")
    #expect(sandbox.rings == ["Tea 2026-11-23T09:00"])
    #expect(try await sandbox.git("log", "--format=%s").out.contains("Edited by hand: Tea"))
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test("A daemon that starts before the one it replaces has ended takes its place")
  func replacement() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    let out = try await run(
      sandbox,
      """
      start
      for i in $(seq 3); do
        kill -KILL $daemon
        : > '\(sandbox.root)/daemon.log'
        start
      done
      """, now: "2026-11-23T08:00:00Z")
    #expect(!out.err.contains("already has a daemon"), "\(out.err)")
  }

  @Test func secondDaemonIsRefused() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    // A process that ends while its other threads still run must not wait for them, so several are tried.
    let out = try await run(
      sandbox,
      """
      start
      for i in $(seq 5); do timeout 30 '\(Sandbox.binary)' daemon; echo "second: $?"; done
      """, now: "2026-11-23T08:00:00Z")
    #expect(out.out.split(separator: "\n").count { $0 == "second: 7" } == 5, "\(out.out)")
    #expect(out.err.contains("this store already has a daemon"))
  }

  @Test("SIGHUP reloads the store, and SIGTERM also ends the hooks")
  func signals() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry(
      "add", "Tea", "--daily", "--at", "09:00", now: "2026-11-23T08:00:00Z")
    try sandbox.write(
      """
      #!/bin/sh
      echo up >> '\(sandbox.rang)'
      echo delivered
      trap 'echo down >> "\(sandbox.rang)"; exit' TERM
      sleep 60 & wait
      """, to: sandbox.hooks + "/notify", mode: 0o755)
    _ = try await run(
      sandbox, "start\nkill -HUP $daemon\nuntil_said 'reloaded 1 alarm'\nuntil_told 1",
      now: "2026-11-23T08:59:58Z")
    #expect(sandbox.rings == ["up", "down"])
  }

  @Test("A daemon without a store waits for one and creates none")
  func waitsForStore() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry(
      "add", "Tea", "--daily", "--at", "09:00", now: "2026-11-23T08:00:00Z")
    _ = try await run(
      sandbox,
      """
      mv '\(sandbox.store)' '\(sandbox.root)/away'
      '\(Sandbox.binary)' daemon 2>>'\(sandbox.root)/daemon.log' & daemon=$!
      until_said 'waiting for it'
      [ ! -e '\(sandbox.store)' ] || echo "never to be created"
      mv '\(sandbox.root)/away' '\(sandbox.store)'
      until_told 1
      """, now: "2026-11-23T08:59:57Z")
    #expect(sandbox.rings == ["Tea 2026-11-23T09:00"])
  }

  @Test("The daemon watches and locks a copy that replaces its store, and commands wake it there")
  func replacedStore() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry(
      "add", "Tea", "--daily", "--at", "12:00", now: "2026-11-23T08:00:00Z")
    let out = try await run(
      sandbox,
      """
      start
      mv '\(sandbox.store)' '\(sandbox.root)/away'
      until_said 'there is no store'
      cp -a '\(sandbox.root)/away' '\(sandbox.root)/copy'
      mv '\(sandbox.root)/copy' '\(sandbox.store)'
      until_said 'is back'
      '\(Sandbox.binary)' daemon
      echo "second: $?"
      '\(Sandbox.binary)' add Milk --daily --at 09:00
      until_told 1
      """, now: "2026-11-23T08:59:50Z")
    #expect(out.out.contains("second: 7"), "\(out.out)\(out.err)")
    #expect(sandbox.rings == ["Milk 2026-11-23T09:00"])
  }

  @Test("A plain git pull wakes the daemon")
  func pull() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    let server = try await sandbox.secondDevice()
    _ = try await sandbox.belfry("hooks", "install")
    _ = try await sandbox.belfry(
      "add", "Tea", "--daily", "--at", "09:00", now: "2026-11-23T08:00:00Z", store: server,
      device: "server")
    _ = try await sandbox.belfry(
      "sync", now: "2026-11-23T08:00:00Z", store: server, device: "server")
    _ = try await run(
      sandbox,
      "start --no-sync\ngit -C '\(sandbox.store)' pull -q origin main\nuntil_told 1",
      now: "2026-11-23T08:59:57Z")
    #expect(sandbox.rings == ["Tea 2026-11-23T09:00"])
  }

  @Test("A synced response on one device silences the other")
  func answeredElsewhere() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry(
      "add", "Tea", "--daily", "--at", "09:00", now: "2026-11-23T08:00:00Z")
    let server = try await sandbox.secondDevice(now: "2026-11-23T08:00:00Z")
    _ = try await sandbox.belfry(
      "sync", now: "2026-11-23T08:00:00Z", store: server, device: "server")
    try sandbox.write(
      """
      #!/bin/sh
      echo "up $BELFRY_STORE" >> '\(sandbox.rang)'
      echo delivered
      trap 'echo "down $BELFRY_STORE" >> "\(sandbox.rang)"; exit' TERM
      sleep 60 & wait
      """, to: sandbox.hooks + "/notify", mode: 0o755)
    _ = try await run(
      sandbox,
      """
      start
      BELFRY_DEVICE=server '\(Sandbox.binary)' daemon --store '\(server)' 2>>'\(sandbox.root)/server.log' &
      other=$!
      until_told 2
      BELFRY_NOW=2026-11-23T09:00:03Z '\(Sandbox.binary)' done tea
      until_told 3
      # The other one asks every 15 seconds while it rings.
      until_told 4
      kill $other
      wait $other
      """, now: "2026-11-23T08:59:58Z")
    let rings = sandbox.rings
    #expect(rings.prefix(2).allSatisfy { $0.hasPrefix("up") }, "\(rings)")
    #expect(rings.dropFirst(2).first == "down \(sandbox.store)", "\(rings)")
    #expect(rings.dropFirst(3).first == "down \(server)", "\(rings)")
  }
}
