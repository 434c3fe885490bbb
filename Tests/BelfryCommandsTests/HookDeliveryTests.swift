import BelfryCore
import BelfryStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import BelfryCommands
@testable import BelfryScheduler

/// Hooks that are ended because the alarm was answered while they ran.
@Suite struct HookDeliveryTests {
  private let notification = HookDeliveryTests.firing("dbbjx53dsdxuce4rkkujxmt7fb", "Rent")

  private static func firing(_ alarm: String, _ title: String) -> PendingDelivery {
    let due = Instant(rfc3339: "2026-11-23T09:00:00Z")!
    let id = OccurrenceID(
      alarm: Identifier(alarm)!, occurrence: CivilDateTime("2026-11-23T09:00")!)
    return PendingDelivery(
      due: due,
      notification: .firing(
        Notification.Content(id: id, title: title, at: due), Notification.Firing(isLate: false)))
  }

  @Test("A response ends the list of channels, so no other hook runs instead of the ended ones")
  func answeredBeforeAnyChannelWorked() async throws {
    let sandbox = try Sandbox()
    for name in ["notify", "ring"] {
      _ = try sandbox.script("own/\(name)", "touch '\(sandbox.root)/\(name)'\nexec sleep 600\n")
      _ = try sandbox.script("shipped/\(name)", "touch '\(sandbox.root)/shipped-\(name)'\n")
    }
    let news = Mutex<[String]>([])
    let activeDeliveries = ActiveDeliveries { item in
      if case .channelFailed(_, let reasons) = item { news.withLock { $0 += reasons } }
    }
    let delivery = HookDelivery(
      own: sandbox.root + "/own", shipped: [sandbox.root + "/shipped"], timeout: 600,
      activeDeliveries: activeDeliveries,
      times: { .utc })
    async let outcome = delivery.deliver(notification, snooze: 600)
    #expect(try await sandbox.waitForFile(sandbox.root + "/notify"))
    #expect(try await sandbox.waitForFile(sandbox.root + "/ring"))
    activeDeliveries.withdraw { $0 == notification.id }
    #expect(await outcome == .withdrawn)
    await activeDeliveries.idle()
    #expect(activeDeliveries.identities.isEmpty)
    for name in ["notify", "ring"] {
      #expect(!FileManager.default.fileExists(atPath: "\(sandbox.root)/shipped-\(name)"))
    }
    #expect(news.withLock { $0 }.isEmpty)
  }

  @Test("A queued sound is registered, and does not start after it was withdrawn")
  func withdrawnWhileItWaits() async throws {
    let sandbox = try Sandbox()
    _ = try sandbox.script("own/notify", "echo delivered\nexec sleep 600\n")
    _ = try sandbox.script(
      "own/ring", "echo $BELFRY_TITLE >> '\(sandbox.root)/rung'\nexec sleep 600\n")
    let activeDeliveries = ActiveDeliveries { _ in }
    let delivery = HookDelivery(
      own: sandbox.root + "/own", shipped: [], timeout: 600, activeDeliveries: activeDeliveries,
      soundWait: .seconds(3600),
      times: { .utc })
    // The first sound gives no output, so the second one stays queued.
    let second = HookDeliveryTests.firing("ebbjx53dsdxuce4rkkujxmt7fb", "Tea")
    #expect(
      await delivery.deliver(notification, snooze: 600)
        == .ongoing(owner: delivery.leaseOwner.name))
    #expect(try await sandbox.waitForFile(sandbox.root + "/rung", holding: "Rent\n"))
    #expect(
      await delivery.deliver(second, snooze: 600) == .ongoing(owner: delivery.leaseOwner.name)
    )
    #expect(activeDeliveries.identities == [notification.id, second.id])
    activeDeliveries.withdraw { $0 == second.id }
    try await waitUntil("the end of the second delivery") {
      !activeDeliveries.identities.contains(second.id)
    }
    await activeDeliveries.close()
    #expect(try sandbox.read(sandbox.root + "/rung") == "Rent\n")
    // A delivery after the end of all deliveries ends at once.
    #expect(await delivery.deliver(second, snooze: 600) == .withdrawn)
    await activeDeliveries.idle()
    #expect(try sandbox.read(sandbox.root + "/rung") == "Rent\n")
  }

  @Test("Many alarms share a notification and a sound, which stay until the last one is answered")
  func sharedNotification() async throws {
    let sandbox = try Sandbox()
    _ = try sandbox.script(
      "own/notify",
      "cat > '\(sandbox.root)/input'\nenv > '\(sandbox.root)/environment'\necho delivered\nexec sleep 600\n"
    )
    _ = try sandbox.script(
      "own/ring", "echo x >> '\(sandbox.root)/rung'\necho delivered\nexec sleep 600\n")
    let ended = Mutex<[[DeliveryID]]>([])
    let activeDeliveries = ActiveDeliveries { change in
      if case .ended(let group) = change { ended.withLock { $0.append(group.ids) } }
    }
    let delivery = HookDelivery(
      own: sandbox.root + "/own", shipped: [], timeout: 600, activeDeliveries: activeDeliveries,
      times: { .utc })
    let all = Array("abcdefghijkl").map {
      HookDeliveryTests.firing("dbbjx53dsdxuce4rkkujxmt7\($0)b", "Alarm \($0)")
    }
    let group = try #require(DeliveryGroup(all))
    #expect(
      await delivery.deliver(group, snooze: 600) == .ongoing(owner: delivery.leaseOwner.name))
    #expect(try await sandbox.waitForFile(sandbox.root + "/rung", holding: "x\n"))
    #expect(try await sandbox.waitForFile(sandbox.root + "/environment"))
    let input = try #require(
      try JSONSerialization.jsonObject(with: Data(sandbox.read(sandbox.root + "/input").utf8))
        as? [String: Any])
    #expect(input["headline"] as? String == "12 alarms ring")
    #expect(input["kind"] as? String == "firing")
    let alarms = try #require(input["alarms"] as? [[String: Any]])
    #expect(alarms.compactMap { $0["title"] as? String } == all.map(\.notification.title))
    let environment = try sandbox.read(sandbox.root + "/environment")
    #expect(environment.contains("BELFRY_COUNT=12\n"))
    #expect(environment.contains("BELFRY_TITLE=12 alarms ring\n"))
    #expect(environment.contains("\nand 4 more: belfry list\n"))

    // An alarm that is answered leaves the notification, which stays for the others.
    activeDeliveries.withdraw { $0 == all[3].id }
    #expect(ended.withLock { $0 } == [[all[3].id]])
    #expect(activeDeliveries.identities == Set(all.map(\.id)).subtracting([all[3].id]))
    let others = Set(all.map(\.id)).subtracting([all[3].id])
    activeDeliveries.withdraw(others.contains)
    await activeDeliveries.idle()
    #expect(ended.withLock { $0.last.map(Set.init) } == others)
    #expect(try sandbox.read(sandbox.root + "/rung") == "x\n")
  }
}
