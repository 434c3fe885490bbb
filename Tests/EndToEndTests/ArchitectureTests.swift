import Foundation
import Testing

/// The layering of the modules, which the table in the article on the architecture describes.
@Suite struct ArchitectureTests {
  private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")

  /// The modules in the order of the table. Each may import only those above it.
  private static let modules: [String] = {
    let page = sources.appending(path: "belfry/belfry.docc/Architecture.md")
    guard let text = try? String(contentsOf: page, encoding: .utf8) else { return [] }
    var modules: [String] = []
    var isInside = false
    for line in text.split(separator: "\n") {
      if line.hasPrefix("## ") { isInside = line == "## Modules" }
      guard isInside, line.hasPrefix("| `") else { continue }
      let cell = line.dropFirst().prefix { $0 != "|" }
      modules += cell.split(separator: "`").map(String.init).filter { $0.allSatisfy(\.isLetter) }
    }
    return modules
  }()

  /// The Swift files of a module, with their lines.
  private static func files(of module: String) throws -> [(name: String, lines: [Substring])] {
    let folder = sources.appending(path: module)
    let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
    return try (names ?? []).filter { $0.hasSuffix(".swift") }.sorted().map { name in
      let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      return ("\(module)/\(name)", text.split(separator: "\n"))
    }
  }

  @Test("The table names every module with Swift code, and each once")
  func tableIsComplete() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path)
      .filter { try !Self.files(of: $0).isEmpty }
    #expect(Self.modules.sorted() == folders.sorted())
  }

  @Test("Each module imports only modules above it", arguments: modules)
  func importsPointOneWay(module: String) throws {
    let allowed = Set(Self.modules.prefix { $0 != module })
    for file in try Self.files(of: module) {
      let imports = file.lines.filter { $0.hasPrefix("import ") || $0.contains(" import ") }
        .compactMap { $0.split(separator: " ").last.map(String.init) }
        .filter { Self.modules.contains($0) }
      #expect(Set(imports).isSubset(of: allowed), "\(file.name)")
    }
  }

  @Test("Commands write records only through actions")
  func commandsWriteNothing() throws {
    let write = /store\.(update|add|delete|write|take|set)\(/
    for file in try Self.files(of: "BelfryCommands") {
      for line in file.lines where line.contains(write) {
        Issue.record("\(file.name): \(line)")
      }
    }
  }

  @Test("The access to remotes knows no records and no merge")
  func transportKnowsNoRecords() throws {
    let names = ["GitTransport", "RemoteFailure+Git", "RemoteTransport"]
      .map { "BelfryStore/Sync/\($0).swift" }
    let files = try Self.files(of: "BelfryStore").filter { names.contains($0.name) }
    #expect(files.map { $0.name } == names)
    let record = /\b(\w+Join|\w+Record|RecordPath|StoreWriter)\b/
    for file in files {
      for line in file.lines where line.contains(record) {
        Issue.record("\(file.name): \(line)")
      }
    }
  }

  @Test("Actions print nothing and know no command line")
  func actionsHaveNoText() throws {
    let output = /\b(Console|ArgumentParser|print\(|readLine)/
    for file in try Self.files(of: "BelfryActions") {
      for line in file.lines where line.contains(output) {
        Issue.record("\(file.name): \(line)")
      }
    }
  }
}
