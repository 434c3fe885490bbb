import Files
import Foundation
import TestSupport
import Testing

@testable import Git

/// Tests of `gc.pid`: a lock of a running process blocks writes, a stale lock does not.
@Suite struct CollectionHoldTests {
  private let sandbox: Sandbox
  private let repository: Repository
  private var file: String { repository.commonDirectory + "gc.pid" }
  private var note: String { file + ".belfry" }

  init() throws {
    sandbox = try Sandbox()
    repository = try Repository.create(sandbox.root + "/repository")
  }

  /// Returns the content of the files that a hold of this process writes, as a killed process leaves them.
  private func leftover() throws -> (lock: String, note: String) {
    let hold = try CollectionHold(repository)
    let content = (try sandbox.read(file), try sandbox.read(note))
    withExtendedLifetime(hold) {}
    return content
  }

  private func write(_ leftover: (lock: String, note: String)) throws {
    try sandbox.write(leftover.lock, to: file)
    try sandbox.write(leftover.note, to: note)
  }

  @Test func holdRemovesItsFiles() throws {
    _ = try leftover()
    #expect(!FileManager.default.fileExists(atPath: file))
    #expect(!FileManager.default.fileExists(atPath: note))
  }

  @Test func lockOfKilledBelfryIsReplacedUnderAnyHostName() throws {
    let (lock, note) = try leftover()
    let text = "\(lock.split(separator: " ")[0]) oldhost"
    try write((text, note.replacing(lock, with: text)))
    #expect(repository.collector == nil)
    let hold = try CollectionHold(repository)
    #expect(try sandbox.read(file) == lock)
    withExtendedLifetime(hold) {}
  }

  @Test func lockIsRespectedWhileItsProcessMayRun() throws {
    let me = try #require(ProcessIdentity.current)
    func isRespected(
      number: Int32? = nil, started: UInt64? = nil, boot: String? = nil, namespace: UInt64? = nil
    ) throws -> Bool {
      let number = number ?? me.number
      // The lock names another process, because a process ignores its own lock.
      let text = "999999999 oldhost"
      let lines = [
        text, "1", "\(number)", "\(started ?? me.started)", boot ?? me.boot,
        "\(namespace ?? me.namespace)",
      ]
      try write((text, lines.joined(separator: "\n")))
      return repository.collector != nil
    }
    #expect(try isRespected())
    #expect(try isRespected(namespace: 1))
    #expect(try !isRespected(started: me.started + 1))
    #expect(try !isRespected(number: 999_999_999))
    #expect(try !isRespected(boot: "another", namespace: 1))
  }

  @Test func newerLockThanNoteBelongsToGit() async throws {
    let (lock, note) = try leftover()
    let text = "\(lock.split(separator: " ")[0] + "1") oldhost"
    try write((text, note.replacing(lock, with: text)))
    #expect(repository.collector == nil)
    _ = try await sandbox.run("/usr/bin/touch", ["-d", "1 minute", file])
    #expect(repository.collector?.host == "oldhost")
  }

  @Test func lockOfAnotherHostIsRespectedFor15Minutes() async throws {
    try sandbox.write("4711 oldhost", to: file)
    #expect(repository.collector == GitUser(name: "git gc", process: 4711, host: "oldhost"))
    #expect(throws: CollectionHold.Failure.self) { try { _ = try CollectionHold(repository) }() }
    _ = try await sandbox.run("/usr/bin/touch", ["-d", "16 minutes ago", file])
    #expect(repository.collector == nil)
    _ = try CollectionHold(repository)
  }

  @Test func lockOfAnotherHostIsRemovableAndLockOfRunningGitIsNot() async throws {
    try sandbox.write("4711 oldhost", to: file)
    #expect(repository.removeCollectionLock())
    #expect(!repository.removeCollectionLock())
    // A shell named `git`, outside the folders of the repository.
    let git = sandbox.root + "/git"
    _ = try await sandbox.run("/bin/cp", ["/bin/sh", git])
    async let holder = sandbox.run(
      git,
      [
        "-c",
        """
        \(sandbox.waitFor)
        echo $$ > '\(sandbox.root)/running'
        wait_for [ -e '\(sandbox.root)/enough' ]
        """,
      ])
    var number: Int32?
    try await waitUntil("the number of the process") {
      let text = (try? sandbox.read(sandbox.root + "/running")) ?? ""
      number = text.hasSuffix("\n") ? Int32(text.dropLast()) : nil
      return number != nil
    }
    try sandbox.write("\(number ?? 0) \(CollectionLock.host)", to: file)
    #expect(repository.collector?.process == number)
    #expect(!repository.removeCollectionLock())
    try sandbox.write("", to: sandbox.root + "/enough")
    _ = try await holder
    #expect(repository.removeCollectionLock())
  }
}
