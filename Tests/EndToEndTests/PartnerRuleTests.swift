import Foundation
import TestSupport
import Testing

/// What partners may and may not do to each other, as people see it.
extension PartnerTests {
  // MARK: Quiet hours

  @Test("in quiet hours nothing of a partner's begins to ring; it rings when they end")
  func quietHours() async throws {
    let (chris, alex) = (try await person(), try await person())
    try await pair(chris, alex, mailbox: try await mailbox(chris.sandbox))
    _ = try await chris.partner("send", "Alex", "Night", "--at", "22:59")
    _ = try await alex.partner("sync")
    // The machine was off at 22:59.
    _ = try await alex.belfry(["tick"], now: "2026-11-07T03:00:00Z")
    #expect(alex.sandbox.rings.isEmpty)
    let listed = try await alex.belfry(["list"], now: "2026-11-07T03:00:00Z")
    #expect(listed.out.contains("Quiet hours until 06:00"), "\(listed.out)")
    _ = try await alex.belfry(["tick"], now: "2026-11-07T06:00:00Z")
    #expect(alex.sandbox.rings.count == 1, "\(alex.sandbox.rings)")
  }

  @Test("quiet hours that are set later hold for what is set already, until they are switched off")
  func laterQuietHours() async throws {
    let (chris, alex) = (try await person(), try await person())
    try await pair(chris, alex, mailbox: try await mailbox(chris.sandbox))
    _ = try await chris.partner("send", "Alex", "Lunch", "--at", "12:30")
    _ = try await alex.partner("sync")
    _ = try await alex.partner("limits", "Chris", "--quiet", "12:15-13:15")
    _ = try await alex.belfry(["tick"], now: "2026-11-06T12:30:00Z")
    #expect(alex.sandbox.rings.isEmpty)
    _ = try await alex.partner("limits", "Chris", "--quiet", "off", now: "2026-11-06T12:31:00Z")
    _ = try await alex.belfry(["tick"], now: "2026-11-06T12:31:00Z")
    #expect(alex.sandbox.rings.count == 1, "\(alex.sandbox.rings)")
  }
}
