import Git
import Glibc

/// The journal of the present write.
extension LocalState {
  /// The content of the journal: the intent of a write that has not ended.
  struct Journal {
    /// The paths, each with the blob to write; nil removes the file from the tree.
    var files: [(path: String, blob: ObjectID?)]
    /// The commit of the branch before the write; nil before the first commit.
    var head: ObjectID?
    /// The message of the commit; nil if the write doesn't make its own commit.
    var message: String?
    /// True if the write failed and could not be rolled back completely.
    var isRefused: Bool
  }

  /// Writes the journal before a write begins.
  ///
  /// The journal must survive a crash of the process, but not a power failure, whose effects are found by comparison
  /// with HEAD.
  func beginJournal(
    _ files: [(path: String, blob: ObjectID?)], head: ObjectID?, message: String?
  ) throws {
    let lines =
      [head?.description ?? ""] + files.map { "\($0.blob?.description ?? "-") \($0.path)" }
      + (message.map { ["", $0] } ?? [])
    try DurableFile.write(
      Array(lines.joined(separator: "\n").utf8), to: journal,
      temporary: temporary("journal"), syncing: false)
  }

  /// Removes the journal at the end of a write.
  func endJournal() { _ = unlink(journal) }

  /// Marks the write as failed, by the file's mode, which can be changed even on a full disk.
  func refuseJournal() {
    // Without a journal the write is not completed later.
    if chmod(journal, 0o400) != 0 { endJournal() }
  }

  /// Returns the journal, or nil if there is none.
  func readJournal() throws -> Journal? {
    guard let file = try DurableFile.read(journal, limit: 64 << 20) else { return nil }
    let lines = String(decoding: file.bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let files = lines.dropFirst().prefix { !$0.isEmpty }
    let message = lines.dropFirst(files.count + 2).joined(separator: "\n")
    return Journal(
      files: files.compactMap { line in
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        return parts.count == 2 ? (parts[1], ObjectID(hexadecimal: parts[0])) : nil
      }, head: lines.first.flatMap { ObjectID(hexadecimal: $0) },
      message: message.isEmpty ? nil : message,
      isRefused: file.status.st_mode & 0o200 == 0)
  }

  /// True during a write, or after an interrupted one.
  var hasJournal: Bool { access(journal, F_OK) == 0 }
}
