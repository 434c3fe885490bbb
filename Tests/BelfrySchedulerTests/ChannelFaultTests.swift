import BelfryCore
import Foundation
import Glibc
import TestSupport
import Testing

@testable import BelfryScheduler

/// Channels that fail at the start or after they have delivered, come up late or are killed, and answers in between: an
/// alarm does not fall silent, and after an answer nothing goes on.
@Suite struct ChannelFaultTests {
  /// A daemon whose alarm `Rent` is due at 09:00. Its hooks record their starts in the files `notify` and `ring`.
  private func bench(_ options: [String] = [], _ hooks: [String: String]) async throws
    -> DaemonBench
  {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z", pauseUnit: .milliseconds(40))
    try bench.writeClock()
    _ = try await bench.sandbox.run(
      bench.sandbox.root + "/command", ["add", "Rent"] + options)
    for (name, script) in hooks { try write(script, to: name, bench) }
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    return bench
  }

  private func write(_ script: String, to hook: String, _ bench: DaemonBench) throws {
    let root = bench.sandbox.root
    let temporary = "\(bench.sandbox.hooks)/.\(hook)"
    try bench.sandbox.write(
      "#!/bin/sh\n\(bench.sandbox.waitFor)cd '\(root)'\ncat >/dev/null\necho $$ >> \(hook)\n\(script)\n",
      to: temporary, mode: 0o755)
    // In one step: a hook may start at any time.
    #expect(rename(temporary, "\(bench.sandbox.hooks)/\(hook)") == 0)
  }

  private static let stays = "echo delivered; exec sleep 600"
  private static let fails = "exit 1"
  private static let isLost = "echo delivered; sleep 0.2; exit 1"

  /// The processes that were started for a hook.
  private func starts(_ hook: String, _ bench: DaemonBench) -> [pid_t] {
    ((try? bench.sandbox.read("\(bench.sandbox.root)/\(hook)")) ?? "").split(separator: "\n")
      .compactMap { pid_t($0) }
  }

  private func isRunning(_ hook: String, _ bench: DaemonBench) -> Bool {
    starts(hook, bench).contains { kill(-$0, 0) == 0 }
  }

  private func state(_ bench: DaemonBench) async throws -> String? {
    try await bench.belfry("list", "--json").array.first?["state"] as? String
  }

  private func expectSilence(_ bench: DaemonBench) async throws {
    let isSilent = try await bench.settle {
      bench.activeDeliveries.identities.isEmpty && !isRunning("notify", bench)
        && !isRunning("ring", bench)
    }
    #expect(isSilent)
  }

  // MARK: Retries

  @Test(
    "A channel that fails at the start is tried again while another one delivers",
    arguments: ["ring", "notify"], [[], ["--persistent"]])
  func lateChannel(_ late: String, _ options: [String]) async throws {
    let other = late == "ring" ? "notify" : "ring"
    let bench = try await bench(
      ["--daily", "--at=09:00"] + options,
      [late: ChannelFaultTests.fails, other: ChannelFaultTests.stays])
    #expect(try await bench.settle { starts(late, bench).count > 1 })
    try write(ChannelFaultTests.stays, to: late, bench)
    #expect(try await bench.settle { isRunning(late, bench) })
    #expect(starts(other, bench).count == 1)
    try await bench.belfry("done", "rent")
    try await bench.handle(.poke)
    try await expectSilence(bench)
  }

  @Test(
    "A channel that dies after it has delivered is started again", arguments: ["ring", "notify"])
  func lostChannel(_ lost: String) async throws {
    let bench = try await bench(["--daily", "--at=09:00"], [lost: ChannelFaultTests.isLost])
    #expect(try await bench.settle { starts(lost, bench).count > 1 })
    let reasons = bench.log.compactMap {
      if case .channelFailed(_, let reasons) = $0 { reasons } else { nil }
    }
    #expect(reasons.first == ["\(bench.sandbox.hooks)/\(lost): exited with status 1"])
    try await bench.belfry("done", "rent")
    try await bench.handle(.poke)
    try await expectSilence(bench)
  }

  // MARK: Answers

  @Test(
    "An answer ends every channel, whatever has become of the others",
    arguments: [stays, fails, isLost], [stays, fails, isLost])
  func answered(_ notify: String, _ ring: String) async throws {
    let bench = try await bench(["--daily", "--at=09:00"], ["notify": notify, "ring": ring])
    for pause in [0, 200, 600] {
      try await Task.sleep(for: .milliseconds(pause))
      try await bench.belfry("stop", "rent")
      try await bench.handle(.poke)
      try await expectSilence(bench)
      let shown = starts("notify", bench).count
      try await Task.sleep(for: .milliseconds(300))
      #expect(starts("notify", bench).count == shown)
      #expect(try await state(bench) == "pending")
      // It rings again.
      try await bench.belfry("undo")
      try await bench.handle(.poke)
      let later = bench.now.adding(seconds: 700).rfc3339
      try await bench.wait(until: later)
      #expect(try await bench.settle { starts("notify", bench).count > shown })
    }
    await bench.activeDeliveries.close()
  }

  @Test("A channel that is killed does not keep an answer from ending the other one")
  func killed() async throws {
    let bench = try await bench(
      ["--daily", "--at=09:00"],
      ["notify": ChannelFaultTests.stays, "ring": ChannelFaultTests.stays])
    #expect(try await bench.settle { isRunning("notify", bench) && isRunning("ring", bench) })
    for process in starts("notify", bench) { kill(-process, SIGKILL) }
    try await bench.belfry("done", "rent")
    try await bench.handle(.poke)
    try await expectSilence(bench)
  }

  @Test(
    "A refused answer ends nothing, and the notification is shown again",
    arguments: [
      ("snooze", "--daily --at=09:00", AnswerRefusal.notPossible(.snoozeIsOff)),
      ("skip", "--once=2026-11-20T09:00", .notPossible(.oneTime)),
      ("remind", "--daily --at=09:00", .notAFollowUp),
    ])
  func refused(_ answer: String, _ schedule: String, _ refusal: AnswerRefusal) async throws {
    let answers = "echo delivered; [ -e pressed ] && exec sleep 600; touch pressed; echo \(answer)"
    let bench = try await bench(
      schedule.split(separator: " ").map(String.init) + ["--persistent"],
      [
        "notify": "wait_for [ -e go ]; \(answers)",
        "ring": ChannelFaultTests.stays,
      ])
    try await bench.belfry("settings", "set", "snoozeEnabled", "off")
    try await bench.handle(.settings)
    try bench.sandbox.write("", to: bench.sandbox.root + "/go")
    #expect(try await bench.settle { bench.log.contains { $0.refusal != nil } })
    #expect(bench.log.compactMap(\.refusal).first == refusal)
    let shown = starts("notify", bench).count
    #expect(try await bench.settle { isRunning("notify", bench) && isRunning("ring", bench) })
    #expect(starts("notify", bench).count <= shown + 1)
    #expect(try await state(bench) == "ringing")
    await bench.activeDeliveries.close()
  }

  // MARK: Occurrences that ring again

  @Test(
    "An occurrence that rings again after its channels were ended is delivered again",
    arguments: [
      [["delete", "rent", "--yes"], ["undo"]], [["disable", "rent"], ["undo"]],
      [["stop", "rent"], ["undo"]], [["skip", "rent", "--yes"], ["undo"]],
    ])
  func revived(_ commands: [[String]]) async throws {
    let bench = try await bench(
      ["--daily", "--at=09:00"],
      ["notify": ChannelFaultTests.stays, "ring": ChannelFaultTests.stays])
    #expect(try await bench.settle { isRunning("notify", bench) && isRunning("ring", bench) })
    for (number, command) in commands.enumerated() {
      _ = try await bench.sandbox.run(bench.sandbox.root + "/command", command)
      try await bench.handle(.poke)
      if number == 0 { try await expectSilence(bench) }
    }
    #expect(try await bench.settle { isRunning("notify", bench) && isRunning("ring", bench) })
    #expect(starts("notify", bench).count == 2)
    #expect(try await state(bench) == "ringing")
    await bench.activeDeliveries.close()
  }

  @Test("An alarm keeps ringing through a pause that starts in its minute, and its end")
  func paused() async throws {
    let bench = try await bench(
      ["--daily", "--at=09:00"],
      ["notify": ChannelFaultTests.stays, "ring": ChannelFaultTests.stays])
    for command in [["pause", "rent", "--until", "2026-11-24"], ["resume", "rent"]] {
      _ = try await bench.sandbox.run(bench.sandbox.root + "/command", command)
      try await bench.handle(.poke)
      try await bench.wait(until: bench.now.adding(seconds: 5).rfc3339)
      #expect(try await bench.settle { isRunning("notify", bench) && isRunning("ring", bench) })
      #expect(try await state(bench) == "ringing")
    }
    #expect(starts("notify", bench).count == 1)
    await bench.activeDeliveries.close()
  }

  @Test("After the clock was set back by seconds, the alarm rings again at its time")
  func clockSetBack() async throws {
    let bench = try await bench(
      ["--daily", "--at=09:00"],
      ["notify": ChannelFaultTests.stays, "ring": ChannelFaultTests.stays])
    #expect(try await bench.settle { isRunning("notify", bench) && isRunning("ring", bench) })
    try await bench.jump(to: "2026-11-20T08:59:45Z")
    try await expectSilence(bench)
    try await bench.wait(until: "2026-11-20T09:00:02Z")
    #expect(try await bench.settle { isRunning("notify", bench) && isRunning("ring", bench) })
    #expect(starts("notify", bench).count == 2)
    await bench.activeDeliveries.close()
  }

  @Test("Two occurrences of a strict alarm ring beside each other, and each has its own answer")
  func strict() async throws {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z", pauseUnit: .milliseconds(40))
    try await bench.belfry("settings", "set", "followUps", "2m")
    try await bench.belfry(
      "add", "Rent", "--daily", "--at", "09:00,09:02", "--strict", "--persistent")
    for hook in ["notify", "ring"] { try write(ChannelFaultTests.stays, to: hook, bench) }
    try await bench.start()
    try await bench.wait(until: "2026-11-20T09:00:05Z")
    try await bench.belfry("stop", "rent")
    try await bench.handle(.poke)
    try await bench.wait(until: "2026-11-20T09:02:10Z")
    #expect(try await bench.settle { bench.activeDeliveries.identities.count == 2 })
    #expect(starts("notify", bench).count == 3)
    let answer = try await bench.belfry("stop", "rent", "--occurrence", "2026-11-20T09:00")
    #expect(answer.status == 0, "\(answer.err)")
    try await bench.handle(.poke)
    #expect(try await bench.settle { bench.activeDeliveries.identities.count == 1 })
    #expect(try await state(bench) == "ringing")
    try await bench.belfry("done", "rent")
    try await bench.handle(.poke)
    try await expectSilence(bench)
    #expect(starts("notify", bench).count == 3)
    #expect(try await state(bench) == "pending")
  }
}

extension DaemonLogEvent {
  /// The reason of a refused answer; nil for any other event.
  fileprivate var refusal: AnswerRefusal? {
    if case .answerRefused(_, _, let refusal) = self { refusal } else { nil }
  }
}
