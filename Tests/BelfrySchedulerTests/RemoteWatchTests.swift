import BelfryStore
import Files
import Foundation
import Git
import Synchronization
import TestSupport
import Testing

@testable import BelfryScheduler

/// The watches of remotes: what a host may say, and when a sync follows.
@Suite struct RemoteWatchTests {
  private let one = ObjectID(hexadecimal: String(repeating: "1", count: 40))!
  private let two = ObjectID(hexadecimal: String(repeating: "2", count: 40))!

  // MARK: Output of the host

  private func line(_ text: String) -> RemoteWatchLine? { RemoteWatchLine(Array(text.utf8)) }

  @Test func linesOfTheScriptAreParsed() {
    #expect(line("belfry-watch 1") == .started)
    #expect(line("unavailable") == .unavailable)
    #expect(line("alive") == .alive)
    #expect(line("head -") == .head(nil))
    #expect(line("head \(one)") == .head(one))
  }

  @Test(arguments: [
    "", "head", "head ", "head 1", "belfry-watch 2", "Belfry-watch 1", "alive ", " alive",
    "head --------------------------------------------------------",
    "head ../../../../../../../../../../../../etc/p",
    "head \u{1B}[31m1111111111111111111111111111111111111", "\u{0}",
    "head 1111111111111111111111111111111111111111 2",
    "fatal: unrecognized command 'sh'", "Invalid command: sh",
  ])
  func otherLinesAreInvalid(_ text: String) {
    #expect(line(text) == nil)
  }

  @Test func bytesThatAreNoTextAreInvalid() {
    #expect(RemoteWatchLine([0xFF, 0xFE, 0x00]) == nil)
    #expect(RemoteWatchLine(Array("head ".utf8) + [UInt8](repeating: 0xB1, count: 40)) == nil)
  }

  // MARK: The script

  /// Runs the script in a shell, lets `meanwhile` run after the first report, and returns its output.
  private func output(
    _ sandbox: Sandbox, _ shell: String, path: String, home: String? = nil,
    meanwhile: String = ":"
  ) async throws -> [String] {
    let script = RemoteWatchScript(path: path, branch: "main")
    try sandbox.write(script.text, to: sandbox.root + "/script")
    try sandbox.write(RemoteWatchScript.program, to: sandbox.root + "/program")
    let out = sandbox.root + "/out"
    let start =
      shell == "sh"
      ? "sh < fifo > '\(out)'"
      : "\(shell) -c \"$(cat program)\" sh \(ShellWord.quoted(path)) main < fifo > '\(out)'"
    let feed = shell == "sh" ? "cat script >&9" : ":"
    let text = """
      cd '\(sandbox.root)'
      export HOME='\(home ?? sandbox.home)'
      \(sandbox.waitFor)
      has_lines() { [ "$(wc -l < out)" -ge "$1" ]; }
      lines() { wait_for has_lines "$1"; }
      rm -f fifo out; mkfifo fifo; : > out
      \(start) & watch=$!
      exec 9>fifo
      \(feed)
      lines 2
      \(meanwhile)
      exec 9>&-
      wait $watch
      """
    let result = try await sandbox.run("/usr/bin/timeout", ["400", "bash", "-c", text])
    #expect(result.status == 0, "\(result.err)")
    return try sandbox.read(out).split(separator: "\n").map(String.init)
  }

  private func repository(_ sandbox: Sandbox, _ name: String = "r.git") async throws -> String {
    let path = "\(sandbox.root)/\(name)"
    let made = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        """
        git init -q --bare -b main "$1" && cd "$1" &&
        git -c user.name=A -c user.email=a commit-tree -m x $(git hash-object -wt tree /dev/null) |
        xargs git update-ref refs/heads/main
        """, "sh", path,
      ])
    #expect(made.status == 0, "\(made.err)")
    return path
  }

  private func head(_ sandbox: Sandbox, _ path: String) async throws -> String {
    try await sandbox.git("rev-parse", "main", in: path).out
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The shell commands that move a branch to a new commit.
  private func move(_ path: String) -> String {
    """
    new=$(git -C '\(path)' -c user.name=A -c user.email=a commit-tree -m y -p main 'main^{tree}')
    git -C '\(path)' update-ref refs/heads/main $new
    """
  }

  @Test(arguments: ["sh", "bash", "dash"])
  func scriptReportsTheCommitAndItsChanges(_ shell: String) async throws {
    let sandbox = try Sandbox()
    let path = try await repository(sandbox)
    let before = try await head(sandbox, path)
    let lines = try await output(
      sandbox, shell, path: path, meanwhile: "\(move(path))\nlines 3")
    let after = try await head(sandbox, path)
    #expect(lines == ["belfry-watch 1", "head \(before)", "head \(after)"])
  }

  @Test(arguments: ["bash", "dash"])
  func packedReferencesAreRead(_ shell: String) async throws {
    let sandbox = try Sandbox()
    let path = try await repository(sandbox)
    _ = try await sandbox.git("pack-refs", "--all", in: path)
    let head = try await head(sandbox, path)
    #expect(
      try await output(sandbox, shell, path: path) == ["belfry-watch 1", "head \(head)"])
  }

  @Test(arguments: ["~/r", "~/r.git", "r.git", "r"])
  func pathsAreFoundAsByGit(_ path: String) async throws {
    let sandbox = try Sandbox()
    let head = try await head(sandbox, try await repository(sandbox))
    #expect(
      try await output(sandbox, "dash", path: path, home: sandbox.root)
        == ["belfry-watch 1", "head \(head)"])
  }

  @Test(arguments: ["sh", "bash", "dash"])
  func pathsAreNeverExecuted(_ shell: String) async throws {
    let sandbox = try Sandbox()
    let mark = sandbox.root + "/mark"
    for path in [
      "x'; touch \(mark); '", "$(touch \(mark))", "`touch \(mark)`", "~$(touch \(mark))/r",
      "~'; touch \(mark); '/r", "\"; touch \(mark); \"", "~;touch \(mark)", "a\\'; touch \(mark)",
      "!touch", "{a,b}", "*",
    ] {
      let lines = try await output(sandbox, shell, path: path)
      #expect(lines.last == "unavailable", "\(path)")
      #expect(!FileManager.default.fileExists(atPath: mark), "\(path)")
    }
    // An unusual name is still found.
    let path = try await repository(sandbox, "my 'own' $repo;.git")
    let head = try await head(sandbox, path)
    #expect(
      try await output(sandbox, shell, path: path) == ["belfry-watch 1", "head \(head)"])
  }

  @Test(arguments: ["bash", "dash"])
  func symbolicAndDamagedReferencesAreNotReported(_ shell: String) async throws {
    let sandbox = try Sandbox()
    let path = try await repository(sandbox)
    try sandbox.write("$(date) ; ../../secret\n", to: path + "/refs/heads/main")
    #expect(try await output(sandbox, shell, path: path) == ["belfry-watch 1", "head -"])
  }

  // MARK: URLs

  @Test(arguments: [
    ("/srv/a b.git", "/srv/a b.git"), ("file:///srv/a%20b.git", "/srv/a b.git"),
    ("ssh://ada@host:22/srv/a%27b.git", "/srv/a'b.git"), ("ssh://host/~/r.git", "~/r.git"),
    ("ssh://host/~ada/r", "~ada/r"), ("host:r.git", "r.git"), ("ada@host:/srv/r%20", "/srv/r%20"),
  ])
  func pathsOfURLs(_ url: String, _ path: String) throws {
    #expect(try RemoteURL(url).repositoryPath == path)
  }

  @Test(arguments: ["https://host/r.git", "ssh://host/a%0Ab", "ssh://host/a%00", "ssh://host/%ff"])
  func otherURLsHaveNoPath(_ url: String) throws {
    #expect(try RemoteURL(url).repositoryPath == nil)
  }

  // MARK: Pacing

  @Test func newsAreFetchedOnce() {
    var news = RemoteNews()
    news.record(one, of: "origin", fetched: one)
    #expect(!news.isPending)
    news.record(two, of: "origin", fetched: one)
    #expect(news.isPending)
    news.begin()
    #expect(!news.isPending)
    // The sync fails, and its retry follows the back-off.
    news.end { _ in one }
    #expect(!news.isPending)
    news.record(two, of: "origin", fetched: one)
    #expect(!news.isPending)
  }

  @Test func newsDuringASyncNeedAnotherUnlessItHasPushedThem() {
    var news = RemoteNews()
    news.begin()
    news.record(two, of: "origin", fetched: one)
    news.end { _ in two }
    #expect(!news.isPending)
    news.begin()
    news.record(one, of: "origin", fetched: two)
    news.end { _ in two }
    #expect(news.isPending)
    news.record(nil, of: "other", fetched: nil)
    news.begin()
    news.end { _ in nil }
    #expect(!news.isPending)
  }

  @Test func lostConnectionsAreRetriedWithIncreasingWaits() {
    var backOff = RemoteWatchBackOff()
    let waits = (0..<11).map { _ in backOff.next(after: .lost, lasting: 0) }
    #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
    #expect(backOff.next(after: .lost, lasting: 3600) == 1)
    #expect(backOff.next(after: .unavailable, lasting: 0) == 21_600)
  }

  // MARK: Folders

  /// The reports of a watch.
  private final class Reports: Sendable {
    let heads = Mutex<[ObjectID?]>([])
    private let ends = Mutex<RemoteWatchEnd?>(nil)

    /// Watches the branch of a repository.
    func watch(_ path: String) -> Task<Void, Never> {
      Task {
        let end = await FolderWatch(path: path, branch: "main").run { head in
          self.heads.withLock { $0.append(head) }
        }
        ends.withLock { $0 = end }
      }
    }

    func wait(for count: Int) async throws {
      try await waitUntil("\(count) reports of the branch") { heads.withLock { $0.count } >= count }
    }

    /// Returns the reason for the end of the watch. Waiting for its task would take forever if it never ended.
    func end() async throws -> RemoteWatchEnd? {
      try await waitUntil("the end of the watch") { ends.withLock { $0 } != nil }
      return ends.withLock { $0 }
    }
  }

  @Test func folderIsWatchedUntilItIsRemoved() async throws {
    let sandbox = try Sandbox()
    let path = try await repository(sandbox)
    let reports = Reports()
    _ = reports.watch(path)
    try await reports.wait(for: 1)
    _ = try await sandbox.run("/bin/sh", ["-c", move(path)])
    try await reports.wait(for: 2)
    // Packing changes the files, not the commit.
    _ = try await sandbox.git("pack-refs", "--all", in: path)
    _ = try await sandbox.run("/bin/sh", ["-c", move(path)])
    try await reports.wait(for: 3)
    let head = try await head(sandbox, path)
    let heads = reports.heads.withLock { $0 }
    #expect(heads.count == 3)
    #expect(heads.last??.description == head)
    try FileManager.default.removeItem(atPath: path)
    #expect(try await reports.end() == .lost)
  }

  @Test func watchOfAFolderEndsWhenCanceled() async throws {
    let sandbox = try Sandbox()
    let path = try await repository(sandbox)
    let reports = Reports()
    let watch = reports.watch(path)
    try await reports.wait(for: 1)
    watch.cancel()
    _ = try await reports.end()
  }

  @Test func missingFoldersAreTriedAgain() async throws {
    #expect(await FolderWatch(path: "/none", branch: "main").run { _ in } == .lost)
  }
}
