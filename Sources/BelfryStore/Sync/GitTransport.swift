import BelfryCore
import CLinux
import Git
import Glibc

/// Reaches a remote through the user's own git: over a path, ssh, https or git, with the configuration, keys,
/// credentials and certificates that the user has given it.
struct GitTransport: RemoteTransport {
  let repository: Repository
  let remote: Remote
  let url: RemoteURL
  private let pushURL: RemoteURL?
  private let context: StoreContext

  /// Throws `StoreError.unsupportedRemote` for a URL that is none.
  init(_ repository: Repository, _ remote: Remote, context: StoreContext) throws {
    self.repository = repository
    self.remote = remote
    self.context = context
    url = try GitTransport.check(remote.url)
    pushURL = try remote.pushURL.map(GitTransport.check)
  }

  static func check(_ url: String) throws -> RemoteURL {
    do throws(RemoteURL.Failure) {
      return try RemoteURL(url)
    } catch {
      throw StoreError.unsupportedRemote(url: URLMask.masked(url: url), reason: error.reason)
    }
  }

  func fetch(_ branch: String) async throws -> ObjectID? { try await fetch(branch, options: []) }

  func refetch(_ branch: String) async throws {
    _ = try await fetch(branch, options: ["--refetch"])
  }

  private func fetch(_ branch: String, options: [String]) async throws -> ObjectID? {
    let tracking = "refs/remotes/\(remote.name)/\(branch)"
    var waited = 0
    while true {
      // Durable before the branch moves to what rests on it.
      let outcome = try await run(
        [
          "-c", "core.fsync=all", "-c", "core.fsyncMethod=batch", "fetch", "--progress",
          "--no-tags",
          "--no-write-fetch-head", "--no-auto-maintenance",
          // In a partial clone too every record comes: one that is not here cannot be merged.
          "--no-filter", "--no-recurse-submodules", "--no-prune", "--refmap=",
        ] + options + [
          "--end-of-options", remote.name,
          "+refs/heads/\(branch):\(tracking)",
        ])
      if outcome.status == 0 { return try repository.commit(of: tracking) }
      if outcome.error.contains("couldn't find remote ref refs/heads/\(branch)") { return nil }
      // Another sync is at work on the reference, or one has died there.
      let lock = repository.lock(of: tracking)
      guard outcome.error.contains("cannot lock ref"), waited < 2_000 else {
        throw failure(outcome)
      }
      if repository.removeAbandonedLock(lock, olderThan: 0) { continue }
      try await Task.sleep(for: .milliseconds(20))
      waited += 20
    }
  }

  func fetchHeartbeats(of devices: Set<Identifier>) async throws {
    // By their whole names: of all else that a remote may have there nothing is fetched.
    let names = Dictionary(
      uniqueKeysWithValues: devices.map {
        ("\(Store.alive)\($0)", "\(Store.seen)\(remote.name)/\($0)")
      })
    let listed = try await run(
      ["ls-remote", "--quiet", "--refs", "--end-of-options", remote.name] + names.keys.sorted())
    if listed.status != 0 { throw failure(listed) }
    var there: [String: ObjectID] = [:]
    for line in listed.output.split(separator: "\n") {
      let words = line.split(separator: "\t").map(String.init)
      // git matches the ends of names.
      guard words.count == 2, names[words[1]] != nil else { continue }
      there[words[1]] = ObjectID(hexadecimal: words[0])
    }
    var gone: [String] = []
    var changed: [String] = []
    for (name, tracking) in names.sorted(by: { $0.key < $1.key }) {
      let known = try repository.commit(of: tracking)
      if let commit = there[name] {
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

  /// The words of refusals that mean that another device was faster.
  private static let races = [
    "fetch first", "non-fast-forward", "cannot lock ref", "failed to update ref",
    "incorrect old value", "reference already exists", "stale info",
  ]

  func push(_ commit: ObjectID, to branch: String) async throws -> PushOutcome {
    let outcome = try await push("\(commit):refs/heads/\(branch)")
    if outcome.status == 0 { return .moved }
    let refusal = GitTransport.refusal(outcome) ?? ""
    if refusal.contains("branch is currently checked out") { return .checkedOut }
    // The words of a hook of the remote are on other lines.
    if GitTransport.races.contains(where: { refusal.contains($0) }) {
      if url.transport == .path { removeAbandonedLocks(of: branch) }
      return .elsewhere
    }
    throw failure(outcome)
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
      let words = line.split(separator: "\t").map(String.init)
      guard words.count == 2 else { continue }
      // `ref: refs/heads/master<tab>HEAD` comes first.
      let name = words[1] == "HEAD" ? String(words[0].dropFirst(5)) : words[1]
      guard name.hasPrefix(prefix), case let branch = String(name.dropFirst(prefix.count)),
        GitTransport.isPlain(branch), !names.contains(branch)
      else { continue }
      names.append(branch)
    }
    // The default branch need not be there.
    return names.filter { outcome.output.contains("\t\(prefix)\($0)\n") }
  }

  /// Returns true for a name that means nothing else to git wherever it is written.
  private static func isPlain(_ branch: String) -> Bool {
    branch != "HEAD" && !branch.hasPrefix("-") && !branch.contains("..")
      && branch.utf8.allSatisfy { byte in
        let character = UnicodeScalar(byte)
        return character.isASCII
          && (character.properties.isAlphabetic || ("0"..."9").contains(character)
            || "-_./".unicodeScalars.contains(character))
      }
  }

  /// The references whose names begin with a folder's, without it.
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

  /// Makes a reference that nobody has made; returns whether it was this device that did.
  func create(_ commit: ObjectID, as reference: String) async throws -> Bool {
    let outcome = try await run([
      "push", "--porcelain", "--no-follow-tags", "--no-signed", "--recurse-submodules=no",
      "--force-with-lease=\(reference):", "--end-of-options", remote.name,
      "\(commit):\(reference)",
    ])
    if outcome.status == 0 { return true }
    let refusal = GitTransport.refusal(outcome) ?? ""
    let races = GitTransport.races + ["already exists"]
    if races.contains(where: { refusal.contains($0) }) { return false }
    throw failure(outcome)
  }

  /// Asks whether there is a repository; throws `StoreError.remoteFailed`.
  func probe() async throws {
    let outcome = try await run([
      "ls-remote", "--quiet", "--heads", "--end-of-options", remote.name,
    ])
    if outcome.status != 0 { throw failure(outcome) }
  }

  /// Makes a bare copy of everything that the remote has; throws `StoreError.remoteFailed`.
  func copy(to path: String) async throws {
    let outcome = try await run([
      "clone", "--progress", "--bare", "--no-local", "--end-of-options", remote.url, path,
    ])
    if outcome.status != 0 { throw failure(outcome) }
  }

  private func push(_ specification: String) async throws -> GitCommand.Outcome {
    // To find what objects have in common takes longer than to write them to a disk.
    let settings = url.transport == .path ? ["-c", "pack.window=0"] : []
    return try await run(
      settings + [
        "push", "--progress", "--porcelain", "--no-follow-tags", "--no-signed",
        "--recurse-submodules=no", "--end-of-options", remote.name, specification,
      ])
  }

  private func run(_ arguments: [String]) async throws -> GitCommand.Outcome {
    // A mirror pushes all references, and deletes those that are not here: only what is named is pushed.
    let settings = remote.name.contains("=") ? [] : ["-c", "remote.\(remote.name).mirror=false"]
    return try await context.transfer(
      settings + arguments, in: repository.workTree, to: [url, pushURL].compactMap { $0 })
  }

  /// The line in which git tells that a reference was not moved.
  private static func refusal(_ outcome: GitCommand.Outcome) -> String? {
    outcome.output.split(separator: "\n").first { $0.hasPrefix("!") }.map {
      $0.dropFirst().split(separator: "\t").last.map(String.init) ?? ""
    }
  }

  // MARK: Failures

  private func failure(_ outcome: GitCommand.Outcome) -> StoreError {
    .remoteFailed(
      url: url.shown,
      RemoteFailure(explaining: outcome, refusal: GitTransport.refusal(outcome), url: url))
  }

  /// Takes locks away that a push left in the remote which died.
  private func removeAbandonedLocks(of branch: String) {
    let path = url.text.hasPrefix("/") ? url.text : String(url.text.dropFirst(7))
    guard let other = try? Repository.open(path) else { return }
    // On a disk that other machines share their processes cannot be seen.
    let age: Int64 = GitTransport.isShared(path) ? 120 : 1
    for lock in other.locks(of: "refs/heads/\(branch)") {
      _ = other.removeAbandonedLock(lock, olderThan: age)
    }
  }

  /// Whether a path is on a file system that other machines may write to.
  private static func isShared(_ path: String) -> Bool {
    let kind = belfry_file_system(path)
    guard kind >= 0 else { return true }
    // NFS, SMB, CIFS, SMB2, FUSE, 9P, Ceph, AFS: linux/magic.h.
    let shared: Set<UInt32> = [
      0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x0102_1997, 0x00C3_6400, 0x5346_414F,
    ]
    return shared.contains(UInt32(truncatingIfNeeded: kind))
  }
}

extension StoreContext {
  /// Runs a git that reaches a remote, the first of some URLs.
  ///
  /// Throws `StoreError.gitNotFound`, and `.remoteFailed` when the other side says nothing for too long.
  public func transfer(
    _ arguments: [String], in folder: String, to urls: [RemoteURL],
    file: Int = GitCommand.Limit.file, output: Int = GitCommand.Limit.output
  ) async throws -> GitCommand.Outcome {
    do {
      return try await GitCommand.transfer(
        arguments, in: folder, to: urls, patience: networkPatience, file: file, output: output,
        progress: progress)
    } catch is GitCommand.NotFound {
      throw StoreError.gitNotFound
    } catch is GitCommand.Stalled {
      throw StoreError.remoteFailed(
        url: urls.first?.shown ?? "",
        RemoteFailure(
          .stalled(seconds: networkPatience),
          "it has said nothing for \(networkPatience) seconds"))
    }
  }
}

extension RemoteFailure {
  /// The beginnings of git's progress lines, which may have `remote: ` before them.
  private static let progress = [
    "Enumerating objects", "Counting objects", "Delta compression", "Compressing objects",
    "Writing objects", "Receiving objects", "Resolving deltas", "Unpacking objects", "Total ",
    "From ", "To ",
  ]

  /// Reads what git and ssh have said.
  ///
  /// - Parameter refusal: what the remote said of the reference, if it came to that.
  public init(explaining outcome: GitCommand.Outcome, refusal: String?, url: RemoteURL) {
    let lines = outcome.error.split(separator: "\n").map { url.masked(String($0)) }
      .filter { line in
        let bare = line.hasPrefix("remote: ") ? line.dropFirst("remote: ".count) : line[...]
        return !RemoteFailure.progress.contains { bare.hasPrefix($0) }
      }
    func line(_ parts: String...) -> String? {
      lines.first { line in parts.contains { line.containsInAnyCase($0) } }
    }
    /// What remains of a line of git's without its own prefixes.
    func plain(_ line: String) -> String {
      var text = line
      for prefix in ["remote: ", "fatal: ", "error: ", "ssh: "] where text.hasPrefix(prefix) {
        text.removeFirst(prefix.count)
      }
      // git fills the remote's lines up with spaces; ssh ends its own with a carriage return.
      while text.last?.isWhitespace == true || text.last == "." || text.last == ":" {
        text.removeLast()
      }
      return text
    }
    if let refusal {
      // What a hook of the remote's says comes before it.
      let said = lines.filter { $0.hasPrefix("remote: ") && !$0.contains("% (") }.map(plain)
        .filter { !$0.isEmpty && !$0.hasPrefix("hook declined") && !$0.hasSuffix("done") }
      self.init(.rejected, ([url.masked(refusal)] + said.prefix(3)).joined(separator: ": "))
    } else if outcome.status == 128 + SIGXFSZ
      || line("File size limit exceeded", "file too large") != nil
    {
      self.init(.other, "it sends more than any store holds")
    } else if let words = line("No space left on device") {
      self.init(.other, plain(words))
    } else if line("REMOTE HOST IDENTIFICATION HAS CHANGED") != nil {
      self.init(.hostKey(.changed, url), "the host's key is another than the one that is known")
    } else if line("Host key verification failed") != nil {
      self.init(.hostKey(.unknown, url), "the host's key is not known")
    } else if let words = line(
      "Permission denied (", "Authentication failed", "could not read Username",
      "could not read Password", "returned error: 401",
      "Too many authentication failures")
    {
      self.init(.authentication(url.transport), plain(words))
    } else if let words = line("returned error: 403", "access denied or repository not exported") {
      self.init(.rejected, plain(words))
    } else if let words = line("cannot run ", "unable to fork") {
      self.init(.other, plain(words))
    } else if let words = line("certificate", "SSL", "TLS") {
      self.init(.certificate, plain(words))
    } else if ["301", "302", "303", "307", "308"].contains(where: {
      line("returned error: \($0)") != nil
    }) || line("unable to update url base from redirection") != nil {
      self.init(.redirected, "it redirects to another address, which is not followed")
    } else if let words = line(
      "does not appear to be a git repository", "not found", "does not exist",
      "No such file or directory", "returned error: 404"
    ), line("Could not resolve", "Name or service not known") == nil {
      self.init(
        .missing, url.transport == .path ? "there is no repository" : plain(words))
    } else if line("unpacker error", "bad object", "did not send all necessary", "corrupt") != nil {
      self.init(.damaged, "what it holds is damaged")
    } else {
      let words =
        lines.first { $0.hasPrefix("ssh: ") }
        ?? lines.first { $0.hasPrefix("fatal: ") && !$0.contains("Could not read from remote") }
        ?? lines.first { $0.hasPrefix("error: ") } ?? lines.first { $0.hasPrefix("remote: ") }
        ?? lines.first
      // git:// tells the reason on the line behind.
      let more = lines.first { $0.contains("errno=") }?.split(separator: "errno=").last
        .map { ": \(plain(String($0)))" }
      self.init(
        .other, words.map { plain($0) + (more ?? "") } ?? "git ended with \(outcome.status)")
    }
  }
}

extension String {
  /// Whether it holds a text in any case of ASCII's letters.
  fileprivate func containsInAnyCase(_ text: String) -> Bool {
    lowercased().contains(text.lowercased())
  }
}
