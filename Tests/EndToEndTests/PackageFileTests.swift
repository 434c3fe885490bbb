import Foundation
import TestSupport
import Testing

/// Tests of the files that the packages install, beside the binary.
@Suite struct PackageFileTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().appending(path: "../..").standardizedFileURL.path

  @Test("The version, the commit and the formats are printed")
  func version() async throws {
    let sandbox = try Sandbox()
    let version = try await sandbox.belfry("--version")
    #expect(version.status == 0)
    let lines = version.out.split(separator: "\n")
    let first = /belfry [0-9]+\.[0-9]+\.[0-9]+( \([0-9a-f]{12}(-modified)?\))?/
    #expect(lines.first?.wholeMatch(of: first) != nil, "\(version.out)")
    #expect(lines.dropFirst() == ["records: format 1", "partner messages: version 1"])
    // Every command prints the same.
    #expect(try await sandbox.belfry("list", "--version").out == version.out)
  }

  @Test("Every command has a manual page with its options, examples and exit codes")
  func manualPages() async throws {
    let sandbox = try Sandbox()
    let folder = sandbox.root + "/man1"
    let output = try await sandbox.run(
      "/usr/bin/env",
      [
        "python3", PackageFileTests.root + "/Tests/Packaging/manpages", Sandbox.binary,
        "2026-11-23", folder,
      ])
    #expect(output.status == 0, "\(output.err)")
    let help = try await sandbox.belfry("--experimental-dump-help")
    let root = try #require(help.object["command"] as? [String: Any])
    let names = PackageFileTests.commands(root, parents: [])
    #expect(names.count > 90)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        == names.map { "\($0).1" }.sorted())
    for name in names {
      let page = try sandbox.read("\(folder)/\(name).1")
      for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"] {
        #expect(page.contains(".SH \(section)\n"), "\(name): \(section)")
      }
    }
    let done = try sandbox.read(folder + "/belfry-done.1")
    #expect(done.contains("\nbelfry\\-done \\- mark an occurrence as done\n"), "\(done)")
    #expect(done.contains(".SH EXAMPLES\n"))
    #expect(done.contains("\nbelfry done rent\n"))
    #expect(done.contains("\\fB\\-\\-early\\fR"))
    // Debian's lintian checks pages in this way.
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/man") else { return }
    let all = names.map { "'\(folder)/\($0).1'" }.joined(separator: " ")
    let rendered = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        "for page in \(all); do man --warnings -E UTF-8 -l -Tutf8 -Z \"$page\" >/dev/null; done",
      ], environment: ["LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"])
    #expect(rendered.err.isEmpty, "\(rendered.err)")
  }

  @Test("The picture of the README shows the output of this version")
  func picture() async throws {
    let sandbox = try Sandbox()
    let output = try await sandbox.run(
      "/usr/bin/env",
      [
        "python3", PackageFileTests.root + "/Tests/Packaging/picture", Sandbox.binary,
        sandbox.root + "/picture.svg",
      ])
    #expect(output.status == 0, "\(output.err)")
    let shipped = PackageFileTests.root + "/Sources/belfry/belfry.docc/terminal.svg"
    let isEqual = try sandbox.read(sandbox.root + "/picture.svg") == sandbox.read(shipped)
    #expect(isEqual, "draw it again: Tests/Packaging/picture .build/release/belfry \(shipped)")
  }

  /// Returns the names of the manual pages of a command and its subcommands.
  private static func commands(_ command: [String: Any], parents: [String]) -> [String] {
    let path = parents + [command["commandName"] as? String ?? ""]
    let children = (command["subcommands"] as? [[String: Any]] ?? [])
      .filter { $0["commandName"] as? String != "help" && $0["shouldDisplay"] as? Bool != false }
    return [path.joined(separator: "-")] + children.flatMap { commands($0, parents: path) }
  }
}
