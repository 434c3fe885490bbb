import Foundation
import TestSupport
import Testing

/// The repository of a new remote at a path.
@Suite struct RemoteCreationTests {
  private func add(
    _ sandbox: Sandbox, _ path: String, _ options: String...
  ) async throws -> Sandbox.Output {
    try await sandbox.belfry(["remote", "add", "origin", path] + options)
  }

  private func remotes(_ sandbox: Sandbox) async throws -> String {
    try await sandbox.belfry("remote", "list").out
  }

  @Test("--create creates a bare repository where there is nothing, or an empty folder")
  func creates() async throws {
    for isEmptyFolder in [false, true] {
      let sandbox = try Sandbox.init()
      _ = try await sandbox.belfry("add", "Tea", "daily 9:00")
      let path = sandbox.root + "/disk of mine/belfry.git"
      try FileManager.default.createDirectory(
        atPath: isEmptyFolder ? path : sandbox.root + "/disk of mine",
        withIntermediateDirectories: true)
      let added = try await add(sandbox, path, "--create")
      #expect(added.out.hasPrefix("Created the repository \(path).\nAdded"), "\(added)")
      let isBare = try await sandbox.git("rev-parse", "--is-bare-repository", in: path)
      #expect(isBare.out == "true\n", "\(isBare)")
      #expect(try sandbox.read(path + "/HEAD") == "ref: refs/heads/main\n")
      #expect(try await sandbox.belfry("sync").status == 0)
      let clone = try await sandbox.belfry(
        "clone", path, store: sandbox.root + "/clone", device: "server")
      #expect(clone.status == 0, "\(clone)")
    }
  }

  @Test(
    "Without --create the remote is added with a hint; a missing parent folder is never created")
  func missing() async throws {
    let sandbox = try Sandbox()
    let path = sandbox.root + "/hub.git"
    let added = try await add(sandbox, path)
    #expect(added.status == 0 && added.err.contains("there is no repository at \(path) yet."))
    #expect(added.err.contains("create it: git init --bare -b main \(path)"), "\(added.err)")
    #expect(!FileManager.default.fileExists(atPath: path))
    let other = try Sandbox()
    let unmounted = other.root + "/usb/belfry.git"
    let refused = try await add(other, unmounted, "--create")
    #expect(refused.status == 1 && refused.err.contains("there is no folder \(other.root)/usb."))
    #expect(refused.err.contains("mount that"), "\(refused.err)")
    #expect(!FileManager.default.fileExists(atPath: other.root + "/usb"))
    #expect(try await remotes(other).contains("no remotes"))
  }

  @Test("Anything else at the path is refused with advice, and the remote is not added")
  func occupied() async throws {
    let sandbox = try Sandbox()
    let disk = sandbox.root + "/disk"
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
    try sandbox.write("", to: disk + "/photo.jpg")
    for options in [[], ["--create"]] {
      let folder = try await sandbox.belfry(["remote", "add", "origin", disk] + options)
      #expect(folder.status == 2)
      #expect(folder.err.contains("is not a git repository, and contains other files."))
      #expect(folder.err.contains("Name a new folder in it: \(disk)/belfry.git"), "\(folder.err)")
    }
    let file = try await add(sandbox, disk + "/photo.jpg", "--create")
    #expect(file.status == 2 && file.err.contains("is a file"), "\(file.err)")
    let host = try await add(sandbox, "you@host:belfry.git", "--create")
    #expect(host.status == 2 && host.err.contains("--create needs a path"), "\(host.err)")
    #expect(try await remotes(sandbox).contains("no remotes"))
    // An existing remote is reported before anything is created.
    _ = try await sandbox.git("init", "-q", "--bare", sandbox.root + "/hub.git", in: sandbox.root)
    #expect(try await add(sandbox, sandbox.root + "/hub.git").err.contains("yet") == false)
    let second = try await add(sandbox, sandbox.root + "/new.git", "--create")
    #expect(second.status == 1 && second.err.contains("already a remote"), "\(second.err)")
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/new.git"))
  }

  @Test("On a terminal the command asks")
  func asks() async throws {
    for (answer, isCreated) in [("y", true), ("n", false)] {
      let sandbox = try Sandbox()
      let path = sandbox.root + "/hub.git"
      let output = try await sandbox.onTerminal(
        "remote", "add", "origin", path, input: answer + "\n", after: "[y/N]")
      #expect(output.status == 0, "\(output.out)")
      #expect(FileManager.default.fileExists(atPath: path) == isCreated)
      #expect(output.out.contains("yet") != isCreated, "\(output.out)")
    }
  }
}
