/// What systemd, or cron, needs to know to have Belfry at work.
struct ServiceUnits {
  enum Form: String {
    /// A daemon that is always there.
    case daemon
    /// A look at the clock every minute.
    case timer
  }

  let form: Form
  /// The binary.
  let command: String
  let store: String
  /// Whether the machine is to be woken for what comes due.
  let wakes: Bool
  /// True if the daemon and its hooks run in a sandbox.
  var isSandboxed = false
  /// Variables that the service would otherwise not have.
  let variables: [String: String]

  /// The names of all units that there may be, of either form.
  static let all = ["belfry.service", "belfry-tick.timer", "belfry-tick.service"]

  /// The unit that is enabled.
  var main: String { form == .daemon ? "belfry.service" : "belfry-tick.timer" }

  /// The units' files, by name.
  var files: [(name: String, text: String)] {
    switch form {
    case .daemon: [("belfry.service", daemon)]
    case .timer: [("belfry-tick.timer", timer), ("belfry-tick.service", tick)]
    }
  }

  /// The line of a crontab. It prints only problems, as cron mails every output.
  var crontab: String {
    let words = [command, "tick", "--quiet", "--store", store].map(ServiceUnits.shellQuoted)
    let line = (assignments + words).joined(separator: " ")
    // To cron a percent sign is the end of the line.
    return "* * * * * \(line.replacing("%", with: "\\%")) \(ServiceUnits.mark)"
  }

  /// What tells Belfry's line of a crontab from others.
  static let mark = "# belfry service"

  // MARK: The texts

  private var daemon: String {
    """
    [Unit]
    Description=Belfry rings your alarms
    # It is started again however often it fails.
    StartLimitIntervalSec=0

    [Service]
    Type=notify
    ExecStart=\(line("daemon", wakes ? "--wake" : nil))
    ExecReload=/bin/kill -HUP $MAINPID
    \(environment)Restart=always
    RestartSec=2
    # The event loop reports twice in this time; a daemon that does not is ended and started again.
    WatchdogSec=\(ServiceUnits.watchdog)
    TimeoutAbortSec=10
    # A hook that runs out of memory does not end the daemon.
    OOMPolicy=continue
    \(sandbox)
    [Install]
    WantedBy=default.target

    """
  }

  private var timer: String {
    """
    [Unit]
    Description=Belfry looks at the clock

    [Timer]
    OnCalendar=*-*-* *:*:00
    AccuracySec=1s
    Persistent=true

    [Install]
    WantedBy=timers.target

    """
  }

  /// Seconds within which systemd expects a sign of life from the daemon.
  private static let watchdog = 120
  /// Seconds that one `tick` may take: systemd starts no other one meanwhile.
  private static let tickTimeout = 300

  /// A notification that waits for its button stays when the command has ended.
  private var tick: String {
    """
    [Unit]
    Description=Belfry rings what is due

    [Service]
    Type=oneshot
    ExecStart=\(line("tick", wakes ? "--wake" : nil))
    \(environment)KillMode=process
    TimeoutStartSec=\(ServiceUnits.tickTimeout)
    \(sandbox)
    """
  }

  /// Restrictions that a user's systemd can apply without privileges. All of them imply `NoNewPrivileges`, with which
  /// no hook can use sudo, a setgid mail program or another program with privileges of its own.
  private var sandbox: String {
    guard isSandboxed else { return "" }
    var lines = [
      "NoNewPrivileges=yes", "LockPersonality=yes", "ProtectHostname=yes",
      "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK", "RestrictNamespaces=yes",
      "RestrictSUIDSGID=yes", "SystemCallArchitectures=native", "SystemCallFilter=@system-service",
      "SystemCallErrorNumber=EPERM",
    ]
    // It takes the right to wake the machine away.
    if !wakes { lines.append("ProtectClock=yes") }
    return lines.joined(separator: "\n") + "\n"
  }

  private var environment: String {
    variables.sorted { $0.key < $1.key }
      .map { "Environment=\(ServiceUnits.quoted("\($0.key)=\($0.value)"))\n" }.joined()
  }

  /// The same variables for a shell.
  private var assignments: [String] {
    variables.sorted { $0.key < $1.key }
      .map { "\($0.key)=\(ServiceUnits.shellQuoted($0.value))" }
  }

  private func line(_ verb: String, _ option: String?) -> String {
    // Variables are expanded in the arguments of a command, not in its path.
    let arguments = [verb, "--store", store] + [option].compactMap { $0 }
    return
      ([ServiceUnits.quoted(command)]
      + arguments.map { ServiceUnits.quoted($0.replacing("$", with: "$$")) })
      .joined(separator: " ")
  }

  /// A word as a unit's file has it: no specifier, no end.
  static func quoted(_ word: String) -> String {
    let escaped = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      .replacing("%", with: "%%")
    let plain = word.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\\\"';".utf8.contains($0) }
    return plain ? escaped : "\"\(escaped)\""
  }

  /// A word as a shell has it.
  static func shellQuoted(_ word: String) -> String {
    let plain = word.utf8.allSatisfy { byte in
      byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
        || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") || "/._-".utf8.contains(byte)
    }
    return plain ? word : "'\(word.replacing("'", with: "'\\''"))'"
  }
}
