import Files
import Git
import Glibc
import TestSupport
import Testing

/// Tests of references, objects and locks of a repository.
@Suite struct RepositoryTests {
  private let person = Repository.Signature(
    name: "Ada <x>\n", email: "ada@example.org", time: 1_700_000_000)

  @Test func referenceMovesOnlyFromExpectedCommit() async throws {
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
      switch try repository.moveReference(
        "refs/heads/main", from: from, to: to, signature: person, message: "test")
      {
      case .moved: true
      case .elsewhere: false
      case .locked: throw CancellationError()
      }
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

  @Test func lockOfAnotherGitIsReported() async throws {
    let sandbox = try Sandbox()
    let repository = try Repository.create(sandbox.root + "/repository")
    let commit = try repository.writeCommit(
      tree: try repository.writeTree(TreeData()), parents: [], signature: person, message: "one\n")
    let lock = repository.lock(of: "refs/heads/main")
    try sandbox.write("", to: lock)
    func move() throws -> Repository.Move {
      try repository.moveReference(
        "refs/heads/main", from: nil, to: commit, signature: person, message: "test")
    }
    #expect(try move() == .locked)
    // A recent lock is kept, and a lock file that a process has open.
    #expect(!repository.removeStaleLock(lock, olderThan: 60))
    let holder = open(lock, O_RDONLY)
    async let other = sandbox.run(
      "/bin/sh",
      [
        "-c",
        """
        \(sandbox.waitFor)
        exec 9< '\(lock)'
        touch '\(sandbox.root)/open'
        wait_for [ -e '\(sandbox.root)/enough' ]
        """,
      ])
    #expect(try await sandbox.waitForFile(sandbox.root + "/open"))
    #expect(repository.user(of: lock)?.name == "sh")
    #expect(!repository.removeStaleLock(lock, olderThan: 0))
    try sandbox.write("", to: sandbox.root + "/enough")
    _ = try await other
    close(holder)
    #expect(repository.removeStaleLock(lock, olderThan: 0))
    #expect(try move() == .moved)
  }

  /// libgit2 alone would never return.
  @Test(arguments: [0, 20, 60])
  func aWalkThroughADamagedCommitFails(_ size: Int) async throws {
    let sandbox = try Sandbox()
    let folder = sandbox.root + "/repository"
    var repository = try Repository.create(folder)
    var commits: [ObjectID] = []
    for number in 0..<3 {
      commits.append(
        try repository.writeCommit(
          tree: .emptyTree, parents: commits.suffix(1), signature: person, message: "\(number)\n"))
    }
    let name = commits[1].description
    let file = "\(folder)/.git/objects/\(name.prefix(2))/\(name.dropFirst(2))"
    _ = try await sandbox.run("/usr/bin/truncate", ["-s", "\(size)", file])
    // libgit2 keeps the commits that it has read.
    func reopen() throws { repository = try Repository.open(folder) }
    try reopen()
    let compared = #expect(throws: GitError.self) {
      try repository.aheadBehind(commits[2], commits[0])
    }
    #expect(compared?.code == .damaged)
    try reopen()
    #expect(throws: GitError.self) { try repository.mergeBase(commits[2], commits[0]) }
    try reopen()
    #expect(throws: GitError.self) { try repository.isAncestor(commits[0], of: commits[2]) }
    try reopen()
    #expect(throws: GitError.self) { try repository.count(commits[2]) }
    #expect(try repository.count(commits[0]) == 1)
  }

  /// libgit2 alone loops forever on a truncated object file.
  @Test(arguments: [0, 1, 10, 40, 120])
  func damagedObjectIsReportedAndRewritten(_ size: Int) async throws {
    let sandbox = try Sandbox()
    let folder = sandbox.root + "/repository"
    let repository = try Repository.create(folder)
    var generator = SeededGenerator(seed: 1)
    let content = (0..<200).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    let blob = try repository.writeBlob(content)
    let name = blob.description
    let file = "\(folder)/.git/objects/\(name.prefix(2))/\(name.dropFirst(2))"
    _ = try await sandbox.run("/usr/bin/truncate", ["-s", "\(size)", file])
    let error = #expect(throws: GitError.self) { try repository.blob(blob, limit: 1000) }
    #expect(error?.code == .damaged)
    #expect(try repository.writeBlob(content) == blob)
    #expect(try repository.blob(blob, limit: 1000) == content)
    #expect(try await sandbox.git("fsck", "--strict", in: folder).status == 0)
  }

  @Test func holdBlocksGarbageCollection() async throws {
    let sandbox = try Sandbox()
    let folder = sandbox.root + "/repository"
    let repository = try Repository.create(folder)
    func collect() async throws -> Int32 {
      try await sandbox.git("gc", "--prune=now", "-q", in: folder).status
    }
    do {
      let hold = try CollectionHold(repository)
      let blob = try repository.writeBlob([1, 2, 3])
      #expect(try await collect() != 0)
      #expect(try repository.blob(blob, limit: 3) == [1, 2, 3])
      withExtendedLifetime(hold) {}
    }
    #expect(try await collect() == 0)
    // The lock of a running git process blocks the hold, a stale lock does not.
    let host = try await sandbox.run("/bin/hostname", []).out.split(separator: "\n")[0]
    try sandbox.write("999999999 \(host)", to: folder + "/.git/gc.pid")
    _ = try CollectionHold(repository)
    try sandbox.write("4711 elsewhere", to: folder + "/.git/gc.pid")
    #expect(throws: CollectionHold.Failure.self) { try { _ = try CollectionHold(repository) }() }
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

  @Test func readAcceptsOnlyRegularFiles() async throws {
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

  @Test func packedObjectsAreReadAfterEachFetchAndPacking() async throws {
    let sandbox = try Sandbox()
    let folder = sandbox.root + "/repository"
    let repository = try Repository.create(folder)
    func blob(_ text: String) throws -> ObjectID { try repository.writeBlob(Array(text.utf8)) }
    func text(_ id: ObjectID) throws -> String {
      String(decoding: try repository.blob(id, limit: 100), as: UTF8.self)
    }
    func pack(_ ids: ObjectID...) async throws {
      let list = ids.map(\.description).joined(separator: "\n")
      let packed = try await sandbox.run(
        "/bin/sh",
        ["-c", "cd '\(folder)' && echo '\(list)' | git pack-objects -q .git/objects/pack/pack"])
      try #require(packed.status == 0)
      try #require(try await sandbox.git("prune-packed", "-q", in: folder).status == 0)
    }
    let (one, two, three) = (try blob("one"), try blob("two"), try blob("three"))
    try await pack(one)
    #expect(try text(one) == "one")
    // The packs are open now. The second one is found, too.
    try await pack(two)
    #expect(try text(two) == "two")
    #expect(try text(three) == "three")
    #expect(throws: GitError.self) { try repository.blob(one, limit: 2) }
    #expect(throws: GitError.self) { try repository.tree(one) }
    // All packs are replaced by one.
    try await pack(one, two, three)
    #expect(try text(one) == "one")
    #expect(try text(three) == "three")
    let missing = Repository.blobID(Array("missing".utf8))
    #expect(throws: GitError.self) { try repository.blob(missing, limit: 100) }
    // An object that is both packed and loose is read from the intact copy.
    #expect(try text(try blob("one")) == "one")
  }

  @Test func aDamagedPackIsNoProblemAsLongAsAnObjectIsLoose() async throws {
    let sandbox = try Sandbox()
    let folder = sandbox.root + "/repository"
    let repository = try Repository.create(folder)
    let texts = ["one", "two"]
    let ids = try texts.map { try repository.writeBlob(Array($0.utf8)) }
    for id in ids {
      let packed = try await sandbox.run(
        "/bin/sh",
        ["-c", "cd '\(folder)' && echo \(id) | git pack-objects -q .git/objects/pack/pack"])
      try #require(packed.status == 0)
    }
    // The first read opens the packs, because the object is not loose.
    let digits = ids[0].description
    _ = unlink("\(folder)/.git/objects/\(digits.prefix(2))/\(digits.dropFirst(2))")
    #expect(try repository.blob(ids[0], limit: 100) == Array("one".utf8))
    let packs = "\(folder)/.git/objects/pack"
    for name in DurableFile.names(in: packs) where name.hasSuffix(".pack") {
      let path = "\(packs)/\(name)"
      var bytes = try #require(try DurableFile.read(path)).bytes
      for index in 12..<bytes.count { bytes[index] = 0 }
      _ = chmod(path, 0o644)
      let file = open(path, O_WRONLY)
      #expect(write(file, bytes, bytes.count) == bytes.count)
      close(file)
    }
    #expect(try repository.blob(ids[1], limit: 100) == Array("two".utf8))
    #expect(throws: GitError.self) { try repository.blob(ids[0], limit: 100) }
  }
}
