import Git
import TestSupport
import Testing

@testable import BelfryStore

/// The part of the access to a remote that doesn't run git.
@Suite struct GitTransportTests {
  @Test func aMovedBranchIsKnownOfAFolderOnly() async throws {
    let fixture = try await StoreFixture("Rent")
    let (path, first) = (fixture.sandbox.root + "/remote.git", try fixture.head())
    try await fixture.git("clone", "-q", "--bare", fixture.store.path, path)
    try fixture.store.commit(fixture.change("Dentist"))
    let second = try fixture.head()
    func hasMoved(_ url: String, push: [String] = []) throws -> Bool {
      try GitTransport(
        fixture.store.repository(), Remote(name: "origin", url: url, pushURLs: push),
        context: fixture.store.context
      ).hasMoved("main", from: first)
    }
    #expect(try !hasMoved(path))
    try await fixture.git("push", "-q", path, "\(second):refs/heads/main")
    #expect(try hasMoved(path))
    #expect(try hasMoved("file://" + path))
    try await fixture.git("pack-refs", "--all", in: path)
    #expect(try hasMoved(path))
    // Nothing is known of a remote that is elsewhere, receives pushes elsewhere, or has no such branch.
    #expect(try !hasMoved("server:" + path))
    #expect(try !hasMoved(path, push: [fixture.sandbox.root + "/other.git"]))
    #expect(try !hasMoved(fixture.sandbox.root + "/missing.git"))
    try await fixture.git("update-ref", "-d", "refs/heads/main", in: path)
    #expect(try !hasMoved(path))
  }
}
