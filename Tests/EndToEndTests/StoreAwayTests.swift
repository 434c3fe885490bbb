import Foundation
import TestSupport
import Testing

/// Tests of a store whose folder is missing, because its disk is not mounted or the folder was moved.
@Suite struct StoreAwayTests {
  @Test(
    "Background commands never create a store",
    arguments: [
      ["tick"], ["tick", "--settle"], ["tick", "--quiet"], ["sync"], ["sync", "--no-mail"],
      ["partner", "sync"], ["poke"],
    ], [false, true])
  func neverCreated(command: [String], isMountPoint: Bool) async throws {
    let sandbox = try Sandbox()
    let store = sandbox.root + "/disk/alarms"
    if isMountPoint {
      try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    }
    let output = try await sandbox.run(
      Sandbox.binary, command + ["--store", store],
      environment: ["BELFRY_NOW": "2026-11-20T22:41:00Z", "TZ": "UTC", "BELFRY_DEVICE": "laptop"])
    #expect(output.status == 1, "\(output.out)\(output.err)")
    #expect(output.err.contains("there is no store at \(store)"), "\(output.err)")
    let parent = sandbox.root + "/disk"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
    #expect(names == (isMountPoint ? ["alarms"] : []))
    if isMountPoint {
      #expect(try FileManager.default.contentsOfDirectory(atPath: store).isEmpty)
    }
  }

  @Test("A response that a hook records in the background does not create a store")
  func backgroundResponse() async throws {
    let sandbox = try Sandbox()
    let output = try await sandbox.belfry(
      "done", "tea", environment: ["BELFRY_BACKGROUND": "1"])
    #expect(output.status == 1, "\(output.err)")
    #expect(!FileManager.default.fileExists(atPath: sandbox.store))
    // Only a command that adds something creates a store.
    #expect(try await sandbox.belfry("done", "tea").status == 1)
    #expect(!FileManager.default.fileExists(atPath: sandbox.store))
    #expect(try await sandbox.belfry("in", "20m", "Tea").status == 0)
    #expect(FileManager.default.fileExists(atPath: sandbox.store))
  }
}
