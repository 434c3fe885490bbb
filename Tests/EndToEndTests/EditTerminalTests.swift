import Foundation
import TestSupport
import Testing

/// Edits, pagers and colors on a terminal.
@Suite struct EditTerminalTests {
  private func sandbox() async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    for title in ["Tea", "Pills"] {
      try await sandbox.belfry("add", title, "daily 9:00", "--tag", "home").expectSuccess()
    }
    return sandbox
  }

  private func head(_ sandbox: Sandbox) async throws -> String {
    try await sandbox.git("rev-parse", "HEAD").out
  }

  // MARK: Several alarms

  @Test("An edit of several alarms shows what changes, and asks")
  func asks() async throws {
    let sandbox = try await sandbox()
    let before = try await head(sandbox)
    let words = ["edit", "+home", "--at", "18:00"]
    func edit(_ answer: String) async throws -> Sandbox.Output {
      try await sandbox.onTerminal(
        words[0], words[1], words[2], words[3], input: answer + "\n", after: "[y/N]")
    }
    let declined = try await edit("n")
    for line in [
      "Pills  schedule: daily 09:00 → daily 18:00",
      "Tea    schedule: daily 09:00 → daily 18:00", "Change 2 alarms? [y/N]",
      "nothing was changed.",
    ] { #expect(declined.out.contains(line), "\(declined.out)") }
    #expect(try await head(sandbox) == before)
    let accepted = try await edit("y")
    #expect(accepted.out.contains("Changed 2 alarms. To undo: belfry undo"), "\(accepted.out)")
    #expect(try await sandbox.git("rev-list", "--count", "\(before.dropLast())..HEAD").out == "1\n")
    // The answer is known, or only one alarm changes.
    let again = try await sandbox.onTerminal(
      "edit", "tea", "pills", "--at", "7:00", "-y", input: "")
    #expect(again.out.contains("Changed 2 alarms.") && !again.out.contains("[y/N]"))
    _ = try await sandbox.belfry("edit", "tea", "--note", "milk")
    let one = try await sandbox.onTerminal("note", "tea", "pills", "with milk", "-y", input: "")
    #expect(one.out.contains("Tea    note: milk → with milk"), "\(one.out)")
  }

  // MARK: The form, line by line

  private static let dumb = ["TERM": "dumb"]

  @Test("Without options, edit asks for the values, and changes those that differ")
  func form() async throws {
    let sandbox = try await sandbox()
    _ = try await sandbox.belfry("edit", "tea", "--note", "milk")
    let kept = try await sandbox.onTerminal(
      "edit", "tea", input: "\n\n\n\n", after: "Title [Tea]:", environment: Self.dumb)
    for question in [
      "Title [Tea]:", "Schedule [daily 09:00]:", "Note; none for none [milk]:", "[n]:",
    ] {
      #expect(kept.out.contains(question), "\(question) in \(kept.out)")
    }
    #expect(kept.out.contains("Nothing has changed."), "\(kept.out)")
    let edited = try await sandbox.onTerminal(
      "edit", "tea", input: "Green tea\nnonsense\nto 11am\nnone\ny\n", after: "Title [Tea]:",
      environment: Self.dumb)
    #expect(edited.out.contains("'nonsense' is not a schedule"), "\(edited.out)")
    #expect(
      edited.out.contains("Changed delivery, note, schedule, title of Green tea"), "\(edited.out)")
    let shown = try await sandbox.belfry("show", "green", "--json").object
    #expect((shown["schedule"] as? [String: Any])?["times"] as? [String] == ["11:00"])
    #expect(shown["note"] == nil)
    #expect((shown["delivery"] as? [String: Any])?["persistent"] as? Bool == true)
    let both = try await sandbox.onTerminal("edit", "green", "pills", input: "")
    #expect(both.out.contains("the form needs one alarm, not 2."), "\(both.out)")
  }

  @Test("Without a schedule, the form of add asks for it, also behind a title of several words")
  func asksForTheSchedule() async throws {
    let sandbox = try await sandbox()
    let add = try await sandbox.onTerminal(
      "add", "feed", "the", "fish", input: "daily\n8:00\n\n\n", after: "Repeat",
      environment: Self.dumb)
    #expect(add.out.contains("Added feed the fish"), "\(add.out)")
    #expect(add.out.contains("daily 08:00"), "\(add.out)")
  }

  @Test("At the limit of the tier, the form of add does not open")
  func limit() async throws {
    let sandbox = try Sandbox()
    for title in ["Tea", "Pills"] {
      try await sandbox.belfry("add", title, "daily 9:00").expectSuccess()
    }
    let add = try await sandbox.onTerminal("add", input: "")
    #expect(add.status == 5 && !add.out.contains("A new alarm"), "\(add.out)")
  }

  // MARK: The pager

  /// Returns a sandbox with a pager that records its input.
  private func paged() async throws -> (Sandbox, pager: String) {
    let sandbox = try await sandbox()
    return (sandbox, try sandbox.script("pager", "echo PAGED; tee '\(sandbox.root)/paged'"))
  }

  @Test("Output that is longer than the screen is shown in the pager, other output is not")
  func pager() async throws {
    let (sandbox, pager) = try await paged()
    func run(_ words: String..., environment: [String: String] = [:]) async throws -> Sandbox.Output
    {
      let variables = ["BELFRY_PAGER": pager].merging(environment) { $1 }
      return switch words.count {
      case 1: try await sandbox.onTerminal(words[0], input: "", environment: variables)
      case 2: try await sandbox.onTerminal(words[0], words[1], input: "", environment: variables)
      default:
        try await sandbox.onTerminal(
          words[0], words[1], words[2], input: "", environment: variables)
      }
    }
    let short = try await run("next", "--count=9")
    #expect(short.out.contains("Tea") && !short.out.contains("PAGED"), "\(short.out)")
    let long = try await run("next", "--count=50")
    #expect(long.status == 0 && long.out.contains("PAGED"), "\(long.out)")
    let shown = try sandbox.read(sandbox.root + "/paged")
    #expect(shown.split(separator: "\n").count > 50)
    #expect(shown.contains("\u{1B}["), "the colors are those of a terminal")
    for words in [("next", "--count=50", "--no-pager"), ("--no-pager", "next", "--count=50")] {
      let plain = try await run(words.0, words.1, words.2)
      #expect(!plain.out.contains("PAGED") && plain.out.contains("Tea"))
    }
    let json = try await run("next", "--count=50", "--json")
    #expect(!json.out.contains("PAGED"))
    let piped = try await sandbox.belfry("next", "--count=50", environment: ["BELFRY_PAGER": pager])
    #expect(!piped.out.contains("PAGED"))
  }

  @Test("BELFRY_PAGER comes before git's core.pager, and that before PAGER")
  func choice() async throws {
    let (sandbox, _) = try await paged()
    func shown(_ environment: [String: String]) async throws -> String {
      try await sandbox.onTerminal("next", "--count=50", input: "", environment: environment).out
    }
    let variables = ["PAGER": "echo THIRD; cat"]
    #expect(try await shown(variables).contains("THIRD"))
    _ = try await sandbox.git("config", "core.pager", "echo SECOND; cat")
    #expect(try await shown(variables).contains("SECOND"))
    #expect(
      try await shown(variables.merging(["BELFRY_PAGER": "echo FIRST; cat"]) { $1 })
        .contains("FIRST"))
    let none = try await shown(["BELFRY_PAGER": ""])
    #expect(!none.contains("SECOND") && none.contains("Tea"))
    let missing = try await shown(["BELFRY_PAGER": "nosuchpager"])
    #expect(missing.contains("the pager could not be started."), "\(missing)")
  }

  @Test("A pager that ends early ends the command without an error")
  func quits() async throws {
    let (sandbox, _) = try await paged()
    let output = try await sandbox.onTerminal(
      "next", "--count=10000", input: "",
      environment: ["BELFRY_PAGER": "head -n 3 >/dev/null; echo END"])
    #expect(output.status == 0 && output.out.contains("END"), "\(output)")
    #expect(!output.out.contains("error"), "\(output.out)")
  }

  // MARK: Colors

  @Test("--color decides on colors, before the verb and behind it")
  func colors() async throws {
    let sandbox = try await sandbox()
    let escape = "\u{1B}["
    for words in [["list", "--color", "always"], ["--color=always", "list"]] {
      let output = try await sandbox.belfry(words, environment: ["NO_COLOR": "1"])
      #expect(output.out.contains(escape), "\(output)")
    }
    #expect(try await !sandbox.belfry("list").out.contains(escape))
    let terminal = try await sandbox.onTerminal("list", "--color", "never", input: "")
    #expect(!terminal.out.contains(escape), "\(terminal.out)")
    let wrong = try await sandbox.belfry("list", "--color", "blue")
    #expect(wrong.status == 2 && wrong.err.contains("'auto', 'always' or 'never'"), "\(wrong.err)")
  }
}
