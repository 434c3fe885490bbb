import Files
import Foundation
import TestSupport
import Testing

@testable import Git

/// Tests of objects in memory.
@Suite struct HeldObjectTests {
  @Test("Objects in memory are read by their own repository only, and restored as intact files")
  func held() throws {
    let sandbox = try Sandbox()
    let repository = try Repository.create(sandbox.root + "/repository")
    repository.holdNewObjects()
    let id = try repository.writeBlob(Array("text".utf8))
    #expect(try repository.blob(id, limit: 100) == Array("text".utf8))
    let file = repository.loose.path(id)
    #expect(!FileManager.default.fileExists(atPath: file))
    let objects = try repository.heldObjects()
    #expect(objects.map(\.id) == [id])
    repository.dropHeldObjects()
    #expect(throws: GitError.self) { try repository.blob(id, limit: 100) }
    // An empty file is what a power failure leaves.
    try DurableFile.makeFolder(DurableFile.parent(of: file))
    try sandbox.write("", to: file)
    for object in objects { try repository.restore(object) }
    #expect(try repository.blob(id, limit: 100) == Array("text".utf8))
  }
}
