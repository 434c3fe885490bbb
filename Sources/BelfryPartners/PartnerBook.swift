import BelfryCore
import BelfryStore
import Git
import Glibc

/// The partners that this device knows, with the keys to them: a file each, for their owner alone to read.
public struct PartnerBook: Sendable {
  private let store: Store
  /// Where the files are.
  let folder: String

  public init(_ store: Store) {
    self.store = store
    folder = store.localFolder + "/partners"
  }

  /// Whether there is anybody in it; costs a look at a folder.
  public var isEmpty: Bool { !DurableFile.names(in: folder).contains { $0.hasSuffix(".json") } }

  /// The folder, which is made where there is none.
  public func ensuredFolder() throws -> String {
    try DurableFile.makeFolder(folder, mode: 0o700)
    return folder
  }

  /// Everybody in it, by name, and the paths of what cannot be read.
  public func read() -> (partners: [Partnership], unreadable: [String]) {
    let files = readFiles()
    return (files.compactMap(\.partner).sorted(by: PartnerBook.precedes), unreadable(files))
  }

  public var partners: [Partnership] { read().partners }

  /// Changes what is in it, durably, while nobody else does. What `body` takes out is forgotten, keys and all.
  public func change<Result>(
    _ body: (inout [Partnership]) throws -> Result
  ) throws -> Result {
    let folder = try ensuredFolder()
    return try store.withLocalLock("partners") {
      let files = readFiles()
      let before = Dictionary(
        files.compactMap { file in file.partner.map { ($0.id, file.bytes) } }
      ) { one, _ in one }
      var partners = files.compactMap(\.partner).sorted(by: PartnerBook.precedes)
      let result = try body(&partners)
      for partner in partners {
        let bytes = PartnershipRecord.encode(partner)
        if before[partner.id] == bytes { continue }
        let path = self.path(partner.id)
        try DurableFile.write(bytes, to: path, temporary: "\(folder)/new", mode: 0o600)
      }
      let kept = Set(partners.map(\.id))
      for id in before.keys where !kept.contains(id) { _ = unlink(path(id)) }
      return result
    }
  }

  private func path(_ id: Identifier) -> String { "\(folder)/\(id).json" }

  private static func precedes(_ a: Partnership, _ b: Partnership) -> Bool {
    (a.name, a.created, a.id) < (b.name, b.created, b.id)
  }

  private struct File {
    let path: String
    let bytes: [UInt8]
    let partner: Partnership?
  }

  private func readFiles() -> [File] {
    DurableFile.names(in: folder).filter { $0.hasSuffix(".json") }.sorted().map { name in
      let path = "\(folder)/\(name)"
      let file = (try? DurableFile.read(path, limit: PartnershipRecord.largest)) ?? nil
      // A restored backup, or an editor, may have opened it to others.
      if let file, file.status.st_mode & 0o077 != 0 { _ = chmod(path, 0o600) }
      let partner = file.flatMap { PartnershipRecord.decode($0.bytes) }
      return File(
        path: path, bytes: file?.bytes ?? [],
        partner: partner.flatMap { "\($0.id).json" == name ? $0 : nil })
    }
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
      (copy.faults, copy.failure, copy.reached, copy.heard) = ([:], nil, nil, nil)
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
