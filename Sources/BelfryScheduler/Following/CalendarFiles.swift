import BelfryExchange
import Files
import Glibc

/// The files of a calendar that is followed on this machine.
struct CalendarFiles {
  /// The paths of the files, ascending.
  let paths: [String]
  /// A text that changes whenever one of the files does.
  let signature: String

  /// The maximum number of files of a folder.
  private static let maxFiles = CalendarFeed.maxItems

  /// Lists the files of a calendar.
  ///
  /// - Throws: `CalendarFailure` if the file or the folder is missing, or cannot be read.
  init(_ source: CalendarSource) throws(CalendarFailure) {
    switch source {
    case .url: (paths, signature) = ([], "")
    case .file(let path):
      guard let target = CalendarFiles.target(of: path), CalendarFiles.isFolder(path) == false
      else { throw CalendarFailure("there is no file \(path)") }
      paths = [target]
      signature = CalendarFiles.signature([target])
    case .folder(let path):
      let names = try CalendarFiles.names(in: path).filter(CalendarFiles.isItem).sorted()
      if names.count > CalendarFiles.maxFiles {
        throw CalendarFailure("it has more than \(CalendarFiles.maxFiles) files")
      }
      paths = names.map { "\(path)/\($0)" }
      signature = CalendarFiles.signature(paths)
    }
  }

  /// The content of the files.
  struct Content {
    /// The document of all files that are complete calendars.
    var document: [UInt8] = []
    /// The number of complete files.
    var count = 0
    /// The names of the files that are damaged, with the reasons.
    var damaged: [(name: String, failure: CalendarFailure)] = []
  }

  /// Reads the files.
  ///
  /// - Throws: `CalendarFailure` if they are larger than the maximum size together.
  func read() throws(CalendarFailure) -> Content {
    var content = Content()
    var documents: [[UInt8]] = []
    var size = 0
    for path in paths {
      do throws(CalendarFailure) {
        guard let bytes = try CalendarFiles.content(of: path) else { continue }
        size += bytes.count
        if size > CalendarDocument.largest { throw CalendarFailure.tooLarge }
        if let damage = CalendarDamage(of: bytes) { throw CalendarFailure(damage) }
        documents.append(bytes)
      } catch {
        if error == .tooLarge { throw error }
        content.damaged.append((String(path.split(separator: "/").last ?? ""), error))
      }
    }
    content.count = documents.count
    content.document =
      documents.count == 1 && paths.count == 1 ? documents[0] : CalendarDamage.joined(documents)
    return content
  }

  /// Returns the content of a file; nil if it was removed meanwhile.
  private static func content(of path: String) throws(CalendarFailure) -> [UInt8]? {
    guard let target = target(of: path) else { return nil }
    do throws(FileError) {
      return try DurableFile.read(target, limit: CalendarDocument.largest)?.bytes
    } catch {
      if error.number == EFBIG { throw .tooLarge }
      throw CalendarFailure("\(error)")
    }
  }

  // MARK: Names

  /// Returns true for the name of an item of a vdir. Temporary files of writers are none.
  static func isItem(_ name: String) -> Bool {
    name.lowercased().hasSuffix(".ics") && !name.hasPrefix(".")
  }

  /// Returns the names in a folder.
  ///
  /// - Throws: `CalendarFailure` if it is missing or cannot be read.
  static func names(in path: String) throws(CalendarFailure) -> [String] {
    do throws(FileError) {
      return try DurableFile.list(path)
    } catch {
      throw CalendarFailure(error.number == ENOENT ? "there is no folder \(path)" : "\(error)")
    }
  }

  /// Returns true for a folder, false for another file, and nil if there is nothing at the path.
  static func isFolder(_ path: String) -> Bool? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return status.st_mode & S_IFMT == S_IFDIR
  }

  /// Returns the path of a file behind symbolic links; nil if there is none.
  static func target(of path: String) -> String? {
    guard let target = realpath(path, nil) else { return nil }
    defer { free(target) }
    return String(cString: target)
  }

  private static func signature(_ paths: [String]) -> String {
    let lines = paths.map { path -> String in
      var status = stat()
      guard stat(path, &status) == 0 else { return path }
      let file = FileSignature(status)
      return "\(path) \(file.size) \(file.modified) \(file.inode)"
    }
    return ContentHash.text(of: lines.joined(separator: "\n"))
  }
}
