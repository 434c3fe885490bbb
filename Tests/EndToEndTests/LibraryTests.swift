import Foundation
import TestSupport
import Testing

@Suite struct LibraryTests {
  /// Returns variables with which the dynamic loader finds no library of some names that it can load.
  private func without(_ names: [String], _ sandbox: Sandbox) throws -> [String: String] {
    let folder = sandbox.root + "/libraries"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for name in names { try sandbox.write("not a library", to: "\(folder)/\(name)") }
    return ["LD_LIBRARY_PATH": folder]
  }

  private func withoutLibgit2(_ sandbox: Sandbox) throws -> [String: String] {
    try without((0..<20).map { "libgit2.so.1.\($0)" }, sandbox)
  }

  @Test func everythingWorksWithoutSQLite() async throws {
    let sandbox = try Sandbox()
    let variables = try without(["libsqlite3.so.0"], sandbox)
    func run(_ arguments: String..., now: String) async throws -> Sandbox.Output {
      let output = try await sandbox.belfry(arguments, now: now, environment: variables)
      #expect(output.status == 0, "\(arguments): \(output.err)")
      return output
    }
    _ = try await run("add", "Tea", "--daily", "--at", "09:00", now: "2026-11-20T22:41:00Z")
    #expect(try await run("list", now: "2026-11-20T22:42:00Z").out.contains("Tea"))
    #expect(try await run("tick", now: "2026-11-21T09:00:00Z").out.contains("Fired: Tea"))
    _ = try await run("done", "tea", now: "2026-11-21T09:01:00Z")
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/.git/belfry/cache.db"))
    let log = try await run("log", now: "2026-11-21T09:02:00Z").out
    // The same with the library.
    try await sandbox.belfry("list", now: "2026-11-21T09:02:00Z").expectSuccess()
    #expect(FileManager.default.fileExists(atPath: sandbox.store + "/.git/belfry/cache.db"))
    #expect(try await sandbox.belfry("log", now: "2026-11-21T09:02:00Z").out == log)
  }

  /// With the libraries that it needs, libgit2 takes longer to load than most commands.
  @Test func readingLoadsNoLibgit2() async throws {
    let sandbox = try await Sandbox.withTea()
    let variables = try withoutLibgit2(sandbox)
    for arguments in [
      ["--version"], ["--help"], ["list"], ["list", "--json"], ["next"], ["month"],
      ["show", "Tea"],
      ["when", "every", "fri", "9am"], ["tick"],
    ] {
      let output = try await sandbox.belfry(arguments, environment: variables)
      #expect(output.status == 0, "\(arguments): \(output.err)")
      #expect(output.otherErrors.isEmpty, "\(arguments): \(output.err)")
    }
  }

  @Test func missingLibgit2IsNamed() async throws {
    let sandbox = try await Sandbox.withTea()
    let before = try await sandbox.git("rev-parse", "HEAD").out
    let add = try await sandbox.belfry("in", "20m", "Eggs", environment: withoutLibgit2(sandbox))
    #expect(add.status == 1)
    #expect(add.err.contains("error: could not load libgit2: "), "\(add.err)")
    #expect(add.err.contains("hint: Install it: apt-get install libgit2-1."), "\(add.err)")
    #expect(try await sandbox.git("rev-parse", "HEAD").out == before)
    try await sandbox.belfry("in", "20m", "Eggs").expectSuccess()
  }
}
