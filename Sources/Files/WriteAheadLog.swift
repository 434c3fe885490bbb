import Crypto
import Glibc

/// A write-ahead log: a file of entries, each of which a single flush makes durable.
///
/// ```
/// page 0     the header: where the entries end, which of them are applied, and the session that wrote them
/// page 1 …   entries, each of which starts a page: number, salt, size, SHA-256, payload
/// ```
///
/// The writer of an entry applies it to other files without flushing those, and then marks it as applied. A checkpoint
/// flushes the other files and empties the log. After a power failure, which the caller detects by another session, all
/// entries since the last checkpoint are applied again.
///
/// An entry never shares a page with an earlier one, so that a failure during its write cannot damage an acknowledged
/// entry. The header fits in one sector, which a disk writes entirely or not at all. The caller keeps other writers
/// away.
public struct WriteAheadLog: Sendable {
  /// The path of the file.
  public let path: String

  /// Creates the description of a log. It does not access the file.
  public init(_ path: String) {
    self.path = path
  }

  /// The header of a log.
  public struct State: Hashable, Sendable {
    /// The number that the entries of this log share. Entries from before the last checkpoint have another one.
    fileprivate var salt: UInt64
    /// The number of the next entry.
    fileprivate var next: UInt64
    /// The position after the last applied entry, in bytes.
    fileprivate var applied: UInt64
    /// The position after the last entry, in bytes.
    fileprivate var end: UInt64
    /// The session that wrote the entries or emptied the log: see `WriteAheadLog.session(_:)`.
    public fileprivate(set) var session: UInt64
    /// The mark that the caller noted at the last checkpoint; nil if there was none.
    public fileprivate(set) var mark: [UInt8]?
    /// True if the last entry, which is not applied, must not be applied either.
    public fileprivate(set) var isRefused: Bool

    /// True if the log has no entry.
    public var isEmpty: Bool { end == WriteAheadLog.start }
    /// True if every entry is applied.
    public var isApplied: Bool { applied == end }
    /// The size of the entries in bytes.
    public var size: Int { Int(end - WriteAheadLog.start) }
  }

  fileprivate static let page: UInt64 = 4096
  fileprivate static let start: UInt64 = page
  private static let magic: UInt64 = 0x314C_4157_464C_4542  // "BELFWAL1"
  private static let headerWords = 7
  /// The size of a mark in bytes. A mark of zeros stands for none.
  public static let markSize = 20
  /// The size of a header: words, a mark and a SHA-256 hash.
  private static let headerSize = headerWords * 8 + markSize + 32
  private static let entryMagic: UInt64 = 0x5952_544E_4546_4C42  // "BLFENTRY"
  /// The size of an entry without its payload: four words and a SHA-256 hash.
  private static let entryHead = 4 * 8 + 32

  /// Returns a session's number for a text that changes with every boot.
  public static func session(_ text: String) -> UInt64 {
    word(Array(SHA256.hash(data: Array(text.utf8))), 0)
  }

  // MARK: Reading

  /// Returns the header, or nil if the file is missing or is not a log.
  public func state() throws(FileError) -> State? {
    let number = Descriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    if number < 0, errno == ENOENT { return nil }
    guard number >= 0 else { throw FileError("open", path) }
    return try header(Descriptor(taking: number))
  }

  private func header(_ file: borrowing Descriptor) throws(FileError) -> State? {
    let size = WriteAheadLog.headerSize
    var bytes = [UInt8](repeating: 0, count: size)
    let count = pread(file.number, &bytes, size, 0)
    guard count >= 0 else { throw FileError("read", path) }
    guard count == size, WriteAheadLog.word(bytes, 0) == WriteAheadLog.magic,
      SHA256.hash(data: bytes[..<(size - 32)]).elementsEqual(bytes[(size - 32)...])
    else { return nil }
    let mark = Array(bytes[(WriteAheadLog.headerWords * 8)..<(size - 32)])
    return State(
      salt: WriteAheadLog.word(bytes, 8), next: WriteAheadLog.word(bytes, 16),
      applied: WriteAheadLog.word(bytes, 24), end: WriteAheadLog.word(bytes, 32),
      session: WriteAheadLog.word(bytes, 40), mark: mark.allSatisfy { $0 == 0 } ? nil : mark,
      isRefused: WriteAheadLog.word(bytes, 48) != 0)
  }

  /// The entries of a log.
  public struct Entries: Sendable {
    /// The payloads of the entries that are applied.
    public var applied: [[UInt8]] = []
    /// The payloads of the other entries.
    public var pending: [[UInt8]] = []
  }

  /// Returns the payloads of the entries. An entry that was not written completely ends the list.
  public func entries() throws(FileError) -> Entries {
    var entries = Entries()
    guard let state = try state(), !state.isEmpty, let file = try DurableFile.read(path) else {
      return entries
    }
    let bytes = file.bytes
    var position = Int(WriteAheadLog.start)
    var number: UInt64?
    while position < Int(state.end), position + WriteAheadLog.entryHead <= bytes.count {
      assert(position.isMultiple(of: Int(WriteAheadLog.page)), "an entry starts a page")
      let found = WriteAheadLog.word(bytes, position + 8)
      let size = Int(clamping: WriteAheadLog.word(bytes, position + 24))
      let payload = position + WriteAheadLog.entryHead
      guard WriteAheadLog.word(bytes, position) == WriteAheadLog.entryMagic,
        WriteAheadLog.word(bytes, position + 16) == state.salt,
        number == nil || found == number, size <= bytes.count - payload
      else { break }
      let content = bytes[payload..<(payload + size)]
      guard
        WriteAheadLog.checksum(head: bytes[position..<(position + 32)], payload: content)
          .elementsEqual(bytes[(position + 32)..<payload])
      else { break }
      if position < Int(state.applied) {
        entries.applied.append(Array(content))
      } else {
        entries.pending.append(Array(content))
      }
      number = found + 1
      position = WriteAheadLog.nextPage(payload + size)
    }
    return entries
  }

  // MARK: Writing

  /// Appends an entry, which is durable when the call returns. The log is created if it is missing.
  ///
  /// - Parameters:
  ///   - payload: The content of the entry.
  ///   - session: The present session.
  /// - Returns: The state before, for `cancel`.
  /// - Throws: `FileError`. The log is then as before.
  public func append(_ payload: [UInt8], session: UInt64) throws(FileError) -> State {
    let file = try Descriptor(path, O_RDWR | O_CREAT | O_NOFOLLOW)
    let known = try header(file)
    let before = known ?? WriteAheadLog.fresh(session: session)
    var state = before
    state.session = session
    var entry: [UInt8] = []
    let size = WriteAheadLog.nextPage(WriteAheadLog.entryHead + payload.count)
    entry.reserveCapacity(size)
    for word in [WriteAheadLog.entryMagic, state.next, state.salt, UInt64(payload.count)] {
      WriteAheadLog.append(word, to: &entry)
    }
    entry += WriteAheadLog.checksum(head: entry[...], payload: payload[...])
    entry += payload
    entry += repeatElement(0, count: size - entry.count)
    state.next += 1
    state.end += UInt64(size)
    // The entry before may have been refused.
    state.isRefused = false
    assert(entry.count == size, "an entry fills its pages")
    assert(state.next > before.next && state.end > before.end, "numbers and positions ascend")
    do throws(FileError) {
      try write(entry, at: before.end, file)
      try write(header: state, file)
      guard fdatasync(file.number) == 0 else { throw FileError("sync", path) }
      if known == nil { try DurableFile.syncFolder(of: path) }
    } catch {
      restore(before, file)
      throw error
    }
    return before
  }

  /// Marks all entries as applied.
  public func finish() {
    update { $0.applied = $0.end }
  }

  /// Removes the last entry, durably, because it could not be applied and was rolled back.
  ///
  /// - Parameter before: The state before it was appended.
  public func cancel(to before: State) {
    assert(isLast(after: before), "only the last entry can be removed")
    guard let file = try? Descriptor(path, O_RDWR | O_NOFOLLOW) else { return }
    restore(before, file)
  }

  /// Marks the last entry as one that must not be applied: it failed, and could not be rolled back entirely.
  public func refuse() {
    assert(present?.isApplied != true, "only an entry that is not applied can be refused")
    update { $0.isRefused = true }
    if let file = try? Descriptor(path, O_RDWR | O_NOFOLLOW) { _ = fdatasync(file.number) }
  }

  /// Removes all entries, durably. Their effects must be durable.
  ///
  /// - Parameters:
  ///   - session: The present session.
  ///   - mark: The bytes to note in the header, `markSize` of them; nil for none.
  public func empty(session: UInt64, mark: [UInt8]?) throws(FileError) {
    precondition(mark?.count ?? WriteAheadLog.markSize == WriteAheadLog.markSize)
    assert(present?.isApplied != false, "entries stay until they are applied")
    let file = try Descriptor(path, O_RDWR | O_NOFOLLOW)
    var state = WriteAheadLog.fresh(session: session)
    state.mark = mark
    try write(header: state, file)
    _ = ftruncate(file.number, Int(WriteAheadLog.start))
    guard fdatasync(file.number) == 0 else { throw FileError("sync", path) }
  }

  /// The header; nil if there is none, or if it cannot be read.
  private var present: State? { (try? state()) ?? nil }

  /// Returns true if one entry was appended since a state. Debug builds check it.
  private func isLast(after before: State) -> Bool {
    present.map { $0.next == before.next + 1 && $0.end > before.end } ?? true
  }

  private static func fresh(session: UInt64) -> State {
    State(
      salt: UInt64.random(in: 0 ... .max), next: 1, applied: start, end: start, session: session,
      mark: nil, isRefused: false)
  }

  private func restore(_ before: State, _ file: borrowing Descriptor) {
    try? write(header: before, file)
    _ = ftruncate(file.number, Int(before.end))
    _ = fdatasync(file.number)
  }

  private func update(_ change: (inout State) -> Void) {
    guard let file = try? Descriptor(path, O_RDWR | O_NOFOLLOW),
      var state = (try? header(file)) ?? nil
    else { return }
    change(&state)
    // An error is ignored: the entry is then applied again, which changes nothing.
    try? write(header: state, file)
  }

  private func write(header state: State, _ file: borrowing Descriptor) throws(FileError) {
    var bytes: [UInt8] = []
    for word in [
      WriteAheadLog.magic, state.salt, state.next, state.applied, state.end, state.session,
      state.isRefused ? 1 : 0,
    ] {
      WriteAheadLog.append(word, to: &bytes)
    }
    bytes += state.mark ?? [UInt8](repeating: 0, count: WriteAheadLog.markSize)
    bytes += SHA256.hash(data: bytes)
    assert(bytes.count == WriteAheadLog.headerSize, "all headers have the same size")
    assert(bytes.count <= 512, "a header fits in a sector, which a disk writes entirely")
    try write(bytes, at: 0, file)
  }

  private func write(
    _ bytes: [UInt8], at position: UInt64, _ file: borrowing Descriptor
  ) throws(FileError) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes {
        pwrite(
          file.number, $0.baseAddress! + written, bytes.count - written, Int(position) + written)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileError("write", path) }
      written += count
    }
  }

  // MARK: Coding

  private static func nextPage(_ position: Int) -> Int {
    (position + Int(page) - 1) / Int(page) * Int(page)
  }

  private static func checksum(head: ArraySlice<UInt8>, payload: ArraySlice<UInt8>) -> [UInt8] {
    var hash = SHA256()
    hash.update(data: head)
    hash.update(data: payload)
    return Array(hash.finalize())
  }

  private static func word(_ bytes: [UInt8], _ position: Int) -> UInt64 {
    bytes.withUnsafeBytes {
      UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }
  }

  private static func append(_ word: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
  }
}
