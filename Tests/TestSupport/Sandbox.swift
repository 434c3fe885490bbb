import Foundation
import Subprocess
import SystemPackage

/// An isolated home for the programs under test, without configuration, store or terminal, and with a fixed clock.
public final class Sandbox: Sendable {
  /// The folder that contains all files of the sandbox. It is removed with the sandbox.
  public let root: String

  /// The home folder.
  public var home: String { root + "/home" }
  /// The folder of the default store.
  public var store: String { home + "/.local/share/belfry" }
  /// The file to which the test hooks append a line for each notification.
  public var rang: String { root + "/rang" }
  /// The file to which the test hook for missed summaries appends a line for each summary.
  public var missed: String { root + "/missed" }
  /// The folder that replaces the kernel's power supplies, empty at first.
  public var power: String { root + "/power" }
  /// The folder of the user's hooks.
  public var hooks: String { home + "/.config/belfry/hooks/deliver" }

  /// - Parameter parent: the folder of the sandbox, or nil for the folder of temporary files.
  public init(in parent: String? = nil) throws {
    let folder = parent.map { $0 + "/" } ?? NSTemporaryDirectory()
    root = folder + "belfry-test-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: hooks, withIntermediateDirectories: true)
    try FileManager.default.createDirectory(atPath: power, withIntermediateDirectories: true)
    try FileManager.default.createDirectory(
      atPath: root + "/own", withIntermediateDirectories: true)
    // Without this hook, a firing would write to the terminals of the user who runs the tests.
    try write(
      """
      #!/bin/sh
      cat >/dev/null
      echo "$BELFRY_TITLE $BELFRY_OCCURRENCE" >> '\(rang)'
      echo "$PPID $BELFRY_TITLE $BELFRY_OCCURRENCE" >> '\(rang)-by'

      """, to: hooks + "/notify", mode: 0o755)
    // The crontab of the user who runs the tests can have a line of Belfry.
    try write(
      "#!/bin/sh\necho 'no crontab for me' >&2\nexit 1\n", to: root + "/own/crontab", mode: 0o755)
    // A sound that fails would be tried for as long as the alarm rings. It ends after the notification of the same
    // process was recorded, because a tick ends with the first of them.
    try write(
      """
      #!/bin/sh
      cat >/dev/null
      line="$BELFRY_TITLE $BELFRY_OCCURRENCE"
      for i in $(seq 50); do
        # A test can have a notification hook of its own.
        if [ -e '\(rang)-by' ]; then
          grep -qxF -e "$PPID $line" '\(rang)-by' && break
        else
          grep -qsF -e "$line" '\(rang)' && break
        fi
        sleep 0.02
      done

      """, to: hooks + "/ring", mode: 0o755)
    try write(
      "#!/bin/sh\ncat >/dev/null\nprintf '%s\\n' \"$BELFRY_HEADLINE $BELFRY_OCCURRENCE\" >> '\(rang)'\n",
      to: hooks + "/follow-up", mode: 0o755)
    try write(
      "#!/bin/sh\ncat >/dev/null\nprintf '%s: %s\\n' \"$BELFRY_HEADLINE\" \"$BELFRY_BODY\" >> '\(missed)'\n",
      to: hooks + "/missed", mode: 0o755)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: root)
  }

  /// The failure of a command that prepares a test.
  public struct CommandFailure: Error, CustomStringConvertible {
    /// The exit status.
    public let status: Int32
    /// Standard error, or all output.
    public let message: String

    /// The status and the message.
    public var description: String { "status \(status): \(message)" }
  }

  /// The result of a program.
  public struct Output: Sendable {
    /// The exit status.
    public let status: Int32
    /// Standard output.
    public let out: String
    /// Standard error.
    public let err: String

    /// Standard error without the warning that no scheduler runs: most tests run none.
    public var otherErrors: String {
      err.split(separator: "\n", omittingEmptySubsequences: false)
        .filter { !$0.hasPrefix("warning: the scheduler does not run, ") }.joined(separator: "\n")
    }

    /// Throws unless the command succeeded, for the steps that prepare a test.
    public func expectSuccess() throws {
      if status != 0 { throw CommandFailure(status: status, message: err) }
    }

    /// Standard output as JSON.
    public var json: Any? {
      try? JSONSerialization.jsonObject(with: Data(out.utf8), options: .fragmentsAllowed)
    }
    /// Standard output as a JSON object; empty if it is none.
    public var object: [String: Any] { json as? [String: Any] ?? [:] }
    /// Standard output as a JSON array of objects; empty if it is none.
    public var array: [[String: Any]] { json as? [[String: Any]] ?? [] }
  }

  /// The binary that was built beside the tests.
  public static let binary: String = {
    let name = ProcessInfo.processInfo.environment["BELFRY_BINARY"]
    let tests = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    let path = name ?? (tests as NSString).deletingLastPathComponent + "/belfry"
    return URL(fileURLWithPath: path).path
  }()

  /// Runs belfry with a fixed clock and time zone.
  public func belfry(
    _ arguments: String..., now: String? = "2026-11-20T22:41:00Z", zone: String = "UTC",
    store: String? = nil, device: String = "laptop", environment: [String: String] = [:]
  ) async throws -> Output {
    try await belfry(
      arguments, now: now, zone: zone, store: store, device: device, environment: environment)
  }

  /// Runs belfry with a list of arguments.
  public func belfry(
    _ arguments: [String], now: String? = "2026-11-20T22:41:00Z", zone: String = "UTC",
    store: String? = nil, device: String = "laptop", environment: [String: String] = [:]
  ) async throws -> Output {
    var variables = environment
    variables["TZ"] = zone
    variables["BELFRY_DEVICE"] = device
    if let now { variables["BELFRY_NOW"] = now }
    if let store { variables["BELFRY_STORE"] = store }
    return try await run(Sandbox.binary, arguments, environment: variables)
  }

  /// Runs belfry as a step that prepares a test.
  ///
  /// - Throws: `CommandFailure` with everything that the command has printed, unless it succeeds and reports no delivery
  ///   that failed.
  @discardableResult
  public func prepare(
    _ arguments: [String], now: String? = "2026-11-20T22:41:00Z", store: String? = nil,
    environment: [String: String] = [:]
  ) async throws -> Output {
    let output = try await belfry(arguments, now: now, store: store, environment: environment)
    let isDelivered = !output.err.contains("no notification could be shown")
    guard output.status == 0, isDelivered else {
      throw CommandFailure(
        status: output.status,
        message: "\(arguments.joined(separator: " ")): \(output.out)\(output.err)")
    }
    return output
  }

  /// Runs belfry on its own terminal and types the input. The output of the terminal is in `out`.
  ///
  /// - Parameters:
  ///   - after: the text that the terminal must show before the input is typed, or an empty string to type at once.
  ///   - later: a second input, and the text before it.
  ///   - welcomed: true to leave out the welcome of a first command.
  public func onTerminal(
    _ arguments: String..., input: String, after: String = "",
    then later: (input: String, after: String)? = nil,
    now: String = "2026-11-20T22:41:00Z", welcomed: Bool = true,
    environment: [String: String] = [:]
  ) async throws -> Output {
    let folder = home + "/.local/state/belfry"
    if welcomed {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try write("", to: folder + "/welcomed")
    }
    func quoted(_ word: String) -> String { "'\(word.replacing("'", with: "'\\''"))'" }
    let command = ([Sandbox.binary] + arguments).map(quoted).joined(separator: " ")
    let shown = "\(root)/terminal-\(UUID().uuidString)"
    try write("", to: shown)
    let inputs = [(input, after)] + (later.map { [($0.input, $0.after)] } ?? [])
    let typing = inputs.map { input, after in
      """
      [ -z \(quoted(after)) ] || wait_for grep -qF -e \(quoted(after)) -e 'Script done on' '\(shown)'
      printf '%s' \(quoted(input))
      """
    }.joined(separator: "\n")
    let line = """
      \(waitFor)
      { \(typing); } |
        timeout 400 script -qfec \(quoted("stty cols 80 rows 24; \(command)")) '\(shown)'
      """
    return try await run(
      "/bin/sh", ["-c", line],
      environment: [
        "TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": now, "TERM": "xterm-256color",
      ].merging(environment) { $1 })
  }

  // MARK: The background service

  /// Creates programs that stand for a systemd whose user does not linger. They append their calls to the file `calls`.
  ///
  /// - Parameter mayLinger: false to refuse lingering.
  /// - Returns: the environment variables with which belfry finds them.
  public func systemd(mayLinger: Bool = true) throws -> [String: String] {
    let folder = root + "/programs"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    func program(_ name: String, _ text: String) throws {
      try write(
        "#!/bin/sh\necho \(name) \"$@\" >> '\(root)/calls'\n\(text)\n", to: "\(folder)/\(name)",
        mode: 0o755)
    }
    try program("systemctl", "exit 0")
    try program("crontab", "echo 'no crontab for me' >&2; exit 1")
    let linger =
      mayLinger
      ? "touch '\(root)/lingers'"
      : "echo 'Could not enable linger: Access denied' >&2; exit 1"
    try program(
      "loginctl",
      """
      case $1 in
      show-user) [ -e '\(root)/lingers' ] && echo yes || echo no;;
      enable-linger) \(linger);;
      esac
      """)
    return ["PATH": "\(folder):/usr/local/bin:/usr/bin:/bin", "XDG_RUNTIME_DIR": root]
  }

  // MARK: Power

  /// Creates a power supply in the kernel's form: a folder with a file for each attribute.
  public func supply(_ name: String, _ attributes: [String: String]) throws {
    let folder = "\(power)/\(name)"
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (attribute, value) in attributes { try write(value + "\n", to: "\(folder)/\(attribute)") }
  }

  /// Creates a battery of 50 Wh and a charger.
  ///
  /// - Parameters:
  ///   - level: the level in percent.
  ///   - drain: the drain in percent per hour.
  ///   - isCharging: true if the charger is connected.
  public func battery(_ level: Double, drain: Double = 0, isCharging: Bool = false) throws {
    try supply(
      "BAT0",
      [
        "type": "Battery", "present": "1", "capacity": "\(Int(level.rounded()))",
        "status": isCharging ? "Charging" : "Discharging", "energy_full": "50000000",
        "energy_now": "\(Int(level * 500_000))", "power_now": "\(Int(drain * 500_000))",
        "serial_number": "1234", "model_name": "5B10W13930",
      ])
    try supply("AC", ["type": "Mains", "online": isCharging ? "1" : "0"])
  }

  /// Switches to the plus tier, which has unlimited alarms and completion confirmation.
  public func plus(store: String? = nil) async throws {
    let output = try await belfry("tier", "plus", now: "2026-11-20T22:40:00Z", store: store)
    try output.expectSuccess()
  }

  /// Creates a second device: a shared bare repository and a clone of it. Returns the path of the clone.
  public func secondDevice(now: String = "2026-11-20T22:42:00Z") async throws -> String {
    let (remote, server) = (root + "/remote.git", root + "/server")
    _ = try await git("init", "-q", "--bare", "-b", "main", remote, in: root)
    _ = try await belfry("remote", "add", "origin", remote, now: now)
    _ = try await belfry("sync", now: now)
    let clone = try await belfry("clone", remote, now: now, store: server, device: "server")
    try clone.expectSuccess()
    return server
  }

  /// Runs git with the arguments, in the default store unless another folder is given.
  public func git(_ arguments: String..., in folder: String? = nil) async throws -> Output {
    try await run("/usr/bin/git", ["-C", folder ?? store] + arguments)
  }

  /// Runs a program in the sandbox's environment, and returns its result.
  ///
  /// - Throws: `WaitTimeout` if a script has waited in vain (see `waitFor`), or if the program does not end in ten minutes.
  public func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> Output {
    var variables: [Environment.Key: String] = [
      "HOME": home, "PATH": "\(root)/own:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
      "GIT_CONFIG_NOSYSTEM": "1",
      // No sound, and no output on the terminals of the user who runs the tests.
      "BELFRY_SOUND": "none", "BELFRY_TERMINALS": "\(root)/terminals",
      "BELFRY_POWER_SUPPLY": power,
    ]
    if let libraries = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] {
      variables["LD_LIBRARY_PATH"] = libraries
    }
    for (name, value) in environment {
      if let key = Environment.Key(rawValue: name) { variables[key] = value }
    }
    let result = try await withDeadline(for: "\(program) \(arguments.joined(separator: " "))") {
      [variables] in
      try await Subprocess.run(
        .path(FilePath(program)), arguments: Arguments(arguments), environment: .custom(variables),
        workingDirectory: FilePath(self.root), output: .string(limit: 1 << 24),
        error: .string(limit: 1 << 24))
    }
    let status: Int32 =
      switch result.terminationStatus {
      case .exited(let code): code
      case .signaled(let signal): 128 + signal
      }
    let output = Output(status: status, out: result.standardOutput, err: result.standardError)
    try checkWaits(output)
    return output
  }

  // MARK: Files

  /// Returns the content of a text file.
  public func read(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  /// Writes a text file, optionally with a mode.
  public func write(_ text: String, to path: String, mode: Int = 0o644) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  /// The lines that the test hooks recorded.
  public var rings: [String] {
    ((try? read(rang)) ?? "").split(separator: "\n").map(String.init)
  }

  /// Writes an executable shell script at a path below `root`, and returns its absolute path.
  public func script(_ name: String, _ text: String) throws -> String {
    let path = root + "/" + name
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try write("#!/bin/sh\n" + text, to: path, mode: 0o755)
    return path
  }

  /// Waits until a file exists and is at least as long as a text. Returns false after a minute.
  public func waitForFile(_ path: String, holding text: String = "") async throws -> Bool {
    func isComplete() -> Bool {
      FileManager.default.contents(atPath: path).map { $0.count >= text.utf8.count } ?? false
    }
    for _ in 0..<3000 where !isComplete() { try await Task.sleep(for: .milliseconds(20)) }
    return isComplete()
  }

  /// Waits until no process runs in this sandbox's home. Returns false after a minute.
  public func waitForHelpers() async throws -> Bool {
    try await ProcessTable.waitUntilNone(has: "HOME=\(home)\0", in: .environment)
  }

  /// Returns a sandbox whose store has the alarm Tea, daily at 09:00.
  ///
  /// - Parameter committing: true to configure a git author in the store.
  public static func withTea(committing: Bool = false) async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    if committing {
      _ = try await sandbox.git("config", "user.name", "Ada")
      _ = try await sandbox.git("config", "user.email", "ada@example.org")
    }
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    return sandbox
  }

  /// Returns the path of the record of an alarm, by default the first one in the store.
  public func alarmFile(_ id: String? = nil, store: String? = nil) throws -> String {
    let folder = (store ?? self.store) + "/alarms"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    return folder + "/" + (id.map { "\($0).json" } ?? names[0])
  }
}
