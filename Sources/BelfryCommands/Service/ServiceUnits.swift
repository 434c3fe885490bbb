import Files

/// The systemd units and the crontab line that run Belfry in the background.
struct ServiceUnits {
  enum Form: String {
    /// A daemon that always runs.
    case daemon
    /// A timer that runs `belfry tick` every minute.
    case timer
  }

  let form: Form
  /// The path of the binary.
  let command: String
  let store: String
  /// True if a suspended machine is woken for due alarms.
  let wakes: Bool
  /// True if the daemon and its hooks run in a sandbox.
  var isSandboxed = false
  /// The environment variables of the service, beyond those that systemd or cron set.
  let variables: [String: String]

  /// The names of the units of all forms.
  static let all = ["belfry.service", "belfry-tick.timer", "belfry-tick.service"]

  /// The name of the unit to enable.
  var main: String { form == .daemon ? "belfry.service" : "belfry-tick.timer" }

  /// The units' files, by name.
  var files: [(name: String, text: String)] {
    switch form {
    case .daemon: [("belfry.service", daemon)]
    case .timer: [("belfry-tick.timer", timer), ("belfry-tick.service", tick)]
    }
  }

  /// The crontab line. Its command prints only problems, as cron mails all output.
  var crontab: String {
    let arguments = [command, "tick", "--quiet", "--store", store].map(ShellWord.quoted)
    let line = (assignments + arguments).joined(separator: " ")
    // cron ends the command at an unescaped percent sign.
    return "* * * * * \(line.replacing("%", with: "\\%")) \(ServiceUnits.mark)"
  }

  /// The comment that marks Belfry's line in a crontab.
  static let mark = "# belfry service"

  // MARK: Unit files

  private var daemon: String {
    """
    [Unit]
    Description=Belfry alarm daemon
    # Restart without a limit.
    StartLimitIntervalSec=0

    [Service]
    Type=notify
    ExecStart=\(line("daemon", wakes ? "--wake" : nil))
    ExecReload=/bin/kill -HUP $MAINPID
    \(environment)Restart=always
    RestartSec=2
    # The event loop reports twice in this time. systemd restarts a daemon that does not.
    WatchdogSec=\(ServiceUnits.watchdog)
    TimeoutAbortSec=10
    # A hook that is killed for lack of memory does not stop the daemon.
    OOMPolicy=continue
    \(sandbox)
    [Install]
    WantedBy=default.target

    """
  }

  private var timer: String {
    """
    [Unit]
    Description=Belfry tick every minute

    [Timer]
    OnCalendar=*-*-* *:*:00
    AccuracySec=1s
    Persistent=true

    [Install]
    WantedBy=timers.target

    """
  }

  /// The watchdog timeout of the daemon, in seconds.
  private static let watchdog = 120
  /// The timeout of a `tick`, in seconds. systemd starts no other one while one runs.
  private static let tickTimeout = 300

  /// The unit of one `tick`. `KillMode=process` keeps notifications that wait for a response after the command exits.
  private var tick: String {
    """
    [Unit]
    Description=Belfry tick

    [Service]
    Type=oneshot
    ExecStart=\(line("tick", wakes ? "--wake" : nil))
    \(environment)KillMode=process
    TimeoutStartSec=\(ServiceUnits.tickTimeout)
    \(sandbox)
    """
  }

  /// The restrictions that systemd can apply to a user service without privileges.
  ///
  /// All of them imply `NoNewPrivileges`, so hooks cannot use sudo, setgid mail programs or file capabilities.
  private var sandbox: String {
    guard isSandboxed else { return "" }
    var lines = [
      "NoNewPrivileges=yes", "LockPersonality=yes", "ProtectHostname=yes",
      "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK", "RestrictNamespaces=yes",
      "RestrictSUIDSGID=yes", "SystemCallArchitectures=native", "SystemCallFilter=@system-service",
      "SystemCallErrorNumber=EPERM",
    ]
    // `ProtectClock` would remove the right to wake the machine.
    if !wakes { lines.append("ProtectClock=yes") }
    return lines.joined(separator: "\n") + "\n"
  }

  private var environment: String {
    variables.sorted { $0.key < $1.key }
      .map { "Environment=\(ServiceUnits.quoted("\($0.key)=\($0.value)"))\n" }.joined()
  }

  /// The variables as shell assignments.
  private var assignments: [String] {
    variables.sorted { $0.key < $1.key }
      .map { "\($0.key)=\(ShellWord.quoted($0.value))" }
  }

  private func line(_ verb: String, _ option: String?) -> String {
    // systemd expands variables in the arguments, but not in the path of the command.
    let arguments = [verb, "--store", store] + [option].compactMap { $0 }
    return
      ([ServiceUnits.quoted(command)]
      + arguments.map { ServiceUnits.quoted($0.replacing("$", with: "$$")) })
      .joined(separator: " ")
  }

  /// Returns a word quoted for a unit file, with specifiers escaped.
  static func quoted(_ word: String) -> String {
    let escaped = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      .replacing("%", with: "%%")
    let plain = word.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\\\"';".utf8.contains($0) }
    return plain ? escaped : "\"\(escaped)\""
  }
}
