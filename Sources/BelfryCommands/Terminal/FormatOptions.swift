import ArgumentParser
import BelfryDocuments
import BelfryInput
import BelfryStore
import BelfryTerminal

/// The option of listings that prints a line of the user's own form for each element.
struct FormatOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A line for each: '{title}\\t{next}', with the keys of --json.", valueName: "text"))
  var format: String?

  /// Returns the format; nil if none is given.
  ///
  /// - Parameter keys: The keys of the command's documents.
  /// - Throws: `CommandError` if it is not valid, or is combined with `--json`.
  func parsed(json: Bool, _ keys: @autoclosure () -> DocumentKeys) throws -> DocumentFormat? {
    guard let format else { return nil }
    if json {
      throw CommandError(
        .usage, "--format and --json cannot be combined.", hint: "Leave one of them out.")
    }
    let keys = keys()
    do throws(DocumentFormat.Failure) {
      return try DocumentFormat(format, keys)
    } catch {
      throw FormatOptions.error(error, keys)
    }
  }

  private static func error(
    _ failure: DocumentFormat.Failure, _ keys: DocumentKeys
  ) -> CommandError {
    switch failure {
    case .unbalanced(let rest):
      return CommandError(
        .usage, "--format: a brace has no counterpart: \(Printable.text(rest))",
        hint: "Write {title} for a value, and {{ or }} for a brace.")
    case .unknownKey(let key):
      let nearest = EditDistance.nearest(to: key, in: keys.paths)
      return CommandError(
        .usage, "--format: there is no key '\(Printable.text(key))'.",
        hints: [
          nearest.map { "Did you mean {\($0)}?" },
          "The keys are: \(keys.paths.joined(separator: ", ")).",
        ].compactMap { $0 })
    }
  }
}

extension DocumentFormat {
  /// Writes the line of each document.
  func write(_ documents: [some JSONDocument]) throws {
    for document in documents { Console.write(text(try DocumentEncoder.json(document)) + "\n") }
  }

  /// Returns the line of a document.
  func text(_ document: JSON) -> String { line(document) { Printable.text($0) } }
}
