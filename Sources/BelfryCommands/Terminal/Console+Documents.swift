import BelfryDocuments
import BelfryTerminal

extension Console {
  /// Writes a document to standard output.
  static func write(_ document: some JSONDocument) throws {
    write(try DocumentEncoder.document(document))
  }

  /// Writes documents to standard output: as an array, or the only one by itself.
  static func write(_ documents: [ActionDocument], asList: Bool) throws {
    if asList { return try write(documents) }
    if let document = documents.first { try write(document) }
  }
}
