import Foundation
import TestSupport
import Testing

@Suite struct LibraryTests {
  /// Returns variables with which the dynamic loader finds no libgit2 that it can load.
  private func withoutLibgit2(_ sandbox: Sandbox) throws -> [String: String] {
    let folder = sandbox.root + "/libraries"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for minor in 0..<20 {
      try sandbox.write("not a library", to: "\(folder)/libgit2.so.1.\(minor)")
    }
    return ["LD_LIBRARY_PATH": folder]
  }

  /// With the libraries that it needs, libgit2 takes longer to load than most commands.
  @Test func readingLoadsNoLibgit2() async throws {
    let sandbox = try await Sandbox.withTea()
    let variables = try withoutLibgit2(sandbox)
    for arguments in [
      ["--version"], ["--help"], ["list"], ["list", "--json"], ["next"], ["show", "Tea"],
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
