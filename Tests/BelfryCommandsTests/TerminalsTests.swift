import BelfryScheduler
import Foundation
import Glibc
import TestSupport
import Testing

/// The fallback channel: the user's own terminals.
@Suite struct TerminalsTests {
  /// Returns a terminal with a reader, in a separate folder.
  private func terminal(_ sandbox: Sandbox) throws -> (screen: Int32, line: Int32, folder: String) {
    var (screen, line): (Int32, Int32) = (-1, -1)
    var name = [CChar](repeating: 0, count: 100)
    #expect(openpty(&screen, &line, &name, nil, nil) == 0)
    let folder = sandbox.root + "/terminals"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    try FileManager.default.createSymbolicLink(
      atPath: folder + "/7", withDestinationPath: path)
    return (screen, line, folder)
  }

  @Test func linesAreShownWithABell() throws {
    let sandbox = try Sandbox()
    let (screen, line, folder) = try terminal(sandbox)
    defer { for file in [screen, line] { close(file) } }
    let terminals = Terminals(user: geteuid(), folder: folder)
    #expect(terminals.open.count == 1)
    #expect(terminals.show(["** Rent", "   Mon"], bell: true) == 1)
    var buffer = [UInt8](repeating: 0, count: 1000)
    let count = read(screen, &buffer, buffer.count)
    let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    #expect(text.hasPrefix("\u{7}"))
    #expect(text.contains("** Rent\r\n") || text.contains("** Rent\r\r\n"), "\(text)")
  }

  @Test func terminalsOfOtherUsersAndOtherFilesAreNotWritten() throws {
    let sandbox = try Sandbox()
    let (screen, line, folder) = try terminal(sandbox)
    defer { for file in [screen, line] { close(file) } }
    try sandbox.write("", to: folder + "/8")
    #expect(Terminals(user: geteuid() &+ 1, folder: folder).show(["x"], bell: true) == 0)
    #expect(Terminals(user: geteuid(), folder: folder).open.count == 1)
    #expect(Terminals(user: geteuid(), folder: sandbox.root + "/none").show(["x"], bell: true) == 0)
  }

  @Test("A terminal that accepts no output does not block the delivery")
  func stopped() throws {
    let sandbox = try Sandbox()
    let (screen, line, folder) = try terminal(sandbox)
    defer { for file in [screen, line] { close(file) } }
    #expect(tcflow(line, TCOOFF) == 0)
    #expect(Terminals(user: geteuid(), folder: folder).show(["x"], bell: true) == 0)
  }
}
