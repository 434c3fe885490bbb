import BelfryCore
import BelfryTerminal
import Testing

@testable import BelfryUI

@Suite struct UIStateTests {
  @Test("Keys move the selection, which stays on its alarm when the list changes")
  func selection() {
    var ui = UIFixture()
    #expect(ui.selected == "Alarm 0")
    ui.press("j", "down", "j", "k")
    #expect(ui.selected == "Alarm 2")
    ui.alarms.remove(at: 0)
    ui.send(.changed)
    #expect(ui.selected == "Alarm 2")
    // Another device deletes it: the next one takes its place.
    ui.alarms.removeAll { $0.title == "Alarm 2" }
    ui.send(.changed)
    #expect(ui.selected == "Alarm 3")
    ui.press("G")
    #expect(ui.selected == "Alarm 11")
    ui.press("g")
    #expect(ui.selected == "Alarm 1")
    ui.alarms = []
    ui.send(.changed)
    #expect(ui.selected == nil)
    ui.press("d", "j", "enter", "x")
    #expect(ui.asked.isEmpty)
    #expect(ui.lines.contains { $0.contains("No alarm matches.") })
  }

  @Test("Answers are for the selected alarm, or for all that are marked")
  func answers() {
    var ui = UIFixture()
    let ids = ui.alarms.map(\.id)
    for number in [1, 2] { ui.alarms[number] = UIFixture.row(number, state: .pending) }
    ui.send(.changed)
    ui.press("g", "d")
    #expect(ui.asked == [.answer(.done, [ids[1]])])
    ui.asked = []
    ui.press("g", "space", "space", "S")
    #expect(ui.asked == [.answer(.skip, [ids[1], ids[2]])])
    ui.asked = []
    ui.send(.ended(.init(lines: ["Skipped: 2 alarms."])))
    #expect(ui.state.list.marked.isEmpty)
    #expect(ui.lines[22] == " Skipped: 2 alarms.")
    ui.press("v")
    #expect(ui.state.list.marked.count == 12)
    ui.press("esc")
    #expect(ui.state.list.marked.isEmpty)
  }

  @Test("Deleting asks first, and only y deletes")
  func deletion() {
    var ui = UIFixture()
    ui.press("x")
    #expect(ui.lines[22] == " Delete Alarm 0 on all devices? y/n")
    ui.press("n", "x", "esc", "x", "enter")
    #expect(ui.asked.isEmpty)
    ui.press("x", "y")
    #expect(ui.asked == [.run(["delete", ui.alarms[0].id.text, "--yes"])])
  }

  @Test("A filter shows what matches while it is typed, and esc ends it")
  func filter() {
    var ui = UIFixture()
    ui.press("/")
    ui.type("Alarm 1")
    #expect(ui.state.list.content.rows.count == 4)
    ui.press("enter")
    #expect(ui.lines[22] == " filter: Alarm 1")
    ui.press("esc")
    #expect(ui.state.list.content.rows.count == 13)
    ui.press("/")
    ui.type("zzz")
    ui.press("esc")
    #expect(ui.state.list.filter.isEmpty)
    // A list that was read for an older filter is left out.
    ui.press("/")
    ui.type("Alarm 11")
    ui.send(.list(ui.content(""), filter: ""))
    #expect(ui.state.list.content.rows.count == 2)
  }

  @Test("A new alarm is typed as a phrase, whose meaning is shown")
  func add() {
    var ui = UIFixture()
    ui.press("a")
    ui.type("Rent every month on the 1st")
    #expect(ui.lines.contains(" means Rent every month on the 1st"))
    ui.send(.input(.paste(" at 9am\nx")))
    ui.press("backspace", "backspace", "enter")
    #expect(ui.asked == [.run(["add", "Rent", "every", "month", "on", "the", "1st", "at", "9am"])])
    ui.press("a", "esc")
    #expect(ui.asked.count == 1)
  }

  @Test("The command line completes, runs commands, and shows long output until it is closed")
  func commandLine() {
    var ui = UIFixture()
    ui.press(":")
    ui.type("d")
    #expect(ui.lines.contains(" done  dismiss"))
    ui.type("one \"Alarm 1\" --note 'it is'")
    ui.press("enter")
    #expect(ui.asked == [.run(["done", "Alarm 1", "--note", "it is"])])
    ui.send(.ended(.init(title: "log", lines: (0..<50).map { "entry \($0)" })))
    #expect(ui.lines[1] == " entry 0")
    ui.press("G")
    #expect(ui.lines[21].contains("entry 49"))
    ui.press("q")
    #expect(ui.lines[1].contains("Tomorrow (12)"))
    ui.asked = []
    ui.press(":")
    ui.type("q")
    ui.press("enter")
    #expect(ui.asked == [.quit])
    #expect(
      ShellWords.split(#"note rent "it's \"due\"" don't"#) == [
        "note", "rent", #"it's "due""#, "don't",
      ])
  }

  @Test("The help lists the keys of the place, filtered while one types, and performs the only one")
  func help() {
    var ui = UIFixture()
    ui.press("?")
    #expect(ui.lines[1].contains("Mark as done"))
    ui.type("record")
    #expect(ui.lines[1].contains("Edit the record in $EDITOR"))
    ui.press("enter")
    #expect(ui.asked == [.editFile(ui.alarms[0].id)])
    ui.press("2", "?")
    #expect(!ui.lines.contains { $0.contains("Mark as done") })
    #expect(ui.lines.contains { $0.contains("Show the next month") })
  }

  @Test("Pages are shown by numbers, tab and mouse, and the month moves")
  func pages() {
    var ui = UIFixture()
    ui.press("2", "right", "right", "h")
    #expect(ui.lines[1] == " Month 1, line 0")
    ui.press("tab", "pagedown")
    #expect(ui.state.tab == .history && ui.lines[1] == " History 1, line 20")
    ui.press("G")
    #expect(ui.lines[21] == " History 1, line 59")
    ui.send(.input(.click(column: 1, row: 0)))
    #expect(ui.state.tab == .alarms)
    ui.send(.input(.click(column: 10, row: 5)))
    #expect(ui.selected == "Alarm 3")
    ui.send(.input(.wheel(1, column: 10, row: 5)))
    #expect(ui.selected == "Alarm 6")
    ui.send(.input(.click(column: 10, row: 8)))
    #expect(ui.state.showsDetails && ui.lines[1] == " Alarm 6")
    ui.press("j", "esc")
    #expect(!ui.state.showsDetails && ui.selected == "Alarm 6")
  }

  @Test("Lines of a page that can be opened are selected, and stay so when the page grows")
  func openable() {
    var ui = UIFixture()
    func lines(_ numbers: [Int]) -> [PageLine] {
      [PageLine("Today")] + numbers.map { PageLine("commit \($0)", command: ["git", "\($0)"]) }
    }
    ui.press("3")
    ui.send(.page(.history, lines(Array((1...40).reversed()))))
    ui.press("j", "j", "enter")
    #expect(ui.asked == [.run(["git", "38"])])
    ui.send(.page(.history, lines(Array((1...42).reversed()))))
    ui.asked = []
    ui.press("enter")
    #expect(ui.asked == [.run(["git", "38"])])
    ui.press("G", "enter")
    #expect(ui.asked.last == .run(["git", "1"]))
    #expect(ui.lines[21] == " commit 1")
    ui.press("g")
    #expect(ui.lines[1] == " Today")
    ui.send(.input(.click(column: 3, row: 4)))
    ui.send(.input(.click(column: 3, row: 4)))
    #expect(ui.asked.last == .run(["git", "40"]))
    ui.send(.page(.history, [PageLine("nothing")]))
    ui.press("enter", "j")
    #expect(ui.asked.count == 3)
  }

  @Test("A page opens at its present line, with what is below it, and stays where one goes")
  func present() {
    var ui = UIFixture()
    ui.press("2")
    let lines = (0..<60).map { number in
      PageLine(
        "line \(number)", command: number % 10 == 0 ? ["week", "\(number)"] : nil,
        isPresent: number == 30)
    }
    ui.state.pages[.month] = nil
    ui.send(.page(.month, lines))
    #expect(ui.state.pages[.month]?.selected == 30)
    #expect(ui.lines[1] == " line 29")
    for _ in 0..<9 { ui.press("k") }
    ui.send(.page(.month, lines))
    #expect(ui.state.pages[.month]?.selected == 20)
    ui.press("enter")
    #expect(ui.asked == [.run(["week", "20"])])
  }

  @Test("A command that needs the terminal gets it, and so does any one behind an exclamation mark")
  func terminalCommands() {
    var ui = UIFixture()
    ui.press(":")
    ui.type("delete rent")
    ui.press("enter")
    #expect(ui.asked == [.run(["delete", "rent"])])
    ui.send(.ended(.init(terminalCommand: ["delete", "rent"])))
    #expect(ui.asked.last == .runOnTerminal(["delete", "rent"]))
    for line in ["!git commit", " ! belfry git commit"] {
      ui.press(":")
      ui.type(line)
      ui.press("enter")
      #expect(ui.asked.last == .runOnTerminal(["git", "commit"]), "\(line)")
    }
    ui.press(":")
    ui.type("!")
    ui.press("enter")
    #expect(ui.asked.count == 4)
  }

  @Test("Keys behind a filter wait for its list, so that they act on what it selects")
  func typedAhead() {
    var ui = UIFixture()
    ui.alarms[7] = UIFixture.row(7, state: .pending)
    ui.send(.changed)
    ui.press("G", "k", "k", "g", "j")
    // Without a store that answers.
    func effects(_ names: String...) -> [UIEffect] {
      names.flatMap { name in
        Key(named: name).map { ui.state.update(.input(.key($0))) } ?? []
      }
    }
    #expect(ui.selected == "Alarm 0")
    let typed = effects("/", "7", "enter", "d", "q")
    #expect(typed.allSatisfy { if case .readList = $0 { true } else { false } }, "\(typed)")
    ui.send(.list(ui.content("7"), filter: "7"))
    #expect(ui.asked == [.answer(.done, [ui.alarms[7].id]), .quit])
    // Without an answer, Ctrl-C still ends.
    ui.asked = []
    #expect(effects("/", "8", "enter", "d", "ctrl-c").last == .quit)
  }

  @Test("Keys before the first list wait for it")
  func typedAtTheStart() {
    let ui = UIFixture()
    var state = UIState(size: Size(80, 24))
    _ = state.begin()
    #expect(state.update(.input(.key(Key("j")))).isEmpty)
    #expect(state.update(.input(.key(Key("s")))).isEmpty)
    let effects = state.update(.list(ui.content(""), filter: ""))
    #expect(effects.contains(.answer(.stop, [ui.alarms[1].id])), "\(effects)")
    #expect(state.update(.input(.key(Key("c", control: true)))) == [.quit])
  }

  @Test("A short result of a command is a message without its colors")
  func coloredMessage() {
    var ui = UIFixture()
    ui.send(.ended(.init(lines: ["\u{1B}[1;31merror:\u{1B}[0m no remote."], isError: true)))
    #expect(ui.lines.contains(" error: no remote."), "\(ui.lines)")
  }

  @Test("What rings opens its own screen, and is stopped in place")
  func ringing() {
    var ui = UIFixture()
    ui.alarms[4] = UIFixture.row(4, state: .ringing)
    ui.send(.changed)
    ui.press("g", "enter")
    #expect(ui.asked == [.runOnTerminal(["ring", ui.alarms[4].id.text])])
    ui.asked = []
    ui.press("s")
    #expect(ui.asked == [.answer(.stop, [ui.alarms[4].id])])
  }

  @Test("If the setting asks for it, only a held key stops what rings")
  func holding() {
    var ui = UIFixture()
    ui.holdsToStop = true
    ui.alarms[4] = UIFixture.row(4, state: .ringing)
    ui.send(.changed)
    ui.press("g")
    let stop = UIEvent.input(.key(Key("s")))
    func hold(until end: Int64) {
      ui.send(stop, at: 1000)
      for time in stride(from: Int64(1500), to: end, by: 50) { ui.send(stop, at: time) }
    }
    hold(until: 2600)
    #expect(ui.state.untilTick == 100)
    #expect(ui.lines[22] == " Hold s to stop Alarm 4  [##########----------]")
    // The key is released.
    ui.send(.tick, at: 3000)
    #expect(ui.asked.isEmpty && ui.state.untilTick == nil)
    #expect(ui.lines[22] == " Hold s for 3 s to stop Alarm 4.")
    hold(until: 2600)
    ui.press("esc")
    #expect(ui.asked.isEmpty && ui.state.untilTick == nil)
    hold(until: 4060)
    #expect(ui.asked == [.answer(.stop, [ui.alarms[4].id])])
    // Whoever holds the key for longer stops nothing else.
    ui.send(.ended(.init(lines: ["Stopped Alarm 4."])))
    ui.send(stop, at: 4100)
    ui.send(stop, at: 7200)
    #expect(ui.asked.count == 1 && ui.lines[22] == " Stopped Alarm 4.")
    ui.send(.tick, at: 8100)
    #expect(ui.state.untilTick == nil && ui.lines[22] == " Stopped Alarm 4.")
    // What does not ring is answered at once, and nothing moves if that is not wanted.
    ui.isStill = true
    ui.send(.changed)
    hold(until: 2600)
    #expect(ui.lines[22] == " Hold s to stop Alarm 4  2 s")
    ui.press("j")
    #expect(ui.selected == "Alarm 0")
    ui.asked = []
    ui.press("s")
    #expect(ui.asked == [.answer(.stop, [ui.alarms[0].id])])
  }

  @Test("The form changes the values that differ, shows what they mean, and keeps what is refused")
  func form() {
    var ui = UIFixture()
    let id = ui.alarms[0].id.text
    ui.press("e")
    #expect(ui.lines[1].hasPrefix(" Title                 Rent"))
    #expect(ui.lines[5].hasPrefix(" Ring until answered   no"))
    #expect(ui.state.render().cursor == .init(column: 27, row: 1))
    ui.type(" at 'home'")
    ui.press("tab", "ctrl-u")
    ui.type("monthly on the 2nd")
    ui.press("down", "ctrl-u", "down", "down", "space")
    #expect(ui.lines[1].hasPrefix("*Title                 Rent at 'home'"))
    #expect(ui.lines[5].hasPrefix("*Ring until answered   yes   space switches"))
    #expect(
      ui.lines[7]
        == " means monthly on the 2nd --title=Rent at 'home' --tag=none --persistent")
    let words = [
      "edit", id, "monthly", "on", "the", "2nd", "--title=Rent at 'home'", "--tag=none",
      "--persistent",
    ]
    ui.press("enter", "enter")
    #expect(ui.asked == [.run(words)])
    ui.send(.ended(.init(lines: ["'2nd' is not a time.", "Write 9:00."], isError: true)))
    #expect(ui.lines[7] == " '2nd' is not a time." && ui.lines[8] == " Write 9:00.")
    ui.press("space", "enter")
    #expect(ui.asked.last == .run(words.dropLast()))
    ui.send(.ended(.init(lines: ["Changed Rent."])))
    #expect(ui.lines[22] == " Changed Rent." && ui.lines[1].contains("Tomorrow"))
    ui.asked = []
    // Without changes, or after a cancel, nothing is done.
    ui.press("e", "x", "backspace", "enter")
    #expect(ui.lines[22] == " Nothing has changed.")
    ui.press("e", "x", "esc")
    #expect(ui.lines[7].hasPrefix(" The changes are not saved."))
    ui.press("y")
    #expect(ui.lines[7].hasPrefix(" means"))
    ui.press("esc", "esc")
    #expect(ui.lines[22] == " Nothing was changed.")
    #expect(ui.asked.isEmpty)
    // A click selects a field.
    ui.press("e")
    ui.send(.resized(Size(40, 10)))
    ui.press("shift-tab")
    #expect(ui.state.render().cursor?.row == 5)
    ui.send(.input(.click(column: 5, row: 4)))
    ui.send(.input(.paste("a\nb")))
    #expect(ui.lines[4].hasPrefix("*Note") && ui.lines[4].hasSuffix("a b"))
  }

  @Test("What begins to ring has a bell, and is named where the list does not show it")
  func ringingElsewhere() {
    var ui = UIFixture()
    ui.press("2")
    ui.alarms[4] = UIFixture.row(4, state: .ringing, title: "Tea")
    ui.send(.changed)
    #expect(ui.bells == 1 && ui.lines[22] == " Tea rings.")
    ui.send(.changed)
    #expect(ui.bells == 1)
    ui.send(.time)
    #expect(ui.bells == 2)
    ui.press("1")
    #expect(ui.lines[22].isEmpty && ui.lines[2].contains("Tea"))
    ui.alarms[5] = UIFixture.row(5, state: .ringing, title: "Milk")
    ui.press("/")
    ui.type("Alarm 1")
    ui.press("enter")
    #expect(ui.lines[22] == " Tea and 1 more ring.  filter: Alarm 1")
    // Without a scheduler, nothing has rung.
    ui.isDelivered = false
    ui.send(.changed)
    #expect(ui.lines[22] == " Tea and 1 more are due.  filter: Alarm 1")
    ui.isDelivered = true
    ui.alarms[4] = UIFixture.row(4)
    ui.alarms[5] = UIFixture.row(5)
    ui.send(.time)
    #expect(ui.lines[22] == " filter: Alarm 1")
  }

  @Test("A prompt comes back with its text and the reason if its command is refused")
  func refused() {
    var ui = UIFixture()
    let id = ui.alarms[0].id.text
    ui.press("Z")
    #expect(ui.lines[21] == " How long? Such as: 20m, 2h, until 18:00")
    ui.type("banana")
    ui.press("enter")
    #expect(ui.asked == [.run(["snooze", id, "--when=banana"])])
    ui.send(
      .ended(
        .init(title: "snooze \(id) --when=banana", lines: ["error: no length."], isError: true)))
    #expect(ui.lines[21] == " error: no length." && ui.lines[22] == " Snooze Alarm 0: banana")
    ui.press("ctrl-u")
    ui.type("1h")
    ui.press("enter")
    #expect(ui.asked.last == .run(["snooze", id, "--when=1h"]))
    ui.send(.ended(.init(title: "snooze \(id) --when=1h", lines: ["Snoozed Alarm 0."])))
    #expect(ui.lines[22] == " Snoozed Alarm 0.")
    // An alarm without a schedule needs no dialogue on the terminal.
    ui.asked = []
    ui.press("a")
    ui.type("Fish")
    ui.press("enter")
    ui.send(.ended(.init(terminalCommand: ["add", "Fish"])))
    #expect(ui.asked == [.run(["add", "Fish"])])
    #expect(ui.lines[22] == " Add: Fish" && ui.lines.contains(" means Fish"))
    ui.press("esc")
    // A pause that has begun ends, also while something rings.
    ui.alarms[0] = AlarmRow(
      id: ui.alarms[0].id, title: "Alarm 0", state: .ringing, line: TableLine("  Alarm 0"),
      isPaused: true)
    ui.send(.changed)
    ui.press("g", "p")
    #expect(ui.asked.last == .run(["resume", id]))
  }

  @Test("Lines that were typed come back with up, for each kind of prompt")
  func history() {
    var ui = UIFixture()
    func text() -> String? {
      if case .prompt(let prompt) = ui.state.mode { prompt.editor.text } else { nil }
    }
    for line in ["next", "tags", "next"] {
      ui.press(":")
      ui.type(line)
      ui.press("enter")
      ui.send(.ended(.init(title: line)))
    }
    ui.press(":")
    ui.type("li")
    ui.press("up")
    #expect(text() == "next")
    ui.press("up")
    #expect(text() == "tags")
    // There is no earlier one.
    ui.press("up")
    #expect(text() == "tags")
    ui.press("down", "down")
    #expect(text() == "li")
    ui.press("ctrl-p", "enter")
    #expect(ui.asked.last == .run(["next"]))
    ui.send(.ended(.init(title: "next")))
    // The lines of another prompt are others.
    ui.press("Z", "up")
    #expect(text() == "")
    ui.type("20m")
    ui.press("enter")
    ui.send(.ended(.init()))
    ui.press("j", "Z", "up")
    #expect(text() == "20m")
  }

  @Test("A screen with the prompt of a new alarm ends with it, and shows again what is refused")
  func addOnly() {
    var ui = UIFixture(0, purpose: .add("Rent "))
    #expect(ui.lines[0] == " A new alarm" && ui.lines[1] == " Rent")
    ui.type("someday")
    #expect(ui.lines[3] == " means Rent someday")
    ui.press("enter")
    #expect(ui.asked == [.run(["add", "Rent", "someday"])])
    ui.send(
      .ended(.init(title: "add Rent someday", lines: ["'someday' is no day."], isError: true)))
    #expect(ui.lines[1] == " Rent someday" && ui.lines[3] == " 'someday' is no day.")
    #expect(ui.state.result == nil)
    ui.press("ctrl-z")
    #expect(ui.asked.last == .suspend)
    ui.press("ctrl-w")
    ui.type("daily")
    ui.press("enter")
    #expect(ui.asked.last == .run(["add", "Rent", "daily"]))
    ui.send(.ended(.init(title: "add Rent daily", lines: ["Added Rent."])))
    #expect(ui.state.result?.lines == ["Added Rent."])
    #expect(ui.asked.last == .quit)

    var other = UIFixture(0, purpose: .add(""))
    #expect(other.lines.contains { $0.contains("Dentist 24 dec 18:00") })
    other.press("esc")
    #expect(other.asked == [.quit] && other.state.result == nil)
  }

  @Test("A screen with the form of an alarm ends with it, also if nothing has changed")
  func editOnly() {
    let id = Identifier(high: 1, low: 7)
    func form() -> UIFixture { UIFixture(0, purpose: .edit(id, title: "Rent")) }
    var ui = form()
    #expect(ui.lines[0] == " Rent" && ui.lines[1].contains("Title"))
    ui.type("!")
    ui.press("enter")
    #expect(ui.asked == [.run(["edit", id.text, "--title=Rent!"])])
    ui.send(.ended(.init(title: "edit", lines: ["The title is too long."], isError: true)))
    #expect(ui.lines.contains { $0.contains("too long") } && ui.asked.count == 1)
    ui.press("enter")
    ui.send(.ended(.init(title: "edit", lines: ["Changed title of Rent!"])))
    #expect(ui.state.result?.lines == ["Changed title of Rent!"] && ui.asked.last == .quit)

    var same = form()
    same.press("ctrl-z")
    #expect(same.asked == [.suspend])
    same.asked = []
    same.press("enter")
    #expect(same.state.result?.lines == ["Nothing has changed."] && same.asked == [.quit])
    var left = form()
    left.press("esc")
    #expect(left.state.result == nil && left.asked == [.quit])
  }

  @Test("Tab takes the only word that is left, and else what all have in common")
  func completion() {
    func completed(_ typed: String, _ words: [String]) -> String? {
      var prompt = UIState.Prompt(purpose: .command, editor: LineEditor(typed))
      prompt.completions = words
      return prompt.completed
    }
    #expect(completed("done re", ["'Rent reminder'"]) == "done 'Rent reminder' ")
    #expect(completed("s", ["settings", "sets"]) == "set")
    #expect(completed("edit x --s", ["--schedule", "--sound", "--start"]) == nil)
    #expect(completed("done ", ["Rent", "rent2"]) == nil)
  }

  @Test("In the linear mode, a number keeps its alarm until the list is printed again")
  func numbers() {
    var ui = UIFixture(3)
    let ids = ui.alarms.map(\.id.text)
    let first = PlainList(ui.content(""))
    #expect(first.command("done 2") == ["done", ids[1]])
    ui.alarms.remove(at: 0)
    ui.alarms.append(UIFixture.row(7))
    let second = PlainList(ui.content(""), after: first)
    #expect(
      second.command("done 2") == ["done", ids[1]] && second.command("3") == ["show", ids[2]])
    #expect(
      second.changes(since: first) == ["New 4: Alarm 7, daily 09:00", "Gone: Alarm 0"])
    #expect(PlainList(ui.content("")).command("done 2") == ["done", ids[2]])
  }

  @Test("A command that takes long is named, and its result does not disturb what is typed")
  func slowCommands() {
    var ui = UIFixture()
    ui.press(":")
    ui.type("sync")
    ui.press("enter")
    #expect(ui.asked == [.run(["sync"])] && ui.lines[22] == " belfry sync …")
    ui.press("a")
    ui.type("Re")
    ui.send(.ended(.init(title: "sync", lines: (1...9).map { "line \($0) of a long sync" })))
    ui.type("nt")
    #expect(ui.lines[22] == " Add: Rent")
    ui.press("esc")
    #expect(ui.lines[22] == " line 9 of a long sync" && ui.lines[17] == " line 4 of a long sync")
    ui.press("j")
    #expect(ui.lines[22].isEmpty)
  }

  @Test("A change by something else is marked for a moment")
  func changes() {
    var ui = UIFixture()
    ui.alarms[2] = UIFixture.row(2, title: "Another title")
    ui.send(.changed)
    #expect(ui.lines[4].hasPrefix("+  Another title"))
    ui.send(.marksEnded)
    #expect(ui.lines[4].hasPrefix("   Another title"))
  }

  @Test("Keys can be changed in a file, and a key has one meaning")
  func ownKeys() {
    let (table, problems) = KeyTable.standard.reading(
      "# mine\ndone = D\nskip =\nstop=ctrl-s, s\nfly = f\ndone = hyper-x\n\nhelp =")
    #expect(table.command(Key("D"), in: .alarms) == .done)
    #expect(table.command(Key("d"), in: .alarms) == nil)
    #expect(table.command(Key("S"), in: .alarms) == nil)
    #expect(table.command(Key(.character("s"), control: true), in: .alarms) == .stop)
    #expect(
      problems == [
        "line 5: 'fly' is no command", "line 6: 'hyper-x' is no key", "'help' has no key",
      ])
    for place in Place.allCases {
      let keys = KeyTable.standard.bindings.filter { $0.places.contains(place) }.flatMap(\.keys)
      #expect(Set(keys).count == keys.count, "a key has two meanings: \(place)")
    }
    #expect(Set(KeyTable.standard.bindings.map(\.command)) == Set(UICommand.allCases))
  }

  @Test(
    "100,000 random events: no crash, a valid selection, and nothing changes that no key asked for")
  func random() {
    var random = SystemRandomNumberGenerator()
    var ui = UIFixture(30)
    let keys =
      KeyTable.standard.bindings.flatMap(\.keys)
      + "abcdefghijklmnopqrstuvwxyzADZ/?: 1234567\"'".map { Key($0) }
    var buffer: Buffer?
    for step in 0..<100_000 {
      let before = ui.asked.count
      var isKey = false
      switch Int.random(in: 0..<40, using: &random) {
      case 0:
        ui.send(
          .resized(
            Size(Int.random(in: 1...180, using: &random), Int.random(in: 1...60, using: &random))))
      case 1:
        if Bool.random(using: &random) { ui.alarms.shuffle(using: &random) }
        let count = Int.random(in: 0...40, using: &random)
        ui.alarms = (0..<count).map {
          UIFixture.row($0 + step % 7, state: $0 % 9 == 0 ? .ringing : .active)
        }
        ui.send(.changed)
      case 2:
        ui.send(.time)
        ui.send(.tick, at: Int64(step) * 70)
      case 3: ui.send(.marksEnded)
      case 4:
        ui.send(
          .ended(
            .init(title: "x", lines: (0..<Int.random(in: 0...90, using: &random)).map { "l \($0)" })
          ))
      case 5:
        ui.send(
          .input(
            .click(
              column: Int.random(in: -1...200, using: &random),
              row: Int.random(in: -1...70, using: &random))))
        isKey = true
      case 6: ui.send(.input(.wheel(Int.random(in: -3...3, using: &random), column: 1, row: 3)))
      case 7: ui.send(.input(.paste("pasted\ntext 日本")))
      default:
        isKey = true
        ui.send(.input(.key(keys.randomElement(using: &random) ?? Key("j"))))
      }
      if !isKey { #expect(ui.asked.count == before) }
      let rows = ui.state.list.content.rows
      let isValid =
        rows.isEmpty ? ui.state.list.selected == nil : ui.state.list.selectedIndex != nil
      let marked = ui.state.list.marked.isSubset(of: rows.compactMap { $0.alarm?.id })
      let top = ui.state.list.top
      guard isValid, marked, top >= 0, top <= max(0, rows.count - 1) else {
        Issue.record("step \(step): \(ui.state.list)")
        return
      }
      // Drawing takes most of the time.
      guard step % 10 == 0 else { continue }
      let next = ui.state.render()
      guard next.size == ui.state.size, next.cells.count == next.size.columns * next.size.rows
      else {
        Issue.record("step \(step): the screen has another size")
        return
      }
      if step % 100 == 0 { _ = BufferDifference.bytes(from: buffer, to: next, .palette256) }
      buffer = next
    }
  }
}
