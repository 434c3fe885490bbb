import Foundation
import Glibc
import TestSupport
import Testing

@testable import BelfryScheduler

/// The fallback channel: the user's own terminals.
@Suite struct TerminalsTests {
  /// A terminal with a reader, as the file `name` in a folder of its own.
  private final class Screen {
    let screen: Int32
    let line: Int32
    let folder: String
    private var session: Process?
    private var shown = ""

    init(_ sandbox: Sandbox, name: String = "7") throws {
      var (screen, line): (Int32, Int32) = (-1, -1)
      var path = [CChar](repeating: 0, count: 100)
      try #require(openpty(&screen, &line, &path, nil, nil) == 0)
      (self.screen, self.line) = (screen, line)
      folder = sandbox.root + "/terminals"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder)/\(name)",
        withDestinationPath: String(
          decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
      _ = fcntl(screen, F_SETFL, O_NONBLOCK)
    }

    deinit {
      session?.terminate()
      close(screen)
      close(line)
    }

    /// Starts a session on the terminal, and waits until it has the given use.
    func run(_ command: String, _ use: TerminalUse, store: String? = nil) async throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
      process.arguments = ["--ctty", "--wait", "sh", "-c", command]
      let handle = FileHandle(fileDescriptor: dup(line), closeOnDealloc: true)
      process.standardInput = handle
      process.standardOutput = handle
      process.standardError = handle
      try process.run()
      session = process
      var status = stat()
      try #require(fstat(line, &status) == 0)
      for _ in 0..<600 {
        if TerminalProcesses().use(of: TerminalDevice(status), isRaw: isRaw, store: store) == use {
          return
        }
        try await Task.sleep(for: .milliseconds(50))
      }
      Issue.record("the terminal never becomes \(use)")
    }

    var isRaw: Bool {
      var settings = termios()
      return tcgetattr(line, &settings) == 0 && settings.c_lflag & tcflag_t(ICANON) == 0
    }

    /// The text that was shown so far.
    var text: String {
      var buffer = [UInt8](repeating: 0, count: 4000)
      while case let count = read(screen, &buffer, buffer.count), count > 0 {
        shown += String(decoding: buffer.prefix(count), as: UTF8.self)
      }
      return shown
    }
  }

  private let raw = "stty raw -echo; exec sleep 600"

  @Test("A shell gets the lines, with a bell")
  func shell() async throws {
    let sandbox = try Sandbox()
    let screen = try Screen(sandbox)
    try await screen.run("exec bash --norc -i", .shell)
    let terminals = Terminals(user: geteuid(), folder: screen.folder)
    #expect(terminals.open.count == 1)
    #expect(await terminals.show(["** Rent", "   Mon"], bell: true) == 1)
    #expect(screen.text.contains("\u{7}"))
    #expect(
      screen.text.contains("** Rent\r\n") || screen.text.contains("** Rent\r\r\n"),
      "\(screen.text)")
  }

  @Test("A program gets the bell only, and the lines as a last resort")
  func program() async throws {
    let sandbox = try Sandbox()
    let screen = try Screen(sandbox)
    try await screen.run(raw, .program)
    let terminals = Terminals(user: geteuid(), folder: screen.folder)
    #expect(await terminals.show(["** Rent"], bell: true) == 0)
    #expect(screen.text == "\u{7}")
    #expect(await terminals.show(["** Rent"], bell: false, isLastResort: true) == 1)
    #expect(screen.text.contains("** Rent"))
  }

  @Test("A terminal that is known to show desktop notifications gets one, also over a program")
  func notice() async throws {
    let sandbox = try Sandbox()
    let screen = try Screen(sandbox)
    try await screen.run("TERM=xterm-kitty exec sh -c '\(raw)'", .program)
    let terminals = Terminals(user: geteuid(), folder: screen.folder)
    // It does not count, because the terminal may show none.
    #expect(await terminals.show(["** Rent;\u{7}", "   Mon"], bell: true) == 0)
    let title = "\u{1B}]99;i=belfry:d=0;Rent;\u{1B}\\"
    let shown = "\u{7}" + title + "\u{1B}]99;i=belfry:p=body;Mon\u{1B}\\"
    #expect(screen.text == shown)
    // The setting `terminalNotices` is read each time.
    let silent = Terminals(
      user: geteuid(), folder: screen.folder, sendsNotices: { false })
    #expect(await silent.show(["** Rent", "   Mon"], bell: true) == 0)
    #expect(screen.text == shown + "\u{7}")
    await terminals.repeat(["** Rent"], bell: false)
    #expect(!screen.text.contains("d=1"))
  }

  @Test(
    "A screen that shows the store's alarms gets no text; one of another store, or a stopped one, does"
  )
  func ownScreen() async throws {
    let sandbox = try Sandbox()
    let (store, other) = (sandbox.root + "/own", sandbox.root + "/other")
    for path in [store, other] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    let screen = try Screen(sandbox)
    let command = """
      cp "$(command -v sleep)" '\(sandbox.root)/belfry'; exec 5<'\(store)'; echo $$ > '\(store)/id'
      stty raw -echo; exec '\(sandbox.root)/belfry' 600
      """
    try await screen.run(command, .belfry, store: store)
    let terminals = Terminals(user: geteuid(), folder: screen.folder, store: store)
    #expect(await terminals.show(["** Rent"], bell: true) == 1)
    #expect(screen.text.isEmpty)
    let foreign = Terminals(user: geteuid(), folder: screen.folder, store: other)
    #expect(await foreign.show(["** Rent"], bell: true) == 0)
    #expect(await foreign.show(["** Rent"], bell: true, isLastResort: true) == 1)
    #expect(screen.text.contains("** Rent"))
    let id = try #require(pid_t(sandbox.read(store + "/id").trimmingCharacters(in: .newlines)))
    #expect(kill(id, SIGSTOP) == 0)
    defer { kill(id, SIGKILL) }
    var status = stat()
    try #require(fstat(screen.line, &status) == 0)
    // A signal takes effect after some time.
    for _ in 0..<600
    where TerminalProcesses().use(of: TerminalDevice(status), isRaw: true, store: store) == .belfry
    {
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(await terminals.show(["** Milk"], bell: true, isLastResort: true) == 1)
    #expect(screen.text.contains("** Milk"))
  }

  @Test("A program that a shell has started is not the shell")
  func startedProgram() async throws {
    let sandbox = try Sandbox()
    let screen = try Screen(sandbox)
    try await screen.run("exec bash --norc -i", .shell)
    let typed = Array("sleep 600\n".utf8)
    #expect(write(screen.screen, typed, typed.count) == typed.count)
    var status = stat()
    try #require(fstat(screen.line, &status) == 0)
    var use = TerminalUse.shell
    for _ in 0..<600 where use == .shell {
      try await Task.sleep(for: .milliseconds(50))
      use = TerminalProcesses().use(of: TerminalDevice(status), isRaw: screen.isRaw, store: nil)
    }
    #expect(use == .program)
  }

  @Test("Terminals of a container that have the same device number are others")
  func containers() {
    #expect(TerminalProcesses.sessions([10: 24, 20: 31, 30: nil], on: 24) == [10])
    #expect(TerminalProcesses.sessions([20: 31, 30: nil], on: 24) == [30])
    #expect(TerminalProcesses.sessions([20: 31], on: 24).isEmpty)
  }

  @Test("The last resort prefers a program that reads lines to one that may fill the screen")
  func preference() async throws {
    let sandbox = try Sandbox()
    let (full, lines) = (try Screen(sandbox, name: "7"), try Screen(sandbox, name: "8"))
    try await full.run(raw, .program)
    try await lines.run("exec sleep 600", .program)
    let terminals = Terminals(user: geteuid(), folder: full.folder)
    #expect(await terminals.show(["** Rent"], bell: true, isLastResort: true) == 1)
    #expect(full.text == "\u{7}")
    #expect(lines.text.contains("** Rent"))
  }

  @Test func terminalsOfOtherUsersAndOtherFilesAreNotWritten() async throws {
    let sandbox = try Sandbox()
    let screen = try Screen(sandbox)
    try sandbox.write("", to: screen.folder + "/8")
    let foreign = Terminals(user: geteuid() &+ 1, folder: screen.folder)
    #expect(await foreign.show(["x"], bell: true, isLastResort: true) == 0)
    #expect(Terminals(user: geteuid(), folder: screen.folder).open.count == 1)
    let none = Terminals(user: geteuid(), folder: sandbox.root + "/none")
    #expect(await none.show(["x"], bell: true, isLastResort: true) == 0)
  }

  @Test("A terminal without a process is only a last resort")
  func unused() async throws {
    let sandbox = try Sandbox()
    let screen = try Screen(sandbox)
    let terminals = Terminals(user: geteuid(), folder: screen.folder)
    #expect(await terminals.show(["** Rent"], bell: true) == 0)
    #expect(screen.text.isEmpty)
    #expect(await terminals.show(["** Rent"], bell: true, isLastResort: true) == 1)
    #expect(screen.text.contains("** Rent"))
  }

  @Test("A terminal that accepts no output does not block the delivery")
  func stopped() async throws {
    let sandbox = try Sandbox()
    let screen = try Screen(sandbox)
    #expect(tcflow(screen.line, TCOOFF) == 0)
    let terminals = Terminals(user: geteuid(), folder: screen.folder)
    #expect(await terminals.show(["x"], bell: true, isLastResort: true) == 0)
  }
}
