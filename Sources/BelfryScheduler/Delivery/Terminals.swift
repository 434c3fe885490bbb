import Files
import Glibc

/// The terminals of a user, as the last channel after the hooks.
public struct Terminals: Sendable {
  private let user: UInt32
  private let folder: String
  private let store: String?
  private let sendsNotices: @Sendable () -> Bool

  /// The time for which a message hides what a tmux client shows, in milliseconds.
  public static let messageDuration = TmuxServer.messageDuration

  /// The system's folder of pseudo-terminals.
  public static let systemFolder = "/dev/pts"

  /// Creates the terminals of a user.
  ///
  /// - Parameters:
  ///   - user: the user id.
  ///   - folder: the folder of pseudo-terminals. In a folder other than the system's, there are no logins.
  ///   - store: the path of the store whose alarms Belfry's own screen shows; nil if no screen counts.
  ///   - sendsNotices: returns false if no terminal gets the sequence of a desktop notification. Called each time.
  public init(
    user: UInt32, folder: String = systemFolder, store: String? = nil,
    sendsNotices: @escaping @Sendable () -> Bool = { true }
  ) {
    self.sendsNotices = sendsNotices
    self.user = user
    self.folder = folder
    self.store = store
  }

  /// The paths of the terminals that `show` would try. A write to them can still fail.
  ///
  /// Logins are preferred, because a pseudo-terminal without a login may belong to a program that parses its output.
  public var open: [String] {
    let logins = logins.filter(isOwn)
    return logins.isEmpty ? others : logins
  }

  /// Shows lines to the user in the way that does least harm. Returns the number of terminals on which that succeeded.
  ///
  /// | use of the terminal | shown |
  /// |---|---|
  /// | Belfry's own screen of the store | nothing: the screen shows what rings |
  /// | tmux | a message in the message line of each client, for some seconds; nothing if it shows Belfry's own screen |
  /// | a shell | the lines |
  /// | another program | the bell; as a last resort the lines |
  ///
  /// A terminal that is known to understand it also gets the sequence of a desktop notification, see `TerminalNotice`. In
  /// tmux, that is the terminal of the client.
  ///
  /// Logins are preferred. As a last resort, programs that read whole lines are preferred to those that may fill the
  /// screen.
  ///
  /// - Parameters:
  ///   - bell: true to ring the terminal bell.
  ///   - isLastResort: true if nothing else can reach the user. Then the lines are written over the screen of a program.
  public func show(_ lines: [String], bell: Bool, isLastResort: Bool = false) async -> Int {
    // A background job may write even under `stty tostop`.
    signal(SIGTTOU, SIG_IGN)
    let processes = TerminalProcesses()
    let logins = screens(logins.filter(isOwn), processes)
    let paths = Set(logins.map(\.path))
    let others = screens(self.others.filter { !paths.contains($0) }, processes)
    for screens in [logins, others] {
      let count = await show(lines, bell: bell, on: screens, processes)
      if count > 0 { return count }
    }
    guard isLastResort else { return 0 }
    let text = Terminals.text(lines, bell: bell)
    for screens in [logins, others] {
      let programs = screens.filter { $0.use == .program || $0.use == .unused }
      for group in [programs.filter { !$0.isRaw }, programs] {
        let count = group.count { write(text, to: $0.path) }
        if count > 0 { return count }
      }
    }
    return 0
  }

  /// Shows lines again where they do not stay: in the message line of tmux. Another program gets the bell again.
  public func `repeat`(_ lines: [String], bell: Bool) async {
    signal(SIGTTOU, SIG_IGN)
    let processes = TerminalProcesses()
    let logins = logins.filter(isOwn)
    let screens = screens(logins + others.filter { !logins.contains($0) }, processes)
    _ = await show(lines, bell: bell, on: screens.filter { $0.use != .shell }, processes)
  }

  /// A terminal and its use.
  private struct Screen {
    let path: String
    let device: TerminalDevice
    let use: TerminalUse
    /// True if the terminal passes on each key.
    let isRaw: Bool
    /// The control sequence of notifications; nil if none is known to work.
    let notice: TerminalNotice?
  }

  private func screens(_ paths: [String], _ processes: TerminalProcesses) -> [Screen] {
    let sendsNotices = sendsNotices()
    return paths.compactMap { path in
      let file = Glibc.open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      var (status, settings) = (stat(), termios())
      guard fstat(file, &status) == 0 else { return nil }
      let isRaw = tcgetattr(file, &settings) == 0 && settings.c_lflag & tcflag_t(ICANON) == 0
      let device = TerminalDevice(status)
      let use = processes.use(of: device, isRaw: isRaw, store: store)
      let notice =
        sendsNotices ? processes.environment(of: device).flatMap { TerminalNotice($0) } : nil
      return Screen(path: path, device: device, use: use, isRaw: isRaw, notice: notice)
    }
  }

  /// Shows lines without harm. Returns the number of terminals on which that succeeded.
  private func show(
    _ lines: [String], bell: Bool, on screens: [Screen], _ processes: TerminalProcesses
  ) async -> Int {
    var count = 0
    for screen in screens {
      let notice = screen.notice?.sequence(lines) ?? ""
      switch screen.use {
      case .belfry: count += 1
      case .shell:
        count += write(Terminals.text(lines, bell: bell) + notice, to: screen.path) ? 1 : 0
      // Nobody may see the notification: it does not count.
      case .program: if bell { _ = write("\u{7}" + notice, to: screen.path) }
      case .tmuxClient, .tmuxPane, .unused: break
      }
    }
    let clients = screens.filter { $0.use == .tmuxClient }
    if clients.isEmpty { return count }
    for server in processes.tmuxServers {
      let screens = store.map { processes.screens(of: $0, on: server) } ?? []
      // A popup is no pane, and all clients count as having it.
      let panes = screens.isEmpty ? [] : await server.panes()
      let hasPopup = !screens.isSubset(of: panes.compactMap { Terminals.device($0)?.number })
      for shown in await server.clients() {
        guard let device = Terminals.device(shown.terminal),
          let client = clients.first(where: { $0.device == device })
        else { continue }
        // tmux would draw the message instead of what Belfry's screen shows.
        if hasPopup || Terminals.device(shown.pane).map({ screens.contains($0.number) }) == true {
          count += 1
          continue
        }
        guard await server.show(Terminals.message(lines), on: shown.terminal) else { continue }
        // Not through the pane: its terminal is tmux.
        let notice = client.notice?.sequence(lines) ?? ""
        let text = (bell ? "\u{7}" : "") + notice
        if !text.isEmpty { _ = write(text, to: client.path) }
        count += 1
      }
    }
    return count
  }

  /// Returns the terminal at a path; nil if there is none.
  private static func device(_ path: String) -> TerminalDevice? {
    var status = stat()
    return stat(path, &status) == 0 ? TerminalDevice(status) : nil
  }

  /// Returns the text for a shell, or for a program as a last resort.
  private static func text(_ lines: [String], bell: Bool) -> String {
    // A full-screen program may have disabled the terminal's own carriage returns.
    (bell ? "\u{7}" : "") + "\n" + lines.map { $0 + "\r\n" }.joined()
  }

  /// Returns lines as one line. The commands, which are in the last line, are not cut off on a narrow screen.
  private static func message(_ lines: [String]) -> String {
    let parts = lines.map { String($0.drop { $0 == " " }) }
    guard let last = parts.last, parts.count > 1 else { return parts.joined() }
    return ([parts[0], last] + parts.dropFirst().dropLast()).joined(separator: "   ")
  }

  /// Writes to one terminal, even if `mesg` is off: that setting is for messages of other users.
  ///
  /// - Returns: False on failure.
  private func write(_ text: String, to path: String) -> Bool {
    // O_NONBLOCK: a write to a terminal that was stopped with Ctrl-S would block.
    let file = Glibc.open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    let bytes = Array(text.utf8)
    return Glibc.write(file, bytes, bytes.count) == bytes.count
  }

  /// Returns true for a character device of this user.
  private func isOwn(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
      && status.st_uid == user
  }

  /// The user's pseudo-terminals, with and without a login.
  private var others: [String] {
    DurableFile.names(in: folder).filter { $0.utf8.allSatisfy { (48...57).contains($0) } }
      .sorted().map { "\(folder)/\($0)" }.filter(isOwn)
  }

  /// The terminals of all logins. A console with a display is omitted, because the desktop hides it.
  private var logins: [String] {
    if folder != Terminals.systemFolder { return [] }
    var paths: [String] = []
    setutxent()
    defer { endutxent() }
    while let entry = getutxent() {
      guard entry.pointee.ut_type == Int16(USER_PROCESS) else { continue }
      func text<Tuple>(_ tuple: Tuple) -> String {
        withUnsafeBytes(of: tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      }
      let line = text(entry.pointee.ut_line)
      if line.hasPrefix("tty"), text(entry.pointee.ut_host).hasPrefix(":") { continue }
      let path = "/dev/\(line)"
      if !line.isEmpty, !paths.contains(path) { paths.append(path) }
    }
    return paths
  }
}
