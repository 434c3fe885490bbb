// Reads and writes git's loose objects without libgit2, which loops forever on a truncated file, takes any existing
// file for an intact object, and doesn't sync the folder of a new one. A record that was acknowledged would not survive
// a power failure. zlib and swift-crypto do the compression and the hashes.

import CZlib
import Crypto
import Files
import Glibc
import Synchronization

/// git's loose objects: one compressed file per object, named by the SHA-1 of its content.
///
/// Objects in packs are left to libgit2.
struct LooseObjects: Sendable {
  /// The kind of a git object, as in its header.
  enum Kind: String, Sendable {
    case blob, tree, commit, tag
  }

  /// A decoded object.
  struct Object: Sendable {
    let kind: Kind
    let bytes: [UInt8]
  }

  /// The reason that a file is not the object of its name.
  struct Damage: Error {
    let reason: String
    /// True if the object may be intact but is larger than the limit.
    var isTooLarge = false
  }

  /// The repository's `objects` folder.
  let folder: String
  /// The folder of new files before their rename, mostly on the same file system.
  let scratch: String
  /// The beginning of the names of these files. The rest differs for each file, because several processes can write.
  static let temporaryName = "new-object"
  /// The objects that are not written yet.
  let held = HeldObjects()

  /// Returns the path of an object's file.
  func path(_ id: ObjectID) -> String {
    let digits = id.description
    return "\(folder)/\(digits.prefix(2))/\(digits.dropFirst(2))"
  }

  // MARK: Reading

  /// Returns a loose object, or nil if there is no file of its id.
  ///
  /// - Throws: `Damage` if the file is damaged or inflates to more than `limit` bytes, or `FileError`.
  func read(_ id: ObjectID, limit: Int) throws -> Object? {
    if let object = held.object(id) { return object }
    return try readFile(id, limit: limit)
  }

  private func readFile(_ id: ObjectID, limit: Int) throws -> Object? {
    // Compressed data is at most slightly longer than its content.
    guard let file = try DurableFile.read(path(id), limit: limit + limit / 100 + 1024) else {
      return nil
    }
    var bytes = file.bytes
    let object = try LooseObjects.inflate(&bytes, limit: limit)
    guard LooseObjects.name(object.kind, object.bytes) == id else {
      throw Damage(reason: "its content doesn't match its id")
    }
    return object
  }

  /// The maximum length of a header: a kind, a size and a NUL byte.
  private static let longestHeader = 32

  private static func inflate(_ bytes: inout [UInt8], limit: Int) throws(Damage) -> Object {
    let count = bytes.count
    let result = bytes.withUnsafeMutableBufferPointer { input -> Result<Object, Damage> in
      var stream = z_stream()
      guard belfry_inflate_begin(&stream) == Z_OK else {
        return .failure(Damage(reason: "there is not enough memory to read it"))
      }
      defer { inflateEnd(&stream) }
      stream.next_in = input.baseAddress
      stream.avail_in = UInt32(count)
      var head = [UInt8](repeating: 0, count: longestHeader)
      let code = head.withUnsafeMutableBufferPointer { output in
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(longestHeader)
        return CZlib.inflate(&stream, Z_NO_FLUSH)
      }
      guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
        return .failure(Damage(reason: "it is not in git's compressed format"))
      }
      head.removeLast(Int(stream.avail_out))
      guard let end = head.firstIndex(of: 0), let (kind, size) = header(head[..<end]) else {
        return .failure(Damage(reason: count == 0 ? "it is empty" : "it is truncated"))
      }
      guard size <= limit else {
        return .failure(Damage(reason: "it is too large: \(size) bytes", isTooLarge: true))
      }
      let start = head[(end + 1)...]
      guard start.count <= size else {
        return .failure(Damage(reason: "it is longer than its header says"))
      }
      var isWhole = code == Z_STREAM_END && start.count == size
      let content = [UInt8](unsafeUninitializedCapacity: size) { output, initialized in
        _ = output.initialize(from: start)
        initialized = start.count
        if isWhole { return }
        stream.next_out = output.baseAddress.map { $0 + start.count }
        stream.avail_out = UInt32(size - start.count)
        let code = CZlib.inflate(&stream, Z_FINISH)
        isWhole = code == Z_STREAM_END && stream.avail_out == 0
        initialized = size - Int(stream.avail_out)
      }
      return isWhole
        ? .success(Object(kind: kind, bytes: content))
        : .failure(Damage(reason: "it is truncated"))
    }
    return try result.get()
  }

  private static func header(_ bytes: ArraySlice<UInt8>) -> (Kind, Int)? {
    let words = bytes.split(separator: UInt8(ascii: " "))
    guard words.count == 2, let kind = Kind(rawValue: String(decoding: words[0], as: UTF8.self)),
      let size = Int(String(decoding: words[1], as: UTF8.self)), size >= 0
    else { return nil }
    return (kind, size)
  }

  // MARK: Writing

  /// Returns the id of an object.
  static func name(_ kind: Kind, _ bytes: [UInt8]) -> ObjectID {
    var hash = Insecure.SHA1()
    hash.update(data: Array("\(kind.rawValue) \(bytes.count)\0".utf8))
    hash.update(data: bytes)
    return ObjectID(Array(hash.finalize()))
  }

  /// Writes an object without syncing it, and replaces a damaged file of the same id.
  ///
  /// - Returns: The object's id, the file that the caller must sync, and false if an intact file existed.
  func write(
    _ kind: Kind, _ bytes: [UInt8]
  ) throws -> (id: ObjectID, file: String, isNew: Bool) {
    let id = LooseObjects.name(kind, bytes)
    let file = path(id)
    do {
      // A failed write may have left the file unsynced, so it is returned for syncing again.
      if try read(id, limit: bytes.count)?.bytes == bytes { return (id, file, false) }
    } catch is Damage {
      // The rename replaces it.
    } catch let error as FileError where error.number == EFBIG {
      // The file is larger than the object can be, so it is damaged.
    }
    try write(EncodedObject(id: id, bytes: try LooseObjects.deflated(kind, bytes)))
    return (id, file, true)
  }

  /// Writes the file of an object without syncing it.
  private func write(_ object: EncodedObject) throws(FileError) {
    let (path, suffix) = (path(object.id), DurableFile.uniqueSuffix)
    // git removes and ignores files of the second name, which is its own for new objects.
    try DurableFile.write(
      object.bytes, to: path, temporary: "\(scratch)/\(LooseObjects.temporaryName)-\(suffix)",
      fallback: "\(DurableFile.parent(of: path))/tmp_obj_\(suffix)", mode: 0o444,
      syncing: false, makingFolder: true)
  }

  /// Removes the temporary files of processes that died.
  ///
  /// - Precondition: The caller holds the lock that all writers of objects in `scratch` take.
  func removeTemporaryFiles() {
    for name in DurableFile.names(in: scratch) where name.hasPrefix(LooseObjects.temporaryName) {
      _ = unlink("\(scratch)/\(name)")
    }
  }

  /// Keeps objects in memory for reads. Those that are damaged are left out.
  func hold(_ objects: [EncodedObject]) {
    held.keep(true)
    for encoded in objects {
      var bytes = encoded.bytes
      guard let object = try? LooseObjects.inflate(&bytes, limit: 256 << 20),
        LooseObjects.name(object.kind, object.bytes) == encoded.id
      else { continue }
      _ = held.insert(encoded.id, object)
    }
  }

  /// Writes the file of an object without syncing it, unless an intact one exists. Returns true if it was written.
  func restore(_ object: EncodedObject) throws -> Bool {
    if isIntact(object.id) { return false }
    try write(object)
    return true
  }

  /// Returns true if an object has a file that is not damaged.
  func isIntact(_ id: ObjectID) -> Bool {
    access(path(id), F_OK) == 0
      && (try? readFile(id, limit: 256 << 20)) ?? nil != nil
  }

  /// The size in bytes above which a tree is stored without compression, whose time would exceed that of everything
  /// else in a write. git compresses it when it packs the objects.
  private static let maxCompressedTree = 64 << 10

  /// Returns the content of an object's file.
  static func deflated(_ kind: Kind, _ bytes: [UInt8]) throws -> [UInt8] {
    let header = Array("\(kind.rawValue) \(bytes.count)\0".utf8)
    let level =
      kind == .tree && bytes.count > maxCompressedTree ? Z_NO_COMPRESSION : Z_BEST_SPEED
    var stream = z_stream()
    guard belfry_deflate_begin(&stream, level) == Z_OK else {
      throw FileError("compress", "an object", number: ENOMEM)
    }
    defer { deflateEnd(&stream) }
    let size = Int(deflateBound(&stream, UInt(header.count + bytes.count)))
    var code = Z_OK
    let result = [UInt8](unsafeUninitializedCapacity: size) { output, count in
      stream.next_out = output.baseAddress
      stream.avail_out = UInt32(size)
      for (input, flush) in [(header, Z_NO_FLUSH), (bytes, Z_FINISH)] {
        input.withUnsafeBufferPointer { input in
          // zlib only reads its input.
          stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
          stream.avail_in = UInt32(input.count)
          // The output has room for everything, so one call takes all of the input.
          code = deflate(&stream, flush)
        }
      }
      count = size - Int(stream.avail_out)
    }
    guard code == Z_STREAM_END else { throw FileError("compress", "an object", number: ENOMEM) }
    return result
  }
}

/// An object as the content of its file.
public struct EncodedObject: Hashable, Sendable {
  /// The id of the object.
  public let id: ObjectID
  /// The compressed content of the file.
  public let bytes: [UInt8]

  /// Creates an object from its parts.
  public init(id: ObjectID, bytes: [UInt8]) {
    self.id = id
    self.bytes = bytes
  }

  /// Creates the object of a tree.
  ///
  /// - Throws: `FileError` if there is not enough memory.
  public init(_ tree: TreeData) throws {
    self.init(
      id: LooseObjects.name(.tree, tree.bytes),
      bytes: try LooseObjects.deflated(.tree, tree.bytes))
  }
}

/// New objects that are kept in memory, where only their own process reads them.
final class HeldObjects: Sendable {
  /// The objects by id; nil if new objects are written at once.
  private let objects = Mutex<[ObjectID: LooseObjects.Object]?>(nil)

  /// Begins or ends the keeping of new objects. The present ones are dropped.
  func keep(_ isKeeping: Bool) { objects.withLock { $0 = isKeeping ? [:] : nil } }

  /// Keeps an object. Returns false if new objects are written at once.
  func insert(_ id: ObjectID, _ object: LooseObjects.Object) -> Bool {
    objects.withLock { objects in
      if objects == nil { return false }
      objects?[id] = object
      return true
    }
  }

  func object(_ id: ObjectID) -> LooseObjects.Object? { objects.withLock { $0?[id] } }

  /// Returns the objects, sorted by id.
  func encoded() throws -> [EncodedObject] {
    let held = objects.withLock { $0 ?? [:] }
    return try held.sorted { $0.key < $1.key }.map { id, object in
      EncodedObject(id: id, bytes: try LooseObjects.deflated(object.kind, object.bytes))
    }
  }
}

/// The set of files that were written and are not yet durable.
final class Unsynced: Sendable {
  private let files = Mutex<Set<String>>([])

  /// The number of files above which the whole file system is synced instead of each file.
  private static let batch = 16

  func insert(_ file: String) { files.withLock { _ = $0.insert(file) } }

  /// Makes the files and their folders durable.
  func flush() throws(FileError) {
    let waiting = files.withLock { $0 }.sorted()
    guard let first = waiting.first else { return }
    if waiting.count > Unsynced.batch {
      try DurableFile.syncFileSystem(of: DurableFile.parent(of: first))
    } else {
      let folders = Set(waiting.map(DurableFile.parent))
      // The parent folder may contain a new entry, too: the file's folder.
      for path in waiting + folders.sorted() + Set(folders.map(DurableFile.parent)) {
        do throws(FileError) {
          try DurableFile.sync(path)
        } catch  where error.number == ENOENT {
          // git has packed the object meanwhile, durably.
        }
      }
    }
    files.withLock { $0.subtract(waiting) }
  }
}
