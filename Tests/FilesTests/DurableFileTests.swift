import Foundation
import TestSupport
import Testing

@testable import Files

/// Tests of atomic file replacement, with a temporary file on the same or on another file system.
@Suite struct DurableFileTests {
  private func temporary() throws -> String {
    "\(try #require(TestMachine.otherFileSystem))/belfry-\(UUID().uuidString)"
  }

  @Test(
    "A file is written to a new folder if the temporary file is on another file system",
    .enabled(if: TestMachine.otherFileSystem != nil))
  func newFolderOnAnotherDisk() throws {
    let sandbox = try Sandbox()
    let folder = sandbox.root + "/ab"
    let temporary = try temporary()
    try DurableFile.write(
      Array("object".utf8), to: folder + "/cd", temporary: temporary, mode: 0o444,
      makingFolder: true)
    #expect(try sandbox.read(folder + "/cd") == "object")
    #expect(DurableFile.names(in: folder) == ["cd"])
    #expect(!FileManager.default.fileExists(atPath: temporary))
    let mode = try FileManager.default.attributesOfItem(atPath: folder + "/cd")[.posixPermissions]
    #expect(mode as? Int == 0o444)
  }

  @Test(
    "A file is replaced if the temporary file is on another file system",
    .enabled(if: TestMachine.otherFileSystem != nil))
  func replacementOnAnotherDisk() throws {
    let sandbox = try Sandbox()
    let path = sandbox.root + "/file"
    try sandbox.write("old", to: path)
    let temporary = try temporary()
    let status = try DurableFile.write(Array("new".utf8), to: path, temporary: temporary)
    #expect(try sandbox.read(path) == "new")
    #expect(status.st_size == 3)
    #expect(!FileManager.default.fileExists(atPath: temporary))
  }

  @Test func fileIsWrittenToNewFolder() throws {
    let sandbox = try Sandbox()
    try DurableFile.write(
      [1], to: sandbox.root + "/ab/cd", temporary: sandbox.root + "/new", makingFolder: true)
    #expect(try DurableFile.read(sandbox.root + "/ab/cd")?.bytes == [1])
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/new"))
  }

  @Test func missingFolderFailsAndLeavesNothing() throws {
    let sandbox = try Sandbox()
    let path = sandbox.root + "/ab/cd"
    #expect(throws: FileError("write", path, number: ENOENT)) {
      try DurableFile.write([1], to: path, temporary: sandbox.root + "/new")
    }
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/new"))
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/ab"))
  }

  @Test func folderThatCannotBeCreatedFailsAndLeavesNothing() throws {
    let sandbox = try Sandbox()
    let path = sandbox.root + "/missing/ab/cd"
    #expect(throws: FileError("create the folder", sandbox.root + "/missing/ab", number: ENOENT)) {
      try DurableFile.write(
        [1], to: path, temporary: sandbox.root + "/new", makingFolder: true)
    }
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/new"))
  }
}
