import BelfryCore
import Files
import Glibc

/// The journal of the latest writes.
extension Repair {
  /// The maximum size of a journal behind a link, in bytes. A write that makes it larger than 8 MiB empties it.
  private static let maxJournal = 512 << 20

  /// Makes the journal a file that can be written. The writes behind a link are kept, anything else that is in its place
  /// moves to the quarantine.
  func repairJournal(_ quarantine: Quarantine) throws {
    let path = store.local.journal
    guard store.local.journalProblem != nil else { return }
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      guard chmod(path, 0o644) == 0 else { throw FileError("make writable", path) }
    } else {
      let content = linkedFile(path)
      report(.quarantined(path: path, to: try quarantine.take(path, as: "journal")))
      if let content {
        try DurableFile.write(content, to: path, temporary: store.local.temporary("journal"))
      }
    }
    report(.journal(path: path))
  }

  /// Returns the content of the file behind a link, or nil if there is none.
  private func linkedFile(_ path: String) -> [UInt8]? {
    guard let target = realpath(path, nil) else { return nil }
    defer { free(target) }
    // A target that is no file, or that cannot be read, has no writes.
    return ((try? DurableFile.read(String(cString: target), limit: Repair.maxJournal)) ?? nil)?
      .bytes
  }
}
