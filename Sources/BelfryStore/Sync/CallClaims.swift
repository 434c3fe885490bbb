import BelfryCore
import Git

/// Where devices agree on who calls: references at the remote that only one can make.
///
/// `refs/belfry/calls/<key>/<term>`, and beside it `<term>-answered` or `<term>-failed`.
public struct CallClaims: Sendable {
  private let repository: Repository
  private let transport: GitTransport
  private let folder: String
  private let device: Identifier

  /// What the remote has of the tries: each with what came of it.
  public func read() async throws -> [Int: CallElection.Claim.Outcome?] {
    let names = try await transport.references(under: folder)
    var result: [Int: CallElection.Claim.Outcome?] = [:]
    for name in names {
      let parts = name.split(separator: "-", maxSplits: 1).map(String.init)
      guard let term = parts.first.flatMap({ Int($0) }), (1...CallElection.most).contains(term)
      else { continue }
      let outcome = parts.count == 2 ? CallElection.Claim.Outcome(rawValue: parts[1]) : nil
      if parts.count == 2, outcome == nil { continue }
      result[term] = .some(outcome ?? result[term].flatMap { $0 })
    }
    return result
  }

  /// DeliveryLeases a try; returns whether this device was the first.
  public func claim(_ term: Int, at now: Instant) async throws -> Bool {
    try await transport.create(commit("Calling", now), as: "\(folder)\(term)")
  }

  /// Says what came of a try.
  public func note(
    _ outcome: CallElection.Claim.Outcome, of term: Int, at now: Instant
  ) async throws {
    let name = "\(folder)\(term)-\(outcome.rawValue)"
    _ = try await transport.create(commit("Called: \(outcome.rawValue)", now), as: name)
  }

  /// A commit of this device alone: with one that others have, too, git would say that all is up to date.
  private func commit(_ words: String, _ now: Instant) throws -> ObjectID {
    try repository.writeCommit(
      tree: repository.writeTree(TreeData()), parents: [],
      signature: Repository.Signature(
        name: "Belfry", email: "belfry@localhost", time: now.seconds),
      message: CommitMessage(words, device: device).text)
  }

  fileprivate init(
    _ repository: Repository, _ transport: GitTransport, folder: String, device: Identifier
  ) {
    self.repository = repository
    self.transport = transport
    self.folder = folder
    self.device = device
  }
}

extension Store {
  /// Where it is agreed who calls a target of an occurrence; nil without a remote.
  ///
  /// Every device takes the same remote where it can: `origin`, else the first by name.
  public func callClaims(
    _ alarm: Identifier, _ occurrence: CivilDateTime, _ target: CascadeTarget
  ) throws -> CallClaims? {
    let repository = try repository()
    let remotes = try repository.remotes()
    guard let remote = remotes.first(where: { $0.name == "origin" }) ?? remotes.first else {
      return nil
    }
    // No name that a person chose is in a reference's.
    let key = Repository.blobID(Array(Store.callKey(alarm, occurrence, target).utf8))
    return CallClaims(
      repository, try GitTransport(repository, remote, context: context),
      folder: "refs/belfry/calls/\(key)/", device: device)
  }

  // MARK: Notes of calls

  /// What this device has done about a call.
  public struct CallNote: Hashable, Sendable {
    /// How often it has called, or was about to.
    public var tried: Int
    public var isOver: Bool
    public var at: Instant

    public init(tried: Int = 0, isOver: Bool = false, at: Instant) {
      self.tried = tried
      self.isOver = isOver
      self.at = at
    }
  }

  /// What tells one call from another: an alarm, an occurrence and a target.
  public static func callKey(
    _ alarm: Identifier, _ occurrence: CivilDateTime, _ target: CascadeTarget
  ) -> String { "\(alarm) \(occurrence) \(target.key)" }

  /// Keeps other processes of this device from seeing to the same call, as long as the lock is held; nil while one does.
  public func lockForCall(_ key: String) throws -> DaemonLock? {
    let name = Repository.blobID(Array(key.utf8)).description.prefix(16)
    let path = "\(local.folder)/call-\(name).lock"
    do {
      return DaemonLock(
        try StoreLock(path, holder: context.process, patience: 0), path: path)
    } catch StoreError.locked {
      return nil
    }
  }

  public func callNote(_ key: String) -> CallNote? { local.readCalls()[key] }

  /// Keeps what this device has done about a call, durably: it is not to call once too often.
  public func keep(_ note: CallNote, of key: String) throws {
    let lock = try StoreLock(local.firingsLock, holder: context.process, patience: context.patience)
    defer { withExtendedLifetime(lock) {} }
    let recent = context.now.adding(seconds: -14 * 86_400)
    var notes = local.readCalls().filter { $0.value.at > recent }
    notes[key] = note
    try local.write(notes)
  }
}

extension LocalState {
  private var calls: String { folder + "/calls.json" }

  func readCalls() -> [String: Store.CallNote] {
    guard let file = try? DurableFile.read(calls, limit: 1 << 20),
      let members = (try? JSON(parsing: file.bytes))?.object
    else { return [:] }
    return members.compactMapValues { item in
      guard let at = item["at"]?.instant else { return nil }
      return Store.CallNote(
        tried: Int(item["tried"]?.integer ?? 0), isOver: item["over"]?.bool ?? false, at: at)
    }
  }

  func write(_ notes: [String: Store.CallNote]) throws {
    let members = notes.mapValues { note in
      JSON.object([
        "tried": .integer(Int64(note.tried)), "over": .bool(note.isOver), "at": JSON(note.at),
      ])
    }
    try DurableFile.write(
      JSON.object(members).document, to: calls, temporary: "\(calls).new")
  }
}
