import BelfryCore
import Git

/// Which devices are there: each moves a reference of its own at the remotes, so that the history knows nothing of it.
extension Store {
  /// At a remote, under it each device's own; here, by the remote's name first.
  static let alive = "refs/belfry/alive/"

  /// What is known of the other devices.
  public var signsOfLife: SignsOfLife { local.readSignsOfLife() }

  /// Says that this device is there, if it has not for so long, and takes note of who else is.
  ///
  /// Who cannot say so is waited for no less; no failure here is one of the sync.
  ///
  /// - Parameter spacing: in seconds; nil for saying nothing.
  func exchangeSigns(
    _ repository: Repository, _ transports: [any RemoteTransport], spacing: Int64?
  ) async {
    var signs = signsOfLife
    guard !transports.isEmpty else {
      if signs.silent != nil { return }
      signs.silent = context.now
      try? local.write(signs)
      return
    }
    signs.asked = context.now
    signs.silent = nil
    let found = (try? repository.references(under: Store.alive)) ?? [:]
    for (name, commit) in found {
      guard let id = name.split(separator: "/").last.flatMap({ Identifier($0) }), id != device,
        let time = (try? repository.commit(commit).time).map({ Instant(seconds: $0) }),
        !time.isImplausible(at: context.now)
      else { continue }
      signs.seen[id] = max(signs.seen[id] ?? time, time)
    }
    if let spacing, signs.told.map({ abs(context.now.seconds(since: $0)) >= spacing }) ?? true,
      let commit = try? repository.writeCommit(
        tree: repository.writeTree(TreeData()), parents: [],
        signature: Repository.Signature(
          name: "Belfry", email: "belfry@localhost", time: context.now.seconds),
        message: "\(CommitMessage("This device is there", device: device).text)")
    {
      let name = "\(Store.alive)\(device)"
      for transport in transports {
        if (try? await transport.leave(commit, as: name)) != nil { signs.told = context.now }
      }
    }
    try? local.write(signs)
  }
}
