import BelfryCore
import BelfryStore
import Git

/// A synchronization with the mailboxes of all partners: receives mail, sets alarms and sends mail.
///
/// ```
/// list ──▶ fetch ──▶ open, verify, set alarms (locked, durable) ──▶ push and delete mail ──▶ record the result
/// ```
///
/// The lock is not held during network access. The next run completes an interrupted one: processed mail is known by
/// name, and a request always creates an alarm with the same identifier.
public struct MailboxSync: Sendable {
  private let store: Store
  private let partnerStore: PartnerStore
  private let mailbox: @Sendable (String) throws -> any Mailbox
  private let close: @Sendable (any Mailbox) -> Void
  private let settings: Settings
  private let channelSummary: @Sendable () async -> String?
  private let describe: @Sendable (any Error) -> String

  /// The period of the log that is reported again, in seconds.
  private static let logWindow: Int64 = 14 * 86_400
  /// The maximum number of messages that one run opens. The next run opens the rest.
  static let maxMailCount = 1000

  /// Creates a synchronization.
  ///
  /// - Parameters:
  ///   - store: the store.
  ///   - settings: the settings of the store.
  ///   - ways: returns a description of this device's channels for the partner; called only if mail was received.
  ///   - words: returns the message of an error, which is recorded for the user.
  ///   - mailbox: returns the mailbox at a URL; nil for a git remote.
  public init(
    _ store: Store, settings: Settings, ways: @escaping @Sendable () async -> String? = { nil },
    words: @escaping @Sendable (any Error) -> String = { "\($0)" },
    mailbox: (@Sendable (String) throws -> any Mailbox)? = nil
  ) {
    self.store = store
    self.settings = settings
    channelSummary = ways
    describe = words
    let partnerStore = PartnerStore(store)
    self.partnerStore = partnerStore
    let (folder, context) = (partnerStore.folder, store.context)
    self.mailbox = mailbox ?? { try GitMailbox($0, in: folder, context: context) }
    close = { ($0 as? GitMailbox)?.close() }
  }

  /// The result of a run.
  public struct Report: Sendable {
    /// The events to show to the user.
    public var news: [PartnerNews] = []
    /// The mailboxes that failed, by URL, each with the error.
    public var failures: [(mailbox: String, error: any Error)] = []
    /// The number of messages left for the next run.
    public var waiting = 0
  }

  /// Synchronizes with all mailboxes. A failing mailbox does not affect the others.
  ///
  /// - Throws: An error only if the partners' files cannot be written. Errors of mailboxes are in the report.
  public func run() async throws -> Report {
    var report = Report()
    let now = store.context.now
    let partners = partnerStore.partners
    if partners.isEmpty { return report }
    GitMailbox.removeLeftovers(in: partnerStore.folder, at: now)
    try removeStale(now)
    for url in Set(partners.map(\.mailbox)).sorted() {
      do {
        try await synchronize(url, &report)
        try recordResult(url, failure: nil)
      } catch {
        report.failures.append((url, error))
        // If a full disk prevents this, the news must still be returned, because their mail is not read again.
        try? recordResult(url, failure: describe(error))
      }
    }
    try reportUnsent(&report)
    return report
  }

  private func synchronize(_ url: String, _ report: inout Report) async throws {
    let now = store.context.now
    let partners = partners(of: url)
    let hasWork = partners.contains { partner in
      !partner.inboxes(at: now).isEmpty || !partner.mail.outgoing.isEmpty
        || !partner.mail.leftovers.isEmpty
    }
    guard hasWork else { return }
    let mailbox = try mailbox(url)
    defer { close(mailbox) }
    let leftovers = partners.reduce(into: Set<String>()) { $0.formUnion($1.mail.leftovers) }
    let posted = Set(partners.flatMap { $0.sent.filter(\.isPosted).map(\.request.id) })
    let all = try await mailbox.list()
    var byAddress: [String: [String: String]] = [:]
    for (name, object) in all {
      let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      byAddress[String(parts[0]), default: [:]][parts.count == 2 ? String(parts[1]) : ""] = object
    }
    let listed = byAddress
    let wanted = try selectMail(url, listed, &report)
    let content = wanted.isEmpty ? [:] : try await mailbox.fetch(wanted)
    let summary = content.isEmpty ? nil : await channelSummary()
    let failure = try receive(
      url, content, wanted, channelSummary: summary, posted: posted, listed: Set(all.keys), &report)
    try await send(url, mailbox, all, gone: leftovers.filter { all[$0] == nil })
    if let failure { throw failure }
  }

  private func partners(of url: String) -> [Partnership] {
    partnerStore.partners.filter { $0.mailbox == url }
  }

  /// Changes the partners of a mailbox and returns the results of `body`.
  private func change<Result>(
    _ url: String, _ body: (inout Partnership) throws -> Result
  ) throws -> [Result] {
    try partnerStore.change { partners in
      try partners.indices.filter { partners[$0].mailbox == url }.map { try body(&partners[$0]) }
    }
  }

  /// Returns the objects of the mail to fetch, by name.
  private func selectMail(
    _ url: String, _ listed: [String: [String: String]], _ report: inout Report
  ) throws -> [String: String] {
    let now = store.context.now
    var wanted: [String: String] = [:]
    var news: [PartnerNews] = []
    _ = try change(url) { partner in
      var session = PartnerProtocol(
        partner,
        handler: StorePartnerRequestHandler(store: store, settings: settings, channelSummary: nil),
        at: now)
      for address in partner.inboxes(at: now).keys.sorted() {
        let places = listed[address] ?? [:]
        for name in session.selectMail(places, at: address) {
          wanted[name] = places[String(name.dropFirst(address.count + 1))]
        }
      }
      try session.sealReceipts()
      partner = session.partner
      news += session.news
    }
    report.news += news
    // Taking mail from each address in turn keeps a flood of one sender from blocking the others.
    report.waiting += max(0, wanted.count - MailboxSync.maxMailCount)
    guard wanted.count > MailboxSync.maxMailCount else { return wanted }
    let queues = Dictionary(grouping: wanted.keys.sorted()) { $0.prefix { $0 != "/" } }
    var chosen: [String: String] = [:]
    for index in 0..<MailboxSync.maxMailCount {
      for queue in queues.values
      where index < queue.count && chosen.count < MailboxSync.maxMailCount {
        chosen[queue[index]] = wanted[queue[index]]
      }
    }
    return chosen
  }

  /// Processes the fetched mail, reports the events of alarms, and sends lost requests again.
  ///
  /// - Parameters:
  ///   - posted: the requests of the user that were in the mailbox before the listing.
  ///   - listed: the names of all mail in the mailbox.
  /// - Returns: The store's error, if any. The mail of the affected partner is then left for the next run.
  private func receive(
    _ url: String, _ content: [String: FetchedMail], _ wanted: [String: String],
    channelSummary: String?, posted: Set<Identifier>, listed: Set<String>, _ report: inout Report
  ) throws -> (any Error)? {
    let now = store.context.now
    let branch = store.branch.head ?? ""
    let events = try alarmEvents(url, branch)
    var news: [PartnerNews] = []
    var failure: (any Error)?
    let mails = content.map { name, content in
      let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
      return IncomingMail(
        address: parts[0], place: parts[1], object: wanted[name] ?? "", content: content)
    }
    _ = try change(url) { partner in
      let handler = StorePartnerRequestHandler(
        store: store, settings: settings, channelSummary: channelSummary)
      var session = PartnerProtocol(partner, handler: handler, at: now)
      do {
        for (address, inbox) in partner.inboxes(at: now) {
          let mine = mails.filter { $0.address == address }.sorted { $0.place < $1.place }
          switch inbox {
          case .join: try session.receive(answers: mine)
          case .partner:
            guard let channel = partner.channel else { continue }
            try session.receive(inbox: mine, channel)
          }
        }
        try session.report(events)
        try session.resendLost(posted, listed: listed)
        session.reportExpiry()
        try handler.commit()
        if session.partner.mail.lastReported?.branch != branch {
          session.partner.mail.lastReported = ReportMark(branch: branch, at: now)
        }
      } catch {
        // `partner` is unchanged, so all its mail is left for the next run.
        failure = error
        return
      }
      partner = session.partner
      news += session.news
    }
    report.news += news
    return failure
  }

  /// Pushes outgoing mail and deletes mail that is no longer needed.
  ///
  /// - Parameter gone: the leftovers that were known before the listing `all` and that it does not contain.
  private func send(
    _ url: String, _ mailbox: any Mailbox, _ all: [String: String], gone: Set<String>
  ) async throws {
    let partners = partners(of: url)
    var put: [String: [UInt8]] = [:]
    var remove: Set<String> = []
    for partner in partners {
      for mail in partner.mail.outgoing { put[mail.name] = mail.envelope }
      for name in partner.mail.leftovers where all[name] != nil { remove.insert(name) }
      for (name, mail) in partner.mail.seen where mail.isDone && all[name] != nil {
        remove.insert(name)
      }
      // A recalled request that the partner has not processed is obsolete.
      if let outbox = partner.channel?.addresses.outbox {
        for sent in partner.sent where sent.isRecalled {
          let name = "\(outbox)/\(sent.request.id)"
          if all[name] != nil { remove.insert(name) }
        }
      }
    }
    if put.isEmpty, remove.isEmpty, gone.isEmpty { return }
    let outcome =
      put.isEmpty && remove.isEmpty
      ? MailboxOutcome() : try await mailbox.exchange(put: put, remove: remove.sorted())
    _ = try change(url) { partner in
      for mail in partner.mail.outgoing where outcome.put.contains(mail.name) {
        guard let index = partner.sent.firstIndex(where: { $0.request.id == mail.request }) else {
          continue
        }
        partner.sent[index].isPosted = true
      }
      // Another process may have added more since the listing.
      partner.mail.leftovers.subtract(gone.union(outcome.removed))
      partner.mail.outgoing.removeAll { outcome.put.contains($0.name) }
    }
    if let refusal = outcome.refusal {
      throw MailboxRefused(url: URLMask.masked(url: url), reason: URLMask.masked(refusal))
    }
  }

  /// Reports once each request that could not be sent in time.
  private func reportUnsent(_ report: inout Report) throws {
    let now = store.context.now
    func isNews(_ sent: SentRequest) -> Bool { sent.isUnsent(at: now) && !sent.isReportedUnsent }
    guard partnerStore.partners.contains(where: { $0.sent.contains(where: isNews) }) else { return }
    report.news += try partnerStore.change { partners in
      var news: [PartnerNews] = []
      for partner in partners.indices {
        for index in partners[partner].sent.indices where isNews(partners[partner].sent[index]) {
          partners[partner].sent[index].isReportedUnsent = true
          news.append(
            PartnerNews(
              partner: partners[partner].name,
              event: .unsent(partners[partner].sent[index].request)))
        }
      }
      return news
    }
  }

  /// Records the time of a success or the reason of a failure for the user.
  private func recordResult(_ url: String, failure: String?) throws {
    let now = store.context.now
    _ = try change(url) { partner in
      partner.connection.failure = failure
      // At most one update in 10 minutes: a write in every run would be wasteful.
      if failure == nil,
        partner.connection.reached.map({ abs(now.seconds(since: $0)) >= 600 }) ?? true
      {
        partner.connection.reached = now
      }
    }
  }

  /// Removes pairings that failed, and ended partnerships once the partner was notified.
  private func removeStale(_ now: Instant) throws {
    let hasObsolete = partnerStore.partners.contains { isObsolete($0, now) }
    if hasObsolete { try partnerStore.change { $0.removeAll { isObsolete($0, now) } } }
  }

  private func isObsolete(_ partner: Partnership, _ now: Instant) -> Bool {
    switch partner.phase {
    case .active: false
    case .ended where partner.successor != nil && partner.sent.isEmpty && partner.received.isEmpty:
      partner.mail.outgoing.isEmpty && partner.mail.leftovers.isEmpty
    case .ended: partner.name.isEmpty && now.seconds(since: partner.created) > Instant.day
    case .invited, .accepted, .comparing, .confirmed:
      partner.isStale(at: now) && now.seconds(since: partner.created) > Instant.day
    }
  }

  // MARK: The store

  /// Returns the reportable log events of the alarms that a mailbox's partners have set.
  ///
  /// The result is empty if the branch has not moved since the last report. Log entries that arrive from another
  /// device more than 14 days late are not reported.
  private func alarmEvents(
    _ url: String, _ branch: String
  ) throws -> [Identifier: [AlarmEvent]] {
    let partners = partners(of: url).filter { $0.mail.lastReported?.branch != branch }
    let open = partners.flatMap { $0.received.filter { !$0.isOver && $0.alarm != nil } }
    let lastReport = partners.compactMap(\.mail.lastReported?.at).min()
    guard let first = open.map(\.received).min() else { return [:] }
    let oldest = max(first, lastReport?.adding(seconds: -MailboxSync.logWindow) ?? first)
    let wanted = Set(open.compactMap(\.alarm))
    var reports: [Identifier: AlarmReport] = [:]
    var events: [Identifier: [AlarmEvent]] = [:]
    let ledger = store.ledger.read()
    let reader = store.alarmReader()
    let start = oldest.adding(seconds: -Instant.day)
    // The log is ordered from new to old.
    for entry in store.history.log() {
      if entry.at < start { break }
      guard wanted.contains(entry.alarm) else { continue }
      if reports[entry.alarm] == nil, let alarm = try reader.alarm(entry.alarm) {
        reports[entry.alarm] = AlarmReport(alarm, zone: store.timeline(alarm).zone)
      }
      let isUndelivered = entry.occurrence.map {
        ledger.latest(of: OccurrenceID(alarm: entry.alarm, occurrence: $0))?.state == .undelivered
      }
      let event = reports[entry.alarm]?.event(
        entry, isUnheard: entry.device == store.device && isUndelivered == true)
      if let event { events[entry.alarm, default: []].append(event) }
    }
    return events.mapValues { AlarmReport.markingSilentMisses($0, knownFrom: start) }
  }
}

/// An error: the mailbox rejected mail.
public struct MailboxRefused: Error, Sendable {
  /// The URL of the mailbox, without credentials.
  public let url: String
  /// The reason that git reported, without credentials.
  public let reason: String
}
