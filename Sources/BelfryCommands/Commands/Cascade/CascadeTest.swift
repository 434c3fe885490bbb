import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryInput
import BelfryStore
import BelfryTerminal

struct CascadeTest: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test", abstract: "Ring on every step now, marked as a test.",
    discussion: """
      The first device and every step ring for 20 seconds as soon as they sync; a daemon syncs every two minutes. Phone \
      numbers are called and people get messages, both marked as a test. On a terminal the command waits for reports.
      """)

  @Argument(help: "The alarm.", completion: .alarms)
  var alarm: String

  @Option(
    help: ArgumentHelp(
      "The time to wait for reports (default: 5m on a terminal).", valueName: "time"))
  var wait: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CascadeCommand

  /// The time between two checks for reports, in seconds.
  private static let spacing = 4

  func run() async throws {
    let timeout = try wait.map { text in
      guard let seconds = Input.seconds(text) else {
        throw CommandError(
          .usage, "--wait: '\(Printable.text(text))' is not a length of time.",
          hint: "For example: 90s or 5m.")
      }
      return seconds
    }
    let opened = ElapsedTime()
    let editing = try CascadeEditing(alarm, common, parent.root)
    let (store, context) = (editing.store, editing.context)
    let started = context.storeContext.now
    let change = try context.explaining {
      try RehearseCascade(of: editing.summary.id).perform(in: store)
    }
    await sync(store)
    guard let alarm = change?.alarm, let plan = alarm.cascade?.plan else { return }
    let seconds = timeout ?? (Style.canAsk && !common.json ? 300 : 0)
    var waiting = expected(plan, editing.names, store)
    if !common.json {
      Console.line(
        "Started a test of \(editing.title) on \(waiting.map { Printable.text($0.label) }.joined(separator: ", "))."
      )
      editing.warn(alarm)
      if seconds > 0 {
        Console.error(
          "Waiting up to \(Span.exact(seconds)) for reports. Ctrl-C stops waiting; the test continues."
        )
      }
    }
    var heard: [LogEntry] = []
    while !waiting.isEmpty {
      for entry in reports(store, alarm.id, since: started) where !heard.contains(entry) {
        heard.append(entry)
        waiting.removeAll { $0.isAnswered(by: entry) }
        if !common.json { show(entry, LogText(editing), since: started) }
      }
      if waiting.isEmpty || opened.milliseconds >= seconds * 1000 { break }
      try await Task.sleep(for: .seconds(CascadeTest.spacing))
      await sync(store)
    }
    if common.json {
      let zones = editing.context.storeContext.zones
      try Console.write(
        CascadeTestDocument(
          alarm: alarm.id.text, asked: zones.text(started),
          reports: heard.map {
            CascadeTestDocument.Report(
              device: $0.device.text, at: zones.text($0.at),
              payload: $0.payload.map(LogPayloadDocument.init))
          }, silent: waiting.map(\.label)))
    }
    guard seconds > 0, !waiting.isEmpty else { return }
    throw CommandError(
      .failed,
      "no report yet from \(waiting.map { Printable.text($0.label) }.joined(separator: ", ")).",
      hint: "See which devices are online: belfry cascade status \(alarm.id.short)")
  }

  /// Syncs if possible; otherwise the next sync brings the test.
  private func sync(_ store: Store) async {
    if store.sync.hasRemote { _ = try? await Watchdog.limit { try await store.sync.run() } }
  }

  private func reports(_ store: Store, _ alarm: Identifier, since: Instant) -> [LogEntry] {
    store.history.log(of: alarm).prefix { $0.at > since.adding(seconds: -CascadeRun.skew) }
      .filter { entry in
        switch entry.payload {
        case .rehearsal, .call: true
        default: false
        }
      }
      .sorted { ($0.at, $0.id) < ($1.at, $1.id) }
  }

  /// A step whose report is expected.
  private struct Awaited {
    let label: String
    let target: CascadeTarget

    func isAnswered(by entry: LogEntry) -> Bool {
      switch entry.payload {
      case .rehearsal: target.device == entry.device
      case .call(let call): target.device == nil && call.target.key == target.key
      default: false
      }
    }
  }

  private func expected(
    _ plan: Cascade.Plan, _ names: [Identifier: String], _ store: Store
  ) -> [Awaited] {
    let primary = plan.primary ?? store.device
    return [Awaited(label: names[primary] ?? primary.short, target: .device(primary))]
      + plan.targets.filter { target in
        // Without a call provider no call is placed. A phone does not take part: it has tasks only.
        target != .phoneTasks && (!target.isPhone || !store.devices.callers.isEmpty)
      }.map { Awaited(label: $0.label(names), target: $0) }
  }

  private func show(_ entry: LogEntry, _ text: LogText, since: Instant) {
    let delay = Span.length(max(0, entry.at.seconds(since: since)))
    Console.line("  \(delay) later: \(Printable.text(text.text(entry) ?? ""))")
  }
}

extension LogText {
  fileprivate init(_ editing: CascadeEditing) {
    self.init(names: editing.names, times: editing.context.times)
  }
}
