import Testing

@testable import BelfryCore

/// The heartbeat interval that a device promises.
@Suite struct HeartbeatPromiseTests {
  private func at(_ text: String) -> Instant { instant("2026-11-23T\(text)Z") }

  @Test func aDeviceIsJudgedByItsOwnPromise() {
    let signs = DeviceHeartbeats(
      fetched: at("09:00:00"), seen: [laptop: at("08:30:00"), server: at("08:30:00")],
      intervals: [server: 1800])
    #expect(signs.unreachable([laptop, server], at: at("09:00:30")) == [laptop])
    let late = DeviceHeartbeats(
      fetched: at("10:00:00"), seen: [server: at("08:30:00")], intervals: [server: 1800])
    #expect(late.unreachable([server], at: at("10:00:30")) == [server])
    #expect(late.unreachableSince([server]) == [server: at("09:35:00")])
  }

  @Test func thePromiseIsTheSecondLongestGapBetweenExchanges() {
    var signs = DeviceHeartbeats()
    #expect(signs.promise == 1800)
    for minute in stride(from: 0, to: 60, by: 10) {
      signs.noteExchange(at: at("07:00:00").adding(seconds: Int64(minute) * 60))
      // A manual sync in between has no effect on the promise.
      signs.noteExchange(at: at("07:00:10").adding(seconds: Int64(minute) * 60))
    }
    #expect(signs.promise == 600)
    // A night's sleep has no effect either.
    signs.noteExchange(at: instant("2026-11-24T08:00:00Z"))
    #expect(signs.promise == 600)
    // An interval of a minute becomes a promise of four minutes at most.
    var often = DeviceHeartbeats()
    for minute in 0..<9 {
      often.noteExchange(at: at("07:00:00").adding(seconds: Int64(minute) * 60))
    }
    #expect(often.promise == 240)
    // The clock was set back.
    often.noteExchange(at: at("06:00:00"))
    #expect(often.exchanges == [at("06:00:00")])
  }

  @Test func heartbeatsDuringACascadeMoveNoTurnThatHasBegun() throws {
    let (watch, speaker) = (laptop, server)
    var alarm = try rent(persistent: false)
    let primary = Identifier("phoneaaaaaaaaaaaaaaaaaaaaa")!
    alarm.cascade = Cascade(
      Cascade.Plan(isOn: true, primary: primary, targets: [.device(watch), .device(speaker)]))
    func turn(since: Instant) -> Instant? {
      Timeline(
        alarm, zone: .utc,
        deviceContext: DeviceContext(
          device: speaker, known: [primary, watch, speaker], unreachable: [watch],
          unreachableSince: [watch: since])
      ).cascadeRun(of: civil("2026-11-23T09:00"), ledger: DeliveryLedger())?.turns.last?.at
    }
    #expect(turn(since: at("08:59:00")) == at("09:02:00"))
    #expect(turn(since: at("09:01:00")) == at("09:04:00"))
  }
}
