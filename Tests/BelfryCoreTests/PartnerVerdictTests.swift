import BelfryCore
import Testing

private let request = Identifier("requestaaaaaaaaaaaaaaaaaaa")!

/// The receiver's verdict on a request.
@Suite struct PartnerVerdictTests {
  private let limits = PartnerLimits()

  private func verdict(
    _ request: PartnerRequest, at now: String, accepted: Int = 0, rings: [CivilDate: Int] = [:]
  ) -> PartnerVerdict {
    limits.verdict(
      on: request, at: instant(now), accepted: accepted, rings: rings, local: .utc,
      zone: { _ in .utc })
  }

  @Test(
    "A request that would ring at once in quiet hours is refused, whatever its expiry")
  func lateInQuietHours() {
    let at = instant("2026-11-22T22:59:00Z")
    for expires in [at.adding(seconds: 36_000), instant("2099-01-01T00:00:00Z")] {
      let late = PartnerRequest(id: request, message: "Look", at: at, expires: expires)
      #expect(verdict(late, at: "2026-11-22T22:50:00Z") == .accepted)
      #expect(verdict(late, at: "2026-11-23T03:00:00Z") == .refused(.quietHours(.standard!)))
      // A day later the request has expired, whatever its own expiry says.
      #expect(verdict(late, at: "2026-11-23T22:59:00Z") == .expired)
    }
  }

  @Test("A repeated request cannot be accepted years after its first time")
  func lateAndRepeated() throws {
    let at = instant("2026-11-22T12:00:00Z")
    let daily = PartnerRequest(
      id: request, message: "Look", at: at,
      repeats: .init(
        schedule: try schedule(.daily(.init(start: date("2026-11-22"))), "12:00"), zone: "UTC"),
      expires: instant("2099-01-01T00:00:00Z"))
    #expect(verdict(daily, at: "2026-12-20T12:30:00Z") == .accepted)
    #expect(verdict(daily, at: "2026-12-23T12:00:00Z") == .expired)
  }

  @Test("The daily limit counts the rings of one request and of all requests together")
  func ringsOfADay() throws {
    func repeated(_ times: Int, from hour: Int = 7) throws -> PartnerRequest {
      let times = (0..<times).map { CivilTime(hour: hour, minute: $0)! }
      return PartnerRequest(
        id: request, message: "Look",
        at: TimeZoneRules.utc.instant(of: CivilDateTime(date("2026-11-23"), times[0])),
        repeats: .init(
          schedule: try Schedule(.daily(.init(start: date("2026-11-23"))), times: times),
          zone: "UTC"),
        expires: instant("2026-12-01T00:00:00Z"))
    }
    let now = "2026-11-22T12:00:00Z"
    #expect(verdict(try repeated(20), at: now) == .accepted)
    #expect(verdict(try repeated(21), at: now) == .refused(.tooMany(perDay: 20)))
    let known = PartnerRequest.ringsByDay(
      [try repeated(15)], at: instant(now), local: .utc, zone: { _ in .utc })
    #expect(known[date("2026-11-22")] == nil && known[date("2026-11-23")] == 15)
    #expect(verdict(try repeated(5, from: 9), at: now, accepted: 1, rings: known) == .accepted)
    #expect(
      verdict(try repeated(6, from: 9), at: now, accepted: 1, rings: known)
        == .refused(.tooMany(perDay: 20)))
  }
}
