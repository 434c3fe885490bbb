import BelfryCore
import BelfryTerminal
import Testing

@testable import BelfryUI

/// Keys that must not do more than a person expects.
@Suite struct UISafetyTests {
  private func isBrowsing(_ ui: UIFixture) -> Bool {
    if case .browsing = ui.state.mode { true } else { false }
  }

  private func prompt(_ ui: UIFixture) -> UIState.Prompt? {
    if case .prompt(let prompt) = ui.state.mode { prompt } else { nil }
  }

  /// Types a move that no command accepts. Returns the words of the command.
  private func refusedMove(_ ui: inout UIFixture) -> [String] {
    ui.press("m")
    ui.type("banana")
    ui.press("enter")
    guard case .run(let words)? = ui.asked.last else {
      Issue.record("\(ui.asked)")
      return []
    }
    return words
  }

  @Test("Every letter that is typed into the help searches, also q")
  func helpSearch() {
    var ui = UIFixture()
    ui.press("?")
    ui.type("quit")
    #expect(ui.asked.isEmpty && !isBrowsing(ui))
    #expect(ui.lines[1].contains("q") && ui.lines[22].contains("keys: quit"))
    ui.press("esc")
    #expect(isBrowsing(ui) && ui.asked.isEmpty)
    // The last keys stay at the end of the screen.
    ui.press("?", "pagedown", "pagedown", "pagedown")
    #expect(!ui.lines[21].isEmpty && !ui.lines[1].isEmpty)
  }

  @Test("On a screen that is too small to show anything, only the keys that end it count")
  func tooSmall() {
    for size in [Size(20, 5), Size(39, 24), Size(80, 9)] {
      var ui = UIFixture()
      ui.send(.resized(size))
      ui.press("S", "space", "j", "x", "y", ":")
      ui.send(.input(.click(column: 1, row: 3)))
      #expect(ui.asked.isEmpty && isBrowsing(ui))
      ui.press("q")
      #expect(ui.asked == [.quit])
      ui.send(.resized(Size(80, 24)))
      #expect(ui.selected == "Alarm 0" && ui.state.list.marked.isEmpty)
    }
  }

  @Test("A key of the list is explained on other pages, and a key without any meaning is not")
  func keysOfOtherPages() {
    var ui = UIFixture()
    ui.press("3", "d")
    #expect(ui.asked.isEmpty && ui.lines[22] == " 'd' is for the page Alarms, which 1 opens.")
    ui.press("w")
    #expect(ui.lines[22] == " 'w' has no meaning here. ? shows the keys.")
  }

  @Test("A message has the width of the screen, also after another one")
  func messageWidth() {
    var ui = UIFixture(size: Size(40, 12))
    ui.send(.ended(.init(lines: ["One sentence that is longer than forty columns by far."])))
    #expect(ui.lines[9].hasPrefix(" One sentence") && !ui.lines[10].isEmpty)
    ui.send(.resized(Size(80, 24)))
    #expect(ui.lines[22] == " One sentence that is longer than forty columns by far.")
  }

  @Test("Ctrl and Alt move by words in a line")
  func words() {
    for (control, alt) in [(true, false), (false, true)] {
      var editor = LineEditor("done rent early")
      _ = editor.handle(Key(.left, control: control, alt: alt))
      _ = editor.handle(Key(.left, control: control, alt: alt))
      #expect(editor.cursor == 5)
      _ = editor.handle(Key(.delete, control: control, alt: alt))
      #expect(editor.text == "done  early")
      _ = editor.handle(Key(.right, control: control, alt: alt))
      #expect(editor.cursor == 11)
    }
  }

  @Test("An answer to several marked alarms is for those that wait for one")
  func markedAnswers() {
    var ui = UIFixture()
    for number in [3, 5] { ui.alarms[number] = UIFixture.row(number, state: .ringing) }
    ui.send(.changed)
    ui.press("v", "d")
    #expect(ui.asked == [.answer(.done, [ui.alarms[3].id, ui.alarms[5].id])])
    ui.send(.ended(.init(lines: ["Done: 2 alarms."])))
    #expect(ui.lines.contains(" Done: 2 alarms. 10 others need no answer."), "\(ui.lines)")
    ui.press("v")
    // One that is pending cannot be stopped, and does not keep the others from it.
    ui.asked = []
    ui.alarms[7] = UIFixture.row(7, state: .pending)
    ui.send(.changed)
    ui.press("z", "s", "d")
    let ids = [3, 5, 7].map { ui.alarms[$0].id }
    #expect(
      ui.asked == [
        .answer(.snooze, Array(ids[..<2])), .answer(.stop, Array(ids[..<2])), .answer(.done, ids),
      ])
    // Each one has a next occurrence.
    ui.asked = []
    ui.press("S")
    guard case .answer(.skip, let skipped)? = ui.asked.first else {
      Issue.record("\(ui.asked)")
      return
    }
    #expect(skipped.count == 12)
  }

  @Test("v marks all that are shown, and unmarks them only if each one is marked")
  func markAll() {
    var ui = UIFixture()
    ui.press("space", "space", "v")
    #expect(ui.state.list.marked.count == 12)
    ui.press("v")
    #expect(ui.state.list.marked.isEmpty)
  }

  @Test("To mark the next occurrence as done, one answers a question")
  func doneEarly() throws {
    var ui = UIFixture(size: Size(60, 20))
    ui.press("d")
    #expect(
      ui.lines[17...18] == [
        " Alarm 0 has not rung yet. Mark its next occurrence as", " done? y/n",
      ], "\(ui.lines)")
    // Nothing but y does it.
    ui.press("enter")
    #expect(ui.asked.isEmpty && isBrowsing(ui))
    ui.press("d", "y")
    #expect(ui.asked == [.run(["done", ui.alarms[0].id.text, "--early"])])
    ui.asked = []
    ui.send(.ended(.init(lines: ["Done: Alarm 0."])))
    ui.press("d", "esc")
    #expect(ui.asked.isEmpty && isBrowsing(ui))
  }

  @Test("After an answer, the next alarm that waits for one is selected")
  func nextAnswer() {
    var ui = UIFixture()
    for number in [2, 4, 6] { ui.alarms[number] = UIFixture.row(number, state: .ringing) }
    ui.send(.changed)
    ui.press("g", "j", "d")
    #expect(ui.selected == "Alarm 4" && ui.asked == [.answer(.done, [ui.alarms[4].id])])
    ui.alarms[4] = UIFixture.row(4)
    ui.send(.ended(.init(lines: ["Done: Alarm 4."])))
    #expect(ui.selected == "Alarm 6")
    // One that is pending still waits.
    ui.press("s")
    ui.alarms[6] = UIFixture.row(6, state: .pending)
    ui.send(.ended(.init(lines: ["Stopped Alarm 6."])))
    #expect(ui.selected == "Alarm 6")
    ui.press("d")
    ui.alarms[6] = UIFixture.row(6)
    ui.send(.ended(.init(lines: ["Done: Alarm 6."])))
    #expect(ui.selected == "Alarm 2")
    // So it does after a prompt that was refused first.
    ui.alarms[0] = UIFixture.row(0, state: .ringing)
    ui.send(.changed)
    ui.press("Z")
    for text in ["banana", "1h"] {
      ui.press("ctrl-u")
      ui.type(text)
      ui.press("enter")
      guard case .run(let words)? = ui.asked.last else { continue }
      if text == "1h" { ui.alarms[2] = UIFixture.row(2, state: .snoozed) }
      ui.send(
        .ended(
          .init(
            title: words.joined(separator: " "), lines: ["\(text)."], isError: text == "banana")))
    }
    #expect(ui.selected == "Alarm 0")
    ui.alarms[0] = UIFixture.row(0)
    ui.alarms[2] = UIFixture.row(2, state: .ringing)
    ui.send(.changed)
    ui.press("g")
    // Without another one, the selection follows its alarm, and so it does if another device answers.
    ui.press("d")
    ui.alarms[2] = UIFixture.row(2)
    ui.send(.ended(.init(lines: ["Done: Alarm 2."])))
    #expect(ui.selected == "Alarm 2")
    for number in [2, 4] { ui.alarms[number] = UIFixture.row(number, state: .ringing) }
    ui.send(.changed)
    ui.press("g")
    ui.alarms[2] = UIFixture.row(2)
    ui.send(.changed)
    #expect(ui.selected == "Alarm 2")
  }

  @Test("A question names one of several alarms with the same title by its id")
  func sameTitles() {
    var ui = UIFixture()
    ui.alarms[1] = UIFixture.row(1, title: "Alarm 0")
    ui.send(.changed)
    ui.press("g", "x")
    let name = "Alarm 0 (\(ui.alarms[0].id.short))"
    #expect(ui.lines[22] == " Delete \(name) on all devices? y/n", "\(ui.lines[22])")
  }

  @Test("A form whose schedule has several readings stays, and needs no dialogue")
  func ambiguousForm() {
    var ui = UIFixture()
    ui.press("e")
    ui.type("x")
    ui.press("enter")
    guard case .run(let words)? = ui.asked.last else {
      Issue.record("\(ui.asked)")
      return
    }
    ui.asked = []
    ui.send(.ended(.init(terminalCommand: words)))
    guard case .form(let form) = ui.state.mode else {
      Issue.record("\(ui.state.mode)")
      return
    }
    #expect(!form.isSaving && !form.preview.isEmpty && ui.asked.isEmpty)
  }

  @Test("To skip an alarm that was missed or is pending, one answers what is meant")
  func skipWhatNoLongerRings() {
    var ui = UIFixture()
    ui.alarms[0] = UIFixture.row(0, state: .pending)
    ui.alarms[1] = UIFixture.row(1, state: .missed)
    ui.send(.changed)
    ui.press("g", "S")
    #expect(ui.lines.contains { $0.contains("goes on waiting") } && ui.asked.isEmpty)
    ui.press("y")
    #expect(ui.asked == [.run(["skip", ui.alarms[0].id.text, "--yes"])])
    ui.asked = []
    ui.send(.ended(.init(title: "skip", lines: ["Skipped Alarm 0."])))
    // Below the others in this list.
    for _ in 0..<12 where ui.selected != "Alarm 1" { ui.press("j") }
    ui.press("S")
    #expect(ui.lines[22] == " Alarm 1 was missed. Dismiss that? y/n" && ui.asked.isEmpty)
    ui.press("y")
    #expect(ui.asked == [.run(["dismiss", ui.alarms[1].id.text])])
    ui.asked = []
    ui.press("Z")
    #expect(ui.asked == [.answer(.snooze, [ui.alarms[1].id])] && isBrowsing(ui))
  }

  @Test("What was answered on the screen of what rings is said below the list")
  func answersOfRinging() {
    var ui = UIFixture()
    for number in 0...2 { ui.alarms[number] = UIFixture.row(number, state: .ringing) }
    ui.send(.changed)
    ui.press("g", "R")
    #expect(ui.asked == [.runOnTerminal(["ring", ui.alarms[0].id.text])])
    ui.alarms[0] = UIFixture.row(0, state: .pending)
    ui.alarms[1] = UIFixture.row(1)
    ui.send(.changed)
    #expect(ui.lines[22] == " Alarm 0 is pending. Alarm 1 is answered.")
    // A later change is no answer on that screen.
    ui.press("j")
    ui.alarms[2] = UIFixture.row(2, state: .snoozed)
    ui.send(.changed)
    #expect(ui.lines[22].isEmpty)
    // Nothing was answered.
    ui.press("g", "R")
    ui.send(.changed)
    #expect(ui.lines[22].isEmpty)
  }

  @Test("A refusal in the prompt of an action shows examples for the prompt")
  func refusalOfAction() {
    var ui = UIFixture()
    let words = refusedMove(&ui)
    let lines = ["error: 'Alarm 0 banana' has no new time.", "hint: belfry move gym tomorrow"]
    ui.send(.ended(.init(title: words.joined(separator: " "), lines: lines, isError: true)))
    #expect(ui.lines[20].hasPrefix(" To when?") && ui.lines[21] == " " + lines[0])
    #expect(!ui.lines.contains { $0.contains("belfry move") })
  }

  @Test("The line of a new alarm that Esc has ended comes back with Up")
  func cancelledLine() {
    var ui = UIFixture()
    ui.press("a")
    ui.type("walk the dog daily 7:00")
    ui.press("esc", "a", "up")
    #expect(prompt(ui)?.editor.text == "walk the dog daily 7:00" && ui.asked.isEmpty)
  }

  @Test("To edit several alarms, one completes the command")
  func editMarked() {
    var ui = UIFixture()
    ui.press("space", "space", "e")
    let ids = ui.alarms.prefix(2).map(\.id.short)
    #expect(prompt(ui)?.editor.text == "edit \(ids[0]) \(ids[1]) --yes ")
    ui.type("--tag +home")
    ui.press("enter")
    #expect(ui.asked == [.run(["edit", ids[0], ids[1], "--yes", "--tag", "+home"])])
  }

  @Test("The reason of a refusal ends with the text that it is about")
  func staleRefusal() {
    var ui = UIFixture()
    let words = refusedMove(&ui)
    ui.send(
      .ended(.init(title: words.joined(separator: " "), lines: ["error: no time."], isError: true)))
    #expect(ui.lines.contains(" error: no time."))
    ui.press("backspace")
    #expect(
      !ui.lines.contains(" error: no time.") && ui.lines.contains { $0.hasPrefix(" To when?") })
  }

  @Test("The lines that another filter shows are not marked as changed")
  func filterMarks() {
    var ui = UIFixture()
    ui.press("/")
    ui.type("7")
    ui.press("enter", "esc")
    #expect(ui.state.list.changed.isEmpty && ui.state.list.content.rows.count == 13)
  }

  @Test("A filter is named beside a message that leaves room for it")
  func filterAndMessage() {
    var ui = UIFixture()
    ui.press("/")
    ui.type("7")
    ui.press("enter")
    #expect(ui.lines[22] == " filter: 7")
    ui.send(.ended(.init(lines: ["Skipped: Alarm 7."])))
    #expect(ui.lines[22].hasPrefix(" Skipped: Alarm 7. ") && ui.lines[22].hasSuffix("filter: 7"))
    ui.send(.ended(.init(lines: [String(repeating: "x", count: 75)])))
    #expect(!ui.lines[22].contains("filter"))
  }

  @Test("A problem that is too long keeps the command that solves it")
  func longProblem() {
    var ui = UIFixture()
    var content = ui.content("")
    content.problems = [
      "The scheduler does not run, so no alarm rings on this device: belfry service install"
    ]
    ui.send(.list(content, filter: ""))
    #expect(ui.lines[22].hasSuffix("…: belfry service install"), "\(ui.lines[22])")
    #expect(ui.lines[22].count <= 80)
  }

  @Test("Ctrl-D ends a prompt without a text")
  func endOfInput() {
    var ui = UIFixture()
    ui.press("a", "x", "ctrl-d")
    #expect(!isBrowsing(ui))
    ui.press("backspace", "ctrl-d")
    #expect(isBrowsing(ui))
  }
}
