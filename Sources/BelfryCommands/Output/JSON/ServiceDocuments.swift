import BelfryStore

/// The installed background service: the document of `service install`.
struct ServiceInstallDocument: JSONDocument {
  /// The program that starts the scheduler: `systemd` or `cron`.
  let installed: String
  /// The form of the scheduler: `daemon` or `timer`.
  let form: String
  /// True if a cron process runs; only for `cron`, and absent if it is unknown.
  let cronRuns: Bool?
  /// True if the service runs while the user is logged out; absent for `cron`, or if it is unknown.
  let lingers: Bool?
}

/// The texts that would be installed: the document of `service install --dry-run`.
struct ServiceUnitsDocument: JSONDocument {
  /// The texts of the systemd units, by their file names.
  let units: [String: String]
  /// The crontab line.
  let crontab: String

  init(_ units: ServiceUnits) {
    self.units = Dictionary(uniqueKeysWithValues: units.files.map { ($0.name, $0.text) })
    crontab = units.crontab
  }
}

/// The removed parts of the service: the document of `service uninstall`.
struct ServiceRemovalDocument: JSONDocument {
  /// The names of the removed systemd units, and `the crontab line`.
  let removed: [String]
}

/// The state of the scheduler: the document of `service status`.
struct ServiceStatusDocument: JSONDocument {
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
}
