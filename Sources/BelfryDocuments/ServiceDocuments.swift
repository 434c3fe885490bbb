/// The installed background service: the document of `service install`.
package struct ServiceInstallDocument: JSONDocument {
  /// The program that starts the scheduler: `systemd` or `cron`.
  let installed: String
  /// The form of the scheduler: `daemon` or `timer`.
  let form: String
  /// True if a cron process runs; only for `cron`, and absent if it is unknown.
  let cronRuns: Bool?
  /// True if the service runs while the user is logged out; absent for `cron`, or if it is unknown.
  let lingers: Bool?

  package init(installed: String, form: String, cronRuns: Bool?, lingers: Bool?) {
    self.installed = installed
    self.form = form
    self.cronRuns = cronRuns
    self.lingers = lingers
  }
}

/// The texts that would be installed: the document of `service install --dry-run`.
package struct ServiceUnitsDocument: JSONDocument {
  /// The texts of the systemd units, by their file names.
  let units: [String: String]
  /// The crontab line.
  let crontab: String

  package init(units: [String: String], crontab: String) {
    self.units = units
    self.crontab = crontab
  }
}

/// The removed parts of the service: the document of `service uninstall`.
package struct ServiceRemovalDocument: JSONDocument {
  /// The names of the removed systemd units, and `the crontab line`.
  let removed: [String]

  package init(removed: [String]) {
    self.removed = removed
  }
}

/// The state of the scheduler: the document of `service status`.
package struct ServiceStatusDocument: JSONDocument {
  /// The states of the installed systemd units, such as `active`, by their names.
  let units: [String: String]
  /// True if the user's crontab runs Belfry.
  let crontab: Bool
  /// True if a cron process runs; absent without the crontab line, or if it is unknown.
  let cronRuns: Bool?
  /// True if a daemon runs and responds.
  let daemon: Bool
  /// False if a daemon runs and does not respond; absent if none runs.
  let daemonResponds: Bool?
  /// True if the user's services run while nobody is logged in; absent if it is unknown.
  let lingers: Bool?
  /// The time of the last tick.
  let lastTick: String?

  package init(
    units: [String: String], crontab: Bool, cronRuns: Bool?, daemon: Bool, daemonResponds: Bool?,
    lingers: Bool?, lastTick: String?
  ) {
    self.units = units
    self.crontab = crontab
    self.cronRuns = cronRuns
    self.daemon = daemon
    self.daemonResponds = daemonResponds
    self.lingers = lingers
    self.lastTick = lastTick
  }
}
