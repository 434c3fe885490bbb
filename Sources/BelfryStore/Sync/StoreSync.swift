import BelfryCore
import Git

/// The result of a sync.
public struct SyncResult: Sendable {
  /// The exchange with one remote.
  public struct Exchange: Sendable {
    /// The remote.
    public let remote: Remote
    /// The number of commits that were merged from it.
    public var fetched = 0
    /// The number of commits that were pushed to it.
    public var pushed = 0
    /// True if the remote's branch no longer contains the commit of the last sync.
    public var wasRewound = false
    /// The branch that was merged, if the remote has no `main`; nil otherwise.
    public var branch: String?
    /// True if the remote is another store with a checked-out branch, whose next command merges the pushed commit.
    public var isLeft = false
    /// The error; nil if the exchange succeeded.
    public var failure: (any Error)?
  }
  /// The exchanges, one per remote.
  public var exchanges: [Exchange] = []
  /// The number of records that were added or changed.
  public var merged = 0
  /// The conflicting edits that the merges resolved.
  public var decisions: [MergeDecision] = []
  /// The files that the merges left out.
  public var refusals: [MergeRefusal] = []
  /// The time in seconds by which the latest merged commit is ahead of this device's clock; nil if that is plausible.
  public var clockAhead: Int64?

  /// Creates an empty result.
  public init() {}

  /// The number of commits that were merged from all remotes.
  public var fetched: Int { exchanges.reduce(0) { $0 + $1.fetched } }
  /// The number of commits that were pushed to all remotes.
  public var pushed: Int { exchanges.reduce(0) { $0 + $1.pushed } }

  mutating func add(_ outcome: BranchJoin.Outcome, to index: Int? = nil) {
    if let index { exchanges[index].fetched += outcome.fetched }
    merged += outcome.merged
    decisions += outcome.decisions
    refusals += outcome.refusals
  }
}

/// The exchange of a store with its remotes.
public struct StoreSync: StorePart {
  let store: Store

  /// The time of the last sync; nil if there was none.
  public var last: Instant? { local.last(.sync) }

  /// Fetches, merges and pushes until this store and the remotes have the same commit.
  ///
  /// If only this store has new commits since the last sync with a remote, they are pushed without a fetch, unless the
  /// remote's branch has moved.
  ///
  /// The lock is held only during merges, so local work never waits for a remote. An unreachable remote doesn't
  /// affect the others.
  ///
  /// - Parameters:
  ///   - names: The names of the remotes; empty for all.
  ///   - sign: The time in seconds after which this device pushes another heartbeat; nil to push none.
  ///   - promise: The maximum time between two heartbeats while a cascade step may have to ring, in seconds; nil to
  ///     derive it from past syncs.
  ///   - pushTimeout: The time for which pushes that lose against other devices are retried, in milliseconds; nil for
  ///     the default.
  ///   - transport: A function that returns the access to a remote; nil for the user's own git.
  /// - Throws: The failure if there is only one remote. With several, each failure is in its exchange.
  public func run(
    _ names: [String] = [], sign: Int64? = nil, promise: Int64? = nil, pushTimeout: Int? = nil,
    transport: (@Sendable (Repository, Remote) throws -> any RemoteTransport)? = nil
  ) async throws -> SyncResult {
    let repository = try repository()
    if repository.isShallow { throw StoreError.shallow }
    let remotes = try remotes(named: names)
    let context = context
    let make = transport ?? { try GitTransport($0, $1, context: context) }
    var sync = SyncRun(
      store: store, repository: repository,
      peers: remotes.map { remote in
        SyncRun.Peer(remote: remote, transport: Result { try make(repository, remote) })
      })
    for peer in sync.peers { (try? peer.transport.get())?.prepare() }
    var retry = PushRetry(timeout: pushTimeout ?? PushRetry.timeout)
    let began = ContinuousClock.now
    while try await !sync.round() {
      let elapsed = (ContinuousClock.now - began) / .milliseconds(1)
      guard let wait = retry.next(elapsed: Int(elapsed), random: context.random) else {
        sync.giveUp(attempts: retry.attempts)
        break
      }
      try await Task.sleep(for: .milliseconds(wait))
    }
    let result = sync.result
    await exchangeHeartbeats(
      repository,
      sync.peers.indices.filter { result.exchanges[$0].failure == nil }
        .compactMap { try? sync.peers[$0].transport.get() }, spacing: sign, promise: promise)
    if result.exchanges.count == 1, let failure = result.exchanges[0].failure { throw failure }
    let reached = result.exchanges.filter { $0.failure == nil }.map(\.remote.name)
    if !reached.isEmpty {
      local.note(.sync, at: context.now)
      local.noteSync(with: reached, at: context.now, holder: context.process)
    }
    return result
  }
}

extension Store {
  /// The exchange of this store with its remotes.
  public var sync: StoreSync { StoreSync(store: self) }
}

/// A running sync: rounds of fetching from all remotes, merging, and pushing to all remotes, until no remote has
/// moved meanwhile.
private struct SyncRun {
  /// A remote.
  struct Peer: Sendable {
    let remote: Remote
    let transport: Result<any RemoteTransport, any Error>
    /// The commit of the remote's branch; nil if it has none.
    var theirs: ObjectID?
    /// The branch that was fetched.
    var branch = Repository.defaultBranch
    var isFetched = false
    /// The push that the remote has refused, as it does if another device moves the branch; nil without one.
    var refusal: Refusal?
  }

  /// A refused push. It is repeated only after the branch has moved.
  struct Refusal: Sendable {
    /// The error with the remote's words.
    let failure: StoreError
    /// The commit of the remote's branch before the push.
    let theirs: ObjectID?
    /// The branch that was fetched.
    let branch: String
    let began = ContinuousClock.now

    /// True if a push of another device that began before has ended by now.
    var isExpired: Bool {
      (ContinuousClock.now - began) / .milliseconds(1) > Double(PushRetry.refusalTimeout)
    }
  }
  let store: Store
  let repository: Repository
  var peers: [Peer]
  var result: SyncResult
  /// True if all objects were fetched again because some could not be read.
  private var isRefetched = false
  /// True after the attempt to push without a fetch.
  private var triedPushAhead = false

  init(store: Store, repository: Repository, peers: [Peer]) {
    self.store = store
    self.repository = repository
    self.peers = peers
    result = SyncResult()
    result.exchanges = peers.map { SyncResult.Exchange(remote: $0.remote) }
  }

  /// The indices of the remotes without a failure.
  private var reachable: [Int] { peers.indices.filter { result.exchanges[$0].failure == nil } }

  /// Runs one round. Returns true if all reachable remotes now have the same commit.
  mutating func round() async throws -> Bool {
    if !triedPushAhead {
      triedPushAhead = true
      if try await pushAhead() { return true }
    }
    try await fetch()
    let ours: ObjectID?
    do {
      ours = try join()
    } catch StoreError.unreadableObject where !isRefetched {
      // Only once. This fetches objects that a partial clone left out or that are missing.
      isRefetched = true
      _ = try await each(reachable) { peer in
        // A failure shows when the objects are read.
        _ = try? await peer.transport.get().refetch(peer.branch)
      }
      ours = try join()
    }
    return try await push(ours)
  }

  /// Pushes to the remotes whose last fetched commit is in this store's history. Returns true if all of them had that
  /// commit, so that there is nothing to fetch.
  ///
  /// The round then fetches from the others, and from a remote that refuses, and reports the failure.
  private mutating func pushAhead() async throws -> Bool {
    var ahead: [Int] = []
    for index in reachable {
      guard let theirs = knownCommit(of: peers[index]),
        case .success(let transport) = peers[index].transport,
        !transport.hasMoved(peers[index].branch, from: theirs)
      else { continue }
      peers[index].theirs = theirs
      ahead.append(index)
    }
    if ahead.isEmpty { return false }
    do {
      // Commits hand edits, and merges incoming commits.
      guard let ours = try join() else { return false }
      _ = try await push(ours, to: ahead) { peer in
        guard let theirs = peer.theirs else { return .elsewhere }
        do {
          return try await peer.transport.get().pushAhead(ours, of: theirs, to: peer.branch)
        } catch StoreError.remoteFailed(let url, let failure) {
          // Another attempt would double the time without a response.
          if case .stalled = failure.kind { throw StoreError.remoteFailed(url: url, failure) }
          return .elsewhere
        }
      }
    } catch StoreError.unreadableObject {
      return false
    }
    return reachable.allSatisfy { peers[$0].isFetched }
  }

  /// Returns the last fetched commit of a remote, if this store's branch is ahead of it; nil otherwise.
  private func knownCommit(of peer: Peer) -> ObjectID? {
    let tracking = "refs/remotes/\(peer.remote.name)/\(peer.branch)"
    guard let theirs = try? repository.commit(of: tracking),
      let ours = try? repository.commit(of: repository.currentBranch()), theirs != ours,
      (try? repository.isAncestor(theirs, of: ours)) == true
    else { return nil }
    return theirs
  }

  mutating func giveUp(attempts: Int) {
    for index in reachable where !peers[index].isFetched {
      result.exchanges[index].failure =
        peers[index].refusal?.failure ?? StoreError.pushRaceLost(attempts: attempts)
    }
  }

  /// Calls `body` for several remotes in parallel, and records each failure.
  private mutating func each<Value: Sendable>(
    _ indices: [Int], _ body: @escaping @Sendable (Peer) async throws -> Value
  ) async throws -> [(index: Int, value: Value)] {
    let peers = peers
    let outcomes = await withTaskGroup(of: (Int, Result<Value, any Error>).self) { group in
      for index in indices {
        group.addTask {
          do {
            return (index, .success(try await body(peers[index])))
          } catch {
            return (index, .failure(error))
          }
        }
      }
      return await group.reduce(into: [Int: Result<Value, any Error>]()) { $0[$1.0] = $1.1 }
    }
    var values: [(Int, Value)] = []
    for (index, outcome) in outcomes.sorted(by: { $0.key < $1.key }) {
      switch outcome {
      case .success(let value): values.append((index, value))
      case .failure(let error): result.exchanges[index].failure = error
      }
    }
    return values
  }

  private mutating func fetch() async throws {
    let repository = repository
    let branch = Repository.defaultBranch
    let fetched = try await each(reachable.filter { !peers[$0].isFetched }) { peer in
      let transport = try peer.transport.get()
      let before = try repository.commit(of: "refs/remotes/\(peer.remote.name)/\(branch)")
      let fetched = try await StoreSync.fetchStore(
        over: transport, at: peer.remote.url, into: repository)
      let theirs = fetched?.commit
      // The old commit may have been collected, which doesn't prove a rewind.
      let wasRewound =
        before.map { before in
          theirs.map { (try? repository.isAncestor(before, of: $0)) == false } ?? true
        } ?? false
      return (
        theirs: theirs, branch: fetched.flatMap { $0.branch == branch ? nil : $0.branch },
        wasRewound: wasRewound
      )
    }
    for (index, value) in fetched {
      peers[index].theirs = value.theirs
      peers[index].isFetched = true
      if let branch = value.branch {
        result.exchanges[index].branch = branch
        peers[index].branch = branch
      }
      if value.wasRewound { result.exchanges[index].wasRewound = true }
      checkRefusal(of: index)
    }
  }

  /// Decides about a refused push after a fetch.
  ///
  /// 1. The branch has moved, or a stale lock was removed: the push is repeated.
  /// 2. Another push may still be moving the branch: it is fetched again.
  /// 3. Otherwise the refusal is the failure of the exchange, which has merged the remote's commits.
  private mutating func checkRefusal(of index: Int) {
    guard let refusal = peers[index].refusal else { return }
    let peer = peers[index]
    if refusal.theirs != peer.theirs || refusal.branch != peer.branch
      || (try? peer.transport.get())?.removeAbandonedLocks(of: Repository.defaultBranch) == true
    {
      peers[index].refusal = nil
    } else if refusal.isExpired {
      peers[index].refusal = nil
      result.exchanges[index].failure = refusal.failure
    } else {
      peers[index].isFetched = false
    }
  }

  /// Merges all fetched commits into the checked-out branch, whatever its name. Returns the branch's commit.
  private mutating func join() throws -> ObjectID? {
    try store.write(reconciling: .all) { writer in
      for outcome in try writer.mergeIncoming() { result.add(outcome) }
      for index in reachable {
        guard let theirs = peers[index].theirs else { continue }
        do {
          let outcome = try BranchJoin(writer).join(theirs)
          result.add(outcome, to: index)
          if outcome.fetched > 0 { checkClock(of: theirs) }
        } catch let error as StoreError {
          if case .unreadableObject = error, !isRefetched { throw error }
          // The commits of other remotes may still merge.
          guard peers.count > 1 else { throw error }
          result.exchanges[index].failure = error
        }
      }
      return try writer.head()
    }
  }

  /// Records by how much a commit's time is implausibly ahead of this device's clock.
  private mutating func checkClock(of commit: ObjectID) {
    guard let time = (try? repository.commit(commit).time).map({ Instant(seconds: $0) }),
      time.isImplausible(at: store.context.now)
    else { return }
    result.clockAhead = max(result.clockAhead ?? 0, time.seconds(since: store.context.now))
  }

  private mutating func push(_ ours: ObjectID?) async throws -> Bool {
    guard let ours else { return true }
    let indices = reachable.filter { index in
      let peer = peers[index]
      return peer.refusal == nil
        && (peer.theirs != ours || (try? peer.transport.get())?.hasOtherPushURLs == true)
    }
    let isDone = try await push(ours, to: indices) { peer in
      try await peer.transport.get().push(ours, to: Repository.defaultBranch)
    }
    return isDone && reachable.allSatisfy { peers[$0].refusal == nil }
  }

  /// Pushes to several remotes in parallel. Returns false if another device moved a remote's branch first.
  private mutating func push(
    _ ours: ObjectID, to indices: [Int],
    _ send: @escaping @Sendable (Peer) async throws -> PushOutcome
  ) async throws -> Bool {
    let (repository, device) = (repository, store.device)
    let pushed = try await each(indices) { peer in
      let outcome = try await send(peer)
      if case .checkedOut = outcome {
        try await peer.transport.get().leave(ours, as: "\(StoreSync.incoming)\(device)")
      }
      let count =
        try peer.theirs.map { try repository.aheadBehind(ours, $0).ahead }
        ?? repository.count(ours)
      return (outcome: outcome, count: count)
    }
    var isDone = true
    for (index, value) in pushed {
      switch value.outcome {
      case .moved: peers[index].theirs = ours
      case .checkedOut: result.exchanges[index].isLeft = true
      case .elsewhere, .refused:
        if case .refused(let failure) = value.outcome {
          peers[index].refusal = Refusal(
            failure: failure, theirs: peers[index].theirs, branch: peers[index].branch)
        }
        peers[index].isFetched = false
        isDone = false
        continue
      }
      peers[index].isFetched = true
      result.exchanges[index].pushed += value.count
    }
    return isDone
  }
}
