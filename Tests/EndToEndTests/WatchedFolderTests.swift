import Foundation
import TestSupport
import Testing

/// Commands that look only at the alarms that the daemon has seen change.
@Suite struct WatchedFolderTests {
  /// Runs a script beside a daemon that has settled.
  private func run(
    _ sandbox: Sandbox, before: String = "", _ script: String
  ) async throws -> Sandbox.Output {
    let text = """
      export TZ=UTC BELFRY_DEVICE=laptop
      belfry='\(Sandbox.binary)' store='\(sandbox.store)' log='\(sandbox.root)/daemon.log'
      \(before)
      "$belfry" daemon 2>"$log" & daemon=$!
      for i in $(seq 1200); do grep -q watching "$log" && break; sleep 0.05; done
      # The number of files whose status a command asks for.
      looks() {
        "$belfry" "$@" >/dev/null 2>&1
        strace -f -qq -o '\(sandbox.root)/trace' -e trace=newfstatat,statx "$belfry" "$@" >/dev/null 2>&1
        grep -c '\\.json"' '\(sandbox.root)/trace'
      }
      \(script)
      kill $daemon
      wait $daemon
      """
    try sandbox.write(text, to: sandbox.root + "/script")
    let output = try await sandbox.run(
      "/usr/bin/timeout", ["500", "bash", sandbox.root + "/script"],
      environment: ["TZ": "UTC", "BELFRY_DEVICE": "laptop"])
    #expect(output.status == 0, "\(output.out)\(output.err)\(sandbox.daemonLog)")
    return output
  }

  @Test("With a daemon, a list looks at the changed alarms only, and without one at all of them")
  func looks() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    for number in 1...30 {
      _ = try await sandbox.belfry("add", "Alarm \(number)", "--daily", "--at", "09:00")
    }
    let output = try await run(
      sandbox,
      """
      # The first answer comes once the start has settled.
      for i in $(seq 100); do [ "$(looks list)" -lt 10 ] && break; sleep 0.2; done
      echo "list $(looks list)"
      echo "next $(looks next)"
      kill -STOP $daemon
      echo "stopped $(looks list)"
      kill -CONT $daemon
      """)
    let counts = output.out.split(separator: "\n").map { $0.split(separator: " ") }
      .reduce(into: [String: Int]()) { $0[String($1[0])] = Int($1[1]) }
    #expect(counts["list"].map { $0 < 10 } == true, "\(output.out)\(output.err)")
    #expect(counts["next"].map { $0 < 10 } == true, "\(output.out)")
    #expect(counts["stopped"].map { $0 >= 30 } == true, "\(output.out)")
  }

  @Test("A hand edit beside a daemon is seen by the command that follows it")
  func handEdits() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    for number in 1...5 {
      _ = try await sandbox.belfry("add", "Alarm \(number)", "--daily", "--at", "09:00")
    }
    let output = try await run(
      sandbox,
      """
      title() { sed "s/\\"title\\": .*/\\"title\\": \\"$1\\",/" "$file" >"$store/.new" && "$2" "$store/.new" "$file"; }
      in_place() { cat "$1" >"$2" && rm "$1"; }
      shows() { "$belfry" list 2>/dev/null | grep -q "$1"; }
      file=$(ls "$store"/alarms/*.json | head -n 1)
      for i in $(seq 40); do
        title "Moved $i" mv
        shows "Moved $i" || echo "missed Moved $i"
        title "Written $i" in_place
        shows "Written $i" || echo "missed Written $i"
      done
      mv "$file" '\(sandbox.root)/away'
      "$belfry" list 2>&1 | grep -q "was removed\\|is missing\\|deleted" || echo "missed removal: $("$belfry" list 2>&1)"
      mv '\(sandbox.root)/away' "$file"
      shows 'Written 40' || echo 'missed return'
      mv "$store/alarms" '\(sandbox.root)/alarms' && cp -r '\(sandbox.root)/alarms' "$store/alarms"
      title 'In the copy' mv
      shows 'In the copy' || echo 'missed copy'
      echo '{}' >"$store/alarms/notes.json"
      for i in 1 2 3; do "$belfry" list 2>&1 | grep -q notes.json || echo "missed stray $i"; done
      echo end
      """)
    #expect(output.out == "end\n", "\(output.out)\(output.err)")
  }
}
