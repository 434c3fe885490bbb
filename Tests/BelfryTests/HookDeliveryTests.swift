import BelfryCore
import BelfryStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import BelfryScheduler

/// Hooks that are ended, because the alarm was answered while they ran.
@Suite struct HookDeliveryTests {
  private let notice = Notice(
    .firing(late: false), alarm: Identifier("dbbjx53dsdxuce4rkkujxmt7fb")!, title: "Rent",
    note: nil, occurrence: CivilDateTime("2026-11-23T09:00")!, due: "2026-11-23T09:00:00Z")

  @Test("an answer ends the list of channels: no other hook runs instead of those that it ends")
  func answeredBeforeAnyChannelWorked() async throws {
    let sandbox = try Sandbox()
    for name in ["notify", "ring"] {
      _ = try sandbox.script("own/\(name)", "touch '\(sandbox.root)/\(name)'\nexec sleep 600\n")
      _ = try sandbox.script("shipped/\(name)", "touch '\(sandbox.root)/shipped-\(name)'\n")
    }
    let news = Mutex<[String]>([])
    let attendance = Attendance { item in
      if case .wayFailed(_, let reasons) = item { news.withLock { $0 += reasons } }
    }
    let delivery = HookDelivery(
      own: sandbox.root + "/own", shipped: [sandbox.root + "/shipped"], timeout: 600,
      attendance: attendance)
    async let outcome = delivery.deliver(notice, snooze: 600)
    #expect(try await sandbox.waitForFile(sandbox.root + "/notify"))
    #expect(try await sandbox.waitForFile(sandbox.root + "/ring"))
    attendance.withdraw { $0 == notice }
    #expect(await outcome == .withdrawn)
    await attendance.idle()
    #expect(attendance.notices.isEmpty)
    for name in ["notify", "ring"] {
      #expect(!FileManager.default.fileExists(atPath: "\(sandbox.root)/shipped-\(name)"))
    }
    #expect(news.withLock { $0 }.isEmpty)
  }

  @Test("a sound that waits for its turn is registered, and never begins once it was withdrawn")
  func withdrawnWhileItWaits() async throws {
    let sandbox = try Sandbox()
    _ = try sandbox.script("own/notify", "echo delivered\nexec sleep 600\n")
    _ = try sandbox.script(
      "own/ring", "echo $BELFRY_TITLE >> '\(sandbox.root)/rung'\nexec sleep 600\n")
    let attendance = Attendance { _ in }
    let delivery = HookDelivery(
      own: sandbox.root + "/own", shipped: [], timeout: 600, attendance: attendance,
      soundWait: .seconds(3600))
    // The first sound says nothing, so that the second waits for its turn.
    let second = Notice(
      .firing(late: false), alarm: notice.alarm, title: "Tea", note: nil,
      occurrence: notice.occurrence, due: notice.due)
    #expect(await delivery.deliver(notice, snooze: 600) == .attended(keeper: delivery.keeper.name))
    #expect(try await sandbox.waitForFile(sandbox.root + "/rung", holding: "Rent\n"))
    #expect(await delivery.deliver(second, snooze: 600) == .attended(keeper: delivery.keeper.name))
    #expect(attendance.notices == [notice, second])
    attendance.withdraw { $0 == second }
    while attendance.notices.contains(second) { try await Task.sleep(for: .milliseconds(5)) }
    await attendance.close()
    #expect(try sandbox.read(sandbox.root + "/rung") == "Rent\n")
    // What comes after the end of all ends at once.
    #expect(await delivery.deliver(second, snooze: 600) == .withdrawn)
    await attendance.idle()
    #expect(try sandbox.read(sandbox.root + "/rung") == "Rent\n")
  }
}
