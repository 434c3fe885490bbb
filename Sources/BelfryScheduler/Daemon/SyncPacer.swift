import BelfryCore
import BelfryPartners
import BelfryStore
import Git

/// The pacing of syncs with the remotes and with the partners' mailboxes.
struct SyncPacer {
  /// False if the daemon must not sync.
  private let isEnabled: Bool
  private var remotes = SyncSchedule()
  private var mailboxes = SyncSchedule()
  /// The branch's state after the last sync, and at the start of the last mailbox sync.
  private var syncedMark: String?
  private var mailedMark: String?
  /// The time of an answer that other devices of a cascade have not fetched; nil once they could.
  private var answeredSince: Instant?
  /// The start of the last sync.
  private var lastStart: Instant?
  /// True after a response to an occurrence, until the next sync.
  private var hasResponse = false
  private var news = RemoteNews()

  /// The time for which an unsynced answer is urgent, in seconds. By then the other devices have rung.
  private static let maxUrgency: Int64 = 1800
  /// The network timeout of a sync that cascade steps wait for, in seconds.
  private static let urgentTimeout = 10

  /// Creates a pacer.
  init(isEnabled: Bool) {
    self.isEnabled = isEnabled
  }

  /// The daemon's state that determines the pace.
  struct Situation {
    let store: Store
    let alarms: AlarmQueue
    /// The names of the remotes; empty until they are read.
    let remotes: [String]
    /// True while the store's folder is missing.
    let isAway: Bool
    let now: Instant
  }

  /// Returns true if the store syncs with remotes.
  func isSyncing(_ situation: Situation) -> Bool {
    isEnabled && !situation.isAway && situation.store.sync.hasRemote
  }

  private func isMailing(_ situation: Situation) -> Bool {
    isEnabled && !situation.isAway && !PartnerStore(situation.store).isEmpty
  }

  /// Returns the time of the next sync of either kind; nil if there is none.
  func nextWake(_ situation: Situation) -> Instant? {
    var wakes: [Instant] = []
    if let next = nextRemotes(situation) { wakes.append(next) }
    if isMailing(situation), let next = mailboxes.next(.waiting, now: situation.now) {
      wakes.append(next)
    }
    return wakes.min()
  }

  /// Returns the time of the next sync with the remotes; nil if there is none, or while one runs.
  private func nextRemotes(_ situation: Situation) -> Instant? {
    guard isSyncing(situation), !remotes.isRunning else { return nil }
    return news.isPending
      ? situation.now : remotes.next(urgency(situation), now: situation.now)
  }

  /// Returns the currency of other devices' answers.
  func answerFreshness(_ situation: Situation) -> DeliveryEngine.AnswerFreshness {
    guard isSyncing(situation) else { return .unavailable }
    return remotes.isFresh(at: situation.now) ? .fresh : .stale
  }

  private func urgency(_ situation: Situation) -> AlarmQueue.SyncUrgency {
    let isAnswerUrgent =
      answeredSince.map { situation.now.seconds(since: $0) < SyncPacer.maxUrgency } ?? false
    return isAnswerUrgent ? .cascading : situation.alarms.urgency
  }

  // MARK: Requests

  /// Makes the next sync due now.
  mutating func requestNow() {
    if !remotes.isRunning { remotes.requestNow() }
  }

  /// Records that a cascade was answered here. The other devices need the answer before their turn.
  mutating func recordAnswer(at now: Instant) {
    answeredSince = now
    requestNow()
  }

  /// Records a response to an occurrence. The other devices still ring until they have it.
  mutating func recordResponse(at now: Instant) {
    hasResponse = true
    remotes.expediteChange(at: now)
  }

  /// Records that a remote reports a commit.
  mutating func recordNews(_ commit: ObjectID?, of remote: String, in store: Store) {
    news.record(commit, of: remote, fetched: store.sync.fetchedCommit(of: remote))
  }

  /// Records that a remote can be reached again.
  mutating func recordConnection() {
    if remotes.hasFailed { requestNow() }
  }

  /// Records a change of the branch, which the other devices and the partners do not have.
  mutating func recordBranch(_ situation: Situation) {
    let mark = situation.store.branch.head
    if isSyncing(situation), mark != syncedMark {
      remotes.noteChange(at: situation.now, isUrgent: hasResponse)
    }
    if situation.alarms.hasPartners, isMailing(situation), mark != mailedMark {
      mailboxes.noteChange(at: situation.now)
    }
  }

  /// Makes all syncs due now, after the clock was set or the store was replaced.
  mutating func reset() {
    remotes.reset()
    mailboxes.reset()
  }

  // MARK: Running

  /// Starts the syncs that are due, and returns their commands.
  mutating func start(
    _ situation: Situation
  ) -> (remotes: ChildCommand?, mailboxes: ChildCommand?) {
    var runs: (remotes: ChildCommand?, mailboxes: ChildCommand?)
    let now = situation.now
    let urgency = urgency(situation)
    if let next = nextRemotes(situation), next <= now {
      remotes.begin(at: now)
      news.begin()
      hasResponse = false
      lastStart = now
      let isUrgent = urgency == .cascading
      let spacing = isUrgent ? DeviceHeartbeats.spacingInWindow : DeviceHeartbeats.spacing
      runs.remotes = .sync(
        heartbeatInterval: situation.alarms.needsHeartbeats ? spacing : nil,
        networkTimeout: isUrgent ? SyncPacer.urgentTimeout : nil)
    }
    if isMailing(situation), let next = mailboxes.next(.waiting, now: now), next <= now {
      mailboxes.begin(at: now)
      mailedMark = situation.store.branch.head
      runs.mailboxes = .syncMailboxes
    }
    return runs
  }

  /// Records the end of a sync with the remotes.
  mutating func finishRemotes(succeeded: Bool, _ situation: Situation) {
    remotes.end(at: situation.now, succeeded: succeeded)
    if succeeded, let since = answeredSince, lastStart.map({ $0 >= since }) ?? false {
      answeredSince = nil
    }
    let head = situation.store.branch.head
    syncedMark = head
    let fetched: (String) -> ObjectID? = { situation.store.sync.fetchedCommit(of: $0) }
    news.end(fetched: fetched)
    // The sync itself has changed the branch if it has merged.
    if succeeded, !situation.remotes.isEmpty,
      situation.remotes.allSatisfy({ fetched($0)?.description == head })
    {
      remotes.discardChange()
      hasResponse = false
    }
  }

  /// Records the end of a sync with the mailboxes.
  mutating func finishMailboxes(succeeded: Bool, at now: Instant) {
    mailboxes.end(at: now, succeeded: succeeded)
  }
}
