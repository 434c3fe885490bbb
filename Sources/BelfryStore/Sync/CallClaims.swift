import BelfryCore
import Git

/// The claims by which devices agree which of them places a call: references at the remote that only one device can
/// create.
///
/// An attempt claims `refs/belfry/calls/<key>/<term>`. Its outcome is `<term>-answered`, `<term>-failed` or
/// `<term>-unplaced`.
public struct CallClaims: Sendable {
  private let store: Store
  private let repository: Repository
  private let transport: GitTransport
  private let folder: String

  /// The maximum number of attempts that are read.
  private static let maxTerm = 10_000

  /// Returns the claimed attempts at the remote, each with its outcome; nil if it has none yet.
  public func read() async throws -> [Int: CallElection.Claim.Outcome?] {
    let names = try await transport.references(under: folder)
    var result: [Int: CallElection.Claim.Outcome?] = [:]
    for name in names {
      let parts = name.split(separator: "-", maxSplits: 1).map(String.init)
      guard let term = parts.first.flatMap({ Int($0) }),
        (1...CallClaims.maxTerm).contains(term)
      else { continue }
      let outcome = parts.count == 2 ? CallElection.Claim.Outcome(rawValue: parts[1]) : nil
      if parts.count == 2, outcome == nil { continue }
      result[term] = .some(outcome ?? result[term].flatMap { $0 })
    }
    return result
  }

  /// Claims an attempt. Returns true if this device is the first.
  public func claim(_ term: Int, at now: Instant) async throws -> Bool {
    try await transport.create(commit("Calling", now), as: "\(folder)\(term)")
  }

  /// Records the outcome of an attempt.
  public func note(
    _ outcome: CallElection.Claim.Outcome, of term: Int, at now: Instant
  ) async throws {
    let name = "\(folder)\(term)-\(outcome.rawValue)"
    _ = try await transport.create(commit("Called: \(outcome.rawValue)", now), as: name)
  }

  /// Writes a commit that only this attempt has.
  private func commit(_ subject: String, _ now: Instant) throws -> ObjectID {
    var context = store.context
    context.now = now
    return try store.locked { try repository.writeMarker(subject, of: store.device, context) }
  }

  fileprivate init(
    _ store: Store, _ repository: Repository, _ transport: GitTransport, folder: String
  ) {
    self.store = store
    self.repository = repository
    self.transport = transport
    self.folder = folder
  }
}

extension Store {
  /// Returns the claims of a call, or nil without a remote.
  ///
  /// All devices must use the same remote: `origin`, otherwise the first by name.
  public func callClaims(_ call: Callout.ID) throws -> CallClaims? {
    let repository = try repository()
    let remotes = try repository.remotes()
    guard let remote = remotes.first(where: { $0.name == "origin" }) ?? remotes.first else {
      return nil
    }
    // A hash keeps names that people chose out of the reference's name.
    let key = Repository.blobID(Array(call.text.utf8))
    return CallClaims(
      self, repository, try GitTransport(repository, remote, context: context),
      folder: "refs/belfry/calls/\(key)/")
  }
}
