import BelfryActions
import BelfryCore
import BelfryExchange
import BelfryStore
import Files

/// A refresh of a calendar that this device follows: fetch, compare with the last import, import, and record the state.
///
/// ```
/// lock the subscription ─▶ fetch ─▶ check ─▶ import what has changed ─▶ record the state
/// ```
///
/// The state is recorded after the import, so that the next refresh completes one that was killed. A failure changes no
/// alarm. A calendar that has not changed writes nothing but the time of the fetch.
public struct CalendarRefresh: Sendable {
  private let store: Store
  private let folder: SubscriptionFolder
  private let reason: @Sendable (any Error) -> String

  /// Creates a refresh of a store's calendars.
  ///
  /// - Parameter reason: Returns the reason of an error as a clause for the user.
  public init(_ store: Store, reason: @escaping @Sendable (any Error) -> String) {
    self.store = store
    folder = SubscriptionFolder(store)
    self.reason = reason
  }

  /// The options of a refresh.
  public struct Options: Sendable {
    /// True to fetch a URL only when it is due.
    public var onlyDue = false
    /// True to delete the alarms of vanished events without a question.
    public var acceptsLoss = false
    /// True to bring back all alarms of the calendar that are deleted.
    public var restoresDeleted = false
    /// True to record nothing.
    public var isDryRun = false
    /// The time to wait for another process that refreshes the calendar, in milliseconds.
    public var lockTimeout = 0

    /// True if the calendar is read also if it has not changed.
    var isUnconditional: Bool { acceptsLoss || restoresDeleted }

    /// Creates the options of a refresh at any time.
    public init() {}
  }

  /// The result of a refresh.
  public struct Report: Sendable {
    /// The subscription with its new state.
    public var subscription: CalendarSubscription
    /// The outcome.
    public var outcome: Outcome
    /// The files of a folder that are damaged, and were left out.
    public var damaged: [(name: String, failure: CalendarFailure)] = []
  }

  /// The outcome of a refresh.
  public enum Outcome: Sendable {
    /// It was not due, or another process refreshes the calendar.
    case notNeeded
    /// The calendar has not changed.
    case unchanged
    /// The calendar was read.
    case imported(Import)
    /// The calendar could not be fetched or imported.
    case failed(any Error)
  }

  /// The import of a calendar.
  public struct Import: Sendable {
    /// The result.
    public let result: ImportFeed.Result
    /// The calendar.
    public let feed: CalendarFeed
  }

  /// Refreshes calendars. They are fetched at the same time, and imported one after the other.
  public func run(_ subscriptions: [CalendarSubscription], _ options: Options) async -> [Report] {
    await withTaskGroup(of: (Int, Report?, Fetch?).self) { group in
      for (index, subscription) in subscriptions.enumerated() {
        group.addTask {
          do {
            guard let fetch = try await self.fetch(subscription, options) else {
              return (index, Report(subscription: subscription, outcome: .notNeeded), nil)
            }
            return (index, nil, fetch)
          } catch {
            return (index, self.failed(subscription, error, options), nil)
          }
        }
      }
      var reports: [Int: Report] = [:]
      for await (index, report, fetch) in group {
        reports[index] = report ?? fetch.map { take($0, options) }
      }
      return subscriptions.indices.compactMap { reports[$0] }
    }
  }

  // MARK: First import

  /// A calendar that was fetched and is not followed yet.
  public struct FirstFetch: Sendable {
    fileprivate var fetch: Fetch
    /// The name that the calendar gives itself; nil for none.
    public let title: String?
  }

  /// Fetches a calendar that is not followed yet.
  ///
  /// - Throws: The reason why it cannot be fetched or read.
  public func fetch(first subscription: CalendarSubscription) async throws -> FirstFetch {
    var options = Options()
    options.isDryRun = true
    guard let fetch = try await fetch(subscription, options) else {
      throw CalendarFailure("it was not fetched")
    }
    var title: String?
    switch fetch.content {
    case .unchanged: break
    case .document(let document, _, _): title = CalendarDocument.title(document)
    case .files(let content, _):
      title = CalendarDocument.title(content.document)
      if case .folder(let path) = subscription.source {
        title = DurableFile.firstLine(of: "\(path)/displayname")
      }
    }
    return FirstFetch(fetch: fetch, title: title.flatMap { $0.isEmpty ? nil : $0 })
  }

  /// Follows a calendar, and imports it. A run that is killed after the calendar is followed is completed by the next
  /// refresh.
  ///
  /// - Throws: The reason why it cannot be imported. It is then not followed.
  public func follow(
    _ first: FirstFetch, as name: String, isDryRun: Bool
  ) throws -> Report {
    var fetch = first.fetch
    fetch.subscription.name = name
    var options = Options()
    options.isDryRun = isDryRun
    if isDryRun { return try imported(fetch, options) }
    let lock = try folder.lock(name)
    defer { withExtendedLifetime(lock) {} }
    try folder.save(fetch.subscription)
    do {
      return try imported(fetch, options)
    } catch {
      try folder.remove(name)
      throw error
    }
  }

  // MARK: Fetch

  /// A fetched calendar, whose lock is held until its state is recorded.
  fileprivate struct Fetch: Sendable {
    var subscription: CalendarSubscription
    var content: Content
    let lock: FileLock?
  }

  fileprivate enum Content: Sendable {
    case unchanged
    case document([UInt8], entityTag: String?, lastModified: String?)
    case files(CalendarFiles.Content, signature: String)
  }

  /// Returns the fetched calendar; nil if no fetch is needed.
  private func fetch(
    _ named: CalendarSubscription, _ options: Options
  ) async throws -> Fetch? {
    var subscription = named
    var lock: FileLock?
    if !options.isDryRun {
      do {
        lock = try folder.lock(named.name, timeout: options.lockTimeout)
      } catch StoreError.locked where options.onlyDue {
        return nil
      }
      // Another process can have fetched or removed it meanwhile.
      guard let current = folder.subscription(named.name) else { return nil }
      subscription = current
    }
    if options.onlyDue, !subscription.isDue(at: store.context.now) { return nil }
    guard case .url(let url) = subscription.source else {
      let files = try CalendarFiles(subscription.source)
      let isKnown = files.signature == subscription.state.signature && !options.isUnconditional
      if isKnown { return Fetch(subscription: subscription, content: .unchanged, lock: lock) }
      return Fetch(
        subscription: subscription,
        content: .files(try files.read(), signature: files.signature), lock: lock)
    }
    var state = subscription.state
    if options.isUnconditional { (state.entityTag, state.lastModified) = (nil, nil) }
    let download = CalendarDownload(
      url, subscription.credentials, state,
      timeout: min(store.context.networkTimeout, CalendarDownload.defaultTimeout))
    switch try await download.run() {
    case .unchanged: return Fetch(subscription: subscription, content: .unchanged, lock: lock)
    case .document(let bytes, let tag, let time):
      if let damage = CalendarDamage(of: bytes) { throw CalendarFailure(damage) }
      return Fetch(
        subscription: subscription,
        content: .document(bytes, entityTag: tag, lastModified: time), lock: lock)
    }
  }

  // MARK: Import

  private func take(_ fetch: Fetch, _ options: Options) -> Report {
    defer { withExtendedLifetime(fetch.lock) {} }
    do {
      return try imported(fetch, options)
    } catch {
      return failed(fetch.subscription, error, options)
    }
  }

  private func imported(_ fetch: Fetch, _ options: Options) throws -> Report {
    var subscription = fetch.subscription
    subscription.state.failure = nil
    (subscription.state.failureCount, subscription.state.succeededAt) = (0, nil)
    var report = Report(subscription: subscription, outcome: .unchanged)
    let bytes: [UInt8]
    switch fetch.content {
    case .unchanged:
      try record(&report, after: fetch.subscription, options)
      return report
    case .document(let document, let tag, let time):
      bytes = document
      (report.subscription.state.entityTag, report.subscription.state.lastModified) = (tag, time)
    case .files(let content, let signature):
      if content.count == 0, let first = content.damaged.first {
        throw CalendarFailure(
          content.damaged.count > 1 || isFolder(subscription)
            ? "\(first.name): \(first.failure.reason)" : first.failure.reason)
      }
      bytes = content.document
      report.damaged = content.damaged
      report.subscription.state.damaged = content.damaged.map { "\($0.name): \($0.failure.reason)" }
      report.subscription.state.signature = signature
    }
    let result = try self.result(bytes, subscription, isComplete: report.damaged.isEmpty, options)
    report.outcome = .imported(result)
    update(&report.subscription.state, with: result)
    try record(&report, after: fetch.subscription, options)
    return report
  }

  private func isFolder(_ subscription: CalendarSubscription) -> Bool {
    if case .folder = subscription.source { true } else { false }
  }

  private func result(
    _ bytes: [UInt8], _ subscription: CalendarSubscription, isComplete: Bool, _ options: Options
  ) throws -> Import {
    let feed = try CalendarDocument().feed(
      bytes.isEmpty ? CalendarRefresh.emptyCalendar : bytes, silent: subscription.silent,
      tags: subscription.tags, now: store.context.now, zones: store.context.zones,
      calendar: store.calendars.workCalendar)
    var circumstances = ImportFeed.Options()
    circumstances.withdrawn = Set(subscription.state.withdrawn.keys)
    circumstances.others = folder.all().filter { $0.name != subscription.name }
      .reduce(into: []) { $0.formUnion($1.alarms) }
    circumstances.isComplete = isComplete
    circumstances.acceptsLoss = options.acceptsLoss
    // The daemon and a tick fetch what is due; a person fetches it now.
    circumstances.isAutomatic = options.onlyDue
    circumstances.restoresDeleted = options.restoresDeleted
    let isFirst = subscription.checkedAt == nil
    if isFirst { circumstances.withdrawn.formUnion(folder.formerAlarms) }
    let action = ImportFeed(feed, since: subscription.state.series, options: circumstances)
    let settings = try store.settings().settings
    let result =
      try options.isDryRun
      ? action.preview(in: store, settings: settings)
      : action.perform(in: store, settings: settings)
    if isFirst, !options.isDryRun { try folder.removeFormerAlarms(Set(feed.alarms.map(\.id))) }
    return Import(result: result, feed: feed)
  }

  /// The document of a folder without items.
  private static let emptyCalendar = Array("BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n".utf8)

  // MARK: State

  /// The time in seconds after which a vanished event does not bring its deleted alarm back: 90 days.
  private static let memory: Int64 = 90 * 86_400

  private func update(_ state: inout CalendarSubscription.State, with imported: Import) {
    let (result, now) = (imported.result, store.context.now)
    state.series = result.series
    state.refreshInterval = imported.feed.refreshInterval
    let oldest = now.adding(seconds: -CalendarRefresh.memory)
    state.withdrawn = Dictionary(
      uniqueKeysWithValues: result.withdrawn.map { ($0, state.withdrawn[$0] ?? now) }
    ).filter { $0.value > oldest }
    state.held = result.held
    // The next fetch compares again.
    if state.held != nil { (state.entityTag, state.lastModified) = (nil, nil) }
  }

  /// Records the state of a success. If only the time has changed, the file is not written. Of a file or folder, the
  /// time is that of its last change.
  private func record(
    _ report: inout Report, after before: CalendarSubscription, _ options: Options
  ) throws {
    if options.isDryRun { return }
    let isChanged = report.subscription.state != before.state || before.checkedAt == nil
    if case .unchanged = report.outcome, !isChanged, before.source.path != nil { return }
    report.subscription.checkedAt = store.context.now
    if isChanged {
      try folder.save(report.subscription)
    } else {
      try folder.touch(report.subscription.name, at: store.context.now)
    }
  }

  /// Records a failure. The failure of a file or folder is recorded once, because it is read again and again.
  private func failed(
    _ subscription: CalendarSubscription, _ error: any Error, _ options: Options
  ) -> Report {
    var failed = subscription
    failed.state.failure = reason(error)
    failed.state.failureCount += 1
    if subscription.state.failure == nil { failed.state.succeededAt = subscription.checkedAt }
    failed.checkedAt = store.context.now
    let isKnown =
      subscription.source.path != nil && subscription.state.failure == failed.state.failure
    // A subscription that is just being added has no file yet.
    if !options.isDryRun, !isKnown, folder.subscription(subscription.name) != nil {
      // A failure of this write leaves the calendar due, as it was.
      try? folder.save(failed)
    }
    return Report(subscription: isKnown ? subscription : failed, outcome: .failed(error))
  }
}
