import BelfryActions
import BelfryCore
import BelfryInput
import BelfryStore
import Testing

@Suite struct AlarmSelectorTests {
  private let fixture: ActionFixture
  private let store: Store

  init() throws {
    fixture = try ActionFixture()
    store = fixture.at("2026-11-23T09:01:00Z")
    try fixture.add("Pay rent", "monthly on 1 at 9:00", tags: [try AlarmTag("home")])
    try fixture.add("Tea")
    try fixture.add("Water the plants", "daily at 9:00", tags: [try AlarmTag("home")])
  }

  private func selector(confirming: Bool = false) -> AlarmSelector {
    AlarmSelector(
      in: store, InputContext(instant: store.context.now, zone: .utc),
      confirm: { _, _ in confirming })
  }

  private func titles(_ selection: AlarmSelector.Selection) -> [String] {
    selection.summaries.map(\.title).sorted()
  }

  @Test(
    "Words are names, parts of names, one long name, or filters",
    arguments: [
      (["tea"], ["Tea"]), (["pay", "rent"], ["Pay rent"]), (["rent", "tea"], ["Pay rent", "Tea"]),
      (["+home"], ["Pay rent", "Water the plants"]), (["+home", "ringing"], ["Water the plants"]),
      (["due:week"], ["Tea", "Water the plants"]),
      (["plants", "tea"], ["Tea", "Water the plants"]),
      ([], ["Pay rent", "Tea", "Water the plants"]),
    ] as [([String], [String])])
  func listing(words: [String], expected: [String]) throws {
    #expect(titles(try selector().select(words)) == expected)
  }

  @Test("Without words, a verb means the only alarm to which it applies")
  func unnamed() throws {
    #expect(throws: SelectionError.self) { try selector().select([], all: false, for: .stop) }
    #expect(
      titles(try selector().select([], all: true, for: .stop)) == ["Tea", "Water the plants"])
    let tea = try selector().find("tea").id
    _ = try AnswerAlarms(.done(), to: [tea], settings: fixture.settings).perform(in: store)
    let selection = try selector().select([], all: false, for: .stop)
    #expect(titles(selection) == ["Water the plants"])
    #expect(!selection.isBulk)
  }

  @Test("A name inside of a word has to be confirmed")
  func partOfWord() throws {
    #expect(throws: SelectionError.self) { try selector().find("ants") }
    #expect(try selector(confirming: true).find("ants").title == "Water the plants")
  }

  @Test(
    "Words behind the alarms of an edit are its schedule",
    arguments: [
      (["tea"], ["tea"], []), (["tea", "plants"], ["tea", "plants"], []),
      (["tea", "daily", "10:00"], ["tea"], ["daily", "10:00"]),
      (["tea", "plants", "daily", "10:00"], ["tea", "plants"], ["daily", "10:00"]),
      (["tea", "dayly"], ["tea"], ["dayly"]), (["tea", "+kids"], ["tea"], ["+kids"]),
      (["+home", "due:week", "daily"], ["+home", "due:week"], ["daily"]),
    ] as [([String], [String], [String])])
  func schedules(words: [String], selection: [String], rest: [String]) throws {
    let context = InputContext(instant: store.context.now, zone: .utc)
    let divided = try selector().divide(words) { words in
      let words = words.filter { !$0.hasPrefix("+") }
      return words.isEmpty
        || (try? Input.schedule(words.joined(separator: " "), in: context)) != nil
    }
    #expect(divided.selection == selection && divided.rest == rest)
  }

  @Test("A schedule that is also a title is refused")
  func scheduleAsTitle() throws {
    try fixture.add("Friday")
    #expect(throws: SelectionError.self) {
      try selector().divide(["tea", "friday"]) { $0 == ["friday"] }
    }
  }

  @Test(
    "Words behind an alarm are its text",
    arguments: [
      (["tea", "with", "milk"], ["tea"], ["with", "milk"]),
      (["tea", "plants", "at noon"], ["tea", "plants"], ["at noon"]),
      (["tea", "plants"], ["tea"], ["plants"]),
      (["pay", "rent", "early"], ["pay", "rent"], ["early"]),
      (["tea", "for", "Paul and Ada"], ["tea"], ["for", "Paul and Ada"]),
      (["+home", "call Alex"], ["+home"], ["call Alex"]),
    ] as [([String], [String], [String])])
  func texts(words: [String], selection: [String], rest: [String]) throws {
    let divided = try selector().divideText(words)
    #expect(divided.selection == selection && divided.rest == rest)
  }

  @Test(
    "A name with typing errors suggests the alarm",
    arguments: [
      ("tae", "Tea"), ("rnet", "Pay rent"), ("plnats", "Water the plants"),
      ("pay rant", "Pay rent"),
      ("te", nil), ("coffee", nil), ("rxxt", nil),
    ])
  func misspelled(name: String, title: String?) throws {
    #expect(selector().nearest(to: name)?.title == title)
  }

  @Test("A filter selects the alarms with any of its texts, or with all as one text")
  func filterTexts() throws {
    func titles(_ words: String...) throws -> [String] {
      try selector().filter(words).selected(of: store.overview().summaries).map(\.title).sorted()
    }
    #expect(try titles("rent", "tea") == ["Pay rent", "Tea"])
    #expect(try titles("pay", "rent") == ["Pay rent"])
    #expect(try titles("+home", "rent", "tea") == ["Pay rent"])
    #expect(
      try selector().filter(["rent", "nothing"]).unmatched(in: store.overview().summaries)
        == ["nothing"])
  }

  @Test("Tags are counted, and deleted alarms are not")
  func tags() throws {
    #expect(try TagUse.all(of: store.overview().summaries).map(\.unfinished) == [2])
    _ = try DeleteAlarms([selector().find("rent").id]).perform(in: store)
    #expect(try TagUse.all(of: store.overview().summaries).map(\.unfinished) == [1])
  }

  @Test("Unclear words are refused with the alarms that they could mean")
  func errors() throws {
    try fixture.add("Tea time")
    do {
      _ = try selector().find("te")
      Issue.record("One alarm was chosen.")
    } catch SelectionError.ambiguous(name: "te", let matches) {
      #expect(Set(matches.map(\.title)) == ["Tea", "Tea time"])
    }
    #expect(throws: SelectionError.self) { try selector().select(["tea", "+home"]) }
    #expect(throws: SelectionError.self) { try selector().selectAny(["+work"]) }
    #expect(throws: SelectionError.self) { try selector().select(["+no tag"]) }
    #expect(AlarmSelector.isAll(["All"]) && !AlarmSelector.isAll(["all", "tea"]))
    #expect(throws: StoreError.self) { try selector().find("coffee") }
  }
}
