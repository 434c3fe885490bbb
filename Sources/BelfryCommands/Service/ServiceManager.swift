import BelfryStore
import Glibc

/// The installation of the background service: systemd user units, or a line of the user's crontab.
struct ServiceManager {
  /// A way to run the service.
  enum Method: String {
    case systemd, cron
  }

  let systemd: SystemdService
  let crontab: Crontab
  private let context: CommandContext
  private let command: String

  /// Creates a manager of the current user's service.
  ///
  /// - Throws: `CommandError` if the path of the binary is unknown.
  init(_ context: CommandContext) throws {
    self.context = context
    guard let command = context.environment.executable else {
      throw CommandError(
        .failed, "the path of the belfry binary is unknown.", hint: "Check that /proc is mounted.")
    }
    self.command = command
    systemd = SystemdService(
      folder: try context.environment.folder("XDG_CONFIG_HOME", ".config") + "/systemd/user")
    crontab = Crontab(context.environment)
  }

  /// The environment variables that the service gets, because it does not inherit those of the shell.
  private static let passedVariables = [
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "BELFRY_DEVICE", "TZ",
  ]

  /// Returns the systemd units and the crontab line.
  ///
  /// - Parameters:
  ///   - wakes: true to wake the machine from sleep for alarms.
  ///   - isSandboxed: true to restrict the daemon and its hooks.
  func units(
    _ form: ServiceUnits.Form, wakes: Bool, isSandboxed: Bool = false
  ) -> ServiceUnits {
    ServiceUnits(
      form: form, command: command, store: context.storePath, wakes: wakes,
      isSandboxed: isSandboxed,
      variables: context.environment.variables.filter { name, value in
        // Neither unit files nor crontabs can contain a line break in a value.
        ServiceManager.passedVariables.contains(name)
          && !value.unicodeScalars.contains { $0.value < 0x20 }
      })
  }

  /// True if a cron daemon runs; nil if that is unknown.
  var cronRuns: Bool? { CronProcess.isRunning(in: context.environment["BELFRY_PROC"] ?? "/proc") }

  /// True if the user's crontab has Belfry's line; false if the crontab cannot be read.
  var isInCrontab: Bool { get async { await crontab.isInstalled } }

  /// Installs the units, or a line of the crontab if systemd does not run for this user.
  ///
  /// - Throws: `CommandError` if systemd rejects the units, or the crontab cannot be changed.
  func install(_ units: ServiceUnits) async throws -> Method {
    guard await systemd.isAvailable() else {
      try await crontab.install(units.crontab)
      return .cron
    }
    // Otherwise the daemon and the timer could both be installed.
    _ = try await systemd.remove()
    do {
      _ = try await crontab.remove()
    } catch let error as CrontabError {
      // An additional scheduler does no harm.
      CommandError(error, hint: Crontab.removalByHand).warn()
    }
    try await systemd.install(units)
    return .systemd
  }

  /// Removes the units and the line of the crontab.
  ///
  /// - Returns: the names of the removed parts.
  /// - Throws: `CommandError` if the crontab cannot be read; it is not changed then.
  func uninstall() async throws -> [String] {
    var removed = try await systemd.remove()
    do {
      if try await crontab.remove() { removed.append("the crontab line") }
    } catch let error as CrontabError {
      throw CommandError(error, removed: removed, hint: Crontab.removalByHand)
    }
    return removed
  }
}
