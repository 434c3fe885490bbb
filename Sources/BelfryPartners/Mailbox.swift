import BelfryCore
import BelfryStore
import Files
import Git
import Glibc
import Synchronization

/// A location that both partners can reach, in which sealed envelopes are stored by name.
///
/// A name is `<address>/<identifier>`. An envelope is never changed, only created and deleted.
public protocol Mailbox: Sendable {
  /// Returns the git objects of all envelopes, by name.
  func list() async throws -> [String: String]

  /// Returns the contents of envelopes by name. Envelopes that were deleted or replaced meanwhile are missing.
  ///
  /// - Parameter wanted: the git objects by name, as listed.
  func fetch(_ wanted: [String: String]) async throws -> [String: FetchedMail]

  /// Creates and deletes envelopes.
  ///
  /// - Parameters:
  ///   - put: the contents of new envelopes, by name.
  ///   - remove: the names of envelopes to delete.
  func exchange(put: [String: [UInt8]], remove: [String]) async throws -> MailboxOutcome
}

/// The result of `Mailbox.exchange(put:remove:)`.
public struct MailboxOutcome: Sendable {
  /// The names of the new envelopes that the mailbox now contains.
  public var put: Set<String> = []
  /// The names of the deleted envelopes.
  public var removed: Set<String> = []
  /// The reason why the mailbox rejected an envelope; nil if it rejected none.
  public var refusal: String?

  /// Creates a result.
  public init(put: Set<String> = [], removed: Set<String> = [], refusal: String? = nil) {
    self.put = put
    self.removed = removed
    self.refusal = refusal
  }
}

/// The result of fetching one envelope.
public enum FetchedMail: Hashable, Sendable {
  /// The content.
  case bytes([UInt8])
  /// The object is too large or damaged, and cannot be an envelope.
  case unfit
}

/// A mailbox in a git remote, accessed through the user's git.
///
/// Each envelope is a blob under a reference of its own, `refs/belfry/mail/<address>/<identifier>`. Fetched objects
/// never reach the store's repository: each run uses a temporary bare repository.
public struct GitMailbox: Mailbox {
  private static let prefix = "refs/belfry/mail/"
  /// The maximum size of a listing, in bytes: several hundred thousand names.
  private static let maxListingSize = 16 << 20
  /// The maximum size of a file that a fetch may write, in bytes, and the addition for each envelope.
  private static let (maxFileSize, sizePerEnvelope) = (64 << 10, 48 << 10)
  /// The maximum number of references that one git process fetches or pushes.
  private static let batchSize = 1000

  private let url: RemoteURL
  private let repository: Repository
  private let context: StoreContext
  private let listing = Listing()

  /// The envelopes as of the last listing.
  private final class Listing: Sendable {
    let objects = Mutex<[String: String]?>(nil)
  }

  /// Creates a mailbox with a temporary repository. Call `close()` after use.
  ///
  /// - Parameters:
  ///   - url: the URL of the git remote.
  ///   - folder: the folder of the temporary repository.
  ///   - context: the context of the store.
  /// - Throws: `StoreError.unsupportedRemote` if the URL is not supported; `GitError` if the repository cannot be
  ///   created.
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

  /// Deletes the temporary repository.
  public func close() { Store.removeFolder(repository.workTree) }

  /// Deletes temporary repositories that are older than an hour: the runs that made them have crashed.
  static func removeLeftovers(in folder: String, at now: Instant) {
    for name in DurableFile.names(in: folder) where name.hasPrefix("mail-") {
      var status = stat()
      guard lstat("\(folder)/\(name)", &status) == 0,
        abs(now.seconds - Int64(status.st_mtim.tv_sec)) > 3600
      else { continue }
      Store.removeFolder("\(folder)/\(name)")
    }
  }

  /// Returns the git objects of all envelopes, by name.
  ///
  /// - Throws: `StoreError.remoteFailed` if the remote cannot be read.
  public func list() async throws -> [String: String] {
    var found: [String: String] = [:]
    for (name, object) in try await references("\(GitMailbox.prefix)*")
    where name.hasPrefix(GitMailbox.prefix) {
      found[String(name.dropFirst(GitMailbox.prefix.count))] = object
    }
    listing.objects.withLock { [found] in $0 = found }
    return found
  }

  /// Returns a branch, a tag, or a reference of Belfry that is not mail; nil if there is none.
  ///
  /// Other references, which a host uses for itself, are ignored.
  func otherReference() async throws -> String? {
    try await references(nil).keys.sorted().first { name in
      !name.hasPrefix(GitMailbox.prefix)
        && ["refs/heads/", "refs/tags/", "refs/belfry/"].contains { name.hasPrefix($0) }
    }
  }

  /// Returns the objects of the remote's references, by name.
  private func references(_ pattern: String?) async throws -> [String: String] {
    let outcome = try await run(
      ["ls-remote", "--quiet", "--refs", "--end-of-options", url.text]
        + [pattern].compactMap { $0 },
      output: GitMailbox.maxListingSize)
    if outcome.status != 0 { throw failure(outcome) }
    var found: [String: String] = [:]
    for line in outcome.output.split(separator: "\n") {
      let fields = line.split(separator: "\t", maxSplits: 1)
      guard fields.count == 2, ObjectID(hexadecimal: fields[0]) != nil else { continue }
      found[String(fields[1])] = String(fields[0])
    }
    return found
  }

  /// Returns the contents of envelopes by name. Envelopes that were deleted or replaced meanwhile are missing.
  ///
  /// - Throws: `StoreError.remoteFailed` if the remote cannot be read.
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
        file: GitMailbox.maxFileSize + names.count * GitMailbox.sizePerEnvelope)
      if outcome.status == 0 {
        for name in names {
          guard let id = wanted[name].flatMap({ ObjectID(hexadecimal: $0) }) else { continue }
          result[name] = try content(of: id)
        }
      } else if names.count == 1 {
        // The envelope was deleted meanwhile, or it is the one that makes git fail.
        if !outcome.error.contains("couldn't find remote ref") {
          guard GitMailbox.exceedsLimit(outcome) else { throw failure(outcome) }
          result[names[0]] = .unfit
        }
      } else if GitMailbox.exceedsLimit(outcome)
        || outcome.error.contains("couldn't find remote ref")
      {
        // Halving the batch isolates the envelope that makes git fail.
        let half = names.count / 2
        batches += [Array(names[..<half]), Array(names[half...])]
      } else {
        throw failure(outcome)
      }
    }
    return result
  }

  /// Returns a fetched object; nil if the envelope was replaced since the listing.
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

  /// Returns true if git failed because it exceeded the size limit. A full disk does not count.
  private static func exceedsLimit(_ outcome: GitCommand.Outcome) -> Bool {
    let isDisk = [ENOSPC, EDQUOT, EROFS, EIO, EACCES]
      .contains { outcome.error.contains(String(cString: strerror($0))) }
    return !isDisk
      && (outcome.status == 128 + SIGXFSZ
        || ["File size limit exceeded", "File too large", "invalid index-pack output"]
          .contains { outcome.error.contains($0) })
  }

  private static func batches(_ names: [String]) -> [[String]] {
    stride(from: 0, to: names.count, by: batchSize).map {
      Array(names[$0..<min($0 + batchSize, names.count)])
    }
  }

  /// Creates and deletes envelopes. A push that conflicts with another one is retried, if a new listing shows that the
  /// mailbox has changed meanwhile.
  ///
  /// - Throws: `StoreError.remoteFailed` if the remote cannot be written.
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
      let part = Array(specifications.prefix(GitMailbox.batchSize))
      let outcome = try await push(part.map(\.text))
      let lines = GitMailbox.lines(outcome)
      if lines.isEmpty, outcome.status != 0 {
        // git pushes nothing if one of the references to delete does not exist.
        guard outcome.error.contains("remote ref does not exist"),
          part.contains(where: \.isRemoval)
        else { throw failure(outcome) }
        specifications.removeAll(where: \.isRemoval)
        continue
      }
      var races: [(item: Specification, words: String)] = []
      for item in part {
        let name = item.name
        let refusal = lines["\(GitMailbox.prefix)\(name)"] ?? .some("git reported no result")
        if item.isRemoval {
          // The next run retries a rejected deletion.
          if refusal == nil { result.removed.insert(name) }
        } else if let refusal, GitMailbox.isRace(refusal) {
          let failure = RemoteFailure(explaining: outcome, refusal: refusal, url: url)
          races.append((item, failure.reason))
        } else if let refusal, !GitMailbox.alreadyExists(refusal) {
          result.refusal = refusal
        } else {
          result.put.insert(name)
        }
      }
      specifications.removeFirst(part.count)
      if races.isEmpty { continue }
      attempts += 1
      // A random delay keeps two conflicting pushes from conflicting again.
      try await Task.sleep(for: .milliseconds(context.random(20...(100 * attempts))))
      let before = listing.objects.withLock { $0 }
      let present = try await list()
      let own = result.put.union(result.removed)
      let hasChanged =
        before?.filter { !own.contains($0.key) } != present.filter { !own.contains($0.key) }
      for (item, words) in races {
        if present[item.name] != nil {
          result.put.insert(item.name)
        } else if hasChanged, attempts <= GitMailbox.maxAttempts {
          specifications.insert(item, at: 0)
        } else {
          result.refusal = words
        }
      }
    }
    return result
  }

  /// A reference that a push creates or deletes.
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

  /// Returns the result of a push for each reference: nil for success, otherwise the reason of the failure.
  private static func lines(_ outcome: GitCommand.Outcome) -> [String: String?] {
    var result: [String: String?] = [:]
    for line in outcome.output.split(separator: "\n") {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard fields.count >= 3, let colon = fields[1].lastIndex(of: ":") else { continue }
      let name = String(fields[1][fields[1].index(after: colon)...])
      result[name] = .some(fields[0] == "!" ? fields[2] : nil)
    }
    return result
  }

  /// The maximum number of retries of a push that conflicts with another one.
  private static let maxAttempts = 4

  /// Returns true if a push may have failed because another one changed the same reference.
  private static func isRace(_ refusal: String) -> Bool {
    ["failed to update ref", "cannot lock ref"].contains { refusal.contains($0) }
  }

  /// Returns true if the name exists: another device of this user has pushed the same envelope.
  private static func alreadyExists(_ refusal: String) -> Bool {
    [
      "already exists", "fetch first", "needs force", "non-fast-forward", "stale info",
      "incorrect old value",
    ].contains { refusal.contains($0) }
  }

  private func run(
    _ arguments: [String], file: Int = 16 << 20, output: Int = 4 << 20
  ) async throws -> GitCommand.Outcome {
    try await GitCommand.transfer(
      arguments, in: repository.workTree, to: [url], file: file, output: output, context: context)
  }

  private func failure(_ outcome: GitCommand.Outcome) -> StoreError {
    .remoteFailed(
      url: url.shown, RemoteFailure(explaining: outcome, refusal: nil, url: url))
  }
}
