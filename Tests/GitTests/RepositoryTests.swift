import Git
import Glibc
import TestSupport
import Testing

@Suite struct RepositoryTests {
  private let person = Repository.Signature(
    name: "Ada <x>\n", email: "ada@example.org", time: 1_700_000_000)

  @Test func aReferenceMovesOnlyFromWhereItStands() async throws {
    let sandbox = try Sandbox()
    let repository = try Repository.create(sandbox.root + "/repository")
    let tree = try repository.writeTree(TreeData())
    let one = try repository.writeCommit(
      tree: tree, parents: [], signature: person, message: "one\n")
    let two = try repository.writeCommit(
      tree: tree, parents: [one], signature: person, message: "two\n")
    let other = try repository.writeCommit(
      tree: tree, parents: [one], signature: person, message: "other\n")
    func move(_ from: ObjectID?, _ to: ObjectID) throws -> Bool {
      try repository.moveReference(
        "refs/heads/main", from: from, to: to, signature: person, message: "test")
    }
    #expect(try move(two, one) == false)
    #expect(try move(nil, one))
    #expect(try move(nil, two) == false)
    #expect(try move(one, two))
    #expect(try move(one, other) == false)
    #expect(try repository.commit(of: "HEAD") == two)
    #expect(try repository.isAncestor(one, of: two))
    #expect(try !repository.isAncestor(other, of: two))
    #expect(try repository.mergeBase(two, other) == one)
    #expect(try repository.commit(two).message == "two\n")
    #expect(try await sandbox.git("fsck", "--strict", in: sandbox.root + "/repository").status == 0)
  }

  @Test func largeBlobsAreNotRead() async throws {
    let sandbox = try Sandbox()
    let repository = try Repository.create(sandbox.root + "/repository")
    let blob = try repository.writeBlob([UInt8](repeating: 0, count: 100_000))
    #expect(Repository.blobID([UInt8](repeating: 0, count: 100_000)) == blob)
    #expect(throws: GitError.self) { try repository.blob(blob, limit: 99_999) }
    #expect(try repository.blob(blob, limit: 100_000).count == 100_000)
    #expect(throws: GitError.self) { try repository.tree(blob) }
  }

  @Test func anythingButARegularFileIsRefused() async throws {
    let sandbox = try Sandbox()
    let path = sandbox.root + "/file"
    #expect(try DurableFile.read(path) == nil)
    _ = try await sandbox.run(
      "/bin/sh", ["-c", "mkdir \(path)d; ln -s /etc/passwd \(path)l; mkfifo \(path)f"])
    for (suffix, number) in [("d", EISDIR), ("l", ELOOP), ("f", EINVAL)] {
      let error = #expect(throws: FileError.self) { try DurableFile.read(path + suffix) }
      #expect(error?.number == number)
    }
    try sandbox.write("12345", to: path)
    let error = #expect(throws: FileError.self) { try DurableFile.read(path, limit: 4) }
    #expect(error?.number == EFBIG)
  }
}
