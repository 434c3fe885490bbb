import Files
import Git
import TestSupport
import Testing

/// Tests of trees and indexes that are edited as bytes, compared with git's results for the same files.
@Suite struct SplicingTests {
  private func repository() async throws -> (Sandbox, Repository) {
    let sandbox = try Sandbox()
    return (sandbox, try Repository.create(sandbox.root + "/repository"))
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func treesEqualGitTrees(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let (sandbox, repository) = try await repository()
    let folder = sandbox.root + "/repository"
    let blob = try repository.writeBlob(Array("x".utf8))
    let below = try repository.writeTree(
      TreeData().replacing(["f": .init(name: "f", mode: .file, id: blob)]))
    // Names whose order differs for files and folders: `a`, `a.b`, `a/`, `a0`.
    let names = ["a", "a.b", "a0", "a-b", "ab", "b", "b.json", "z", "Z", "ä"]
    var expected: [String: TreeData.Entry] = [:]
    var tree = TreeData()
    for _ in 0..<30 {
      let name = random.pick(names)
      let isFolder = random.one(in: 2)
      let entry: TreeData.Entry? =
        random.one(in: 3)
        ? nil : .init(name: name, mode: isFolder ? .folder : .file, id: isFolder ? below : blob)
      tree = try tree.replacing([name: entry])
      expected[name] = entry
      #expect(try tree.entry(named: name) == entry)
    }
    let ours = try repository.writeTree(tree)
    let lines = expected.values.map {
      $0.mode == .folder ? "040000 tree \($0.id)\t\($0.name)" : "100644 blob \($0.id)\t\($0.name)"
    }
    let list = sandbox.root + "/list"
    try sandbox.write(lines.joined(separator: "\n") + "\n", to: list)
    let git = try await sandbox.run(
      "/bin/sh", ["-c", "git -C '\(folder)' mktree < '\(list)'"])
    #expect(git.out.trimming == ours.description, "seed \(seed)")
    #expect(try tree.entries().count == expected.count)
  }

  @Test func truncatedTreesAreReported() throws {
    #expect(throws: GitError.self) { try TreeData(Array("100644 name".utf8)).entries() }
    #expect(throws: GitError.self) { try TreeData(Array("100644 name\0short".utf8)).entries() }
  }

  @Test(arguments: ["2", "3", "4"])
  func indexIsUpdatedAndStatusIsClean(version: String) async throws {
    let (sandbox, repository) = try await repository()
    let folder = sandbox.root + "/repository"
    for name in ["b.json", "d.json", "sub/x.json"] {
      _ = try await sandbox.run(
        "/bin/sh", ["-c", "mkdir -p \(folder)/sub; printf old > \(folder)/\(name)"])
    }
    _ = try await sandbox.git("add", "-A", in: folder)
    _ = try await sandbox.git(
      "-c", "user.name=t", "-c", "user.email=t", "commit", "-qm", "one", in: folder)
    if version == "3" {
      // An intent-to-add entry makes git write version 3.
      try sandbox.write("later", to: folder + "/later")
      _ = try await sandbox.git("add", "-N", "later", in: folder)
    } else {
      _ = try await sandbox.git("update-index", "--index-version", version, in: folder)
    }
    var changes: [String: IndexFile.Entry?] = [:]
    for name in ["a.json", "b.json", "c/deep/y.json", "sub/x.json"] {
      let content = Array("new \(name)".utf8)
      let path = "\(folder)/\(name)"
      try DurableFile.makeFolder(DurableFile.parent(of: path))
      let status = try DurableFile.write(content, to: path, temporary: folder + "/.git/new")
      changes[name] = IndexFile.Entry(id: try repository.writeBlob(content), status: status)
    }
    changes["d.json"] = .some(nil)
    try repository.updateIndex(changes)
    let status = try await sandbox.git("status", "--short", in: folder)
    let lines = Set(status.out.split(separator: "\n").map(String.init))
    #expect(
      lines.subtracting([" A later"]) == [
        "A  a.json", "M  b.json", "A  c/deep/y.json", "D  d.json", "M  sub/x.json", "?? d.json",
      ])
    #expect(try await sandbox.git("fsck", in: folder).status == 0)
    // The remaining cached trees are correct: a commit from them matches the files.
    _ = try await sandbox.git(
      "-c", "user.name=t", "-c", "user.email=t", "commit", "-qm", "two", in: folder)
    #expect(
      try await sandbox.git("ls-tree", "-r", "--name-only", "HEAD", in: folder).out.contains(
        "c/deep/y.json"))
  }

  /// Creates a repository with the files `f0` to `f9` in its only commit.
  private func files() async throws -> (Sandbox, Repository, folder: String) {
    let (sandbox, repository) = try await repository()
    let folder = sandbox.root + "/repository"
    for number in 0..<10 { try sandbox.write("old \(number)", to: "\(folder)/f\(number)") }
    _ = try await sandbox.run(
      "/bin/sh", ["-c", "mkdir '\(folder)/sub' && echo x > '\(folder)/sub/x'"])
    _ = try await sandbox.git("add", "-A", in: folder)
    _ = try await sandbox.git(
      "-c", "user.name=t", "-c", "user.email=t", "commit", "-qm", "one", in: folder)
    return (sandbox, repository, folder)
  }

  private func entry(_ path: String, _ text: String, _ repository: Repository) throws
    -> IndexFile.Entry
  {
    let status = try DurableFile.write(
      Array(text.utf8), to: path, temporary: repository.gitDirectory + "new")
    return IndexFile.Entry(id: try repository.writeBlob(Array(text.utf8)), status: status)
  }

  /// A large index is not copied, and is hashed by a thread of its own.
  @Test("An update of a large index keeps the other entries")
  func largeIndex() async throws {
    let (sandbox, repository) = try await repository()
    let folder = sandbox.root + "/repository"
    let blob = try repository.writeBlob(Array("x".utf8))
    func name(_ number: Int) -> String { "alarms/\(String(repeating: "n", count: 30))\(number)" }
    var names = (100_000..<130_000).map(name)
    let list = sandbox.root + "/list"
    try sandbox.write(names.map { "100644 \(blob)\t\($0)\n" }.joined(), to: list)
    _ = try await sandbox.run(
      "/bin/sh", ["-c", "git -C '\(folder)' update-index --index-info < '\(list)'"])
    let entry = try entry(folder + "/x", "x", repository)
    let changes: [String: IndexFile.Entry?] = [
      "a": entry, name(110_000): nil, name(120_000) + "a": entry,
      name(120_001): entry, "z": entry,
    ]
    try repository.updateIndex(changes)
    names.remove(at: 10_000)
    let expected = (["a", name(120_000) + "a", "z"] + names).sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
    let files = try await sandbox.git("ls-files", in: folder).out.split(separator: "\n")
    #expect(files.map(String.init) == expected)
    // Among others, fsck compares the index with its checksum.
    #expect(try await sandbox.git("fsck", in: folder).status == 0)
  }

  @Test(
    "An update joins a split index into one file",
    arguments: ["version 2", "extended", "version 4"])
  func splitIndex(form: String) async throws {
    let isExtended = form == "extended"
    let (sandbox, repository, folder) = try await files()
    let settings = ["-c", "core.splitIndex=true", "-c", "splitIndex.maxPercentChange=100"]
    func git(_ arguments: String...) async throws {
      let output = try await sandbox.run(
        "/usr/bin/git", ["-C", folder] + settings + arguments)
      #expect(output.status == 0, "\(arguments): \(output.err)")
    }
    if form == "version 4" { try await git("update-index", "--index-version", "4") }
    try await git("update-index", "--split-index")
    // A replaced shared entry, a deleted one and an added one.
    try sandbox.write("new", to: folder + "/f1")
    try sandbox.write("g", to: folder + "/g")
    try await git("add", "f1", "g")
    try await git("rm", "-q", "f2")
    if isExtended {
      try sandbox.write("later", to: folder + "/later")
      try await git("add", "-N", "later")
    }
    #expect(
      try await sandbox.run("/bin/sh", ["-c", "grep -c link '\(folder)/.git/index'"]).out != "0\n")
    let changes: [String: IndexFile.Entry?] = [
      "f3": try entry(folder + "/f3", "newer", repository),
      "h": try entry(folder + "/h", "h", repository), "f4": nil,
    ]
    try repository.updateIndex(changes)
    let status = try await sandbox.git("status", "--short", in: folder)
    #expect(
      Set(status.out.split(separator: "\n").map(String.init)).subtracting([" A later"]) == [
        "M  f1", "D  f2", "M  f3", "D  f4", "?? f4", "A  g", "A  h",
      ])
    #expect(
      try await sandbox.run("/bin/sh", ["-c", "grep -c link '\(folder)/.git/index'"]).out == "0\n")
    // The objects of the index are correct: the files have no changes against it.
    #expect(try await sandbox.git("diff", "--quiet", in: folder).status == (isExtended ? 1 : 0))
    #expect(try await sandbox.git("fsck", in: folder).status == 0)
  }

  @Test("An index in a format that neither Belfry nor libgit2 supports is rebuilt")
  func unsupportedFormats() async throws {
    let (sandbox, repository, folder) = try await files()
    let sparse = try await sandbox.git(
      "sparse-checkout", "set", "--cone", "--sparse-index", in: folder)
    #expect(sparse.status == 0, "\(sparse.err)")
    try repository.updateIndex(["f3": try entry(folder + "/f3", "newer", repository)])
    let staged = try await sandbox.git("diff", "--cached", "--name-status", in: folder)
    #expect(staged.out == "M\tf3\n", "\(staged.out)\(staged.err)")
  }

  @Test func lockOfAnotherGitIsRespectedAndOwnStaleLockIsRemoved() async throws {
    let (sandbox, repository) = try await repository()
    let git = sandbox.root + "/repository/.git"
    try sandbox.write("", to: git + "/index.lock")
    #expect(throws: IndexFile.Failure.busy) {
      try repository.updateIndex([:])
    }
    // A Belfry process that is killed after locking leaves one file with both names.
    _ = try await sandbox.run(
      "/bin/sh",
      ["-c", "rm \(git)/index.lock; touch \(git)/new-index; ln \(git)/new-index \(git)/index.lock"])
    try repository.updateIndex([:])
    #expect(try await sandbox.git("status", in: sandbox.root + "/repository").status == 0)
  }
}

extension String {
  /// The first line of the text.
  fileprivate var trimming: String { String(split(separator: "\n").first ?? "") }
}
