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
      render: NotificationText(.utc).render)
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
      render: NotificationText(.utc).render)
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
    while activeDeliveries.identities.contains(second.id) {
      try await Task.sleep(for: .milliseconds(5))
    }
    await activeDeliveries.close()
    #expect(try sandbox.read(sandbox.root + "/rung") == "Rent\n")
    // A delivery after the end of all deliveries ends at once.
    #expect(await delivery.deliver(second, snooze: 600) == .withdrawn)
    await activeDeliveries.idle()
    #expect(try sandbox.read(sandbox.root + "/rung") == "Rent\n")
  }
}
