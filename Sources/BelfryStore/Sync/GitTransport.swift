import BelfryCore
import Git
import Glibc

/// A transport that uses the user's own git, over a path, ssh, https or git, with the user's configuration, keys,
/// credentials and certificates.
struct GitTransport: RemoteTransport {
  let repository: Repository
  let remote: Remote
  /// The URL to fetch from.
  let url: RemoteURL
  /// The URLs to push to; empty if it is only `url`.
  private let pushURLs: [RemoteURL]
  private let context: StoreContext
  private var urls: [RemoteURL] { [url] + pushURLs }

  var hasOtherPushURLs: Bool { !pushURLs.isEmpty }

  /// Creates a transport to a remote.
  ///
  /// - Throws: `StoreError.unsupportedRemote` if a URL is not valid.
  init(_ repository: Repository, _ remote: Remote, context: StoreContext) throws {
    self.repository = repository
    self.remote = remote
    self.context = context
    url = try GitTransport.check(remote.url)
    pushURLs = try remote.pushURLs.map(GitTransport.check)
  }

  /// Parses the URL of a remote.
  ///
  /// - Throws: `StoreError.unsupportedRemote` if the URL is not valid.
  static func check(_ url: String) throws -> RemoteURL {
    do throws(RemoteURL.Failure) {
      return try RemoteURL(url)
    } catch {
      throw StoreError.unsupportedRemote(url: URLMask.masked(url: url), reason: error.reason)
    }
  }

  func prepare() { context.sshConnections?.prepare(for: urls, in: repository.workTree) }

  func fetch(_ branch: String) async throws -> ObjectID? { try await fetch(branch, options: []) }

  func refetch(_ branch: String) async throws {
    _ = try await fetch(branch, options: ["--refetch"])
  }

  private func fetch(_ branch: String, options: [String]) async throws -> ObjectID? {
    let tracking = "refs/remotes/\(remote.name)/\(branch)"
    var waited = 0
    while true {
      // The objects must be durable before the branch moves to a commit that needs them.
      let outcome = try await run(
        [
          "-c", "core.fsync=all", "-c", "core.fsyncMethod=batch", "fetch", "--progress",
          "--no-tags",
          "--no-write-fetch-head", "--no-auto-maintenance",
          // A merge needs every record, even in a partial clone.
          "--no-filter", "--no-recurse-submodules", "--no-prune", "--refmap=",
        ] + options + [
          "--end-of-options", remote.name,
          "+refs/heads/\(branch):\(tracking)",
        ])
      if outcome.status == 0 { return try repository.commit(of: tracking) }
      if outcome.error.contains("couldn't find remote ref refs/heads/\(branch)") { return nil }
      // Another sync is updating the reference, or has died and left its lock.
      let lock = repository.lock(of: tracking)
      guard outcome.error.contains("cannot lock ref"), waited < 2_000 else {
        throw failure(outcome)
      }
      if repository.removeStaleLock(lock, olderThan: 0) { continue }
      try await Task.sleep(for: .milliseconds(20))
      waited += 20
    }
  }

  func fetchHeartbeats(of devices: Set<Identifier>) async throws {
    // Only exact names are fetched, whatever else the remote has in that folder.
    let names = Dictionary(
      uniqueKeysWithValues: devices.map {
        ("\(StoreSync.alive)\($0)", "\(StoreSync.seen)\(remote.name)/\($0)")
      })
    let listed = try await run(
      ["ls-remote", "--quiet", "--refs", "--end-of-options", remote.name] + names.keys.sorted())
    if listed.status != 0 { throw failure(listed) }
    var found: [String: ObjectID] = [:]
    for line in listed.output.split(separator: "\n") {
      let fields = line.split(separator: "\t").map(String.init)
      // git also lists references whose names end with a requested name.
      guard fields.count == 2, names[fields[1]] != nil else { continue }
      found[fields[1]] = ObjectID(hexadecimal: fields[0])
    }
    var gone: [String] = []
    var changed: [String] = []
    for (name, tracking) in names.sorted(by: { $0.key < $1.key }) {
      let known = try repository.commit(of: tracking)
      if let commit = found[name] {
        if commit != known { changed.append("+\(name):\(tracking)") }
      } else if known != nil {
        gone.append(tracking)
      }
    }
    try await GitCommand.removeReferences(gone, in: repository)
    if changed.isEmpty { return }
    let outcome = try await run(
      [
        "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
        "--no-filter", "--no-recurse-submodules", "--no-prune", "--refmap=", "--end-of-options",
        remote.name,
      ] + changed)
    if outcome.status != 0 { throw failure(outcome) }
  }

  /// The parts of git's messages that can mean that another device moved the reference first.
  private static let races = [
    "fetch first", "non-fast-forward", "cannot lock ref", "failed to update ref",
    "incorrect old value", "reference already exists", "stale info",
  ]

  func push(_ commit: ObjectID, to branch: String) async throws -> PushOutcome {
    let specification = "\(commit):refs/heads/\(branch)"
    if pushURLs.isEmpty {
      return try await pushOutcome(try await push(specification), branch, at: url)
    }
    return try await pushEverywhere(commit, specification, branch)
  }

  /// Pushes a commit to each of several URLs that doesn't have it yet. A URL that fails does not affect the others.
  private func pushEverywhere(
    _ commit: ObjectID, _ specification: String, _ branch: String
  ) async throws -> PushOutcome {
    var failure: (any Error)?
    var result = PushOutcome.moved
    for url in pushURLs {
      do {
        // The remote-tracking branch says nothing about this URL.
        if try await head(of: branch, at: url) == commit { continue }
        // git ends at the first URL that it cannot reach.
        let target = pushURLs.count == 1 ? remote.name : url.text
        let outcome = try await pushOutcome(
          try await push(specification, to: target), branch, at: url)
        if case .moved = outcome { continue }
        result = outcome
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    // Only a push by the remote's name updates the remote-tracking branch. A failure shows in the next sync.
    if pushURLs.count > 1 { _ = try? await fetch(branch) }
    return result
  }

  /// Returns the commit of a branch at a URL, or nil if there is none.
  private func head(of branch: String, at url: RemoteURL) async throws -> ObjectID? {
    let name = "refs/heads/\(branch)"
    let outcome = try await run([
      "ls-remote", "--quiet", "--refs", "--end-of-options", url.text, name,
    ])
    if outcome.status != 0 { throw failure(outcome, at: url) }
    return outcome.output.split(separator: "\n").lazy.map { $0.split(separator: "\t") }
      .first { $0.count == 2 && $0[1] == name }.flatMap { ObjectID(hexadecimal: $0[0]) }
  }

  /// Reads the branch of a remote on this machine's file systems.
  func hasMoved(_ branch: String, from expected: ObjectID) -> Bool {
    guard pushURLs.isEmpty, url.transport == .path, let path = url.repositoryPath,
      let folder = RepositoryFolder(path), folder.hasFileReferences,
      let commit = folder.head(of: branch)
    else { return false }
    return commit != expected
  }

  func pushAhead(
    _ commit: ObjectID, of expected: ObjectID, to branch: String
  ) async throws -> PushOutcome {
    if hasOtherPushURLs { return .elsewhere }
    // Without the lease, git would also move a branch forward that was rewound.
    let lease = "--force-with-lease=refs/heads/\(branch):\(expected)"
    return try await pushOutcome(
      try await push("\(commit):refs/heads/\(branch)", options: [lease]), branch, at: url)
  }

  private func pushOutcome(
    _ outcome: GitCommand.Outcome, _ branch: String, at url: RemoteURL
  ) async throws -> PushOutcome {
    if outcome.status == 0 { return .moved }
    let refusal = GitTransport.refusal(outcome) ?? ""
    if refusal.contains("branch is currently checked out") { return .checkedOut }
    // Messages of the remote's hooks are on other lines.
    if !RemoteFailure.isWriteDenied(outcome),
      GitTransport.races.contains(where: { refusal.contains($0) })
    {
      if url.transport == .path, removeAbandonedLocks(of: branch, at: url) { return .elsewhere }
      return .refused(failure(outcome, at: url))
    }
    if let hook = await refusingHook(outcome) {
      throw StoreError.remoteFailed(
        url: url.shown, RemoteFailure(hook: hook, outcome, url: url))
    }
    throw failure(outcome, at: url)
  }

  /// Returns the path of the local hook that has refused a push, or nil if another reason is more likely.
  ///
  /// git itself says only that it has failed to push.
  private func refusingHook(_ outcome: GitCommand.Outcome) async -> String? {
    guard GitTransport.refusal(outcome) == nil,
      outcome.error.contains("error: failed to push some refs to"),
      !["remote end hung up", "RPC failed", "pack-objects", "remote unpack"]
        .contains(where: { outcome.error.contains($0) }),
      // Without git's answer, the failure is reported as any other.
      let answer = try? await GitCommand.run(
        ["rev-parse", "--git-path", "hooks/pre-push"], in: repository.workTree),
      answer.status == 0, let name = answer.output.split(separator: "\n").first
    else { return nil }
    let path = name.hasPrefix("/") ? String(name) : "\(repository.workTree)/\(name)"
    return access(path, X_OK) == 0 ? path : nil
  }

  func leave(_ commit: ObjectID, as reference: String) async throws {
    let outcome = try await push("+\(commit):\(reference)")
    if outcome.status != 0 { throw failure(outcome) }
  }

  func branches() async throws -> [String] {
    let outcome = try await run([
      "ls-remote", "--quiet", "--symref", "--end-of-options", remote.name, "HEAD", "refs/heads/*",
    ])
    if outcome.status != 0 { throw failure(outcome) }
    let prefix = "refs/heads/"
    var names: [String] = []
    for line in outcome.output.split(separator: "\n") {
      let fields = line.split(separator: "\t").map(String.init)
      guard fields.count == 2 else { continue }
      // git cannot fetch from it, and reports that the branch doesn't exist.
      if fields[0].utf8.count == 64, fields[0].allSatisfy(\.isHexDigit) {
        throw StoreError.remoteFailed(url: url.shown, .otherObjectFormat)
      }
      // The first line is `ref: refs/heads/master<tab>HEAD`.
      let name = fields[1] == "HEAD" ? String(fields[0].dropFirst(5)) : fields[1]
      guard name.hasPrefix(prefix), case let branch = String(name.dropFirst(prefix.count)),
        GitTransport.isPlain(branch), !names.contains(branch)
      else { continue }
      names.append(branch)
    }
    // The default branch may have no commit yet.
    return names.filter { outcome.output.contains("\t\(prefix)\($0)\n") }
  }

  /// Returns true for a branch name that git cannot interpret as anything else, in any argument.
  private static func isPlain(_ branch: String) -> Bool {
    branch != "HEAD" && !branch.hasPrefix("-") && !branch.contains("..")
      && branch.utf8.allSatisfy { byte in
        let character = UnicodeScalar(byte)
        return character.isASCII
          && (character.properties.isAlphabetic || ("0"..."9").contains(character)
            || "-_./".unicodeScalars.contains(character))
      }
  }

  /// Returns the names of the references in a folder, without the folder.
  func references(under folder: String) async throws -> [String] {
    let outcome = try await run([
      "ls-remote", "--quiet", "--refs", "--end-of-options", remote.name, "\(folder)*",
    ])
    if outcome.status != 0 { throw failure(outcome) }
    return outcome.output.split(separator: "\n").compactMap { line in
      guard let name = line.split(separator: "\t").last, name.hasPrefix(folder) else { return nil }
      return String(name.dropFirst(folder.count))
    }
  }

  /// Creates a reference. Returns false if it exists already.
  func create(_ commit: ObjectID, as reference: String) async throws -> Bool {
    let outcome = try await run([
      "push", "--porcelain", "--no-follow-tags", "--no-signed", "--recurse-submodules=no",
      "--force-with-lease=\(reference):", "--end-of-options", remote.name,
      "\(commit):\(reference)",
    ])
    if outcome.status == 0 { return true }
    let refusal = GitTransport.refusal(outcome) ?? ""
    let races = GitTransport.races + ["already exists"]
    if races.contains(where: { refusal.contains($0) }) {
      // A stale lock has the same words.
      let names = try await references(under: reference)
      if names.contains("") { return false }
    }
    throw failure(outcome)
  }

  /// Checks that the remote can be reached and is a repository.
  ///
  /// - Throws: `StoreError.remoteFailed`.
  func probe() async throws {
    let outcome = try await run([
      "ls-remote", "--quiet", "--heads", "--end-of-options", remote.name,
    ])
    if outcome.status != 0 { throw failure(outcome) }
  }

  /// Makes a bare clone of the remote.
  ///
  /// - Throws: `StoreError.remoteFailed`.
  func copy(to path: String) async throws {
    let outcome = try await run([
      "clone", "--progress", "--bare", "--no-local", "--end-of-options", remote.url, path,
    ])
    if outcome.status != 0 { throw failure(outcome) }
  }

  private func push(
    _ specification: String, options: [String] = [], to target: String? = nil
  ) async throws -> GitCommand.Outcome {
    // On a local disk, delta compression takes longer than writing the objects.
    let settings = url.transport == .path ? ["-c", "pack.window=0"] : []
    return try await run(
      settings + [
        "push", "--progress", "--porcelain", "--no-follow-tags", "--no-signed",
        "--recurse-submodules=no",
      ] + options + ["--end-of-options", target ?? remote.name, specification])
  }

  private func run(_ arguments: [String]) async throws -> GitCommand.Outcome {
    // A mirror would push all references and delete the others. Only the named references must be pushed.
    let settings = remote.name.contains("=") ? [] : ["-c", "remote.\(remote.name).mirror=false"]
    return try await GitCommand.transfer(
      settings + arguments, in: repository.workTree, to: urls, context: context)
  }

  /// Returns the reason that git reports for a rejected reference.
  private static func refusal(_ outcome: GitCommand.Outcome) -> String? {
    outcome.output.split(separator: "\n").first { $0.hasPrefix("!") }.map {
      $0.dropFirst().split(separator: "\t").last.map(String.init) ?? ""
    }
  }

  // MARK: Failures

  private func failure(
    _ outcome: GitCommand.Outcome, at place: RemoteURL? = nil
  ) -> StoreError {
    let url = place ?? url
    return .remoteFailed(
      url: url.shown,
      RemoteFailure(explaining: outcome, refusal: GitTransport.refusal(outcome), url: url))
  }

  func removeAbandonedLocks(of branch: String) -> Bool {
    (pushURLs.isEmpty ? [url] : pushURLs).filter { $0.transport == .path }
      .map { removeAbandonedLocks(of: branch, at: $0) }.contains(true)
  }

  /// Removes stale locks that a dead push left in a remote on this machine's file systems. Returns true if there were
  /// any.
  private func removeAbandonedLocks(of branch: String, at url: RemoteURL) -> Bool {
    let path = url.text.hasPrefix("/") ? url.text : String(url.text.dropFirst(7))
    guard let other = try? Repository.open(path) else { return false }
    // Processes of other machines on a shared disk cannot be seen, so only old locks are removed.
    let age: Int64 = RepositoryFolder.isShared(path) ? 120 : 1
    return other.locks(of: "refs/heads/\(branch)")
      .map { other.removeStaleLock($0, olderThan: age) }.contains(true)
  }
}

extension GitCommand {
  /// Runs a git process that accesses a remote, with the timeout and the shared connections of a store.
  ///
  /// - Parameters:
  ///   - arguments: The arguments after `git -C FOLDER`.
  ///   - folder: The folder of the repository.
  ///   - urls: The URLs of the remote. Errors mention the first.
  ///   - file: The size limit of a written file, in bytes.
  ///   - output: The size limit of the standard output, in bytes.
  ///   - context: The environment of the store.
  /// - Throws: `StoreError.gitNotFound`, or `.remoteFailed` if the remote doesn't respond in time.
  public static func transfer(
    _ arguments: [String], in folder: String, to urls: [RemoteURL], file: Int = Limit.file,
    output: Int = Limit.output, context: StoreContext
  ) async throws -> Outcome {
    do {
      return try await transfer(
        arguments, in: folder, to: urls, timeout: context.networkTimeout, file: file,
        output: output, connections: context.sshConnections, progress: context.progress)
    } catch is NotFound {
      throw StoreError.gitNotFound
    } catch is Stalled {
      throw StoreError.remoteFailed(
        url: urls.first?.shown ?? "",
        RemoteFailure(
          .stalled(seconds: context.networkTimeout),
          "no response for \(context.networkTimeout) seconds"))
    }
  }
}
