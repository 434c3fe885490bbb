import BelfryCore
import BelfryStore
import Git
import Synchronization

/// What connects the devices of a fleet: who can reach whom, and what goes wrong on the way.
///
/// Objects are where everybody finds them; what moves are the names of commits, as over any remote.
final class Network: Sendable {
  /// What goes wrong with one call.
  enum Fault: Sendable {
    case none
    /// It never arrives.
    case lost
    /// It arrives, and nobody learns of it.
    case unanswered
  }

  private struct State {
    /// The pairs that cannot reach each other: a device, and the path of a remote.
    var cut: Set<String> = []
    var faults: [Fault] = []
  }
  private let state = Mutex(State())

  func cut(_ device: Int, from remote: String) {
    state.withLock { _ = $0.cut.insert("\(device) \(remote)") }
  }

  func heal() { state.withLock { $0 = State() } }

  /// What is to go wrong with the calls that come next.
  func plan(_ faults: [Fault]) { state.withLock { $0.faults = faults } }

  /// Throws when a device cannot reach a remote.
  func probe(_ device: Int, _ remote: String) throws {
    if state.withLock({ $0.cut.contains("\(device) \(remote)") }) { throw Network.lost(remote) }
  }

  /// Throws when a call does not get through; returns whether its answer does.
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

/// A device's way to a remote through the network.
struct SimulatedTransport: RemoteTransport {
  let network: Network
  let device: Int
  let repository: Repository
  let remote: Remote
  /// Is told when something is about to be sent or has come: a moment to crash at.
  let moment: @Sendable () -> Void

  private var tracking: String { "refs/remotes/\(remote.name)/\(Repository.branch)" }

  func fetchHeartbeats(of devices: Set<Identifier>) async throws {}

  func refetch(_ branch: String) async throws { _ = try await fetch(branch) }

  func fetch(_ branch: String) async throws -> ObjectID? {
    let isAnswered = try network.call(device, remote.url)
    let theirs = try Repository.open(remote.url).commit(of: "refs/heads/\(branch)")
    if let theirs { try await move(repository, tracking, to: theirs) }
    // The signs of life of the others.
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
