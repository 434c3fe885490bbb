import Foundation

extension Sandbox {
  /// The records and the log of a store, without what differs between two stores in which the same was done: ids, the last
  /// digit of minutes, and the counters of stamps.
  ///
  /// - Returns: The documents as sorted lines, and the subjects of the commits, the earliest first.
  public func contents() async throws -> [String] {
    var names: [String: String] = [:]
    var documents: [Any] = []
    let files = FileManager.default.enumerator(atPath: store)?.compactMap { $0 as? String } ?? []
    for file in files.sorted() where file.hasSuffix(".json") && !file.hasPrefix(".git/") {
      guard let data = FileManager.default.contents(atPath: "\(store)/\(file)"),
        let document = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
      else { continue }
      if let id = document["id"] as? String, !file.hasPrefix("log/") {
        names[id] = "<\(document["title"] ?? document["name"] ?? "")>"
      }
      documents.append(document)
    }
    let own = home + "/.config/belfry/settings.json"
    if let data = FileManager.default.contents(atPath: own) {
      documents.append(try JSONSerialization.jsonObject(with: data))
    }
    let lines = try documents.map { document in
      let data = try JSONSerialization.data(
        withJSONObject: Sandbox.masked(document, names, root), options: .sortedKeys)
      return String(decoding: data, as: UTF8.self)
    }
    let log = try await git("log", "--reverse", "--format=%s").out
    return lines.sorted() + log.split(separator: "\n").map(String.init)
  }

  private static func masked(_ value: Any, _ names: [String: String], _ root: String) -> Any {
    switch value {
    case let text as String: return masked(text, names, root)
    case let array as [Any]: return array.map { masked($0, names, root) }
    case let object as [String: Any]:
      return Dictionary(
        object.map { (masked($0, names, root), masked($1, names, root)) },
        uniquingKeysWith: { one, _ in one })
    default: return value
    }
  }

  private static func masked(_ text: String, _ names: [String: String], _ root: String) -> String {
    text.replacing(root, with: "ROOT")
      .replacing(#/(\d\d\d\d-\d\d-\d\dT\d\d:\d)\d:\d\d(\.\d+)?Z(-\d{4})?/#) { "\($0.output.1)xZ" }
      .replacing(#/\b[a-z2-7]{26}\b/#) { names[String($0.output)] ?? "ID" }
  }
}
