import BelfryCore
import BelfryStore
import TestSupport
import Testing

@Suite struct RecordTests {
  private let id = Identifier("rentaaaaaaaaaaaaaaaaaaaaaa")!
  private let now = Instant(rfc3339: "2026-11-20T22:41:00Z")!

  private let text = """
    {
      "delivery": {
        "persistent": true,
        "sound": "bell"
      },
      "enabled": true,
      "format": 1,
      "id": "rentaaaaaaaaaaaaaaaaaaaaaa",
      "note": "Pay landlord",
      "progress": {
        "armed": "2026-11-20T22:41:00Z",
        "floor": "2026-11-24T09:00",
        "occurrences": {
          "2026-11-27T09:00": {
            "revision": 0,
            "since": "2026-11-27T08:03:10Z",
            "state": "pending"
          }
        }
      },
      "schedule": {
        "days": [
          "mon",
          "fri"
        ],
        "interval": 1,
        "kind": "weekly",
        "start": "2026-11-20",
        "times": [
          "09:00"
        ]
      },
      "stamps": {
        "title": "2026-11-20T22:41:00.000Z-0000-laptopaaaaaaaaaaaaaaaaaaaa"
      },
      "title": "Rent reminder",
      "zone": "floating"
    }

    """

  private func decode(_ text: String) throws(RecordError) -> Alarm {
    try AlarmRecord.decode(Array(text.utf8), id: id, now: now)
  }

  @Test func aRecordRoundTrips() throws {
    #expect(String(decoding: AlarmRecord.encode(try decode(text)), as: UTF8.self) == text)
  }

  @Test("Moves round-trip, moved back and written by hand, too")
  func movesRoundTrip() throws {
    let stamp = "2026-11-21T09:00:00.000Z-0000-laptopaaaaaaaaaaaaaaaaaaaa"
    let moves = """
      "moves": {
            "2026-11-27T09:00": {
              "stamp": "\(stamp)",
              "time": "2026-11-28T15:00"
            },
            "2026-11-30T09:00": {
              "stamp": "\(stamp)"
            },
            "2026-12-04T09:00": {
              "time": "2026-12-05T10:00"
            },
            "2026-12-07T09:00": {
              "imported": true,
              "stamp": "\(stamp)",
              "time": "2026-12-08T11:00"
            }
          },
          "occurrences"
      """
    let written = text.replacing("\"occurrences\"", with: moves)
    let alarm = try decode(written)
    #expect(
      alarm.progress.moves == [
        CivilDateTime("2026-11-27T09:00")!: OccurrenceMove(
          to: CivilDateTime("2026-11-28T15:00"), stamp: Stamp(stamp)),
        CivilDateTime("2026-11-30T09:00")!: OccurrenceMove(to: nil, stamp: Stamp(stamp)),
        CivilDateTime("2026-12-04T09:00")!: OccurrenceMove(
          to: CivilDateTime("2026-12-05T10:00"), stamp: nil),
        CivilDateTime("2026-12-07T09:00")!: OccurrenceMove(
          to: CivilDateTime("2026-12-08T11:00"), stamp: Stamp(stamp), isImported: true),
      ])
    #expect(String(decoding: AlarmRecord.encode(alarm), as: UTF8.self) == written)
    for wrong in ["2026-11-27", "friday"] {
      #expect(throws: RecordError.self) {
        try decode(written.replacing("\"2026-11-28T15:00\"", with: "\"\(wrong)\""))
      }
      #expect(throws: RecordError.self) {
        try decode(written.replacing("\"2026-12-04T09:00\"", with: "\"\(wrong)\""))
      }
    }
  }

  @Test func pausesWarningsAndDevicesRoundTrip() throws {
    var alarm = try decode(text)
    let one = try #require(Identifier("laptopaaaaaaaaaaaaaaaaaaaa"))
    let two = try #require(Identifier("serveraaaaaaaaaaaaaaaaaaaa"))
    alarm.pause = Pause(
      from: CivilDateTime("2026-12-20T08:15")!, until: CivilDateTime("2027-01-04T00:00")!)
    alarm.delivery.warnings = WarningPlan("7d,1d")
    alarm.delivery.devices = [two, one]
    alarm.delivery.run = ActionName("light")
    alarm.delivery.runDone = ActionName("tell me")
    let written = String(decoding: AlarmRecord.encode(alarm), as: UTF8.self)
    #expect(try decode(written) == alarm)
    #expect(written.contains("\"from\": \"2026-12-20T08:15\""))
    for wrong in [
      written.replacing("\"light\"", with: "\"../light\""),
      written.replacing("604800", with: "1"), written.replacing("2027-01-04T00:00", with: "soon"),
      written.replacing("\"serveraaaaaaaaaaaaaaaaaaaa\"", with: "7"),
    ] {
      #expect(throws: RecordError.self) { try decode(wrong) }
    }
  }

  @Test func tagsRoundTrip() throws {
    let stamp = "2026-11-20T22:41:00.000Z-0000-laptopaaaaaaaaaaaaaaaaaaaa"
    let tagged = text.replacing(
      "    \"title\": \"2026",
      with: """
            "tags": "\(stamp)",
            "tags.home": "\(stamp)",
            "tags.old": "\(stamp)",
            "title": "2026
        """
    ).replacing(
      "  \"title\": \"Rent",
      with: """
          "tags": [
            "home",
            "pills"
          ],
          "title": "Rent
        """)
    let alarm = try decode(tagged)
    let (home, old) = (try AlarmTag("home"), try AlarmTag("old"))
    #expect(alarm.tags == [home, try AlarmTag("pills")])
    #expect(
      alarm.mergeState.tagStamps == [
        home: try #require(Stamp(stamp)), old: try #require(Stamp(stamp)),
      ])
    #expect(String(decoding: AlarmRecord.encode(alarm), as: UTF8.self) == tagged)
    // A hand edit may use upper case.
    #expect(
      try decode(tagged.replacing("\"home\",", with: "\"Home\", \"HOME\",")).tags == alarm.tags)
    for (wrong, reason) in [
      (
        tagged.replacing("\"home\",", with: "\"my home\","),
        "an element of 'tags' is not a tag: it contains U+0020; tags consist of letters, digits, '-', '_' and '.'"
      ),
      (tagged.replacing("\"home\",", with: "7,"), "'tags' is not a list of strings"),
      (
        tagged.replacing("\"tags.old\": \"\(stamp)\"", with: "\"tags.old\": \"soon\""),
        "'stamps.tags.old' is not a stamp"
      ),
    ] {
      #expect { try decode(wrong) } throws: { ($0 as? RecordError)?.reason == reason }
    }
    // The stamp of a text that is not a tag is an unknown key.
    let unknown = tagged.replacing("tags.old", with: "tags.Old")
    #expect(
      String(decoding: AlarmRecord.encode(try decode(unknown)), as: UTF8.self).contains(
        "\"tags.Old\""))
  }

  @Test func cascadesRoundTrip() throws {
    var alarm = try decode(text)
    let one = try #require(Identifier("laptopaaaaaaaaaaaaaaaaaaaa"))
    let two = try #require(Identifier("serveraaaaaaaaaaaaaaaaaaaa"))
    alarm.cascade = Cascade(
      Cascade.Plan(
        isOn: true, interval: 90, primary: one,
        targets: [
          .device(two),
          .person(CascadePerson(name: "Jen", address: "https://ntfy.sh/x", gadget: "Pixel")),
          .phone(try PhoneNumber("+442079460958"), message: "Room 412"),
        ]), earlier: [Cascade.Version(plan: Cascade.Plan(isOn: true), until: now)])
    alarm.progress.rehearsal = now
    alarm.progress.occurrences[CivilDateTime("2026-12-04T09:00")!] = OccurrenceRecord(
      .snoozed, since: now, until: now.adding(seconds: 540), snoozes: 1,
      snoozeHistory: [CascadeRun.Snooze(at: now, until: now.adding(seconds: 540), by: two)],
      exhausted: true,
      by: two)
    let written = String(decoding: AlarmRecord.encode(alarm), as: UTF8.self)
    #expect(try decode(written) == alarm)
    for (right, wrong) in [
      ("\"every\": 90", "\"every\": 1"), ("+442079460958", "12"), ("\"Jen\"", "\"\""),
      ("\"device\": \"serveraaaaaaaaaaaaaaaaaaaa\"", "\"device\": \"x\""),
      ("\"at\": ", "\"when\": "), ("\"message\": \"Room 412\"", "\"message\": 7"),
    ] {
      #expect(written.contains(right))
      #expect(throws: RecordError.self) { try decode(written.replacing(right, with: wrong)) }
    }
  }

  @Test func aPartnersAlarmRoundTrips() throws {
    var alarm = try decode(text)
    let id = try #require(Identifier("laptopaaaaaaaaaaaaaaaaaaaa"))
    alarm.partner = PartnerOrigin(name: "Alex ❤️", partnership: id, request: id)
    let written = String(decoding: AlarmRecord.encode(alarm), as: UTF8.self)
    #expect(try decode(written) == alarm)
    for (right, wrong) in [
      ("Alex ❤️", ""), ("Alex ❤️", "\\u001b[2J"), ("\"partnership\": \"l", "\"partnership\": \""),
      ("\"request\": ", "\"asked\": "),
    ] {
      #expect(written.contains(right))
      #expect(throws: RecordError.self) { try decode(written.replacing(right, with: wrong)) }
    }
  }

  @Test(
    "Unknown keys with any characters stay where they are",
    arguments: ["a/b", "/", "", "a~b", "~1", "a/", "cleared/x"])
  func unusualUnknownKeys(_ key: String) throws {
    let id = TestIdentifier.make()
    let text = """
      {"format": 1, "id": "\(id)", "title": "Tea", "\(key)": 1,
       "schedule": {"kind": "daily", "start": "2026-11-20", "times": ["08:00"], "\(key)": 2},
       "progress": {"armed": "2026-11-20T22:41:00Z", "\(key)": {"\(key)": 3}}}
      """
    let alarm = try AlarmRecord.decode(Array(text.utf8), id: id, now: Instant(seconds: 0))
    let encoded = AlarmRecord.encode(alarm)
    let json = try JSON(parsing: encoded)
    #expect(json[key] == 1)
    #expect(json["schedule"]?[key] == 2)
    #expect(json["progress"]?[key]?[key] == 3)
    #expect(try AlarmRecord.decode(encoded, id: id, now: Instant(seconds: 0)) == alarm)
    let settings = try SettingsFile.decode(
      Array(
        """
        {"format": 1, "\(key)": 7,
         "stamps": {"\(key)": "2026-11-20T22:41:00.000Z-0000-laptopaaaaaaaaaaaaaaaaaaaa"}}
        """.utf8))
    #expect(settings.stamps.count == 1)
    #expect(try SettingsFile.decode(SettingsFile.encode(settings)) == settings)
    #expect(try JSON(parsing: SettingsFile.encode(settings))[key] == 7)
  }

  @Test func unknownKeysAreKept() throws {
    let extended = text.replacing(
      "\"enabled\": true,",
      with: "\"colour\": [1, 2.5, null, {\"a\": \"ä\"}], \"enabled\": true,"
    ).replacing("\"kind\": \"weekly\",", with: "\"kind\": \"weekly\", \"note\": \"x\",")
    let alarm = try decode(extended)
    #expect(alarm.mergeState.extras["colour"] == "[1,2.5,null,{\"a\":\"ä\"}]")
    let written = String(decoding: AlarmRecord.encode(alarm), as: UTF8.self)
    #expect(try decode(written) == alarm)
    #expect(written.contains("\"colour\""))
  }

  @Test func aHandWrittenRecordNeedsFewMembers() throws {
    let alarm = try decode(
      """
      {"format": 1, "id": "rentaaaaaaaaaaaaaaaaaaaaaa", "title": "Rent",
       "schedule": {"kind": "daily", "start": "2026-11-20", "times": ["09:00"]}}
      """)
    #expect(alarm.enabled)
    #expect(alarm.zone == .floating)
    #expect(alarm.progress.armed == now)
  }

  @Test(arguments: [
    ("", "empty"), ("{", "line 1"), ("[]", "not an object"), ("{\"format\": 1}", "'id' is missing"),
    ("{\"format\": 1, \"format\": 1}", "duplicate"), ("{\"format\": 0}", "not valid"),
    ("{\"format\": \"1\"}", "whole number"), ("nonsense", "line 1"),
  ])
  func anInvalidRecordHasAReason(_ text: String, _ reason: String) {
    let error = #expect(throws: RecordError.self) { try decode(text) }
    let words = (error?.line.map { "line \($0): " } ?? "") + (error?.reason ?? "")
    #expect(words.contains(reason), "\(words)")
  }

  @Test(arguments: [
    ("\"title\": \"Rent reminder\"", "\"title\": \" \"", "no visible characters"),
    ("\"title\": \"Rent reminder\"", "\"title\": 5", "'title' is not a string"),
    ("\"title\": \"Rent reminder\"", "\"title\": \"a\\u001bb\"", "U+001B"),
    ("\"weekly\"", "\"fortnightly\"", "'schedule.kind' is 'fortnightly'"),
    ("\"mon\"", "\"moon\"", "'schedule.days' is not a list of weekdays"),
    ("\"09:00\"", "\"9 o'clock\"", "'schedule.times' is not a list of times"),
    ("\"start\": \"2026-11-20\"", "\"start\": \"2026-02-30\"", "'schedule.start' is not a date"),
    ("\"pending\"", "\"waiting\"", "state' is not one of"),
    ("2026-11-27T09:00", "someday", "'someday', which is not a date and time"),
    ("\"floating\"", "\"../../etc/passwd\"", "'zone' is not"),
    ("\"enabled\": true", "\"enabled\": \"yes\"", "'enabled' is not true or false"),
    ("\"interval\": 1", "\"interval\": 0", "an interval of 0"),
    ("\"id\": \"rent", "\"id\": \"tent", "'id' is not the file's name"),
  ])
  func aViolatedRuleIsNamed(_ good: String, _ bad: String, _ reason: String) {
    let error = #expect(throws: RecordError.self) { try decode(text.replacing(good, with: bad)) }
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
  }

  @Test func invalidUTF8IsNamed() {
    var bytes = Array(text.utf8)
    bytes[bytes.firstIndex(of: UInt8(ascii: "R"))!] = 0xFF
    let error = #expect(throws: RecordError.self) {
      try AlarmRecord.decode(bytes, id: id, now: now)
    }
    #expect(error?.reason.contains("decode byte 0xff") == true)
  }

  @Test func aLaterFormatHasItsOwnError() {
    let error = #expect(throws: RecordError.self) {
      try decode(text.replacing("\"format\": 1", with: "\"format\": 2"))
    }
    #expect(error?.kind == .newerFormat(2))
  }

  @Test func logEntriesAreFiledByUTCDay() throws {
    let entry = LogEntry(
      id: id, alarm: id, title: "Rent", occurrence: CivilDateTime("2026-11-20T23:30"),
      action: .done,
      at: Instant(rfc3339: "2026-11-20T23:30:05.042-02:00")!, device: id)
    #expect(LogRecord.path(entry) == "log/2026/11/21/013005042-\(id).json")
    #expect(try LogRecord.decode(LogRecord.encode(entry)) == entry)
    let path = LogRecord.path(entry)
    #expect(RecordPath(path) == .log(path))
    #expect(RecordPath(path)?.error(in: LogRecord.encode(entry)) == nil)
    let elsewhere = RecordPath(path.replacing("2026", with: "2027"))
    #expect(elsewhere?.error(in: LogRecord.encode(entry)) != nil)
  }

  @Test(arguments: [
    "alarms/rentaaaaaaaaaaaaaaaaaaaaaa.json", "devices/laptopaaaaaaaaaaaaaaaaaaaa.json",
    "log/2026/11/21/013005042-rentaaaaaaaaaaaaaaaaaaaaaa.json", "calendars/de-BE.json",
    "settings.json", ".gitattributes",
  ])
  func pathsOfRecordsKeepTheirText(_ path: String) {
    #expect(RecordPath(path)?.text == path)
  }

  @Test(arguments: [
    "alarms/../x.json", "alarms/.git/x.json", ".git/config", "alarms/short.json", "README.md",
    "log/2026/13/01/013005042-rentaaaaaaaaaaaaaaaaaaaaaa.json",
    "alarms/rentaaaaaaaaaaaaaaaaaaaaaa.txt",
    "alarms/rentaaaaaaaaaaaaaaaaaaaaaa.json/x", "ALARMS/rentaaaaaaaaaaaaaaaaaaaaaa.json",
  ])
  func otherPathsAreNotRecords(_ path: String) {
    #expect(RecordPath(path) == nil)
  }

  @Test func settingsHaveTypes() throws {
    let record = try SettingsFile.decode(
      Array("{\"format\": 1, \"tier\": \"plus\", \"snooze\": 300}".utf8))
    var settings = Settings()
    try SettingsFile.apply(record, local: false, to: &settings)
    #expect(settings.tier == .plus)
    #expect(settings.snooze == 300)
  }

  @Test(arguments: [
    "\"tier\": \"gold\"", "\"followUps\": [1800, 1800]", "\"followUps\": [10]",
    "\"followUps\": \"30m\"", "\"snoozeEnabled\": 1", "\"grace\": -5", "\"sound\": \"../x\"",
  ])
  func invalidSettingsAreRefused(_ member: String) {
    #expect(throws: RecordError.self) {
      try SettingsFile.decode(Array("{\"format\": 1, \(member)}".utf8))
    }
  }

  @Test func aDeviceThatReplacedAnotherRoundTrips() throws {
    let one = try #require(Identifier("laptopaaaaaaaaaaaaaaaaaaaa"))
    let two = try #require(Identifier("serveraaaaaaaaaaaaaaaaaaaa"))
    let device = Device(
      id: one, name: "laptop", created: Instant(seconds: 1_795_426_200), copyOf: two,
      replaced: [two: Instant(seconds: 1_795_426_260)], extras: ["shoe": "44"])
    let written = DeviceRecord.encode(device)
    #expect(try DeviceRecord.decode(written) == device)
    let text = String(decoding: written, as: UTF8.self)
    for wrong in [
      text.replacing("2026-11-23T09:31:00Z", with: "soon"),
      text.replacing("\"\(two)\": ", with: "\"server\": "),
      text.replacing("\"copyOf\": \"\(two)\"", with: "\"copyOf\": 7"),
    ] {
      #expect(wrong != text)
      #expect(throws: RecordError.self) { try DeviceRecord.decode(Array(wrong.utf8)) }
    }
    // The later edit by the device itself wins entirely.
    var later = device
    later.replaced = [:]
    later.stamp = Stamp(time: Instant(seconds: 1_795_426_300), device: one)
    #expect(Device.join(device, later) == later && Device.join(later, device) == later)
  }

  @Test func theSettingsOfADeviceDifferFromTheSharedOnes() throws {
    let record = try SettingsFile.decode(
      Array("{\"format\": 1, \"sound\": \"pulse\", \"tier\": \"plus\"}".utf8))
    var settings = Settings()
    try SettingsFile.apply(record, local: true, to: &settings)
    #expect(settings == Settings(sound: "pulse"))
  }

  @Test func settingsRoundTrip() throws {
    var record = SettingsRecord()
    for setting in Setting.allCases {
      let value = Settings()[keyPath: setting.value]
      #expect(setting.parse(value.description) == value)
      SettingsFile.set(setting, to: value, stamp: nil, in: &record)
    }
    let again = try SettingsFile.decode(SettingsFile.encode(record))
    #expect(again == record)
    for setting in Setting.allCases {
      #expect(
        try SettingsFile.value(of: setting, in: again) == Settings()[keyPath: setting.value])
    }
  }
}

@Suite struct ZoneNameTests {
  @Test(arguments: [
    "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "UTC", "EST5EDT",
  ])
  func validZoneNames(_ text: String) { #expect(ZoneLibrary.isName(text)) }

  @Test(arguments: [
    "", "../etc", "/etc/passwd", "Europe//Berlin", "Europe/.hidden", "a/b/c/d", "5",
    "Europe/Ber lin",
  ])
  func invalidZoneNames(_ text: String) { #expect(!ZoneLibrary.isName(text)) }

  @Test func theVariableDeterminesTheZone() {
    #expect(ZoneLibrary(variable: "Europe/Berlin").local.name == "Europe/Berlin")
    #expect(ZoneLibrary(variable: ":Asia/Tokyo").local.name == "Asia/Tokyo")
    #expect(ZoneLibrary(variable: "").local.name == "UTC")
    let winter = Instant(rfc3339: "2026-01-01T00:00:00Z")!
    #expect(ZoneLibrary(variable: "CET-1CEST,M3.5.0,M10.5.0/3").local.offset(at: winter) == 3600)
    #expect(ZoneLibrary(variable: "nonsense").local.offset(at: winter) == 0)
    #expect(ZoneLibrary(variable: "UTC").works)
  }
}
