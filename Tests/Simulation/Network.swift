import BelfryCore
import BelfryStore
import Git
import Synchronization

/// The connections between the devices of a fleet, with their failures.
///
/// All devices share one object store. The network transfers only the names of commits, as any remote does.
final class Network: Sendable {
  /// A failure of one request.
  enum Fault: Sendable {
    case none
    /// The request never arrives.
    case lost
    /// The request arrives, and its response is lost.
    case unanswered
  }

  private struct State {
    /// The pairs that cannot reach each other: a device and the path of a remote.
    var cut: Set<String> = []
    var faults: [Fault] = []
  }
  private let state = Mutex(State())

  func cut(_ device: Int, from remote: String) {
    state.withLock { _ = $0.cut.insert("\(device) \(remote)") }
  }

  func heal() { state.withLock { $0 = State() } }

  /// Sets the failures of the next requests.
  func plan(_ faults: [Fault]) { state.withLock { $0.faults = faults } }

  /// Throws if a device cannot reach a remote.
  func probe(_ device: Int, _ remote: String) throws {
    if state.withLock({ $0.cut.contains("\(device) \(remote)") }) { throw Network.lost(remote) }
  }

  /// Throws if a request does not arrive. Returns true if its response arrives.
  fileprivate func call(_ device: Int, _ remote: String) throws -> Bool {
    let fault: Fault = state.withLock { state in
      if state.cut.contains("\(device) \(remote)") { return .lost }
      return state.faults.isEmpty ? .none : state.faults.removeFirst()
    }
    if fault == .lost { throw Network.lost(remote) }
    return fault == .none
  }

  fileprivate static func lost(_ remote: String) -> StoreError {
    .remoteFailed(url: remote, RemoteFailure(.other, "the network is down"))
  }
}

/// A device's connection to a remote through the network.
struct SimulatedTransport: RemoteTransport {
  let network: Network
  let device: Int
  let repository: Repository
  let remote: Remote
  /// Called before something is sent or received: a possible time of a crash.
  let moment: @Sendable () -> Void

  private var tracking: String { "refs/remotes/\(remote.name)/\(Repository.defaultBranch)" }

  func fetchHeartbeats(of devices: Set<Identifier>) async throws {}

  func refetch(_ branch: String) async throws { _ = try await fetch(branch) }

  func fetch(_ branch: String) async throws -> ObjectID? {
    let isAnswered = try network.call(device, remote.url)
    let theirs = try Repository.open(remote.url).commit(of: "refs/heads/\(branch)")
    if let theirs { try await move(repository, tracking, to: theirs) }
    // The heartbeats of the other devices.
    let prefix = "refs/belfry/alive/"
    for (name, commit) in try Repository.open(remote.url).references(under: prefix) {
      try await move(
        repository, "refs/belfry/seen/\(remote.name)/\(name.dropFirst(prefix.count))", to: commit)
    }
    moment()
    guard isAnswered else { throw Network.lost(remote.url) }
    return theirs
  }

  func push(_ commit: ObjectID, to branch: String) async throws -> PushOutcome {
    moment()
    let isAnswered = try network.call(device, remote.url)
    let other = try Repository.open(remote.url)
    guard other.workTree == remote.url, remote.url.hasSuffix(".git") else { return .checkedOut }
    let known = try repository.commit(of: tracking)
    guard
      case .moved = try other.moveReference(
        "refs/heads/\(branch)", from: known, to: commit, signature: signature, message: "push")
    else { return .elsewhere }
    guard isAnswered else { throw Network.lost(remote.url) }
    try await move(repository, tracking, to: commit)
    moment()
    return .moved
  }

  func pushAhead(
    _ commit: ObjectID, of expected: ObjectID, to branch: String
  ) async throws -> PushOutcome {
    try await push(commit, to: branch)
  }

  func leave(_ commit: ObjectID, as reference: String) async throws {
    let isAnswered = try network.call(device, remote.url)
    let other = try Repository.open(remote.url)
    _ = try other.adopt(commit, from: repository)
    try await move(other, reference, to: commit)
    guard isAnswered else { throw Network.lost(remote.url) }
  }

  private var signature: Repository.Signature {
    Repository.Signature(name: "sim", email: "sim@localhost", time: 0)
  }

  private func move(_ repository: Repository, _ reference: String, to commit: ObjectID) async throws
  {
    let known = try repository.commit(of: reference)
    if known == commit { return }
    _ = try repository.moveReference(
      reference, from: known, to: commit, signature: signature, message: "simulation")
  }
}
