import BelfryCore
import BelfryStore
import Files
import Glibc
import Synchronization

/// The partnerships of this device with their keys, one file each, readable by their owner only.
///
/// The limits are shared with the user's other devices: see `SharedPartnerState`.
public struct PartnerStore: Sendable {
  private let store: Store
  private let cache = Cache()
  /// The path of the folder with the files.
  let folder: String

  /// Creates a partner store. Nothing is read or written yet.
  public init(_ store: Store) {
    self.store = store
    folder = store.localFolder + "/partners"
  }

  /// True if there are no partnerships. Only the folder is read.
  public var isEmpty: Bool { !DurableFile.names(in: folder).contains { $0.hasSuffix(".json") } }

  /// Returns the folder and creates it if necessary.
  private func ensuredFolder() throws -> String {
    try DurableFile.makeFolder(folder, mode: 0o700)
    return folder
  }

  /// Checks that a mailbox can be reached.
  ///
  /// - Throws: `StoreError` if the mailbox cannot be reached or its URL is not supported.
  public func probe(_ url: String) async throws {
    let mailbox = try GitMailbox(url, in: ensuredFolder(), context: store.context)
    defer { mailbox.close() }
    _ = try await mailbox.list()
  }

  /// Returns a reference of a git remote that is not mail, such as a branch; nil if there is none.
  ///
  /// - Throws: `StoreError` if the remote cannot be reached or its URL is not supported.
  public func otherReference(in url: String) async throws -> String? {
    let mailbox = try GitMailbox(url, in: ensuredFolder(), context: store.context)
    defer { mailbox.close() }
    return try await mailbox.otherReference()
  }

  /// Returns all partnerships in the order of their names, and the paths of files that cannot be read.
  public func read() -> (partners: [Partnership], unreadable: [String]) {
    let files = readFiles()
    let partners = files.compactMap(\.partner)
    if partners.isEmpty { return ([], unreadable(files)) }
    let shared = store.sharedValues(SharedPartnerState.prefix)
    return (
      partners.map { $0.applying(shared) }.sorted(by: PartnerStore.precedes), unreadable(files)
    )
  }

  /// All readable partnerships in the order of their names.
  public var partners: [Partnership] { read().partners }

  /// Changes the partnerships under a lock and writes them durably. Changed limits are also recorded in the store, for
  /// the user's other devices.
  ///
  /// - Parameter body: receives the partnerships. It can change, add and remove them.
  /// - Returns: The result of `body`.
  /// - Throws: The errors of `body`, the lock and the file system.
  public func change<Result>(
    _ body: (inout [Partnership]) throws -> Result
  ) throws -> Result {
    let folder = try ensuredFolder()
    return try store.withLocalLock("partners") {
      let files = readFiles()
      let before = Dictionary(files.compactMap(\.partner).map { ($0.id, $0) }) { one, _ in one }
      let shared = before.isEmpty ? [:] : store.sharedValues(SharedPartnerState.prefix)
      let current = before.mapValues { $0.applying(shared) }
      var partners = current.values.sorted(by: PartnerStore.precedes)
      let result = try body(&partners)
      PartnerStore.transferHistory(&partners, at: store.context.now)
      try share(partners, from: current, shared)
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

  /// Records the changed limits and ends of partnerships in the store.
  ///
  /// - Parameters:
  ///   - partners: the partnerships after the change.
  ///   - current: the partnerships before it.
  ///   - shared: the values in the store.
  private func share(
    _ partners: [Partnership], from current: [Identifier: Partnership], _ shared: [String: JSON]
  ) throws {
    var changed: [String: JSON] = [:]
    var unshared: [String: JSON] = [:]
    for partner in partners {
      guard let earlier = current[partner.id], earlier.phase == .active else { continue }
      let (key, state) = (SharedPartnerState.key(partner.id), SharedPartnerState(partner))
      if state != SharedPartnerState(earlier) {
        changed[key] = try state.value(with: earlier)
      } else if shared[key] == nil, state.limits != PartnerLimits() {
        // Set by an earlier version of Belfry.
        unshared[key] = try state.value(with: earlier)
      }
    }
    let subject = "Change the limits of a partner"
    if !changed.isEmpty { try store.setSharedValues(changed, subject: subject) }
    // If this fails, the next change repeats it.
    if !unshared.isEmpty { try? store.setSharedValues(unshared, subject: subject) }
  }

  /// Moves the requests of partnerships to their successors.
  ///
  /// The successor must be new: a partner must not be able to name another partnership of the user.
  private static func transferHistory(_ partners: inout [Partnership], at now: Instant) {
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

  /// The partnerships that were read before, since commands read them several times.
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

  /// Returns the partnership in a file; nil if the file is not valid.
  private func read(_ name: String) -> Partnership? {
    let path = "\(folder)/\(name)"
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    // A restored backup or an editor may have made the file readable for others.
    if status.st_mode & 0o077 != 0, chmod(path, 0o600) != 0 || lstat(path, &status) != 0 {
      return nil
    }
    if let known = cache.partner(path, FileSignature(status)) { return known }
    guard let file = (try? DurableFile.read(path, limit: PartnershipRecord.maxSize)) ?? nil,
      let partner = PartnershipRecord.decode(file.bytes), "\(partner.id).json" == name
    else { return nil }
    cache.keep(partner, of: path, FileSignature(file.status))
    return partner
  }

  private func unreadable(_ files: [File]) -> [String] {
    files.filter { $0.partner == nil }.map(\.path)
  }

  // MARK: Other devices of the user

  /// Returns the keys of partnerships for another device of the user. Requests and mail are not included.
  public static func exported(_ partners: [Partnership]) -> [UInt8] {
    partners.flatMap { partner -> [UInt8] in
      var copy = partner
      (copy.sent, copy.received) = ([], [])
      (copy.mail.outgoing, copy.mail.seen, copy.mail.faults) = ([], [:], [:])
      copy.connection = Partnership.Connection()
      let bytes = PartnershipRecord.encode(copy)
      return (try? JSON(parsing: bytes)).map { Array(($0.line + "\n").utf8) } ?? []
    }
  }

  /// Returns the partnerships of an export; nil if it is not valid.
  public static func imported(_ bytes: [UInt8]) -> [Partnership]? {
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    let partners = lines.compactMap { PartnershipRecord.decode(Array($0)) }
    guard !lines.isEmpty, partners.count == lines.count,
      partners.allSatisfy({ $0.phase == .active && $0.hasKeys })
    else { return nil }
    return partners
  }
}
