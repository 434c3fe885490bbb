import Foundation
import TestSupport
import Testing

@testable import BelfryScheduler

/// Programs in process groups of their own, and how they end.
@Suite struct GroupProcessTests {
  private func write(_ sandbox: Sandbox, _ name: String, _ script: String) throws -> String {
    let path = sandbox.root + "/" + name
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try sandbox.write("#!/bin/sh\n" + script, to: path, mode: 0o755)
    return path
  }

  /// Waits until a file is there; a minute is longer than any busy machine needs.
  private func wait(for path: String) async throws {
    for _ in 0..<3000 where !FileManager.default.fileExists(atPath: path) {
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(FileManager.default.fileExists(atPath: path))
  }

  /// Runs a script as the leader of a group, and ends it once it has said something.
  private func end(_ path: String) async -> GroupProcess.Ending {
    let (said, sayings) = AsyncStream.makeStream(of: Void.self)
    let process = GroupProcess(
      executable: .path(.init(path)), arguments: [], environment: .inherit, input: [],
      grace: .seconds(10))
    let run = Task { await process.run { _ in sayings.yield() } }
    for await _ in said { break }
    run.cancel()
    return await run.value
  }

  @Test("a hook's TERM trap runs while a child of its shell runs, and may speak on standard error")
  func trapWhileAChildRuns() async throws {
    let sandbox = try Sandbox()
    let down = sandbox.root + "/down"
    let path = try write(
      sandbox, "hook",
      """
      trap 'seq 20000 >&2; sleep 0.2; echo down > "\(down)"; exit' TERM
      sh -c 'echo ready; exec sleep 600'
      """)
    guard case .stopped = await end(path) else {
      Issue.record("it was not ended")
      return
    }
    #expect(FileManager.default.fileExists(atPath: down))
  }

  @Test("the other processes of a hook's group have the same time to end as the hook itself")
  func trapOfAChild() async throws {
    let sandbox = try Sandbox()
    let down = sandbox.root + "/down"
    let path = try write(
      sandbox, "hook",
      """
      sh -c 'trap "sleep 0.3; echo down > \(down); exit" TERM; sleep 600 & echo ready; wait' &
      wait
      """)
    _ = await end(path)
    #expect(FileManager.default.fileExists(atPath: down))
  }

  @Test("a group that ignores SIGTERM is ended with SIGKILL once the grace period is over")
  func ignoringTheEnd() async throws {
    let sandbox = try Sandbox()
    let path = try write(sandbox, "hook", "trap '' TERM\necho ready\nsleep 600\n")
    let process = GroupProcess(
      executable: .path(.init(path)), arguments: [], environment: .inherit, input: [],
      grace: .milliseconds(200))
    let (said, sayings) = AsyncStream.makeStream(of: Void.self)
    let run = Task { await process.run { _ in sayings.yield() } }
    for await _ in said { break }
    run.cancel()
    guard case .stopped = await run.value else {
      Issue.record("it was not ended")
      return
    }
  }

  @Test("the shipped call hook cleans up when it is ended in the middle of a call")
  func shippedCallHookCleansUp() async throws {
    let sandbox = try Sandbox()
    let here = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let hook = here.deletingLastPathComponent().path() + "hooks/deliver/call"
    let folder = sandbox.root + "/temporary"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = try write(sandbox, "bin/curl", "touch '\(sandbox.root)/calling'\nexec sleep 600\n")
    let process = GroupProcess(
      executable: .path(.init(hook)), arguments: [],
      environment: .inherit.updating([
        "PATH": "\(sandbox.root)/bin:/usr/bin:/bin", "TMPDIR": folder,
        "BELFRY_CALL_PROVIDER": "http", "BELFRY_NUMBER": "+15551234567", "BELFRY_MESSAGE": "Rent",
      ]), input: [])
    let run = Task { await process.run { _ in } }
    try await wait(for: sandbox.root + "/calling")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
    run.cancel()
    _ = await run.value
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
  }
}
