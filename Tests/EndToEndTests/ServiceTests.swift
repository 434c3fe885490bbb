import Foundation
import TestSupport
import Testing

/// Tests of the background service: systemd units, crontabs, and a real systemd where one is available.
@Suite struct ServiceTests {
  @Test(
    "The units pass systemd-analyze verify with any path",
    arguments: [
      [], ["--wake"], ["--timer"], ["--timer", "--wake"], ["--sandbox"], ["--sandbox", "--wake"],
      ["--timer", "--sandbox"],
    ])
  func unitsAreValid(options: [String]) async throws {
    let sandbox = try Sandbox()
    // The path contains every character that is special in a unit file.
    let store = sandbox.root + "/my store 100% $HOME \"x\" 'y' \\n ;"
    let output = try await sandbox.run(
      Sandbox.binary, ["service", "install", "--dry-run", "--json", "--store", store] + options,
      environment: ["BELFRY_DEVICE": "my $laptop 5%", "TZ": "Europe/Berlin"])
    #expect(output.status == 0, "\(output.err)")
    let units = try #require(output.object["units"] as? [String: String])
    #expect(units.count == (options.contains("--timer") ? 2 : 1))
    var paths: [String] = []
    for (name, text) in units {
      let path = "\(sandbox.root)/\(name)"
      try sandbox.write(text, to: path)
      paths.append(path)
    }
    let verify = try await sandbox.run(
      "/usr/bin/systemd-analyze", ["verify", "--user"] + paths.sorted(),
      environment: ["XDG_RUNTIME_DIR": sandbox.root])
    #expect(verify.status == 0 && verify.err.isEmpty, "\(verify.err)")
    let text = units.values.joined()
    if options.contains("--timer") {
      #expect(text.contains("Persistent=true") && text.contains("AccuracySec=1s"))
      #expect(text.contains("TimeoutStartSec=300"))
    } else {
      #expect(text.contains("Type=notify") && text.contains("WatchdogSec=120"))
      #expect(text.contains(options.contains("--wake") ? "--wake" : "daemon"))
    }
    // A dollar sign is literal in `Environment=`, but not in the arguments of a command.
    #expect(text.contains("Environment=\"BELFRY_DEVICE=my $laptop 5%%\""), "\(text)")
    #expect(text.contains("100%% $$HOME"), "\(text)")
    // By default, hooks keep all of the user's privileges, for sudo and setgid mail programs.
    #expect(text.contains("NoNewPrivileges") == options.contains("--sandbox"))
    if options.contains("--sandbox") {
      for path in paths where path.hasSuffix(".service") {
        let security = try await sandbox.run(
          "/usr/bin/systemd-analyze", ["security", "--offline=true", "--threshold=75", path],
          environment: ["XDG_RUNTIME_DIR": sandbox.root])
        #expect(security.status == 0, "\(security.out.suffix(200))\(security.err)")
      }
    }
    // The dry run wrote no file.
    #expect(!FileManager.default.fileExists(atPath: store))
    #expect(!FileManager.default.fileExists(atPath: sandbox.home + "/.config/systemd"))
  }

  @Test("Without systemd, install adds a crontab line and uninstall removes it")
  func crontabLineIsInstalledAndRemoved() async throws {
    let sandbox = try Sandbox()
    let folder = sandbox.root + "/bin"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try sandbox.write(
      """
      #!/bin/sh
      case $1 in
      -l) cat '\(sandbox.root)/table' 2>/dev/null ;;
      -) cat > '\(sandbox.root)/table' ;;
      esac
      """, to: folder + "/crontab", mode: 0o755)
    try sandbox.write("0 5 * * * backup\n", to: sandbox.root + "/table")
    let processes = sandbox.root + "/proc"
    try process("init", number: 1, in: processes)
    let path = [
      "PATH": "\(folder):/usr/bin:/bin", "XDG_RUNTIME_DIR": sandbox.root,
      "BELFRY_PROC": processes,
    ]
    let status = try await sandbox.belfry("service", environment: path)
    #expect(status.status == 4)
    #expect(status.err.contains("the scheduler does not run"))
    // The crontab line has no effect without a cron process.
    let unattended = try await sandbox.belfry("service", "install", environment: path)
    #expect(unattended.status == 4)
    #expect(unattended.err.contains("no cron process runs"), "\(unattended.err)")
    #expect(unattended.err.contains("service cron start"), "\(unattended.err)")
    let silent = try await sandbox.belfry("service", "status", environment: path)
    #expect(silent.status == 4)
    #expect(silent.err.contains("no cron process runs"), "\(silent.err)")
    _ = try await sandbox.belfry("list", environment: path)
    let doctor = try await sandbox.belfry("doctor", environment: path)
    #expect(doctor.out.contains("no cron process runs"), "\(doctor.out)")
    try process("cron", number: 42, in: processes)
    for _ in 1...2 {
      let install = try await sandbox.belfry("service", "install", environment: path)
      #expect(install.status == 0, "\(install.err)")
      #expect(install.out.contains("systemd does not run for your user"), "\(install.out)")
    }
    let lines = try sandbox.read(sandbox.root + "/table").split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.first == "0 5 * * * backup")
    #expect(lines.last?.hasPrefix("* * * * * BELFRY_DEVICE=laptop TZ=UTC /") == true)
    #expect(try await sandbox.belfry("service", "status", environment: path).status == 0)
    // The command of the line runs a tick.
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let command = lines.last!.dropFirst("* * * * * ".count)
    for _ in 1...2 {
      let run = try await sandbox.run(
        "/bin/sh", ["-c", String(command)], environment: ["BELFRY_NOW": "2026-11-21T09:00:00Z"])
      // Cron mails all output, so the command must print nothing.
      #expect(run.status == 0 && run.out.isEmpty && run.err.isEmpty, "\(run.out)\(run.err)")
    }
    #expect(sandbox.rings == ["Tea 2026-11-21T09:00"])
    let removed = try await sandbox.belfry("service", "uninstall", environment: path)
    #expect(removed.out == "Removed the crontab line.\n")
    #expect(try sandbox.read(sandbox.root + "/table") == "0 5 * * * backup\n")
  }

  @Test("A unit of a package that the user has enabled is reported, replaced and disabled")
  func unitOfPackage() async throws {
    let sandbox = try Sandbox()
    let path = try sandbox.systemd()
    // Created by `systemctl --user enable belfry.service`.
    let folder = sandbox.home + "/.config/systemd/user"
    let link = folder + "/default.target.wants/belfry.service"
    try FileManager.default.createDirectory(
      atPath: folder + "/default.target.wants", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: "/usr/lib/systemd/user/belfry.service")
    let status = try await sandbox.belfry("service", "status", "--json", environment: path)
    #expect((status.object["units"] as? [String: String])?.keys.sorted() == ["belfry.service"])
    // An own unit replaces it.
    let install = try await sandbox.belfry("service", "install", environment: path)
    #expect(install.status == 0, "\(install.err)")
    #expect(try sandbox.read(folder + "/belfry.service").contains("ExecStart="))
    let removed = try await sandbox.belfry("service", "uninstall", environment: path)
    #expect(removed.out == "Removed belfry.service.\n")
    // Also if it does not lead to a file.
    #expect(throws: (any Error).self) {
      try FileManager.default.destinationOfSymbolicLink(atPath: link)
    }
    let again = try await sandbox.belfry("service", "uninstall", environment: path)
    #expect(again.out == "The service is not installed.\n")
  }

  @Test("install warns that the service ends at logout, and --linger keeps it running")
  func lingering() async throws {
    let sandbox = try Sandbox()
    let path = try sandbox.systemd()
    let plain = try await sandbox.belfry("service", "install", "--json", environment: path)
    #expect(plain.status == 0, "\(plain.err)")
    #expect(plain.object["lingers"] as? Bool == false)
    #expect(plain.err.contains("the service stops when you log out"), "\(plain.err)")
    #expect(plain.err.contains("belfry service install --linger"))
    let silent = try await sandbox.belfry("service", "install", "--no-linger", environment: path)
    #expect(silent.status == 0 && !silent.err.contains("log out"), "\(silent.err)")
    #expect(try !sandbox.read(sandbox.root + "/calls").contains("enable-linger"))
    let linger = try await sandbox.belfry("service", "install", "--linger", environment: path)
    #expect(linger.status == 0, "\(linger.err)")
    #expect(linger.err.contains("The service keeps running while you are logged out."))
    let again = try await sandbox.belfry("service", "install", "--json", environment: path)
    #expect(again.object["lingers"] as? Bool == true)
    #expect(!again.err.contains("log out"), "\(again.err)")
  }

  @Test("If lingering cannot be enabled, the service is installed, and the error says what to do")
  func refusedLingering() async throws {
    let sandbox = try Sandbox()
    let path = try sandbox.systemd(mayLinger: false)
    let output = try await sandbox.belfry("service", "install", "--linger", environment: path)
    #expect(output.status == 1)
    #expect(output.err.contains("the service is installed"), "\(output.err)")
    #expect(
      output.err.contains("Access denied") && output.err.contains("sudo loginctl enable-linger"))
    #expect(
      FileManager.default.fileExists(atPath: sandbox.home + "/.config/systemd/user/belfry.service"))
  }

  @Test(
    "An unreadable crontab is not replaced",
    arguments: [
      // A failure, more than 1 MiB, and Latin-1.
      "echo 'crontab: cannot open your crontab: Permission denied' >&2; exit 1",
      "yes '0 5 * * * backup' | head -c 1100000", "printf '# caf\\351\\n'",
    ])
  func unreadableCrontab(listing: String) async throws {
    let sandbox = try Sandbox()
    _ = try sandbox.script(
      "bin/crontab",
      """
      case $1 in
      -l) \(listing) ;;
      -) cat > '\(sandbox.root)/table' ;;
      esac
      """)
    let path = [
      "PATH": "\(sandbox.root)/bin:/usr/bin:/bin", "XDG_RUNTIME_DIR": sandbox.root,
    ]
    let install = try await sandbox.belfry("service", "install", environment: path)
    #expect(install.status == 1)
    #expect(install.err.contains("your crontab cannot be read"), "\(install.err)")
    #expect(install.err.contains("crontab -e': * * * * * "), "\(install.err)")
    let uninstall = try await sandbox.belfry("service", "uninstall", environment: path)
    #expect(uninstall.status == 1)
    #expect(uninstall.err.contains("your crontab cannot be read"), "\(uninstall.err)")
    let status = try await sandbox.belfry("service", "status", environment: path)
    #expect(status.status == 4)
    #expect(status.err.contains("the scheduler does not run"), "\(status.err)")
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/table"))
  }

  @Test("Install creates a missing crontab and keeps the lines of a long one")
  func crontabIsCreatedAndKept() async throws {
    let sandbox = try Sandbox()
    let table = sandbox.root + "/table"
    _ = try sandbox.script(
      "bin/crontab",
      """
      case $1 in
      -l) cat '\(table)' 2>/dev/null || { echo 'no crontab for ada' >&2; exit 1; } ;;
      -) cat > '\(table)' ;;
      esac
      """)
    let processes = sandbox.root + "/proc"
    try process("init", number: 1, in: processes)
    try process("cron", number: 42, in: processes)
    let path = [
      "PATH": "\(sandbox.root)/bin:/usr/bin:/bin", "XDG_RUNTIME_DIR": sandbox.root,
      "BELFRY_PROC": processes,
    ]
    let first = try await sandbox.belfry("service", "install", environment: path)
    #expect(first.status == 0, "\(first.err)")
    #expect(try sandbox.read(table).split(separator: "\n").count == 1)
    // More than 64 KiB.
    let long = String(repeating: "0 5 * * * backup of every folder\n", count: 4000)
    try sandbox.write(long, to: table)
    let second = try await sandbox.belfry("service", "install", environment: path)
    #expect(second.status == 0, "\(second.err)")
    let lines = try sandbox.read(table)
    #expect(lines.hasPrefix(long) && lines.split(separator: "\n").count == 4001)
  }

  /// Creates the entry of a process in a substitute for /proc.
  private func process(_ name: String, number: Int, in folder: String) throws {
    try FileManager.default.createDirectory(
      atPath: "\(folder)/\(number)", withIntermediateDirectories: true)
    try "\(name)\n".write(toFile: "\(folder)/\(number)/comm", atomically: false, encoding: .utf8)
  }

  @Test("The crontab line contains the time zone and the folders of the installing user")
  func crontabEnvironment() async throws {
    let sandbox = try Sandbox()
    let data = sandbox.root + "/my data 5%"
    let dry = try await sandbox.belfry(
      "service", "install", "--dry-run", "--json", zone: "Asia/Tokyo",
      environment: ["XDG_DATA_HOME": data])
    let line = try #require(dry.object["crontab"] as? String)
    _ = try await sandbox.belfry(
      "add", "Tea", "--daily", "--at", "09:00", zone: "Asia/Tokyo",
      environment: ["XDG_DATA_HOME": data])
    // Like cron, the test sets no variables and removes the backslash before a percent sign.
    let command = String(line.dropFirst("* * * * * ".count)).replacing("\\%", with: "%")
    let run = try await sandbox.run(
      "/bin/sh", ["-c", command], environment: ["BELFRY_NOW": "2026-11-22T00:00:00Z"])
    #expect(run.status == 0 && run.err.isEmpty, "\(run.err)")
    #expect(sandbox.rings == ["Tea 2026-11-22T09:00"])
  }

  @Test("Install without systemd and cron fails and shows the command to run every minute")
  func installWithoutSystemdAndCron() async throws {
    let sandbox = try Sandbox()
    let install = try await sandbox.belfry(
      "service", "install", environment: ["PATH": sandbox.root, "XDG_RUNTIME_DIR": sandbox.root])
    #expect(install.status == 1)
    #expect(install.err.contains("or run this every minute:"), "\(install.err)")
  }

  @Test(
    "A real systemd user manager starts, restarts and stops the service",
    .enabled(if: TestMachine.startsSystemd, "a systemd user manager needs root and systemd"))
  func systemd() async throws {
    let sandbox = try Sandbox()
    let belfry = "'\(Sandbox.binary)'"
    let script = """
      \(sandbox.waitFor)
      \(TestMachine.systemd)
      \(belfry) service install | head -n 1
      runs() { \(belfry) service status | grep -q 'The daemon runs'; }
      wait_for runs
      \(belfry) service status | grep -v 'Last tick' | sed 's/(process [0-9]*)/(process N)/'
      first=$(systemctl --user show -p MainPID --value belfry.service)
      kill -9 $first
      runs_again() {
        now=$(systemctl --user show -p MainPID --value belfry.service)
        [ "$now" != 0 ] && [ "$now" != "$first" ]
      }
      wait_for runs_again && echo "runs again"
      mkdir -p "$HOME/.config/systemd/user/belfry.service.d"
      printf '[Service]\nWatchdogSec=3\n' > "$HOME/.config/systemd/user/belfry.service.d/short.conf"
      systemctl --user daemon-reload
      systemctl --user restart belfry.service
      first=$(systemctl --user show -p MainPID --value belfry.service)
      kill -STOP $first
      wait_for runs_again && echo "ended by the watchdog, runs again"
      # The clock of the next daemon starts three seconds before the alarm, which is two minutes ahead.
      soon=$(date -u -d '+120 seconds' +'%Y-%m-%d %H:%M')
      \(belfry) add Soon --daily --at "${soon#* }" >/dev/null
      rm "$HOME/.config/systemd/user/belfry.service.d/short.conf"
      printf '[Service]\nEnvironment=BELFRY_NOW=%s\n' "$(date -u -d "$soon UTC 3 seconds ago" +%Y-%m-%dT%H:%M:%SZ)" \
        > "$HOME/.config/systemd/user/belfry.service.d/clock.conf"
      systemctl --user daemon-reload
      systemctl --user restart belfry.service
      wait_for [ -s '\(sandbox.rang)' ]
      rm -r "$HOME/.config/systemd/user/belfry.service.d"
      systemctl --user daemon-reload
      systemctl --user reload belfry.service && echo reloaded
      \(belfry) service uninstall
      systemctl --user is-active belfry.service
      \(belfry) service install --timer >/dev/null
      systemctl --user is-active belfry-tick.timer
      \(belfry) service uninstall
      \(TestMachine.endSystemd)
      """
    let output = try await sandbox.run(
      "/usr/bin/timeout", ["400", "unshare", "--mount", "sh", "-c", script],
      environment: ["TZ": "UTC", "BELFRY_DEVICE": "laptop"])
    #expect(
      output.out == """
        Installed belfry.service. It runs now, and whenever you are logged in.
        belfry.service: active.
        The daemon runs: belfry daemon (process N).
        runs again
        ended by the watchdog, runs again
        reloaded
        Removed belfry.service.
        inactive
        active
        Removed belfry-tick.timer, belfry-tick.service.

        """, "\(output.out)\(output.err)")
    #expect(sandbox.rings.first?.hasPrefix("Soon ") == true)
  }
}
