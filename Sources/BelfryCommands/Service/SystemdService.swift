import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Files
import Glibc

/// The background service as units of the user's systemd.
struct SystemdService {
  /// The name of the user.
  let user: String
  private let folder: String

  /// - Parameter folder: the folder of the user's units.
  init(folder: String) {
    self.folder = folder
    user = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())"
  }

  /// Returns true if systemd runs for this user.
  func isAvailable() async -> Bool {
    await output(of: "systemctl", ["--user", "show-environment"]) != nil
  }

  /// Writes and starts the units.
  ///
  /// - Throws: `CommandError` if systemd rejects them.
  func install(_ units: ServiceUnits) async throws {
    try DurableFile.makeFolder(folder, mode: 0o755)
    for (name, text) in units.files {
      try DurableFile.write(
        Array(text.utf8), to: "\(folder)/\(name)", temporary: "\(folder)/.\(name).new")
    }
    try await systemctl(["daemon-reload"])
    try await systemctl(["enable", "--now", units.main])
  }

  /// Stops and removes the units, and returns their names. Units of a package are only disabled.
  func remove() async throws -> [String] {
    var removed: [String] = []
    for name in ServiceUnits.all where isInstalled(name) {
      // Disabling fails for a unit that was never enabled; its file is removed anyway.
      _ = await output(of: "systemctl", ["--user", "disable", "--now", name])
      for path in ["\(folder)/\(name)", enablingLink(of: name)] where unlink(path) != 0 {
        guard errno == ENOENT else { throw FileError("remove", path) }
      }
      removed.append(name)
    }
    if !removed.isEmpty { _ = await output(of: "systemctl", ["--user", "daemon-reload"]) }
    return removed
  }

  /// Returns the states of the installed units.
  func states() async -> [(name: String, state: String)] {
    var units: [(name: String, state: String)] = []
    for name in ServiceUnits.all where isInstalled(name) {
      if name == "belfry-tick.service" { continue }
      let state = await output(of: "systemctl", ["--user", "is-active", name], anyStatus: true)
      let firstLine = state?.split(separator: "\n").first.map(String.init) ?? ""
      units.append((name, firstLine.isEmpty ? "systemd does not run for your user" : firstLine))
    }
    return units
  }

  /// Returns true if the user's folder has a unit, or the user has enabled the unit of a package.
  private func isInstalled(_ name: String) -> Bool {
    var status = stat()
    return access("\(folder)/\(name)", F_OK) == 0 || lstat(enablingLink(of: name), &status) == 0
  }

  /// Returns the path of the symbolic link that `systemctl --user enable` creates for a unit.
  private func enablingLink(of name: String) -> String {
    "\(folder)/\(name.hasSuffix(".timer") ? "timers" : "default").target.wants/\(name)"
  }

  /// Returns true if the user's services run while nobody is logged in; nil if that is unknown.
  func lingers() async -> Bool? {
    switch await output(of: "loginctl", ["show-user", user, "--property=Linger", "--value"]) {
    case "yes\n": true
    case "no\n": false
    default: nil
    }
  }

  /// Lets the user's services run while nobody is logged in.
  ///
  /// - Returns: the reason why that failed; nil if it succeeded.
  func enableLingering() async -> String? {
    switch await TimedProcess.run(.name("loginctl"), ["enable-linger", user], seconds: 60) {
    case .ended(0, _, _): nil
    case .ended(let status, _, let error):
      error.split(separator: "\n").last.map(String.init) ?? "exit status \(status)"
    case .timedOut: "loginctl timed out after 60 s"
    case .failed(let message): message
    }
  }

  /// Sets a systemd timer that wakes the machine and runs a tick. It replaces a timer for another time.
  func wake(at moment: Instant) async throws {
    let name = "belfry-wake-\(moment.seconds)"
    if await output(of: "systemctl", ["--user", "is-active", "--quiet", "\(name).timer"]) != nil {
      return
    }
    _ = await output(of: "systemctl", ["--user", "stop", "belfry-wake-*.timer"])
    let civil = TimeZoneRules.utc.civil(at: moment)
    let outcome = await TimedProcess.run(
      .name("systemd-run"),
      [
        "--user", "--unit=\(name)", "--timer-property=WakeSystem=true",
        "--timer-property=AccuracySec=1s", "--on-calendar=\(civil.date) \(civil.time):00 UTC",
        "systemctl", "--user", "start", "belfry-tick.service",
      ], seconds: 30)
    if case .ended(0, _, _) = outcome { return }
    CommandDiagnostic.warn("systemd cannot wake the machine for the next alarm.")
  }

  private func systemctl(_ arguments: [String]) async throws {
    let outcome = await TimedProcess.run(
      .name("systemctl"), ["--user"] + arguments, seconds: 60)
    if case .ended(0, _, _) = outcome { return }
    var reason = "timed out after 60 s"
    if case .ended(_, _, let error) = outcome {
      reason = error.split(separator: "\n").last.map(String.init) ?? "failed"
    }
    throw CommandError(
      .failed, "systemctl --user \(arguments[0]): \(Printable.text(reason)).",
      hint: "See 'systemctl --user status belfry.service'.")
  }

  /// Returns the standard output of a program; nil if it is not installed or fails.
  ///
  /// - Parameter anyStatus: true to return the output also for an exit status other than 0.
  private func output(
    of program: String, _ arguments: [String], anyStatus: Bool = false
  ) async -> String? {
    let outcome = await TimedProcess.run(.name(program), arguments, seconds: 30)
    guard case .ended(let status, let output, _) = outcome, status == 0 || anyStatus else {
      return nil
    }
    return String(decoding: output, as: UTF8.self)
  }
}
