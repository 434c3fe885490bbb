import Foundation
import Subprocess
import SystemPackage

/// A home of its own for the programs under test: no configuration, no store, no terminal, a fixed clock.
public final class Sandbox: Sendable {
  /// The folder that everything is in; removed with the sandbox.
  public let root: String

  public var home: String { root + "/home" }
  public var store: String { home + "/.local/share/belfry" }
  /// Where the stand-ins for the hooks write what they were given, a line each.
  public var rang: String { root + "/rang" }
  /// The same for what tells of missed ones.
  public var missed: String { root + "/missed" }
  /// What stands in for the kernel's power supplies: none at first.
  public var power: String { root + "/power" }
  /// The folder of the user's own hooks.
  public var hooks: String { home + "/.config/belfry/hooks/deliver" }

  /// - Parameter parent: where the sandbox is made; nil for the usual place of temporary files.
  public init(in parent: String? = nil) throws {
    let folder = parent.map { $0 + "/" } ?? NSTemporaryDirectory()
    root = folder + "belfry-test-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: hooks, withIntermediateDirectories: true)
    try FileManager.default.createDirectory(atPath: power, withIntermediateDirectories: true)
    // Without it a firing would ring on the terminals of whoever runs the tests.
    try write(
      "#!/bin/sh\ncat >/dev/null\nprintf '%s\\n' \"$BELFRY_TITLE $BELFRY_OCCURRENCE\" >> '\(rang)'\n",
      to: hooks + "/notify", mode: 0o755)
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
    /// Standard error.
    public let message: String

    /// The status and the message.
    public var description: String { "status \(status): \(message)" }
  }

  public struct Output: Sendable {
    public let status: Int32
    public let out: String
    public let err: String

    /// Throws unless the command succeeded, for the steps that prepare a test.
    public func expectSuccess() throws {
      if status != 0 { throw CommandFailure(status: status, message: err) }
    }

    /// Standard output as JSON.
    public var json: Any? {
      try? JSONSerialization.jsonObject(with: Data(out.utf8), options: .fragmentsAllowed)
    }
    public var object: [String: Any] { json as? [String: Any] ?? [:] }
    public var array: [[String: Any]] { json as? [[String: Any]] ?? [] }
  }

  /// The binary that was built beside the tests.
  public static let binary: String = {
    let name = ProcessInfo.processInfo.environment["BELFRY_BINARY"]
    let tests = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    return name ?? (tests as NSString).deletingLastPathComponent + "/belfry"
  }()

  /// Runs belfry with a clock and a zone of its own.
  public func belfry(
    _ arguments: String..., now: String? = "2026-11-20T22:41:00Z", zone: String = "UTC",
    store: String? = nil, device: String = "laptop", environment: [String: String] = [:]
  ) async throws -> Output {
    var variables = environment
    variables["TZ"] = zone
    variables["BELFRY_DEVICE"] = device
    if let now { variables["BELFRY_NOW"] = now }
    if let store { variables["BELFRY_STORE"] = store }
    return try await run(Sandbox.binary, arguments, environment: variables)
  }

  /// Runs belfry on a terminal of its own, with something typed; what the terminal shows is in `out`.
  ///
  /// - Parameters:
  ///   - after: what must be on the terminal before it is typed; nothing for what may be typed ahead.
  ///   - welcomed: whether the greeting of a first command is over.
  public func onTerminal(
    _ arguments: String..., input: String, after: String = "",
    now: String = "2026-11-20T22:41:00Z", welcomed: Bool = true
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
    let line = """
      { until grep -qF -- \(quoted(after)) '\(shown)' || [ -z \(quoted(after)) ]; do sleep 0.02; done
        printf '%s' \(quoted(input)); } |
        script -qfec \(quoted("stty cols 80 rows 24; \(command)")) '\(shown)'
      """
    return try await run(
      "/bin/sh", ["-c", line],
      environment: [
        "TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": now, "TERM": "xterm-256color",
      ])
  }

  // MARK: Power

  /// Makes a power supply as the kernel shows it: a folder with a file for each attribute.
  public func supply(_ name: String, _ attributes: [String: String]) throws {
    let folder = "\(power)/\(name)"
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (attribute, value) in attributes { try write(value + "\n", to: "\(folder)/\(attribute)") }
  }

  /// A battery of 50 Wh at a level in percent that drains by so many percent in an hour, or is on a charger.
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

  /// Switches to the tier that any number of alarms, and pending, belong to.
  public func plus(store: String? = nil) async throws {
    let output = try await belfry("tier", "plus", now: "2026-11-20T22:40:00Z", store: store)
    try output.expectSuccess()
  }

  /// A second device: a bare repository that both sync with, and a clone of it, whose path is returned.
  public func secondDevice(now: String = "2026-11-20T22:42:00Z") async throws -> String {
    let (remote, server) = (root + "/remote.git", root + "/server")
    _ = try await git("init", "-q", "--bare", "-b", "main", remote, in: root)
    _ = try await belfry("remote", "add", "origin", remote, now: now)
    _ = try await belfry("sync", now: now)
    let clone = try await belfry("clone", remote, now: now, store: server, device: "server")
    try clone.expectSuccess()
    return server
  }

  public func git(_ arguments: String..., in folder: String? = nil) async throws -> Output {
    try await run("/usr/bin/git", ["-C", folder ?? store] + arguments)
  }

  public func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> Output {
    var variables: [Environment.Key: String] = [
      "HOME": home, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
      "GIT_CONFIG_NOSYSTEM": "1",
      // No noise, and nothing on the terminals of whoever runs the tests.
      "BELFRY_SOUND": "none", "BELFRY_TERMINALS": "\(root)/terminals",
      "BELFRY_POWER_SUPPLY": power,
    ]
    if let libraries = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] {
      variables["LD_LIBRARY_PATH"] = libraries
    }
    for (name, value) in environment {
      if let key = Environment.Key(rawValue: name) { variables[key] = value }
    }
    let result = try await Subprocess.run(
      .path(FilePath(program)), arguments: Arguments(arguments), environment: .custom(variables),
      workingDirectory: FilePath(root), output: .string(limit: 1 << 24),
      error: .string(limit: 1 << 24))
    let status: Int32 =
      switch result.terminationStatus {
      case .exited(let code): code
      case .signaled(let signal): 128 + signal
      }
    return Output(status: status, out: result.standardOutput, err: result.standardError)
  }

  // MARK: Files

  public func read(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  public func write(_ text: String, to path: String, mode: Int = 0o644) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  /// What the stand-in hook has rung for.
  public var rings: [String] {
    ((try? read(rang)) ?? "").split(separator: "\n").map(String.init)
  }

  /// Writes an executable shell script at a path below `root`, and returns its whole path.
  public func script(_ name: String, _ text: String) throws -> String {
    let path = root + "/" + name
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try write("#!/bin/sh\n" + text, to: path, mode: 0o755)
    return path
  }

  /// Waits until a file is there and as long as a text. Returns false after a minute, which is longer than any busy
  /// machine needs.
  public func waitForFile(_ path: String, holding text: String = "") async throws -> Bool {
    func isThere() -> Bool {
      FileManager.default.contents(atPath: path).map { $0.count >= text.utf8.count } ?? false
    }
    for _ in 0..<3000 where !isThere() { try await Task.sleep(for: .milliseconds(20)) }
    return isThere()
  }

  /// Waits until no process runs in this sandbox's home: until all helpers have ended. Returns false after a minute.
  public func waitForHelpers() async throws -> Bool {
    let home = Data("HOME=\(self.home)\0".utf8)
    func isOver() -> Bool {
      let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
      return !processes.contains { name in
        // The environment of a process that just ended cannot be read.
        Int(name) != nil
          && FileManager.default.contents(atPath: "/proc/\(name)/environ")?.range(of: home) != nil
      }
    }
    for _ in 0..<1200 where !isOver() { try await Task.sleep(for: .milliseconds(50)) }
    return isOver()
  }

  /// A sandbox whose store has the alarm Tea, daily at 09:00.
  ///
  /// - Parameter committing: gives the store's git a name and an address to commit with.
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

  /// The file of the only alarm in a store, or of one.
  public func alarmFile(_ id: String? = nil, store: String? = nil) throws -> String {
    let folder = (store ?? self.store) + "/alarms"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    return folder + "/" + (id.map { "\($0).json" } ?? names[0])
  }
}
