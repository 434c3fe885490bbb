import BelfryCore
import TestSupport
import Testing

/// Three devices that tick and answer on their own, and meet in pairs, at random.
@Suite struct ReplicaSimulation {
  private struct Device {
    var alarm: Alarm
    var firings = Firings()
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func whatSomebodyConfirmedStays(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var settings = Settings(tier: .plus)
    settings.followUps = try #require(FollowUpPlan([600, 1200]))
    var devices = [Device](repeating: Device(alarm: try rent()), count: 3)
    var confirmed: Set<CivilDateTime> = []
    var skipped: Set<CivilDateTime> = []
    var now = instant("2026-11-23T08:50:00Z")
    for _ in 0..<120 {
      now = now.adding(seconds: Int64(random.int(60...40_000)))
      let index = random.int(0...2)
      var device = devices[index]
      let evaluation = timeline(device.alarm).evaluate(
        at: now, settings: settings, firings: device.firings)
      device.alarm = evaluation.transition.alarm
      for firing in evaluation.firings {
        device.firings.record(device.alarm.id, firing.occurrence, due: firing.due, at: now)
      }
      for followUp in evaluation.followUps {
        if let reminded = timeline(device.alarm).reminded(followUp) {
          device.alarm = reminded.alarm
        }
      }
      let answer = random.pick([
        Answer.stop, .done(), .skip(), .snooze(seconds: 300), .dismiss, .done(early: true),
      ])
      if let transition = try? timeline(device.alarm).answer(
        answer, at: now, settings: settings, firings: device.firings)
      {
        for event in transition.events where !event.auto {
          if event.action == .done { confirmed.insert(event.occurrence!) }
          if event.action == .skipped { skipped.insert(event.occurrence!) }
        }
        device.alarm = transition.alarm
      }
      devices[index] = device
      if random.one(in: 3) {
        let (a, b) = (random.int(0...2), random.int(0...2))
        let joined = Alarm.join(devices[a].alarm, devices[b].alarm)
        devices[a].alarm = joined
        devices[b].alarm = joined
      }
    }
    let all = devices.map(\.alarm)
    let joined = Alarm.join(Alarm.join(all[0], all[1]), all[2])
    #expect(joined == Alarm.join(all[2], Alarm.join(all[1], all[0])), "seed \(seed)")
    let floor = joined.progress.floor ?? civil("2026-01-01T00:00")
    for civil in confirmed where civil > floor {
      let record = joined.progress.occurrences[civil]
      #expect(record?.state == .done && record?.auto == false, "seed \(seed): \(civil)")
    }
    for civil in skipped.subtracting(confirmed) where civil > floor {
      let state = joined.progress.occurrences[civil]?.state
      // Done by itself, where one device never knew of the skip, stands over it.
      #expect(state == .skipped || state == .done, "seed \(seed): \(civil)")
    }
    // Nobody rings again for what is settled, whoever settled it.
    for device in devices {
      let evaluation = timeline(joined).evaluate(
        at: now, settings: settings, firings: device.firings)
      for firing in evaluation.firings {
        #expect(!confirmed.contains(firing.occurrence), "seed \(seed)")
      }
    }
  }
}
