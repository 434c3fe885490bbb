import TestSupport
import Testing

@testable import Files

/// The write-ahead log as a file.
@Suite struct WriteAheadLogTests {
  private let sandbox: Sandbox
  private let log: WriteAheadLog

  init() throws {
    sandbox = try Sandbox()
    log = WriteAheadLog(sandbox.root + "/log")
  }

  private func append(_ text: String, session: UInt64 = 1) throws -> WriteAheadLog.State {
    try log.append(Array(text.utf8), session: session)
  }

  private func texts(_ payloads: [[UInt8]]) -> [String] {
    payloads.map { String(decoding: $0, as: UTF8.self) }
  }

  private func bytes() throws -> [UInt8] { try #require(try DurableFile.read(log.path)).bytes }

  private func write(_ bytes: [UInt8]) throws {
    try DurableFile.write(bytes, to: log.path, temporary: log.path + ".new")
  }

  @Test("Entries come back in their order, the applied ones apart from the others")
  func order() throws {
    #expect(try log.state() == nil)
    _ = try append("one")
    _ = try append(String(repeating: "two ", count: 2_000))
    log.finish()
    _ = try append("three")
    let entries = try log.entries()
    #expect(texts(entries.applied) == ["one", String(repeating: "two ", count: 2_000)])
    #expect(texts(entries.pending) == ["three"])
    let state = try #require(try log.state())
    #expect(!state.isEmpty && !state.isApplied && !state.isRefused && state.session == 1)
  }

  @Test("Each entry starts a page")
  func pages() throws {
    _ = try append("one")
    #expect(try bytes().count == 2 * 4096)
    _ = try append(String(repeating: "x", count: 4096))
    #expect(try bytes().count == 4 * 4096)
  }

  @Test("A cancelled entry is gone, and a refused one is marked")
  func cancel() throws {
    _ = try append("one")
    log.finish()
    let before = try append("two")
    log.cancel(to: before)
    #expect(texts(try log.entries().applied) == ["one"])
    #expect(try log.entries().pending.isEmpty)
    #expect(try #require(try log.state()).isApplied)
    _ = try append("three")
    log.refuse()
    #expect(try #require(try log.state()).isRefused)
    #expect(texts(try log.entries().pending) == ["three"])
    // After it was undone, the next entry is not refused.
    log.finish()
    _ = try append("four")
    #expect(try !#require(try log.state()).isRefused)
    #expect(texts(try log.entries().pending) == ["four"])
  }

  @Test("An emptied log has no entries, and those of before don't come back")
  func empty() throws {
    _ = try append("one")
    let old = try bytes()
    log.finish()
    try log.empty(session: 2, mark: nil)
    #expect(try #require(try log.state()).isEmpty)
    #expect(try #require(try log.state()).mark == nil)
    #expect(try bytes().count == 4096)
    // The pages of the earlier entries, behind the new header.
    try write(try bytes() + old.dropFirst(4096))
    _ = try append("two", session: 2)
    #expect(texts(try log.entries().pending) == ["two"])
  }

  @Test("An entry that lacks a sector ends the list", arguments: [0, 1, 7])
  func torn(sector: Int) throws {
    _ = try append("one")
    let first = try bytes().count
    _ = try append(String(repeating: "x", count: 4_000))
    var damaged = try bytes()
    for index in 0..<512 { damaged[first + sector * 512 + index] = 0 }
    try write(damaged)
    #expect(texts(try log.entries().pending) == ["one"])
    try write(Array(damaged.prefix(first + 100)))
    #expect(texts(try log.entries().pending) == ["one"])
  }

  @Test("A file that is no log has no state, and is replaced by the first entry")
  func foreign() throws {
    try sandbox.write("something else", to: log.path)
    #expect(try log.state() == nil)
    #expect(try log.entries().pending.isEmpty)
    _ = try append("one")
    #expect(texts(try log.entries().pending) == ["one"])
  }
}

/// New objects in memory.
@Suite struct HeldObjectTests {}
