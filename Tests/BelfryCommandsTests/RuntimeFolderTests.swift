import Foundation
import TestSupport
import Testing

@testable import BelfryCommands

/// The runtime folder, in which others could change what Belfry has delivered.
@Suite struct RuntimeFolderTests {
  @Test("A runtime folder that others can write is not used")
  func shared() throws {
    let sandbox = try Sandbox()
    let folder = sandbox.root + "/run"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (mode, isUsed) in [(0o700, true), (0o755, true), (0o770, false), (0o777, false)] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder)
      #expect((CommandEnvironment.runtimeFolder(folder) != nil) == isUsed, "\(mode)")
    }
    #expect(CommandEnvironment.runtimeFolder("run") == nil)
    #expect(CommandEnvironment.runtimeFolder(folder + "/missing") == nil)
  }
}
