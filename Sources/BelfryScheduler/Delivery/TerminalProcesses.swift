import Files
import Glibc

/// The use of a terminal, as far as the system shows it.
enum TerminalUse: Hashable, Sendable {
  /// Belfry's own screen fills it, and shows every alarm of the store that rings.
  case belfry
  /// A tmux session fills it.
  case tmuxClient
  /// A window of tmux, which its clients show.
  case tmuxPane
  /// A shell is in the foreground, so that a line of text harms nothing.
  case shell
  /// Another program is in the foreground. It may fill the screen.
  case program
  /// No process uses it as its terminal.
  case unused
}

/// A terminal, as its device file names it.
struct TerminalDevice: Hashable, Sendable {
  /// The device number.
  let number: UInt32
  /// The number of the file system of the device file. A container has pseudo-terminals with the same device numbers on a
  /// file system of its own.
  let fileSystem: UInt64

  /// Creates the name of a terminal from the status of its device file.
  init(_ status: stat) {
    number = UInt32(truncatingIfNeeded: status.st_rdev)
    fileSystem = UInt64(status.st_dev)
  }
}

/// The processes on terminals, from `/proc`.
struct TerminalProcesses: Sendable {
  private struct Process: Sendable {
    let id: Int32
    let name: String
    /// The state, such as `S` for sleeping and `T` for stopped.
    let state: Character
    let parent: Int32
    let group: Int32
    let session: Int32
    /// The device number of the terminal; 0 without one.
    let terminal: UInt32
    /// The process group in the foreground of the terminal.
    let foreground: Int32

    /// True if a signal has stopped the process, or it has ended. It then shows nothing.
    var isStopped: Bool { "TtZX".contains(state) }
  }

  private let processes: [Int32: Process]

  /// The names of shells.
  private static let shells: Set<String> = [
    "ash", "bash", "busybox", "csh", "dash", "elvish", "fish", "ksh", "ksh93", "mksh", "nu", "osh",
    "pwsh", "rbash", "rc", "sh", "tcsh", "xonsh", "yash", "zsh",
  ]

  /// Reads the processes that exist now.
  init() {
    let all = DurableFile.names(in: "/proc").compactMap { name -> Process? in
      // A process can end at any time.
      guard let id = Int32(name), let bytes = try? DurableFile.readStream("/proc/\(id)/stat")
      else { return nil }
      return TerminalProcesses.process(id, String(decoding: bytes, as: UTF8.self))
    }
    processes = Dictionary(all.map { ($0.id, $0) }) { one, _ in one }
  }

  /// Parses a line of `/proc/<pid>/stat`. A name can contain spaces and parentheses.
  private static func process(_ id: Int32, _ text: String) -> Process? {
    guard let start = text.firstIndex(of: "("), let end = text.lastIndex(of: ")") else {
      return nil
    }
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 5, let state = fields[0].first, let parent = Int32(fields[1]),
      let group = Int32(fields[2]),
      let session = Int32(fields[3]), let terminal = Int32(fields[4]),
      let foreground = Int32(fields[5])
    else { return nil }
    return Process(
      id: id, name: String(text[text.index(after: start)..<end]), state: state, parent: parent,
      group: group,
      session: session, terminal: UInt32(bitPattern: terminal), foreground: foreground)
  }

  /// Returns the processes on a terminal.
  private func users(of terminal: TerminalDevice) -> [Process] {
    let users = processes.values.filter { $0.terminal == terminal.number }
    let fileSystems = Dictionary(
      uniqueKeysWithValues: Set(users.map(\.session)).map {
        ($0, TerminalProcesses.fileSystem(of: terminal.number, in: $0))
      })
    let sessions = TerminalProcesses.sessions(fileSystems, on: terminal.fileSystem)
    return users.filter { sessions.contains($0.session) }
  }

  /// Returns the sessions that run on a terminal: those whose file system is the terminal's, or else all of which it is
  /// not known.
  ///
  /// - Parameters:
  ///   - fileSystems: The file system of the terminal of each session; nil if it is not known, such as for another user.
  ///   - fileSystem: The file system of the terminal.
  static func sessions(_ fileSystems: [Int32: UInt64?], on fileSystem: UInt64) -> Set<Int32> {
    let own = fileSystems.filter { $0.value == fileSystem }
    return Set((own.isEmpty ? fileSystems.filter { $0.value == nil } : own).keys)
  }

  /// Returns the file system of a terminal that the leader of a session has opened; nil if that cannot be found out.
  private static func fileSystem(of number: UInt32, in session: Int32) -> UInt64? {
    for file in 0...2 {
      var status = stat()
      if stat("/proc/\(session)/fd/\(file)", &status) == 0,
        case let terminal = TerminalDevice(status), terminal.number == number
      {
        return terminal.fileSystem
      }
    }
    return nil
  }

  /// Returns the use of a terminal.
  ///
  /// - Parameters:
  ///   - device: the terminal.
  ///   - isRaw: true if the terminal passes on each key, as full-screen programs and shells require.
  ///   - store: the path of the store; nil if Belfry's own screen does not count.
  func use(of device: TerminalDevice, isRaw: Bool, store: String?) -> TerminalUse {
    let users = users(of: device)
    guard let first = users.first(where: { $0.foreground > 0 }) else { return .unused }
    let foreground = users.filter { $0.group == first.foreground }
    let pane = server(ofPane: first.session) != nil
    // Nobody may look at a window of tmux. Its clients get a message of their own.
    if isRaw, !pane, let store, foreground.contains(where: { isScreen($0, of: store) }) {
      return .belfry
    }
    if foreground.contains(where: { $0.name.hasPrefix("tmux: client") }) { return .tmuxClient }
    if pane { return .tmuxPane }
    let isShell =
      !foreground.isEmpty
      && foreground.allSatisfy { TerminalProcesses.shells.contains($0.name) }
    return isShell ? .shell : .program
  }

  /// Returns true if a process shows everything that rings in a store.
  private func isScreen(_ process: Process, of store: String) -> Bool {
    process.name == "belfry" && !process.isStopped
      && ScreenMark.isSet(by: process.id, store: store)
  }

  /// Returns the device numbers of the terminals of a tmux server with Belfry's own screen of a store in the foreground.
  func screens(of store: String, on server: TmuxServer) -> Set<UInt32> {
    Set(
      processes.values.filter { process in
        process.terminal != 0 && process.group == process.foreground
          && isScreen(process, of: store)
          && self.server(ofPane: process.session) == server.process
      }.map(\.terminal))
  }

  /// The identifiers of the processes that lead a session on a terminal.
  private var leaders: [Process] {
    processes.values.filter { $0.terminal != 0 && $0.id == $0.session }
  }

  /// Returns the tmux server whose window a session runs in; nil if it runs in none.
  private func server(ofPane session: Int32) -> Int32? {
    guard let leader = processes[session], let parent = processes[leader.parent],
      parent.name.hasPrefix("tmux: server")
    else { return nil }
    return parent.id
  }

  /// Returns true for a process of this user.
  private static func isOwn(_ process: Int32) -> Bool {
    var status = stat()
    return stat("/proc/\(process)", &status) == 0 && status.st_uid == geteuid()
  }

  /// Returns the environment variables of the session on a terminal; nil if it belongs to another user, or there is none.
  func environment(of device: TerminalDevice) -> [String: String]? {
    guard let user = users(of: device).first, TerminalProcesses.isOwn(user.session),
      let bytes = try? DurableFile.readStream("/proc/\(user.session)/environ")
    else { return nil }
    let pairs = bytes.split(separator: 0).compactMap { entry -> (String, String)? in
      let text = String(decoding: entry, as: UTF8.self)
      guard let equals = text.firstIndex(of: "=") else { return nil }
      return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }
    return Dictionary(pairs) { first, _ in first }
  }

  /// The tmux servers of this user.
  var tmuxServers: [TmuxServer] {
    var result: [Int32: TmuxServer] = [:]
    for leader in leaders {
      guard let server = server(ofPane: leader.id), result[server] == nil,
        // The superuser must not run the program of another user's server.
        TerminalProcesses.isOwn(server), TerminalProcesses.isOwn(leader.id),
        let environment = try? DurableFile.readStream("/proc/\(leader.id)/environ")
      else { continue }
      let socket = environment.split(separator: 0).lazy
        .map { String(decoding: $0, as: UTF8.self) }
        .first { $0.hasPrefix("TMUX=") }?.dropFirst(5).prefix { $0 != "," }
      if let socket { result[server] = TmuxServer(process: server, socket: String(socket)) }
    }
    return result.values.sorted { $0.process < $1.process }
  }
}
