import BelfryCore
import Git

/// What a sync did.
public struct SyncResult: Sendable {
  /// The part of one remote.
  public struct Exchange: Sendable {
    public let remote: Remote
    /// Commits that it brought.
    public var fetched = 0
    /// Commits that it was sent.
    public var pushed = 0
    /// Its branch had been moved to where it lacked what it had before.
    public var wasRewound = false
    /// The branch that was taken in, when the remote has none of the usual name.
    public var branch: String?
    /// It is somebody's own store, and takes in what was left for it by its next command.
    public var isLeft = false
    /// Why it could not be synced with; nil when it was.
    public var failure: (any Error)?
  }
  public var exchanges: [Exchange] = []
  /// Records that came in or were joined.
  public var merged = 0
  public var decisions: [MergeDecision] = []
  public var refusals: [MergeRefusal] = []
  /// How far ahead of this device's clock the latest commit that came in is, in seconds, when that is
  /// implausible.
  public var clockAhead: Int64?

  /// That of nothing done yet.
  public init() {}

  public var fetched: Int { exchanges.reduce(0) { $0 + $1.fetched } }
  public var pushed: Int { exchanges.reduce(0) { $0 + $1.pushed } }

  mutating func add(_ outcome: BranchJoin.Outcome, to index: Int? = nil) {
    if let index { exchanges[index].fetched += outcome.fetched }
    merged += outcome.merged
    decisions += outcome.decisions
    refusals += outcome.refusals
  }
}

extension Store {
  /// Fetches, merges, and pushes, until this store and the remotes have the same.
  ///
  /// The lock is held only while merging: local work never waits for a remote. A remote that cannot be reached
  /// keeps nobody from the others; its failure is in its exchange, or thrown when it is the only one.
  ///
  /// - Parameters:
  ///   - names: the remotes; all when none is named.
  ///   - sign: after how many seconds this device says again that it is there; nil for not at all.
  ///   - promise: how often it promises to be heard of while a cascade step may have to ring, in seconds; nil where only its
  ///     past syncs tell.
  ///   - pushTimeout: how long pushes that lose against other devices are tried again, in milliseconds; nil for as long
  ///     as usual.
  ///   - transport: how a remote is reached.
  public func sync(
    _ names: [String] = [], sign: Int64? = nil, promise: Int64? = nil, pushTimeout: Int? = nil,
    transport: (@Sendable (Repository, Remote) throws -> any RemoteTransport)? = nil
  ) async throws -> SyncResult {
    let repository = try repository()
    if repository.isShallow { throw StoreError.shallow }
    let remotes = try remotes(named: names)
    let context = context
    let make = transport ?? { try GitTransport($0, $1, context: context) }
    var sync = Synchronising(
      store: self, repository: repository,
      peers: remotes.map { remote in
        Synchronising.Peer(remote: remote, transport: Result { try make(repository, remote) })
      })
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
    await exchangeSigns(
      repository,
      sync.peers.indices.filter { result.exchanges[$0].failure == nil }
        .compactMap { try? sync.peers[$0].transport.get() }, spacing: sign, promise: promise)
    if result.exchanges.count == 1, let failure = result.exchanges[0].failure { throw failure }
    if result.exchanges.contains(where: { $0.failure == nil }) {
      local.note(.sync, at: context.now)
    }
    return result
  }
}

/// A sync on its way: fetch from everybody, join, push to everybody; again with those who were moved meanwhile.
private struct Synchronising {
  struct Peer: Sendable {
    let remote: Remote
    let transport: Result<any RemoteTransport, any Error>
    /// The commit at which its branch stands; nil when it has none.
    var theirs: ObjectID?
    /// The branch that was fetched from it.
    var branch = Repository.branch
    var isFetched = false
  }
  let store: Store
  let repository: Repository
  var peers: [Peer]
  var result: SyncResult
  /// True if all objects were fetched again, as some could not be read.
  private var isRefetched = false

  init(store: Store, repository: Repository, peers: [Peer]) {
    self.store = store
    self.repository = repository
    self.peers = peers
    result = SyncResult()
    result.exchanges = peers.map { SyncResult.Exchange(remote: $0.remote) }
  }

  /// The peers that are to be worked with still.
  private var reachable: [Int] { peers.indices.filter { result.exchanges[$0].failure == nil } }

  /// One round; returns whether all have the same now, but for those that failed.
  mutating func round() async throws -> Bool {
    try await fetch()
    let ours: ObjectID?
    do {
      ours = try join()
    } catch StoreError.unreadableObject where !isRefetched {
      // Once: objects that a partial clone left out, or that are gone, come again.
      isRefetched = true
      _ = try await each(reachable) { peer in
        // What comes of it is seen when the objects are read.
        _ = try? await peer.transport.get().refetch(peer.branch)
      }
      ours = try join()
    }
    return try await push(ours)
  }

  mutating func giveUp(attempts: Int) {
    for index in reachable where !peers[index].isFetched {
      result.exchanges[index].failure = StoreError.pushRaceLost(attempts: attempts)
    }
  }

  /// Does something with some peers at once, and notes for each when it fails.
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
    let branch = Repository.branch
    let fetched = try await each(reachable.filter { !peers[$0].isFetched }) { peer in
      let transport = try peer.transport.get()
      let before = try repository.commit(of: "refs/remotes/\(peer.remote.name)/\(branch)")
      let fetched = try await transport.fetchStore(at: peer.remote.url, into: repository)
      let theirs = fetched?.commit
      // What has been collected since tells nothing.
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
    }
  }

  /// Joins everything that was fetched into the branch that is checked out, whatever it is called here, and returns
  /// where it stands then.
  private mutating func join() throws -> ObjectID? {
    try store.locked {
      let writer = try StoreWriter(store)
      try writer.absorb()
      try DailyAudit(writer).commitDevices()
      for outcome in try writer.takeIncoming() { result.add(outcome) }
      for index in reachable {
        guard let theirs = peers[index].theirs else { continue }
        do {
          let outcome = try BranchJoin(writer).join(theirs)
          result.add(outcome, to: index)
          if outcome.fetched > 0 { notification(theirs) }
        } catch let error as StoreError {
          if case .unreadableObject = error, !isRefetched { throw error }
          // What this remote has cannot be joined; another's can.
          guard peers.count > 1 else { throw error }
          result.exchanges[index].failure = error
        }
      }
      return try writer.head()
    }
  }

  private mutating func notification(_ commit: ObjectID) {
    guard let time = (try? repository.commit(commit).time).map({ Instant(seconds: $0) }),
      time.isImplausible(at: store.context.now)
    else { return }
    result.clockAhead = max(result.clockAhead ?? 0, time.seconds(since: store.context.now))
  }

  private mutating func push(_ ours: ObjectID?) async throws -> Bool {
    guard let ours else { return true }
    let (repository, device) = (repository, store.device)
    let pushed = try await each(reachable.filter { peers[$0].theirs != ours }) { peer in
      let transport = try peer.transport.get()
      let outcome = try await transport.push(ours, to: Repository.branch)
      if outcome == .checkedOut {
        try await transport.leave(ours, as: "\(Store.incoming)\(device)")
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
      case .elsewhere:
        peers[index].isFetched = false
        isDone = false
        continue
      }
      result.exchanges[index].pushed += value.count
    }
    return isDone
  }
}
