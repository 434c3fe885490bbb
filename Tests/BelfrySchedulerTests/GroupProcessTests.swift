import Foundation
import TestSupport
import Testing

@testable import BelfryScheduler

/// Programs in their own process groups, and their termination.
@Suite struct GroupProcessTests {
  /// Runs a script as the leader of a group, and ends the group after the first output.
  private func end(
    _ path: String, grace: Duration = .seconds(10)
  ) async -> GroupProcess.Termination {
    let (said, sayings) = AsyncStream.makeStream(of: Void.self)
    let process = GroupProcess(
      executable: .path(.init(path)), arguments: [], environment: .inherit, input: [],
      grace: grace)
    let run = Task { await process.run { _ in sayings.yield() } }
    for await _ in said { break }
    run.cancel()
    return await run.value
  }

  @Test("A program that another process writes is started once that one has closed it")
  func written() async throws {
    let sandbox = try Sandbox()
    let path = try sandbox.script("hook", "cat\n")
    let writer = open(path, O_WRONLY | O_CLOEXEC)
    #expect(writer >= 0)
    let process = GroupProcess(
      executable: .path(.init(path)), arguments: [], environment: .inherit, input: Array("in".utf8))
    let output = CollectedBytes()
    let run = Task { await process.run { output.append($0) } }
    try await Task.sleep(for: .milliseconds(200))
    close(writer)
    guard case .exited(0, _) = await run.value else {
      Issue.record("it was not started")
      return
    }
    #expect(output.bytes == Array("in".utf8))
  }

  @Test("A hook's TERM trap runs while a child of its shell runs, and can write to standard error")
  func trapWhileAChildRuns() async throws {
    let sandbox = try Sandbox()
    let down = sandbox.root + "/down"
    let path = try sandbox.script(
      "hook",
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

  @Test("The other processes of a hook's group get the same grace period as the hook itself")
  func trapOfAChild() async throws {
    let sandbox = try Sandbox()
    let down = sandbox.root + "/down"
    let path = try sandbox.script(
      "hook",
      """
      sh -c 'trap "sleep 0.3; echo down > \(down); exit" TERM; sleep 600 & echo ready; wait' &
      wait
      """)
    _ = await end(path)
    #expect(FileManager.default.fileExists(atPath: down))
  }

  @Test("A group that ignores SIGTERM is ended with SIGKILL once the grace period is over")
  func ignoringTheEnd() async throws {
    let sandbox = try Sandbox()
    let path = try sandbox.script("hook", "trap '' TERM\necho ready\nsleep 600\n")
    guard case .stopped = await end(path, grace: .milliseconds(200)) else {
      Issue.record("it was not ended")
      return
    }
  }

  @Test(
    "A process that left its group and holds the output open delays nothing",
    .timeLimit(.minutes(5)))
  func outputHeldOpen() async throws {
    let sandbox = try Sandbox()
    let path = try sandbox.script(
      "hook", "setsid sleep 1200 &\necho $! > '\(sandbox.root)/left'\necho ready\nsleep 600\n")
    guard case .stopped = await end(path, grace: .milliseconds(200)) else {
      Issue.record("it was not ended")
      return
    }
    let left = try sandbox.read(sandbox.root + "/left").trimmingCharacters(in: .newlines)
    _ = try await sandbox.run("/bin/kill", [left])
  }

  @Test("The shipped call hook cleans up when it is ended in the middle of a call")
  func shippedCallHookCleansUp() async throws {
    let sandbox = try Sandbox()
    let here = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let hook = here.deletingLastPathComponent().path() + "hooks/deliver/call"
    let folder = sandbox.root + "/temporary"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = try sandbox.script("bin/curl", "touch '\(sandbox.root)/calling'\nexec sleep 600\n")
    let process = GroupProcess(
      executable: .path(.init(hook)), arguments: [],
      environment: .inherit.updating([
        "PATH": "\(sandbox.root)/bin:/usr/bin:/bin", "TMPDIR": folder,
        "BELFRY_CALL_PROVIDER": "http", "BELFRY_NUMBER": "+15551234567", "BELFRY_MESSAGE": "Rent",
      ]), input: [])
    let run = Task { await process.run { _ in } }
    #expect(try await sandbox.waitForFile(sandbox.root + "/calling"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
    run.cancel()
    _ = await run.value
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
  }
}
