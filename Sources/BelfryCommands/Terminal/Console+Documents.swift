import BelfryDocuments
import BelfryTerminal

extension Console {
  /// Writes a document to standard output.
  static func write(_ document: some JSONDocument) throws {
    write(try DocumentEncoder.document(document))
  }
}
