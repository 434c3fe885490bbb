import BelfryCore
import TestSupport
import Testing

/// Three devices that tick and respond independently, and sync in random pairs.
@Suite struct ReplicaSimulation {
  private struct Device {
    var alarm: Alarm
    var ledger = DeliveryLedger()
    /// The changes that can be undone: the alarm before and after, the time, and the log entries.
    var undoable: [(before: Alarm, after: Alarm, acted: Instant, entries: [LogEntry])] = []
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func aConfirmedOccurrenceStaysConfirmed(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var settings = Settings(tier: .plus)
    settings.followUps = try #require(FollowUpPlan([600, 1200]))
    var devices = [Device](repeating: Device(alarm: try rent()), count: 3)
    let names = [laptop, server, Identifier("phoneaaaaaaaaaaaaaaaaaaaaa")!]
    func timeline(_ alarm: Alarm, on index: Int) -> Timeline {
      Timeline(alarm, zone: .utc, device: names[index])
    }
    var log: [LogEntry] = []
    func note(_ transition: Transition, at now: Instant) -> [LogEntry] {
      let entries = transition.events.enumerated().map { offset, event in
        LogEntry(
          event, of: transition.alarm,
          id: Identifier(high: 3, low: UInt64(log.count + offset)), at: now, device: laptop)
      }
      log += entries
      return entries
    }
    let tags = try ["home", "pills"].map { try AlarmTag($0) }
    /// The latest edit of each tag, which must win.
    var tagEdits: [AlarmTag: (stamp: Stamp, isPresent: Bool)] = [:]
    var confirmed: Set<CivilDateTime> = []
    var moved: Set<CivilDateTime> = []
    var skipped: Set<CivilDateTime> = []
    var now = instant("2026-11-23T08:50:00Z")
    for _ in 0..<120 {
      now = now.adding(seconds: Int64(random.int(60...40_000)))
      let index = random.int(0...2)
      var device = devices[index]
      let evaluation = timeline(device.alarm, on: index).evaluate(
        at: now, settings: settings, ledger: device.ledger)
      device.alarm = evaluation.transition.alarm
      _ = note(evaluation.transition, at: now)
      for firing in evaluation.firings {
        device.ledger.recordFiring(
          OccurrenceID(alarm: device.alarm.id, occurrence: firing.occurrence), due: firing.due,
          at: now)
      }
      for followUp in evaluation.followUps {
        if let reminded = timeline(device.alarm, on: index).reminded(followUp) {
          device.alarm = reminded.alarm
        }
      }
      let answer = random.pick([
        Answer.stop, .done(), .skip(), .snooze(seconds: 300), .dismiss, .done(early: true),
        .unskip(),
      ])
      let before = device.alarm
      if let transition = try? timeline(device.alarm, on: index).answer(
        answer, at: now, settings: settings, ledger: device.ledger)
      {
        for event in transition.events where !event.auto {
          if event.action == .done { confirmed.insert(event.occurrence!) }
          if event.action == .skipped { skipped.insert(event.occurrence!) }
        }
        device.alarm = transition.alarm
        device.undoable.append((before, device.alarm, now, note(transition, at: now)))
      }
      if random.one(in: 6), let last = device.undoable.popLast(),
        let restored = try? timeline(device.alarm, on: index).undoing(
          last.after, before: last.before, acted: last.acted, at: now, device: names[index])
      {
        device.alarm = restored
        let events = last.entries.map { Event(undoing: $0, in: restored, at: now) }
        _ = note(Transition(alarm: restored, events: events), at: now)
      }
      if random.one(in: 5),
        let civil = random.one(in: 2)
          ? try? timeline(device.alarm, on: index).occurrenceToMove(
            at: now, settings: settings, ledger: device.ledger)
          : timeline(device.alarm, on: index).next(after: now)?.civil,
        let transition = try? timeline(device.alarm, on: index).moving(
          civil,
          to: TimeZoneRules.utc.civil(at: now.adding(seconds: Int64(random.int(60...500_000)))),
          at: now, device: names[index], settings: settings, ledger: device.ledger)
      {
        let before = device.alarm
        device.alarm = transition.alarm
        moved.insert(civil)
        device.undoable.append((before, device.alarm, now, note(transition, at: now)))
      }
      if random.one(in: 4) {
        let tag = random.pick(tags)
        let before = device.alarm
        device.alarm.tags.formSymmetricDifference([tag])
        device.alarm = device.alarm.stamped(
          against: before, at: now, device: names[index])
        let stamp = try #require(device.alarm.mergeState.tagStamps[tag])
        if tagEdits[tag].map({ stamp > $0.stamp }) ?? true {
          tagEdits[tag] = (stamp, device.alarm.tags.contains(tag))
        }
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
    for (tag, edit) in tagEdits {
      #expect(joined.tags.contains(tag) == edit.isPresent, "seed \(seed): \(tag)")
      #expect(joined.mergeState.tagStamps[tag] == edit.stamp, "seed \(seed): \(tag)")
    }
    // The logs of all devices agree with the joined record.
    let story = Statistics(log)
    let unskipped = Set(log.filter { $0.action == .unskipped }.compactMap(\.occurrence))
    for (civil, record) in joined.progress.occurrences
    where joined.progress.floor.map({ civil > $0 }) ?? true {
      let known = timeline(joined, on: 0).record(of: civil)
      let expected: Statistics.Outcome? =
        switch known?.state {
        case .done: known?.auto == true ? .autoCompleted : .done
        case .skipped: .skipped
        case .missed: .missed
        case .open, .snoozed, .pending, nil: nil
        }
      // The log does not tell which skips an unskip knew of. The record does.
      // Neither does it tell which answers knew of a move.
      if moved.contains(civil), expected != .done { continue }
      if unskipped.contains(civil), [expected, story.outcomes[civil]].contains(.skipped) {
        continue
      }
      #expect(story.outcomes[civil] == expected, "seed \(seed): \(civil) \(record)")
    }
    // A reopened occurrence can end differently.
    let reopened = Set(log.filter { $0.revision > 0 }.compactMap(\.occurrence))
    confirmed.subtract(reopened)
    skipped.subtract(reopened)
    let floor = joined.progress.floor ?? civil("2026-01-01T00:00")
    for civil in confirmed where civil > floor {
      let record = joined.progress.occurrences[civil]
      #expect(record?.state == .done && record?.auto == false, "seed \(seed): \(civil)")
    }
    for civil in skipped.subtracting(confirmed).subtracting(moved) where civil > floor {
      let state = joined.progress.occurrences[civil]?.state
      // An automatic done, on a device that never received the skip, overrides it.
      #expect(state == .skipped || state == .done, "seed \(seed): \(civil)")
    }
    // No device rings again for a settled occurrence, whichever device settled it.
    for device in devices {
      let evaluation = timeline(joined, on: 0).evaluate(
        at: now, settings: settings, ledger: device.ledger)
      for firing in evaluation.firings {
        #expect(!confirmed.contains(firing.occurrence), "seed \(seed)")
      }
    }
  }
}
