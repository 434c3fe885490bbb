import Files
import Foundation
import Git
import Glibc
import TestSupport
import Testing

@testable import BelfryStore

/// The replacement of files in the work tree.
@Suite struct WorkTreeTransactionTests {
  /// Returns the content of a file of the store, or nil if there is none.
  private func content(_ path: String, _ fixture: StoreFixture) -> String? {
    try? fixture.sandbox.read("\(fixture.store.path)/\(path)")
  }

  /// Writes files, of which "old" is the version that is known.
  private func apply(_ files: [String: String?], to transaction: inout WorkTreeTransaction) throws {
    try transaction.apply(files.mapValues { $0.map { Array($0.utf8) } }) { _, blob in
      blob == Repository.blobID(Array("old".utf8))
    }
  }

  @Test("A rollback restores replaced files, and removes new ones")
  func rollBack() async throws {
    let fixture = try await StoreFixture()
    try fixture.sandbox.write("old", to: fixture.store.path + "/a")
    var transaction = WorkTreeTransaction(fixture.store, keeping: ["c"])
    try apply(["a": "new", "folder/b": "new", "c": "new", "d": nil], to: &transaction)
    #expect(transaction.paths == ["a", "folder/b"])
    #expect(content("a", fixture) == "new")
    #expect(content("folder/b", fixture) == "new")
    #expect(content("c", fixture) == nil)
    #expect(Set(transaction.written.keys) == ["a", "folder/b"])
    #expect(transaction.rollBack())
    #expect(content("a", fixture) == "old")
    #expect(content("folder/b", fixture) == nil)
    #expect(fixture.leftovers().isEmpty)
  }

  @Test("A rollback reports a file that it cannot restore, and restores the others")
  func incompleteRollBack() async throws {
    let fixture = try await StoreFixture()
    for name in ["a", "b"] { try fixture.sandbox.write("old", to: "\(fixture.store.path)/\(name)") }
    var transaction = WorkTreeTransaction(fixture.store, keeping: [])
    try apply(["a": "new", "b": "new"], to: &transaction)
    #expect(unlink(fixture.store.local.temporary("old-0")) == 0)
    #expect(!transaction.rollBack())
    #expect(content("a", fixture) == "new")
    #expect(content("b", fixture) == "old")
  }

  @Test("Removing the backups keeps the new files, including those of a batch")
  func batch() async throws {
    let fixture = try await StoreFixture()
    let names = (0..<40).map { "file-\($0)" }
    for name in names { try fixture.sandbox.write("old", to: "\(fixture.store.path)/\(name)") }
    var transaction = WorkTreeTransaction(fixture.store, keeping: [])
    try apply(Dictionary(uniqueKeysWithValues: names.map { ($0, "new") }), to: &transaction)
    #expect(fixture.leftovers().count == names.count)
    transaction.removeBackups()
    #expect(names.allSatisfy { content($0, fixture) == "new" })
    #expect(fixture.leftovers().isEmpty)
  }

  @Test("A folder in the place of a file stays there, and the other files are written")
  func folderInPlace() async throws {
    let fixture = try await StoreFixture()
    try fixture.sandbox.write("old", to: fixture.store.path + "/a")
    try DurableFile.makeFolder(fixture.store.path + "/b/c")
    var transaction = WorkTreeTransaction(fixture.store, keeping: [])
    try apply(["a": "new", "b": "new"], to: &transaction)
    transaction.removeBackups()
    #expect(content("a", fixture) == "new")
    #expect(FileManager.default.fileExists(atPath: fixture.store.path + "/b/c"))
    #expect(Array(transaction.written.keys) == ["a"])
    #expect(fixture.leftovers().isEmpty)
  }

  @Test("A version that the write has not seen stays, and its siblings are written")
  func unseenVersion() async throws {
    let fixture = try await StoreFixture()
    for name in ["a", "b", "c"] {
      try fixture.sandbox.write("old", to: "\(fixture.store.path)/\(name)")
    }
    try fixture.sandbox.write("edited", to: fixture.store.path + "/b")
    var transaction = WorkTreeTransaction(fixture.store, keeping: [])
    try apply(["a": "new", "b": "new", "c": "new"], to: &transaction)
    #expect(content("b", fixture) == "edited")
    #expect(transaction.paths == ["a", "c"])
    transaction.removeBackups()
    #expect(["a", "b", "c"].map { content($0, fixture) } == ["new", "edited", "new"])
    #expect(Set(transaction.written.keys) == ["a", "c"])
    #expect(fixture.leftovers().isEmpty)
  }

  @Test(
    "An editor that had the file open writes to it after the replacement, and its version stays")
  func openFile() async throws {
    let fixture = try await StoreFixture()
    let path = fixture.store.path + "/a"
    try fixture.sandbox.write("old", to: path)
    let editor = try #require(FileHandle(forUpdatingAtPath: path))
    var transaction = WorkTreeTransaction(fixture.store, keeping: [])
    try apply(["a": "new"], to: &transaction)
    try editor.write(contentsOf: Data("edited".utf8))
    try editor.close()
    #expect(content("a", fixture) == "new")
    transaction.removeBackups()
    #expect(content("a", fixture) == "edited")
    #expect(fixture.leftovers().isEmpty)
  }

  @Test("A rollback keeps a version that was written after the replacement")
  func editBeforeRollBack() async throws {
    let fixture = try await StoreFixture()
    let path = fixture.store.path + "/a"
    try fixture.sandbox.write("old", to: path)
    var transaction = WorkTreeTransaction(fixture.store, keeping: [])
    try apply(["a": "new", "b": "new"], to: &transaction)
    for name in ["a", "b"] {
      try fixture.sandbox.write("edited", to: path + "~")
      #expect(rename(path + "~", "\(fixture.store.path)/\(name)") == 0)
    }
    #expect(transaction.rollBack())
    #expect(content("a", fixture) == "edited")
    #expect(content("b", fixture) == "edited")
    #expect(fixture.leftovers().isEmpty)
  }

  @Test("A rollback keeps an edit of the new version, also in the same tick of the clock")
  func editInPlaceBeforeRollBack() async throws {
    let fixture = try await StoreFixture()
    let path = fixture.store.path + "/a"
    try fixture.sandbox.write("old", to: path)
    var transaction = WorkTreeTransaction(fixture.store, keeping: [])
    try apply(["a": "new", "b": "new"], to: &transaction)
    for name in ["a", "b"] {
      let file = "\(fixture.store.path)/\(name)"
      // The kernel's clock can have the same time at two changes.
      try edit(file, "own", keepingTimeOf: #require(transaction.written[name]))
    }
    #expect(transaction.rollBack())
    #expect(content("a", fixture) == "own")
    #expect(content("b", fixture) == "own")
    #expect(fixture.leftovers().isEmpty)
  }

  @Test("An editor that had the file open writes to it in the same tick, and its version stays")
  func openFileInTick() async throws {
    let fixture = try await StoreFixture()
    let path = fixture.store.path + "/a"
    try fixture.sandbox.write("old", to: path)
    var status = stat()
    #expect(lstat(path, &status) == 0)
    var transaction = WorkTreeTransaction(fixture.store, keeping: [])
    try apply(["a": "new"], to: &transaction)
    try edit(fixture.store.local.temporary("old-0"), "own", keepingTimeOf: status)
    transaction.removeBackups()
    #expect(content("a", fixture) == "own")
    #expect(fixture.leftovers().isEmpty)
  }

  /// Writes to a file, which keeps the time of its last change.
  private func edit(_ file: String, _ text: String, keepingTimeOf status: stat) throws {
    let editor = try #require(FileHandle(forUpdatingAtPath: file))
    try editor.write(contentsOf: Data(text.utf8))
    #expect(futimens(editor.fileDescriptor, [status.st_atim, status.st_mtim]) == 0)
    try editor.close()
  }
}
