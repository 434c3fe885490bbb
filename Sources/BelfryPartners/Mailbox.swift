import BelfryCore
import BelfryStore
import Git
import Glibc

/// A place that both partners can reach, where sealed envelopes lie under names.
///
/// A name is `<address>/<identifier>`; what lies there is never changed, only put and taken away.
public protocol Mailbox: Sendable {
  /// All that lies there: the git object by its name.
  func list() async throws -> [String: String]

  /// Brings some of it here.
  func fetch(_ wanted: [String: String]) async throws -> [String: FetchedMail]

  /// Leaves envelopes, and takes others away.
  ///
  /// - Returns: which of `put` lie there now and why others do not, and which of `remove` were removed.
  func exchange(put: [String: [UInt8]], remove: [String]) async throws -> MailboxOutcome
}

public struct MailboxOutcome: Sendable {
  public var put: Set<String> = []
  public var removed: Set<String> = []
  public var refusal: String?

  public init(put: Set<String> = [], removed: Set<String> = [], refusal: String? = nil) {
    self.put = put
    self.removed = removed
    self.refusal = refusal
  }
}

/// What came of fetching one.
public enum FetchedMail: Hashable, Sendable {
  case bytes([UInt8])
  /// Larger than any envelope, or nothing of the kind.
  case unfit
}

/// A mailbox in a git remote: each envelope is a blob under a reference of its own,
/// `refs/belfry/mail/<address>/<identifier>`, reached through the user's own git.
///
/// Nothing that comes from there touches the store's repository: it goes through a bare one that is made for each round
/// and removed after it.
public struct GitMailbox: Mailbox {
  private static let prefix = "refs/belfry/mail/"
  /// What git may print of a mailbox, in bytes: some hundred thousand names.
  private static let listing = 16 << 20
  /// How large a file a fetch may write, in bytes, and how much more for each envelope.
  private static let (largestFile, perEnvelope) = (64 << 10, 48 << 10)
  /// So many are fetched, or put, by one git.
  private static let batch = 1000

  private let url: RemoteURL
  private let repository: Repository
  private let context: StoreContext

  /// - Parameter folder: where the bare repository may be made; whatever one left there that died is removed.
  /// - Throws: `StoreError.unsupportedRemote`.
  public init(_ url: String, in folder: String, context: StoreContext) throws {
    do throws(RemoteURL.Failure) {
      self.url = try RemoteURL(url)
    } catch {
      throw StoreError.unsupportedRemote(url: URLMask.masked(url: url), reason: error.reason)
    }
    self.context = context
    let path = "\(folder)/mail-\(context.makeIdentifier().short).git"
    repository = try Repository.create(path, isBare: true)
  }

  /// Removes the repository of the round.
  public func close() { Store.removeFolder(repository.workTree) }

  /// Removes what rounds have left that died: those of an hour ago and before.
  static func removeLeftovers(in folder: String, at now: Instant) {
    for name in DurableFile.names(in: folder) where name.hasPrefix("mail-") {
      var status = stat()
      guard lstat("\(folder)/\(name)", &status) == 0,
        abs(now.seconds - Int64(status.st_mtim.tv_sec)) > 3600
      else { continue }
      Store.removeFolder("\(folder)/\(name)")
    }
  }

  public func list() async throws -> [String: String] {
    var found: [String: String] = [:]
    for (name, object) in try await references("\(GitMailbox.prefix)*")
    where name.hasPrefix(GitMailbox.prefix) {
      found[String(name.dropFirst(GitMailbox.prefix.count))] = object
    }
    return found
  }

  /// Returns a branch, a tag, or a reference of Belfry's own that is no mail; nil where there is none. What else a host
  /// keeps for itself does not count.
  func otherReference() async throws -> String? {
    try await references(nil).keys.sorted().first { name in
      !name.hasPrefix(GitMailbox.prefix)
        && ["refs/heads/", "refs/tags/", "refs/belfry/"].contains { name.hasPrefix($0) }
    }
  }

  /// The objects in the remote by the names of their references.
  private func references(_ pattern: String?) async throws -> [String: String] {
    let outcome = try await run(
      ["ls-remote", "--quiet", "--refs", "--end-of-options", url.text]
        + [pattern].compactMap { $0 },
      output: GitMailbox.listing)
    if outcome.status != 0 { throw failure(outcome) }
    var found: [String: String] = [:]
    for line in outcome.output.split(separator: "\n") {
      let words = line.split(separator: "\t", maxSplits: 1)
      guard words.count == 2, ObjectID(hexadecimal: words[0]) != nil else { continue }
      found[String(words[1])] = String(words[0])
    }
    return found
  }

  public func fetch(_ wanted: [String: String]) async throws -> [String: FetchedMail] {
    var result: [String: FetchedMail] = [:]
    var batches = GitMailbox.batches(wanted.keys.sorted())
    while let names = batches.popLast() {
      let specifications = names.map { GitMailbox.prefix + $0 }
      let outcome = try await run(
        [
          "-c", "transfer.unpackLimit=1", "-c", "fetch.fsckObjects=true", "fetch", "--quiet",
          "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
          "--no-recurse-submodules", "--refmap=", "--end-of-options", url.text,
        ] + specifications,
        file: GitMailbox.largestFile + names.count * GitMailbox.perEnvelope)
      if outcome.status == 0 {
        for name in names {
          guard let id = wanted[name].flatMap({ ObjectID(hexadecimal: $0) }) else { continue }
          result[name] = try content(of: id)
        }
      } else if names.count == 1 {
        // It was taken away meanwhile, or it is what makes git fail.
        if !outcome.error.contains("couldn't find remote ref") {
          guard GitMailbox.isTooMuch(outcome) else { throw failure(outcome) }
          result[names[0]] = .unfit
        }
      } else if GitMailbox.isTooMuch(outcome) || outcome.error.contains("couldn't find remote ref")
      {
        // One of them is to blame; the others are to come.
        let half = names.count / 2
        batches += [Array(names[..<half]), Array(names[half...])]
      } else {
        throw failure(outcome)
      }
    }
    return result
  }

  /// What was fetched; nil where somebody has put another in its place since it was listed.
  private func content(of id: ObjectID) throws -> FetchedMail? {
    do {
      return .bytes(try repository.blob(id, limit: Envelope.largest))
    } catch {
      switch error.code {
      case .notFound: return nil
      case .tooLarge, .damaged, .malformed: return .unfit
      default: throw error
      }
    }
  }

  /// Whether git was ended for what it wrote: more than any letters are. A disk that is full is another matter.
  private static func isTooMuch(_ outcome: GitCommand.Outcome) -> Bool {
    let isDisk = [ENOSPC, EDQUOT, EROFS, EIO, EACCES]
      .contains { outcome.error.contains(String(cString: strerror($0))) }
    return !isDisk
      && (outcome.status == 128 + SIGXFSZ
        || ["File size limit exceeded", "File too large", "invalid index-pack output"]
          .contains { outcome.error.contains($0) })
  }

  private static func batches(_ names: [String]) -> [[String]] {
    stride(from: 0, to: names.count, by: batch).map {
      Array(names[$0..<min($0 + batch, names.count)])
    }
  }

  public func exchange(put: [String: [UInt8]], remove: [String]) async throws -> MailboxOutcome {
    var result = MailboxOutcome()
    let puts = try put.sorted { $0.key < $1.key }.map { name, bytes in
      Specification(
        name: name, text: "\(try repository.writeBlob(bytes)):\(GitMailbox.prefix)\(name)")
    }
    let removals = remove.sorted().map {
      Specification(name: $0, text: ":\(GitMailbox.prefix)\($0)", isRemoval: true)
    }
    var specifications = puts + removals
    var attempts = 0
    while !specifications.isEmpty {
      let part = Array(specifications.prefix(GitMailbox.batch))
      let outcome = try await push(part.map(\.text))
      let lines = GitMailbox.lines(outcome)
      if lines.isEmpty, outcome.status != 0 {
        // git sends nothing at all where one that is to be taken away is gone already.
        guard outcome.error.contains("remote ref does not exist"),
          part.contains(where: \.isRemoval)
        else { throw failure(outcome) }
        specifications.removeAll(where: \.isRemoval)
        continue
      }
      var again: [Specification] = []
      for item in part {
        let name = item.name
        let refusal = lines["\(GitMailbox.prefix)\(name)"] ?? .some("git says nothing of it")
        if item.isRemoval {
          // A refused one is tried again by the next round.
          if refusal == nil { result.removed.insert(name) }
        } else if let refusal, attempts < GitMailbox.mostAttempts, GitMailbox.isRace(refusal) {
          again.append(item)
        } else if let refusal, !GitMailbox.isThere(refusal) {
          result.refusal = refusal
        } else {
          result.put.insert(name)
        }
      }
      specifications.removeFirst(part.count)
      if !again.isEmpty {
        attempts += 1
        // Those who got in each other's way must not come back together.
        try await Task.sleep(for: .milliseconds(context.random(20...(100 * attempts))))
        specifications = again + specifications
      }
    }
    return result
  }

  /// One reference that a push is to create or remove.
  private struct Specification {
    let name: String
    let text: String
    var isRemoval = false
  }

  private func push(_ specifications: [String]) async throws -> GitCommand.Outcome {
    try await run(
      [
        "-c", "pack.window=0", "push", "--porcelain", "--no-verify", "--no-follow-tags",
        "--no-signed", "--recurse-submodules=no", "--end-of-options", url.text,
      ] + specifications)
  }

  /// What a push says of each reference: nil where it did what it was told, else why not.
  private static func lines(_ outcome: GitCommand.Outcome) -> [String: String?] {
    var result: [String: String?] = [:]
    for line in outcome.output.split(separator: "\n") {
      let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard words.count >= 3, let colon = words[1].lastIndex(of: ":") else { continue }
      let name = String(words[1][words[1].index(after: colon)...])
      result[name] = .some(words[0] == "!" ? words[2] : nil)
    }
    return result
  }

  /// How often a push is tried again where somebody else was at work.
  private static let mostAttempts = 4

  private static func isRace(_ refusal: String) -> Bool {
    ["failed to update ref", "cannot lock ref"].contains { refusal.contains($0) }
  }

  /// Whether a name is taken: another device of this person's has left the same there.
  private static func isThere(_ refusal: String) -> Bool {
    [
      "already exists", "fetch first", "needs force", "non-fast-forward", "stale info",
      "incorrect old value",
    ].contains { refusal.contains($0) }
  }

  private func run(
    _ arguments: [String], file: Int = 16 << 20, output: Int = 4 << 20
  ) async throws -> GitCommand.Outcome {
    try await context.transfer(
      arguments, in: repository.workTree, to: [url], file: file, output: output)
  }

  private func failure(_ outcome: GitCommand.Outcome) -> StoreError {
    .remoteFailed(
      url: url.shown, RemoteFailure(explaining: outcome, refusal: nil, url: url))
  }
}
