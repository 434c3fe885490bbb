import ArgumentParser
import BelfryCore
import BelfryStore
import Git

struct Conflicts: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show which edits a merge set aside, and take them back.",
    discussion: "Nobody is ever asked to decide; but what was decided can be seen, and changed.",
    subcommands: [ConflictsList.self, ConflictsRestore.self],
    defaultSubcommand: ConflictsList.self)

  @ParentCommand var root: Belfry
}

/// So many are looked for, unless somebody asks for more.
private let usualLimit = 20

struct ConflictsList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Show them, newest first.")

  @Flag(help: "All of them, not only the latest \(usualLimit).")
  var all = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Conflicts

  func run() async throws {
    let context = try common.context(parent.root)
    let store = try context.open()
    let items = try await store.conflicts(limit: all ? .max : usualLimit)
    if common.json { return Console.write(JSON.array(items.enumerated().map(json)).document) }
    if items.isEmpty { return Console.line("No edit was ever set aside.") }
    let names = store.deviceNames()
    for (index, item) in items.enumerated() {
      let decision = item.decision
      let taken = item.isTakenBack ? " (taken back)" : ""
      Console.line(
        "\(index + 1). \(Printable.text(decision.title)), \(subject(decision, names))\(taken)")
      let zone = context.storeContext.zones.local
      let kept = side(decision.shown(decision.kept), decision.keptStamp, item.kept, names, zone)
      let discarded = side(
        decision.shown(decision.discarded), decision.discardedStamp, item.discarded, names, zone)
      Console.line("   kept       \(kept)")
      Console.line("   set aside  \(discarded)")
      Console.line(
        "   because \(decision.rule.words)\(item.merge.map { "; merge \($0.commit.short)" } ?? "")")
    }
    Console.line("Take the other value: belfry conflicts restore N")
  }

  /// `"Pay rent" by laptop, Fri 20 Nov 2026, 23:00, commit 3a25f117`
  private func side(
    _ value: String, _ stamp: Stamp?, _ origin: SetAside.Origin?, _ names: [Identifier: String],
    _ zone: TimeZoneRules
  ) -> String {
    let device = (stamp?.device ?? origin?.device).map { names[$0] ?? $0.short }
    let time = stamp?.time ?? origin?.time
    let parts =
      [
        "\"\(CascadeText.readable(value, names))\""
          + (device.map { " by \(Printable.text($0))" } ?? "")
      ]
      + [time.map { zone.civil(at: $0).spoken }, origin.map { "commit \($0.commit.short)" }]
      .compactMap { $0 }
    return parts.joined(separator: ", ")
  }

  /// `{number, …decision, merge, keptCommit, discardedCommit, takenBack}`
  private func json(_ index: Int, _ item: SetAside) -> JSON {
    var members = item.decision.json.object ?? [:]
    members["number"] = .integer(Int64(index + 1))
    members["merge"] = item.merge.map { .string($0.commit.description) }
    members["decidedAt"] = JSON(item.decided)
    members["takenBack"] = .bool(item.isTakenBack)
    for (name, origin) in [("kept", item.kept), ("discarded", item.discarded)] {
      guard let origin else { continue }
      members["\(name)Commit"] = .string(origin.commit.description)
      if members["\(name)By"] == nil { members["\(name)By"] = origin.device.map { JSON($0) } }
      if members["\(name)At"] == nil { members["\(name)At"] = JSON(origin.time) }
    }
    return .object(members)
  }
}

/// Returns the subject of a decision with devices by their names.
private func subject(_ decision: MergeDecision, _ names: [Identifier: String]) -> String {
  Printable.text(CascadeText.readable(decision.subject.name, names))
}

struct ConflictsRestore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Take the value that was set aside.",
    discussion: "It is an edit of now, which 'belfry undo' takes back.")

  @Argument(help: "The number that 'belfry conflicts' shows.")
  var number: Int

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Conflicts

  func run() async throws {
    let context = try common.context(parent.root)
    let store = try context.open()
    let items = number > 0 ? try await store.conflicts(limit: number) : []
    guard number > 0, items.count >= number else {
      throw CommandError(
        .notPossible, "there is no conflict \(number).", hint: "See 'belfry conflicts list --all'.")
    }
    let item = items[number - 1]
    if item.isTakenBack {
      throw CommandError(
        .notPossible, "that is how it is already.", hint: "See 'belfry conflicts list'.")
    }
    try store.restore(item)
    let decision = item.decision
    if common.json {
      return Console.write(
        JSON.object(omittingNil: [
          "alarm": decision.alarm.map { JSON($0) }, "field": .string(decision.subject.name),
          "value": .string(decision.discarded),
        ]).document)
    }
    let names = store.deviceNames()
    Console.line(
      "\(Printable.text(decision.title)), \(subject(decision, names)): now \"\(CascadeText.readable(decision.shown(decision.discarded), names))\"."
    )
  }
}

struct Explain: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show which device, commit and rule made an alarm what it is.")

  @Argument(help: "The alarm.") var alarm: String

  @Argument(help: "One occurrence of it: 2026-11-23T09:00.")
  var occurrence: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try common.context(root)
    let store = try context.open()
    let civil = try occurrence.map { text throws(CommandError) in
      guard let civil = CivilDateTime(text) else {
        throw CommandError(
          .usage, "'\(Printable.text(text))' is no occurrence.", hint: "Write 2026-11-23T09:00.")
      }
      return civil
    }
    let explanation = try await store.explain(
      context.find(alarm, in: store).id, occurrence: civil)
    if let civil, !explanation.alarm.schedule.contains(civil),
      explanation.occurrences.allSatisfy(\.parts.isEmpty)
    {
      throw CommandError(
        .notPossible,
        "\(Printable.text(explanation.alarm.title)) does not come at \(civil.spoken).",
        hint: "See 'belfry next' and 'belfry log'.")
    }
    if common.json { return Console.write(json(explanation).document) }
    let names = store.deviceNames()
    Console.line("\(Printable.text(explanation.alarm.title)) (\(explanation.alarm.id.short))")
    let zone = context.storeContext.zones.local
    for part in explanation.fields { tell(part, label: part.name, names, zone) }
    for (civil, parts) in explanation.occurrences {
      Console.line("\(civil.spoken):")
      if parts.isEmpty { Console.line("  nothing is known of it: it is open") }
      for part in parts { tell(part, label: part.value, names, zone) }
    }
  }

  private func tell(
    _ part: Explanation.Part, label: String, _ names: [Identifier: String], _ zone: TimeZoneRules
  ) {
    let value =
      label == part.value ? "" : " \"\(Printable.text(CascadeText.readable(part.value, names)))\""
    let device = (part.stamp?.device ?? part.origin?.device).map { names[$0] ?? $0.short }
    let by = device.map { " by \(Printable.text($0))" } ?? ""
    let at = (part.stamp?.time ?? part.origin?.time).map { ", \(zone.civil(at: $0).spoken)" } ?? ""
    let commit =
      part.origin.map { ", commit \($0.commit.short) (\(Printable.text($0.subject)))" } ?? ""
    Console.line("  \(label)\(value)\(by)\(at)\(commit)")
    if let decision = part.decision {
      Console.line(
        "    stands over \"\(Printable.text(CascadeText.readable(decision.discarded, names)))\", because \(decision.rule.words)"
      )
    }
  }

  /// `{alarm, title, fields: [part], occurrences: [{occurrence, steps: [part]}]}`
  private func json(_ explanation: Explanation) -> JSON {
    func part(_ part: Explanation.Part) -> JSON {
      .object(omittingNil: [
        "name": .string(part.name), "value": .string(part.value),
        "device": (part.stamp?.device ?? part.origin?.device).map { JSON($0) },
        "at": (part.stamp?.time ?? part.origin?.time).map { JSON($0) },
        "commit": part.origin.map { .string($0.commit.description) },
        "subject": part.origin.map { .string($0.subject) },
        "rule": part.decision.map { .string($0.rule.rawValue) },
        "over": part.decision.map { .string($0.discarded) },
      ])
    }
    return .object([
      "alarm": JSON(explanation.alarm.id), "title": .string(explanation.alarm.title),
      "fields": .array(explanation.fields.map(part)),
      "occurrences": .array(
        explanation.occurrences.map {
          .object([
            "occurrence": JSON($0.civil), "steps": .array($0.parts.map(part)),
          ])
        }),
    ])
  }
}
