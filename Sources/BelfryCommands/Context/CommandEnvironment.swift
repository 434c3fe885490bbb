import BelfryCore
import BelfryStore
import BelfryTerminal
import Files
import Glibc

/// The variables, the terminal, the clock and the paths of a command.
struct CommandEnvironment: Sendable {
  /// The environment variables.
  let variables: [String: String]
  /// The absolute path of the store: `--store`, else `BELFRY_STORE`, else `$XDG_DATA_HOME/belfry`.
  let storePath: String
  /// True if neither `--store` nor `BELFRY_STORE` names the store.
  let isDefaultStore: Bool
  /// The terminal on standard output.
  private(set) var style: Style
  private let color: ColorChoice
  /// The time that `BELFRY_NOW` sets; nil if it is not set.
  let fixedNow: Instant?

  /// Reads an environment.
  ///
  /// - Parameters:
  ///   - store: the value of `--store`.
  ///   - color: the value of `--color`.
  ///   - variables: the variables, by default those of the process.
  /// - Throws: `CommandError` if `BELFRY_NOW` is not valid or there is no path for a store.
  init(
    store: String?, color: ColorChoice = .auto,
    variables: [String: String] = CommandEnvironment.processVariables()
  ) throws {
    self.variables = variables
    self.color = color
    style = Style(variables, clock: CommandEnvironment.clock(variables), color: color)
    let given = [store, variables["BELFRY_STORE"]].compactMap { $0 }.first { !$0.isEmpty }
    isDefaultStore = given == nil
    storePath = CommandEnvironment.absolute(
      try given
        ?? CommandEnvironment.folder("XDG_DATA_HOME", ".local/share", variables) + "/belfry")
    guard let text = variables["BELFRY_NOW"], !text.isEmpty else {
      fixedNow = nil
      return
    }
    guard let now = Instant(rfc3339: text) else {
      throw CommandError(
        .usage, "BELFRY_NOW is '\(Printable.text(text))', which is not an instant.",
        hint: "Write it as 2026-12-24T18:00:00Z.")
    }
    fixedNow = now
  }

  /// Returns the environment with this device's setting of the clock read again.
  func rereadingSettings() -> CommandEnvironment {
    var environment = self
    environment.style = Style(
      variables, clock: CommandEnvironment.clock(variables), color: color)
    return environment
  }

  /// The value of a variable; nil if it is not set.
  subscript(name: String) -> String? { variables[name] }

  /// Returns the value of a variable as a number; nil if it is not set, or not in the range.
  func number(_ name: String, in range: ClosedRange<Int>) -> Int? {
    variables[name].flatMap { Int($0) }.flatMap { range.contains($0) ? $0 : nil }
  }

  /// Returns the environment variables of the process.
  static func processVariables() -> [String: String] {
    var variables: [String: String] = [:]
    var pointer = environ
    while let entry = pointer.pointee {
      let text = String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      pointer += 1
    }
    return variables
  }

  /// Returns this device's setting of the clock in text; `auto` if its settings file is missing or not valid.
  private static func clock(_ variables: [String: String]) -> Settings.Clock {
    guard let folder = try? folder("XDG_CONFIG_HOME", ".config", variables) else { return .auto }
    return DeviceSettings(inConfiguration: folder + "/belfry").clock
  }

  // MARK: The clock

  /// The time of the system's clock.
  static var systemNow: Instant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  // MARK: Paths

  /// Returns a folder of the XDG base directory specification.
  ///
  /// - Parameters:
  ///   - variable: the variable that names the folder.
  ///   - fallback: the folder in `HOME` to use if the variable is not set.
  /// - Throws: `CommandError` if neither the variable nor `HOME` is an absolute path.
  func folder(_ variable: String, _ fallback: String) throws -> String {
    try CommandEnvironment.folder(variable, fallback, variables)
  }

  /// Belfry's folder for configuration: `$XDG_CONFIG_HOME/belfry`.
  var configuration: String {
    get throws { try folder("XDG_CONFIG_HOME", ".config") + "/belfry" }
  }

  /// The runtime folder of the user; nil if there is none, or if others can write it. cron does not set its variable,
  /// so the default path is tried, too.
  var runtimeFolder: String? {
    CommandEnvironment.runtimeFolder(
      variables["XDG_RUNTIME_DIR"] ?? "/run/user/\(geteuid())")
  }

  /// Returns a folder if it is a private one of this user.
  static func runtimeFolder(_ folder: String) -> String? {
    var status = Glibc.stat()
    guard folder.hasPrefix("/"), stat(folder, &status) == 0, status.st_uid == geteuid(),
      status.st_mode & 0o022 == 0
    else { return nil }
    return access(folder, W_OK) == 0 ? folder : nil
  }

  /// Returns the path of the file that the daemon of a store writes for prompts of shells: `belfry/prompt` in the runtime
  /// folder for the store at the default path, `belfry/prompt-ID` for another one; nil without a runtime folder.
  ///
  /// - Parameter device: The id of the store's device.
  func promptFile(of device: Identifier) -> String? {
    let home = (try? folder("XDG_DATA_HOME", ".local/share")).map {
      CommandEnvironment.absolute("\($0)/belfry")
    }
    return runtimeFolder.map {
      "\($0)/belfry/prompt" + (storePath == home ? "" : "-\(device.text)")
    }
  }

  private static func folder(
    _ variable: String, _ fallback: String, _ variables: [String: String]
  ) throws -> String {
    // The specification says to ignore relative paths.
    if let set = variables[variable], set.hasPrefix("/") { return set }
    guard let home = variables["HOME"], home.hasPrefix("/") else {
      throw CommandError(
        .failed, "HOME is not set, so there is no default folder for the store.",
        hint: "Set HOME, or name a store with --store.")
    }
    return "\(home)/\(fallback)"
  }

  /// Returns a path as an absolute one without trailing slashes, resolved in the current folder.
  static func absolute(_ path: String) -> String {
    var result = path
    if !path.hasPrefix("/"), let folder = getcwd(nil, 0) {
      result = String(cString: folder) + "/" + path
      free(folder)
    }
    while result.count > 1, result.hasSuffix("/") { result.removeLast() }
    return result
  }

  /// Returns true if a program is in one of the folders of `PATH`.
  func hasProgram(_ name: String) -> Bool {
    (variables["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
      .contains { access("\($0)/\(name)", X_OK) == 0 }
  }

  /// The path of the binary; nil if it is unknown.
  var executable: String? {
    if let link = realpath("/proc/self/exe", nil) {
      defer { free(link) }
      return String(cString: link)
    }
    // An update has replaced the binary of this process. The system marks the path of the former file.
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let (link, mark) = (String(decoding: buffer.prefix(max(0, count)), as: UTF8.self), " (deleted)")
    guard link.hasSuffix(mark) else { return nil }
    let path = String(link.dropLast(mark.count))
    return access(path, X_OK) == 0 ? path : nil
  }

  /// The folders to search for the shipped hooks.
  var shippedHooks: [String] {
    guard let parts = executable?.split(separator: "/").dropLast() else { return [] }
    // `PREFIX/bin/belfry` has `PREFIX/libexec/belfry`; a build has the source tree above it.
    var folders = ["/" + parts.dropLast().joined(separator: "/") + "/libexec/belfry/hooks"]
    if let build = parts.lastIndex(where: { $0.hasPrefix(".build") }) {
      folders.append("/" + parts[..<build].joined(separator: "/") + "/hooks")
    }
    return folders
  }

  // MARK: The machine

  /// The name of a new device: `BELFRY_DEVICE`, else the host name.
  var deviceName: String {
    var name = variables["BELFRY_DEVICE"] ?? ""
    if name.isEmpty {
      var buffer = [CChar](repeating: 0, count: 256)
      if gethostname(&buffer, buffer.count - 1) == 0 {
        name = String(
          decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      }
    }
    let kept = name.unicodeScalars.filter { !AlarmText.isControl($0) }
    let clean = String(String(String.UnicodeScalarView(kept)).prefix(DeviceRecord.longestName))
    return clean.isEmpty ? "device" : clean
  }

  /// The kind of this machine by its SMBIOS chassis type (SMBIOS 3.6, 7.4.1); nil if that is unknown.
  static var deviceKind: Device.Kind? {
    guard let bytes = try? DurableFile.readStream("/sys/class/dmi/id/chassis_type") else {
      return nil
    }
    return switch Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)) {
    case 8, 9, 10, 14, 31, 32: .laptop
    case 3, 4, 5, 6, 7, 13, 15, 16, 35: .desktop
    case 30: .tablet
    case 17, 23, 28: .server
    default: nil
    }
  }

  /// The hexadecimal digits of `/etc/machine-id`; empty if there is none.
  static var machine: String {
    guard let file = fopen("/etc/machine-id", "re") else { return "" }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 64)
    let count = fread(&buffer, 1, 63, file)
    return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
      .filter { $0.isHexDigit }
  }
}
