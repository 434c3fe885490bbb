import BelfryTerminal
import Files
import Glibc

/// A file that an argument names, or standard input.
enum InputFile {
  /// Returns the content of a file, or of standard input if the name is `-`.
  ///
  /// - Throws: `CommandError` if the file is missing or larger than the limit, and `FileError`.
  static func read(_ file: String, limit: Int) throws -> [UInt8] {
    if file == "-" { return try readStandardInput(limit: limit) }
    if file.isEmpty {
      throw CommandError(
        .usage, "the name of the file is empty.", hint: "Name a file, or - for standard input.")
    }
    let path = CommandEnvironment.absolute(file)
    guard let content = try DurableFile.read(path, limit: limit) else {
      throw CommandError(
        .failed, "there is no file \(Printable.text(file)).",
        hint: "Name a file, or - for standard input.")
    }
    return content.bytes
  }

  private static func readStandardInput(limit: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileError("read", "standard input") }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= limit else { throw tooLarge("-") }
    }
  }

  /// Returns the error for a document that exceeds the size limit of its format.
  static func tooLarge(_ file: String) -> CommandError {
    CommandError(
      .failed, "\(Printable.text(file)) is too large.",
      hint: "The limits are 16 MB for a calendar and 1 GB for an export.")
  }
}
