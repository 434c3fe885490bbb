import ArgumentParser
import BelfryCore
import BelfryStore

struct BackupTest: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test", abstract: "Ring on all of them now, marked as a test.",
    usage: "belfry backup ALARM test [--wait 5m]",
    discussion: """
      The first device and every backup ring for twenty seconds as soon as they hear of it: at once where a daemon \
      syncs, which is every two minutes. Numbers are called, and people sent word, with words that say that it is a \
      test. On a terminal it waits for their reports.
      """)

  @Argument(help: "The alarm.")
  var alarm: String

  @Option(
    help: ArgumentHelp(
      "How long to wait for reports (default: 5m on a terminal).", valueName: "time"))
  var wait: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: BackupCommand

  /// Between two looks at the reports, in seconds.
  private static let spacing = 4

  func run() async throws {
    let patience = try wait.map { text in
      guard let seconds = Span.parse(text) else {
        throw CommandError(
          .usage, "--wait: '\(Printable.text(text))' is no length of time.",
          hint: "Write it as 90s or 5m.")
      }
      return seconds
    }
    let opened = ElapsedTime()
    let editing = try BackupEditing(alarm, common, parent.root)
    let (store, context) = (editing.store, editing.context)
    let asked = context.storeContext.now
    let alarm = try ask(editing, at: asked)
    await sync(store)
    guard let plan = alarm.backup?.plan else { return }
    let seconds = patience ?? (Style.canAsk && !common.json ? 300 : 0)
    var waiting = expected(plan, editing.names, store)
    if !common.json {
      Console.line(
        "A test of \(editing.title) was asked for on \(waiting.map { Printable.text($0.label) }.joined(separator: ", "))."
      )
      editing.warn(alarm)
      if seconds > 0 {
        Console.error(
          "Waiting for their reports, up to \(Span.exact(seconds)); Ctrl-C ends the waiting, not the test."
        )
      }
    }
    var heard: [LogEntry] = []
    while !waiting.isEmpty {
      for entry in reports(store, alarm.id, since: asked) where !heard.contains(entry) {
        heard.append(entry)
        waiting.removeAll { $0.isAnswered(by: entry) }
        if !common.json { tell(entry, editing.names, since: asked) }
      }
      if waiting.isEmpty || opened.milliseconds >= seconds * 1000 { break }
      try await Task.sleep(for: .seconds(BackupTest.spacing))
      await sync(store)
    }
    if common.json { Console.write(json(asked, heard, waiting, editing).document) }
    guard seconds > 0, !waiting.isEmpty else { return }
    throw CommandError(
      .failed,
      "no word yet from \(waiting.map { Printable.text($0.label) }.joined(separator: ", ")).",
      hint: "See which of them are there: belfry backup \(alarm.id.short) status")
  }

  private func ask(_ editing: BackupEditing, at now: Instant) throws -> Alarm {
    let id = editing.card.id.short
    let store = editing.store
    let status = try store.status(try editing.alarm)
    let isNear =
      status.comes.map { $0.at.seconds(since: now) < Timeline.rehearsalPatience } ?? false
    if status.state == .ringing || isNear {
      throw CommandError(
        .notPossible, "\(editing.title) rings, or is about to: that is no time for a test.",
        hint: "Try again when it is over.")
    }
    return try store.update(editing.card.id) { before in
      guard before.enabled else {
        throw CommandError(
          .notPossible, "\(editing.title) is switched off.", hint: "belfry enable \(id)")
      }
      guard let plan = before.backup?.plan, plan.isActive else {
        throw CommandError(
          .notPossible, "\(editing.title) has no backups that are on.",
          hint: "Add one: belfry backup \(id) add")
      }
      var after = before
      after.progress.rehearsal = max(now, before.progress.rehearsal ?? now)
      let event = Event(.rehearsed, detail: "asked for")
      let change = Store.Change(
        alarms: [after], entries: store.entries([event], of: after),
        message: CommitMessage(event, of: after, device: store.device))
      return (change, after)
    }
  }

  /// What cannot be synced now is when it can be.
  private func sync(_ store: Store) async {
    if store.hasRemote { _ = try? await Watchdog.limit { try await store.sync() } }
  }

  private func reports(_ store: Store, _ alarm: Identifier, since: Instant) -> [LogEntry] {
    store.log(of: alarm).prefix { $0.at > since.adding(seconds: -Cascade.skew) }
      .filter { [.rehearsed, .called].contains($0.action) && $0.detail != "asked for" }
      .sorted { ($0.at, $0.id) < ($1.at, $1.id) }
  }

  /// One who is to report.
  private struct Awaited {
    let label: String
    let device: Identifier?

    func isAnswered(by entry: LogEntry) -> Bool {
      if let device { return entry.action == .rehearsed && entry.device == device }
      return entry.action == .called && (entry.detail?.hasPrefix(label) ?? false)
    }
  }

  private func expected(
    _ plan: Backup.Plan, _ names: [Identifier: String], _ store: Store
  ) -> [Awaited] {
    let primary = plan.primary ?? store.device
    return [Awaited(label: names[primary] ?? primary.short, device: primary)]
      + plan.targets.filter { target in
        // Without a provider nobody is called.
        !target.isPhone || !store.callers.isEmpty
      }.map { Awaited(label: $0.label(names), device: $0.device) }
  }

  private func tell(_ entry: LogEntry, _ names: [Identifier: String], since: Instant) {
    let delay = Span.length(max(0, entry.at.seconds(since: since)))
    Console.line("  \(delay) later: \(Printable.text(entry.detail ?? ""))")
  }

  /// `{alarm, asked, reports: [{device, at, detail}], silent: […]}`
  private func json(
    _ asked: Instant, _ heard: [LogEntry], _ waiting: [Awaited], _ editing: BackupEditing
  ) -> JSON {
    .object([
      "alarm": JSON(editing.card.id), "asked": JSON(asked),
      "reports": .array(
        heard.map {
          .object([
            "device": JSON($0.device), "at": JSON($0.at), "detail": .string($0.detail ?? ""),
          ])
        }),
      "silent": .array(waiting.map { .string($0.label) }),
    ])
  }
}
