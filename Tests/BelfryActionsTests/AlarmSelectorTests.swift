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
      (["due:week"], ["Tea", "Water the plants"]), ([], ["Pay rent", "Tea", "Water the plants"]),
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
    #expect(throws: SelectionError.self) { try selector().select(["all"], all: false, for: .done) }
    #expect(throws: StoreError.self) { try selector().find("coffee") }
  }
}
