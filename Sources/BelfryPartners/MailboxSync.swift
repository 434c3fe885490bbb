import BelfryCore
import BelfryStore
import Git

/// One look into the mailboxes: takes what came, sets the alarms, and leaves what is to be told.
///
/// ```
/// list ──▶ fetch ──▶ open, check, set (under the lock, durable) ──▶ leave and take away ──▶ note
/// ```
///
/// The lock is not held while a mailbox is reached. A round that dies anywhere is finished by the next one: what was
/// taken is known by its name, and the alarm that a request makes has the same identifier every time.
public struct MailboxSync: Sendable {
  private let store: Store
  private let book: PartnerStore
  private let mailbox: @Sendable (String) throws -> any Mailbox
  private let close: @Sendable (any Mailbox) -> Void
  private let settings: Settings
  private let ways: @Sendable () async -> String?
  private let words: @Sendable (any Error) -> String

  /// How far back the log is read again, in seconds.
  private static let memory: Int64 = 14 * 86_400
  /// So many are opened in one round; the others in the next.
  static let most = 1000

  /// - Parameters:
  ///   - ways: how an alarm can be heard here, in words for the partner; asked when something came.
  ///   - words: what a failure is called where people see it later.
  ///   - mailbox: how a mailbox is reached; through git when nil.
  public init(
    _ store: Store, settings: Settings, ways: @escaping @Sendable () async -> String? = { nil },
    words: @escaping @Sendable (any Error) -> String = { "\($0)" },
    mailbox: (@Sendable (String) throws -> any Mailbox)? = nil
  ) {
    self.store = store
    self.settings = settings
    self.ways = ways
    self.words = words
    let book = PartnerStore(store)
    self.book = book
    let (folder, context) = (book.folder, store.context)
    self.mailbox = mailbox ?? { try GitMailbox($0, in: folder, context: context) }
    close = { ($0 as? GitMailbox)?.close() }
  }

  /// What came of a round.
  public struct Report: Sendable {
    public var news: [PartnerNews] = []
    /// Why mailboxes could not be reached, by their URLs.
    public var failures: [(mailbox: String, error: any Error)] = []
    /// So many more wait than one round takes.
    public var waiting = 0
  }

  public func run() async throws -> Report {
    var report = Report()
    let now = store.context.now
    let partners = book.partners
    if partners.isEmpty { return report }
    GitMailbox.removeLeftovers(in: book.folder, at: now)
    try forgetStale(now)
    for url in Set(partners.map(\.mailbox)).sorted() {
      do {
        try await look(into: url, &report)
        try settle(url, failure: nil)
      } catch {
        report.failures.append((url, error))
        // The news must be returned also where a full disk takes no note: their mail is not read again.
        try? settle(url, failure: words(error))
      }
    }
    return report
  }

  private func look(into url: String, _ report: inout Report) async throws {
    let now = store.context.now
    let partners = partners(of: url)
    let isWanted = partners.contains { partner in
      !partner.inboxes(at: now).isEmpty || !partner.post.isEmpty || !partner.leftovers.isEmpty
    }
    guard isWanted else { return }
    let mailbox = try mailbox(url)
    defer { close(mailbox) }
    let leftovers = partners.reduce(into: Set<String>()) { $0.formUnion($1.leftovers) }
    let all = try await mailbox.list()
    var byAddress: [String: [String: String]] = [:]
    for (name, object) in all {
      let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      byAddress[String(parts[0]), default: [:]][parts.count == 2 ? String(parts[1]) : ""] = object
    }
    let listed = byAddress
    let wanted = try survey(url, listed, &report)
    let content = wanted.isEmpty ? [:] : try await mailbox.fetch(wanted)
    let ways = content.isEmpty ? nil : await ways()
    let failure = try take(url, content, wanted, ways: ways, &report)
    try await leave(url, mailbox, all, gone: leftovers.filter { all[$0] == nil })
    if let failure { throw failure }
  }

  private func partners(of url: String) -> [Partnership] {
    book.partners.filter { $0.mailbox == url }
  }

  /// Changes the partners of a mailbox.
  private func change<Result>(
    _ url: String, _ body: (inout Partnership) throws -> Result
  ) throws -> [Result] {
    try book.change { partners in
      try partners.indices.filter { partners[$0].mailbox == url }.map { try body(&partners[$0]) }
    }
  }

  private func survey(
    _ url: String, _ listed: [String: [String: String]], _ report: inout Report
  ) throws -> [String: String] {
    let now = store.context.now
    var wanted: [String: String] = [:]
    var news: [PartnerNews] = []
    _ = try change(url) { partner in
      var correspondence = PartnerProtocol(
        partner, desk: StorePartnerRequestHandler(store: store, settings: settings, ways: nil),
        at: now)
      for address in partner.inboxes(at: now).keys.sorted() {
        let places = listed[address] ?? [:]
        for name in correspondence.survey(places, at: address) {
          wanted[name] = places[String(name.dropFirst(address.count + 1))]
        }
      }
      partner = correspondence.partner
      news += correspondence.news
    }
    report.news += news
    // In turn, so that nobody's flood keeps the others out.
    report.waiting += max(0, wanted.count - MailboxSync.most)
    guard wanted.count > MailboxSync.most else { return wanted }
    let queues = Dictionary(grouping: wanted.keys.sorted()) { $0.prefix { $0 != "/" } }
    var chosen: [String: String] = [:]
    for index in 0..<MailboxSync.most {
      for queue in queues.values where index < queue.count && chosen.count < MailboxSync.most {
        chosen[queue[index]] = wanted[queue[index]]
      }
    }
    return chosen
  }

  /// Returns why the store could not be asked, if it could not: what waits then is taken by the next round.
  private func take(
    _ url: String, _ content: [String: FetchedMail], _ wanted: [String: String], ways: String?,
    _ report: inout Report
  ) throws -> (any Error)? {
    let now = store.context.now
    let branch = store.branchMark ?? ""
    let story = try story(url, branch)
    var news: [PartnerNews] = []
    var failure: (any Error)?
    let mails = content.map { name, content in
      let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
      return IncomingMail(
        address: parts[0], place: parts[1], object: wanted[name] ?? "", content: content)
    }
    _ = try change(url) { partner in
      let desk = StorePartnerRequestHandler(store: store, settings: settings, ways: ways)
      var correspondence = PartnerProtocol(partner, desk: desk, at: now)
      do {
        for (address, inbox) in partner.inboxes(at: now) {
          let mine = mails.filter { $0.address == address }.sorted { $0.place < $1.place }
          switch inbox {
          case .join: try correspondence.take(answers: mine)
          case .partner:
            guard let channel = partner.channel else { continue }
            try correspondence.take(inbox: mine, channel)
          }
        }
        try correspondence.report(story)
        try desk.commit()
        if correspondence.partner.told?.branch != branch {
          correspondence.partner.told = Told(branch: branch, at: now)
        }
      } catch {
        // Nothing of it was taken: all of it waits for the next round.
        failure = error
        return
      }
      partner = correspondence.partner
      news += correspondence.news
    }
    report.news += news
    return failure
  }

  /// Leaves what is to be told, and takes away what is done.
  ///
  /// - Parameter gone: the leftovers that were known before the listing `all`, and that it does not have.
  private func leave(
    _ url: String, _ mailbox: any Mailbox, _ all: [String: String], gone: Set<String>
  ) async throws {
    let partners = partners(of: url)
    var put: [String: [UInt8]] = [:]
    var remove: Set<String> = []
    for partner in partners {
      for post in partner.post { put[post.name] = post.envelope }
      for name in partner.leftovers where all[name] != nil { remove.insert(name) }
      for (name, mail) in partner.seen where mail.isDone && all[name] != nil { remove.insert(name) }
      // What the partner never took and is of no use any more.
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
      for post in partner.post where outcome.put.contains(post.name) {
        guard let index = partner.sent.firstIndex(where: { $0.request.id == post.request }) else {
          continue
        }
        partner.sent[index].isPosted = true
      }
      // Another process may have added more since the listing.
      partner.leftovers.subtract(gone.union(outcome.removed))
      partner.post.removeAll { outcome.put.contains($0.name) }
    }
    if let refusal = outcome.refusal {
      throw MailboxRefused(url: URLMask.masked(url: url), reason: URLMask.masked(refusal))
    }
  }

  /// Keeps, for people, when a mailbox was reached, or why it was not.
  private func settle(_ url: String, failure: String?) throws {
    let now = store.context.now
    _ = try change(url) { partner in
      partner.failure = failure
      // Not at each round: it would be written anew each time.
      if failure == nil, partner.reached.map({ abs(now.seconds(since: $0)) >= 600 }) ?? true {
        partner.reached = now
      }
    }
  }

  /// Lets go of pairings that came to nothing, and of what has ended and was told.
  private func forgetStale(_ now: Instant) throws {
    let isAnyStale = book.partners.contains { isForgotten($0, now) }
    if isAnyStale { try book.change { $0.removeAll { isForgotten($0, now) } } }
  }

  private func isForgotten(_ partner: Partnership, _ now: Instant) -> Bool {
    switch partner.phase {
    case .active: false
    case .ended where partner.successor != nil && partner.sent.isEmpty && partner.received.isEmpty:
      partner.post.isEmpty && partner.leftovers.isEmpty
    case .ended: partner.name.isEmpty && now.seconds(since: partner.created) > Instant.tolerance
    case .invited, .accepted, .comparing, .confirmed:
      partner.isStale(at: now) && now.seconds(since: partner.created) > Instant.tolerance
    }
  }

  // MARK: The store

  /// What the log tells of the alarms that a mailbox's partners have set.
  ///
  /// Nothing where the branch has not moved since they were told last. What another device has kept to itself for
  /// longer than a fortnight is not told any more.
  private func story(
    _ url: String, _ branch: String
  ) throws -> [Identifier: [AlarmEvent]] {
    let partners = partners(of: url).filter { $0.told?.branch != branch }
    let open = partners.flatMap { $0.received.filter { !$0.isOver && $0.alarm != nil } }
    let lastTold = partners.compactMap(\.told?.at).min()
    guard let first = open.map(\.received).min() else { return [:] }
    let oldest = max(first, lastTold?.adding(seconds: -MailboxSync.memory) ?? first)
    let wanted = Set(open.compactMap(\.alarm))
    var reports: [Identifier: AlarmReport] = [:]
    var story: [Identifier: [AlarmEvent]] = [:]
    let ledger = store.ledger()
    let reader = store.alarmReader()
    // Newest first: what is older than the oldest of them tells nothing of any.
    for entry in store.log() {
      if entry.at < oldest.adding(seconds: -Instant.tolerance) { break }
      guard wanted.contains(entry.alarm) else { continue }
      if reports[entry.alarm] == nil, let alarm = try reader.alarm(entry.alarm) {
        reports[entry.alarm] = AlarmReport(alarm, zone: store.timeline(alarm).zone)
      }
      let unheard = entry.occurrence.map {
        ledger[DeliveryLedger.Key(alarm: entry.alarm, occurrence: $0)]?.standing == .undelivered
      }
      let event = reports[entry.alarm]?.event(
        entry, isUnheard: entry.device == store.device && unheard == true)
      if let event { story[entry.alarm, default: []].append(event) }
    }
    return story
  }
}

/// A mailbox took something not.
public struct MailboxRefused: Error, Sendable {
  public let url: String
  public let reason: String
}
