import BelfryCore
import BelfryStore
import Git
import Glibc
import Synchronization

/// The partners that this device knows, with the keys to them: a file each, for their owner alone to read.
public struct PartnerStore: Sendable {
  private let store: Store
  private let cache = Cache()
  /// Where the files are.
  let folder: String

  public init(_ store: Store) {
    self.store = store
    folder = store.localFolder + "/partners"
  }

  /// Whether there is anybody in it; costs a look at a folder.
  public var isEmpty: Bool { !DurableFile.names(in: folder).contains { $0.hasSuffix(".json") } }

  /// The folder, which is made where there is none.
  private func ensuredFolder() throws -> String {
    try DurableFile.makeFolder(folder, mode: 0o700)
    return folder
  }

  /// Asks whether a mailbox can be reached; throws what `GitMailbox` does.
  public func probe(_ url: String) async throws {
    let mailbox = try GitMailbox(url, in: ensuredFolder(), context: store.context)
    defer { mailbox.close() }
    _ = try await mailbox.list()
  }

  /// Returns a reference in a git remote that is no mail, as a store's branch; nil where there is none. Throws what
  /// `GitMailbox` does.
  public func otherReference(in url: String) async throws -> String? {
    let mailbox = try GitMailbox(url, in: ensuredFolder(), context: store.context)
    defer { mailbox.close() }
    return try await mailbox.otherReference()
  }

  /// Everybody in it, by name, and the paths of what cannot be read.
  public func read() -> (partners: [Partnership], unreadable: [String]) {
    let files = readFiles()
    return (files.compactMap(\.partner).sorted(by: PartnerStore.precedes), unreadable(files))
  }

  public var partners: [Partnership] { read().partners }

  /// Changes what is in it, durably, while nobody else does. What `body` takes out is forgotten, keys and all.
  public func change<Result>(
    _ body: (inout [Partnership]) throws -> Result
  ) throws -> Result {
    let folder = try ensuredFolder()
    return try store.withLocalLock("partners") {
      let files = readFiles()
      var partners = files.compactMap(\.partner).sorted(by: PartnerStore.precedes)
      let before = Dictionary(partners.map { ($0.id, $0) }) { one, _ in one }
      let result = try body(&partners)
      PartnerStore.handOver(&partners, at: store.context.now)
      for partner in partners where before[partner.id] != partner {
        let path = self.path(partner.id)
        let status = try DurableFile.write(
          PartnershipRecord.encode(partner), to: path, temporary: "\(folder)/new", mode: 0o600)
        cache.keep(partner, of: path, FileSignature(status))
      }
      let kept = Set(partners.map(\.id))
      for id in before.keys where !kept.contains(id) { _ = unlink(path(id)) }
      return result
    }
  }

  /// Hands what went to and fro over to the partnerships that have taken the place of others.
  ///
  /// Only to one that is just being made: no partner can name another of this person's in its stead.
  private static func handOver(_ partners: inout [Partnership], at now: Instant) {
    for index in partners.indices {
      guard let successor = partners[index].successor,
        let heir = partners.firstIndex(where: { $0.id == successor && $0.isNew(at: now) }),
        !(partners[index].sent.isEmpty && partners[index].received.isEmpty)
      else { continue }
      partners[heir].inherit(partners[index])
      (partners[index].sent, partners[index].received) = ([], [])
    }
  }

  private func path(_ id: Identifier) -> String { "\(folder)/\(id).json" }

  private static func precedes(_ a: Partnership, _ b: Partnership) -> Bool {
    (a.name, a.created, a.id) < (b.name, b.created, b.id)
  }

  private struct File {
    let path: String
    let partner: Partnership?
  }

  /// What was read lately, as commands look more than once.
  private final class Cache: Sendable {
    private let known = Mutex<[String: (signature: FileSignature, partner: Partnership)]>([:])

    func partner(_ path: String, _ signature: FileSignature) -> Partnership? {
      known.withLock { known in
        known[path].flatMap { $0.signature == signature ? $0.partner : nil }
      }
    }

    func keep(_ partner: Partnership, of path: String, _ signature: FileSignature) {
      known.withLock { $0[path] = (signature, partner) }
    }
  }

  private func readFiles() -> [File] {
    DurableFile.names(in: folder).filter { $0.hasSuffix(".json") }.sorted().map { name in
      File(path: "\(folder)/\(name)", partner: read(name))
    }
  }

  /// Nil when the file is none of a partner's.
  private func read(_ name: String) -> Partnership? {
    let path = "\(folder)/\(name)"
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    // A restored backup, or an editor, may have opened it to others.
    if status.st_mode & 0o077 != 0, chmod(path, 0o600) != 0 || lstat(path, &status) != 0 {
      return nil
    }
    if let known = cache.partner(path, FileSignature(status)) { return known }
    guard let file = (try? DurableFile.read(path, limit: PartnershipRecord.largest)) ?? nil,
      let partner = PartnershipRecord.decode(file.bytes), "\(partner.id).json" == name
    else { return nil }
    cache.keep(partner, of: path, FileSignature(file.status))
    return partner
  }

  private func unreadable(_ files: [File]) -> [String] {
    files.filter { $0.partner == nil }.map(\.path)
  }

  // MARK: Other devices of one person

  /// The keys to some partners, for another device of the same person: what was said so far stays here.
  public static func exported(_ partners: [Partnership]) -> [UInt8] {
    partners.flatMap { partner -> [UInt8] in
      var copy = partner
      (copy.sent, copy.received, copy.post, copy.seen) = ([], [], [], [:])
      (copy.faults, copy.failure, copy.reached) = ([:], nil, nil)
      let bytes = PartnershipRecord.encode(copy)
      return (try? JSON(parsing: bytes)).map { Array(($0.line + "\n").utf8) } ?? []
    }
  }

  /// The partners of such an export; nil when it is none.
  public static func imported(_ bytes: [UInt8]) -> [Partnership]? {
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    let partners = lines.compactMap { PartnershipRecord.decode(Array($0)) }
    guard !lines.isEmpty, partners.count == lines.count,
      partners.allSatisfy({ $0.phase == .active && $0.keysAreWhole })
    else { return nil }
    return partners
  }
}
