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
      for i in $(seq 1200); do grep -q watching "$log" && break; sleep 0.1; done
      # The number of alarms' files whose status a command asks for.
      looks() {
        "$belfry" "$@" >/dev/null 2>&1
        strace -f -qq -o '\(sandbox.root)/trace' -e trace=newfstatat,statx "$belfry" "$@" >/dev/null 2>&1
        grep '\\.json"' '\(sandbox.root)/trace' | grep -vc '/settings\\.json"'
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

  /// A time that is not due while a test runs. The commands use the real clock, as the daemon does.
  private let far = "\((Int(Date().timeIntervalSince1970) / 3600 + 12) % 24):00"

  @Test("With a daemon, a list looks at the changed alarms only, and without one at all of them")
  func looks() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    for number in 1...30 {
      _ = try await sandbox.belfry("add", "Alarm \(number)", "--daily", "--at", far, now: nil)
    }
    let output = try await run(
      sandbox,
      """
      # The start has to settle, and on a busy machine the daemon does not always answer in time.
      few() { for i in $(seq 300); do count=$(looks "$1"); [ "$count" -ge 10 ] || break; done; echo "$1 $count"; }
      few list
      few next
      kill -STOP $daemon
      echo "stopped $(looks list)"
      kill -CONT $daemon
      """)
    var counts: [String: Int] = [:]
    for line in output.out.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      counts[words[0]] = Int(words[1])
    }
    let (list, next) = (try #require(counts["list"]), try #require(counts["next"]))
    #expect(list < 10, "\(output.out)\(output.err)")
    #expect(next < 10, "\(output.out)")
    #expect(try #require(counts["stopped"]) >= 30, "\(output.out)")
  }

  @Test("A hand edit beside a daemon is seen by the command that follows it")
  func handEdits() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    for number in 1...41 {
      _ = try await sandbox.belfry("add", "Alarm \(number)", "--daily", "--at", far, now: nil)
    }
    let output = try await run(
      sandbox,
      """
      title() {
        sed "s/^  \\"title\\": .*/  \\"title\\": \\"$1\\",/" "$file" >"$store/.new" && "$2" "$store/.new" "$file"
      }
      in_place() { cat "$1" >"$2" && rm "$1"; }
      shows() { "$belfry" list 2>/dev/null | grep -q "$1"; }
      # Each alarm once, because the daemon imports an edit half a second later, and writes its file.
      number=0
      for file in "$store"/alarms/*.json; do
        number=$((number + 1))
        if [ $((number % 2)) = 0 ]; then title "Moved $number" mv; else title "Written $number" in_place; fi
        shows "[MW][a-z]* $number " || echo "missed $number"
      done
      sleep 2
      mv "$file" '\(sandbox.root)/away'
      "$belfry" list 2>&1 | grep -q "was removed\\|is missing\\|deleted" || echo "missed removal: $("$belfry" list 2>&1)"
      mv '\(sandbox.root)/away' "$file"
      shows 'Written 41' || echo 'missed return'
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
