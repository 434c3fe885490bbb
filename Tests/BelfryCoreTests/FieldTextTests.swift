import Testing

@testable import BelfryCore

/// The text of fields, with device names.
@Suite struct FieldTextTests {
  private let laptop = Identifier(high: 1, low: 1)
  private let watch = Identifier(high: 2, low: 2)
  private var names: [Identifier: String] { [laptop: "laptop", watch: "Watch"] }

  private func alarm() throws -> Alarm {
    var alarm = Alarm.created(
      id: Identifier(high: 9, low: 9), title: "Call \(watch)", note: nil,
      schedule: try Schedule(.once(CivilDate("2026-12-24")!), times: [CivilTime("09:00")!]),
      zone: .floating, delivery: Alarm.Delivery(), at: Instant(seconds: 0), device: laptop)
    alarm.delivery.devices = [laptop, watch]
    alarm.cascade = Cascade(
      Cascade.Plan(
        isOn: true, interval: 120, primary: laptop,
        targets: [
          .device(watch), .person(CascadePerson(name: "Jen", address: "https://\(watch)")),
        ]))
    return alarm
  }

  @Test func devicesAreShownByName() throws {
    let alarm = try alarm()
    #expect(alarm.fieldText(of: .delivery).text(names) == "not persistent, on laptop Watch")
    #expect(
      alarm.fieldText(of: .cascade).text(names)
        == "on, every 2m, first laptop, device Watch, person Jen at \"https://\(watch)\"")
    // A user's text is unchanged.
    #expect(alarm.fieldText(of: .title).text(names) == "Call \(watch)")
    #expect(Cascade.Part.target("device \(watch)").fieldText.text(names) == "cascade.device Watch")
    #expect(Cascade.Part.target("person Jen").fieldText.text(names) == "cascade.person Jen")
    #expect(Cascade.Value.primary(laptop).fieldText.text(names) == "laptop")
  }

  @Test func plainTextIsCanonical() throws {
    let alarm = try alarm()
    for field in Alarm.Field.allCases where field != .cascade {
      #expect(alarm.fieldText(of: field).plain == alarm.text(of: field), "\(field)")
    }
    #expect(alarm.fieldText(of: .delivery).plain == "not persistent, on \(laptop) \(watch)")
    for part in [Cascade.Part.on, .every, .primary, .target("device \(watch)")] {
      #expect(part.fieldText.plain == part.name)
    }
  }

  @Test func earlierPlansAreNotShown() throws {
    var alarm = try alarm()
    let now = Instant(seconds: 1_800_000_000)
    alarm.cascade = alarm.cascade?.keeping(Cascade.Plan(isOn: false), until: now)
    #expect(alarm.text(of: .cascade).contains("; before off"))
    #expect(!alarm.fieldText(of: .cascade).plain.contains("before"))
  }
}
