import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryPartners
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Git

struct SyncCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Fetch from the remotes, merge, and push.",
    discussion: """
      The store is locked only while merging, so commands and alarms never wait for the network. If a remote is offline, \
      the changes stay in the store until the next sync.
      """)

  @Argument(help: "The remotes (default: all).", completion: .remotes)
  var remotes: [String] = []

  @Flag(
    name: [.customShort("n"), .long], help: "Fetch and show what would change; change nothing.")
  var dryRun = false

  /// The interval of this device's heartbeats in seconds, which the daemon sets.
  @Option(help: .hidden)
  var heartbeatInterval: Int64?

  @Flag(inversion: .prefixedNo, help: "Check the mailboxes of partners, too.")
  var mail = true

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try common.context(root)
    let line = TransferLine()
    let store = try context.transferring(line).open(.writing, welcome: false)
    if mail { context.warnings.warn(aboutPartnersOf: store) }
    let checksMail = mail && !dryRun && remotes.isEmpty && !PartnerStore(store).isEmpty
    if checksMail, try store.sync.remotes().isEmpty {
      return try await checkMailboxes(context, isAlone: true)
    }
    if dryRun {
      let plans = try await reaching(store, line, context) { try await store.sync.plan(remotes) }
      try show(plans, store, context.times)
      return try Self.fail(plans.compactMap(\.failure))
    }
    // On a device driven by cron, no daemon sends heartbeats.
    let sign = heartbeatInterval ?? store.sync.heartbeatSpacing
    // A daemon syncs more often when a cascade step may have to ring; cron keeps its interval.
    let promise = heartbeatInterval.map { _ in DeviceHeartbeats.spacingInWindow }
    func synchronize() async throws -> SyncResult {
      try await reaching(store, line, context) {
        try await store.sync.run(remotes, sign: sign, promise: promise)
      }
    }
    let result: SyncResult
    do {
      result = try await synchronize()
    } catch {
      if checksMail { try await checkMailboxes(context, isAlone: false) }
      throw error
    }
    var failures = result.exchanges.compactMap(\.failure)
    if checksMail {
      // After the sync, which brings the limits that the user has set on other devices.
      let head = store.branch.head
      try await checkMailboxes(context, isAlone: false)
      if store.branch.head != head, failures.isEmpty {
        // The user's other devices get the alarms that partners have set.
        failures = try await synchronize().exchanges.compactMap(\.failure)
      }
    }
    let names = store.deviceNames()
    result.printWarnings(names)
    try show(result, names, context.times)
    await context.maintain(
      store, isDetached: context.environment[CommandContext.backgroundVariable] == nil)
    try Self.fail(failures)
  }

  /// Fetches and sends messages of partners, and prints the news.
  ///
  /// - Parameter isAlone: true if the store has no remote; then a failure fails the command.
  private func checkMailboxes(_ context: CommandContext, isAlone: Bool) async throws {
    let report = try await Watchdog.limit {
      try await PartnerSession(context, .writing).round()
    }
    if !common.json { PartnerText(context).show(report.news) }
    for failure in report.failures {
      let error = CommandError(partnerMailbox: failure.error)
      if isAlone { throw error }
      error.warn()
    }
    guard isAlone else { return }
    if common.json {
      return try Console.write(
        SyncDocument(SyncResult(), zones: context.storeContext.zones, text: CommandError.text))
    }
    if report.news.isEmpty { Console.line("No news from your partners.") }
  }

  /// Runs an operation that needs the network. If a remote fails, the error also names the commits that are not pushed.
  private func reaching<Value>(
    _ store: Store, _ line: TransferLine, _ context: CommandContext,
    _ body: () async throws -> Value
  ) async throws -> Value {
    defer { line.clear() }
    do {
      return try await Watchdog.limit(body)
    } catch let error as StoreError {
      guard case .remoteFailed = error else { throw error }
      let failure = CommandError(error)
      throw failure.with(hints: failure.hints + [unpushed(store, context)])
    }
  }

  /// Returns the state of the last sync: `Last synced 2 h ago; 3 commits are not pushed.`
  private func unpushed(_ store: Store, _ context: CommandContext) -> String {
    let last =
      store.sync.last.map {
        "Last synced \(Span.ago(context.storeContext.now.seconds(since: $0)))"
      } ?? "Never synced yet"
    let name = remotes.first ?? (try? store.sync.remotes().first?.name) ?? "origin"
    guard let count = store.sync.waiting(for: name) else { return "Never synced with \(name) yet." }
    return "\(last); \(count) commit\(count == 1 ? " is" : "s are") not pushed."
  }

  /// Throws the first failure, which sets the exit code, and prints the others.
  private static func fail(_ failures: [any Error]) throws {
    guard let first = failures.first else { return }
    for failure in failures.dropFirst() {
      CommandError(failure).report()
    }
    throw first
  }

  private func show(
    _ result: SyncResult, _ names: [Identifier: String], _ times: TimeText
  ) throws {
    if common.json {
      return try Console.write(SyncDocument(result, zones: times.zones, text: CommandError.text))
    }
    for exchange in result.exchanges where exchange.isLeft {
      Console.line(
        "\(exchange.remote.name) merges the pushed changes in its next tick or sync.")
    }
    if result.fetched == 0, result.pushed == 0, result.merged == 0 {
      if result.exchanges.allSatisfy({ $0.failure == nil }) {
        Console.line("Everything is up to date.")
      }
      return
    }
    let commits = "\(result.fetched) commit\(result.fetched == 1 ? "" : "s") fetched"
    let records = "\(result.merged) record\(result.merged == 1 ? "" : "s") merged"
    Console.line("Synced: \(commits), \(result.pushed) pushed, \(records).")
    for decision in result.decisions { Console.line("  \(decision.sentence(names, times))") }
    if !result.decisions.isEmpty {
      Console.line("See 'belfry conflicts'. To use the other value: belfry conflicts restore N")
    }
  }

  private func show(_ plans: [SyncPlan], _ store: Store, _ times: TimeText) throws {
    if common.json {
      return try Console.write(
        plans.map { SyncPlanDocument($0, zones: store.context.zones, text: CommandError.text) })
    }
    let names = store.deviceNames()
    for plan in plans where plan.failure == nil {
      Console.line(
        "\(plan.remote.name): commits to fetch: \(plan.incoming), to push: \(plan.outgoing); records that would change here: \(plan.changes.count)."
      )
      for change in plan.changes.prefix(20) {
        let name = change.title.map { "\(Printable.text($0)) (\(change.path))" } ?? change.path
        Console.line("  \(change.isNew ? "new" : "changed"): \(name)")
      }
      if plan.changes.count > 20 { Console.line("  and \(plan.changes.count - 20) more") }
      for decision in plan.decisions { Console.line("  \(decision.sentence(names, times))") }
      for refusal in plan.refusals {
        Console.line(
          "  \(refusal.isKept ? "kept unread" : "left out"): \(Printable.text(refusal.path)): \(Printable.text(refusal.reason))"
        )
      }
    }
  }
}

struct Clone: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clone",
    abstract: "Create this device's store from a remote.")

  @Argument(
    help: "The remote: a path, host:path, or a URL (ssh, https, git or file).",
    completion: .directory)
  var url: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try common.context(root)
    guard try Store.isFree(context.storePath) else {
      throw CommandError(
        .failed, "there is already something at \(Printable.text(context.storePath)).",
        hint:
          "Use another folder with --store, or join the remote: 'belfry remote add' and 'belfry sync'."
      )
    }
    let line = TransferLine()
    defer { line.clear() }
    let remote = Remote(name: "origin", url: RemoteURLInput.absolute(url))
    let (store, result) = try await Store.clone(
      remote.url, to: context.storePath, context: context.transferring(line).storeContext)
    line.clear()
    RemoteURLInput.warnOfCredentials(remote)
    result.printWarnings()
    // A user with a store elsewhere needs no welcome here.
    Welcome.markAsShown(context)
    let count = try context.overview(store).count
    if common.json {
      return try Console.write(
        CloneDocument(store: store.path, device: store.device.text, alarms: count))
    }
    Console.line(
      "Cloned \(count) alarm\(count == 1 ? "" : "s") to \(Printable.text(store.path)); this device is called \(Printable.text(context.storeContext.deviceName))."
    )
    context.offerAdoption(store)
  }
}

extension SyncResult {
  /// The maximum number of refusals that are printed; `--json` has all of them.
  private static let maxPrintedRefusals = 100

  /// Prints warnings on standard error: refused records, renamed branches, rewound remotes and clock differences.
  func printWarnings(_ names: [Identifier: String] = [:]) {
    for refusal in refusals.prefix(SyncResult.maxPrintedRefusals) {
      let commit = refusal.commit.map { ", commit \($0.short)" } ?? ""
      let device = refusal.device.map { " of \(Printable.text(names[$0] ?? $0.short))" } ?? ""
      let result = refusal.isKept ? "kept without reading it" : "left out of the sync"
      CommandDiagnostic.warn(
        "\(result): \(Printable.text(refusal.path))\(commit)\(device): \(Printable.text(refusal.reason)).",
        hints: refusal.isKept ? ["Update Belfry on this device."] : [])
    }
    if refusals.count > SyncResult.maxPrintedRefusals {
      let more = refusals.count - SyncResult.maxPrintedRefusals
      CommandDiagnostic.warn("left out of the sync: \(more) more.")
    }
    for exchange in exchanges {
      guard let branch = exchange.branch else { continue }
      let name = Printable.text(exchange.remote.name)
      CommandDiagnostic.warn(
        "\(name) has no branch \(Repository.defaultBranch): its branch \(Printable.text(branch)) was merged, and \(Repository.defaultBranch) is synced from now on.",
        hints: ["For plain git, make \(Repository.defaultBranch) the default branch of \(name)."])
    }
    for exchange in exchanges where exchange.wasRewound {
      CommandDiagnostic.warn(
        "the branch of \(exchange.remote.name) was rewound; the missing commits were merged and pushed again."
      )
    }
    if let clockAhead {
      CommandDiagnostic.warn(
        "fetched changes are dated \(Span.length(clockAhead)) ahead of this device's clock.",
        hints: ["Check the clocks: run 'date' here and on the device that 'belfry log' names."])
    }
  }
}

extension MergeDecision {
  /// Returns the decision as a sentence: `Rent, title: kept "Pay rent" of laptop over "Miete".`
  ///
  /// - Parameters:
  ///   - names: the names of the devices, by id.
  ///   - times: the formatter of dates.
  func sentence(_ names: [Identifier: String], _ times: TimeText) -> String {
    let by = keptStamp.flatMap { names[$0.device] }.map { " of \(Printable.text($0))" } ?? ""
    return
      "\(Printable.text(title)), \(Printable.text(subject.name)): kept \"\(shown(keptText, names, times))\"\(by) over \"\(shown(discardedText, names, times))\"."
  }

  /// Returns a value for output. The value of a setting is stored as JSON.
  func shown(_ value: FieldText, _ names: [Identifier: String], _ times: TimeText) -> String {
    let text = value.text(names)
    if alarm == nil { return Printable.text(JSON(fragment: text)?.string ?? text) }
    return Printable.text(times.value(text, of: subject.name))
  }
}
