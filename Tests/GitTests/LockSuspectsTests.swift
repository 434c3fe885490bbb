import Testing

@testable import Git

/// Tests of matching running processes with a lock file.
@Suite struct LockSuspectsTests {
  private let suspects = LockSuspects(
    folders: ["/home/ada/store", "/home/ada/store/.git"],
    workTree: .init(user: 1000, group: 1000, mode: 0o700),
    gitDirectory: .init(user: 1000, group: 1000, mode: 0o755), lockChanged: 10_000)

  private func process(
    _ name: String = "git", _ arguments: [String] = ["git", "commit"], executable: String? = nil,
    user: UInt32 = 1000, in folder: RunningProcess.Folder = .path("/home/ada/store/alarms"),
    started: Int64? = 9_000
  ) -> RunningProcess {
    RunningProcess(
      name: name, executable: executable, arguments: arguments, user: user, groups: [user],
      workingDirectory: folder, started: started)
  }

  @Test func gitInRepositoryMayHoldLock() {
    #expect(suspects.include(process()))
    #expect(suspects.include(process(executable: "/usr/bin/git")))
    #expect(suspects.include(process(executable: "/usr/bin/git (deleted)")))
    #expect(suspects.include(process("git-remote-http", ["/usr/lib/git-core/git-remote-http"])))
    #expect(suspects.include(process(".git-wrapped", [], executable: "/nix/bin/.git-wrapped")))
    #expect(!suspects.include(process(in: .path("/home/ada/storehouse"))))
    #expect(!suspects.include(process(in: .path("/home/ada"))))
    #expect(!suspects.include(process(in: .none)))
  }

  @Test func programWithGitPrefixHoldsNoLock() {
    for name in ["gitea", "gitk", "gitlab-runner", "github-desktop"] {
      #expect(!suspects.include(process(name, ["/usr/bin/\(name)"])), "\(name)")
      #expect(!suspects.include(process(name, ["/usr/bin/\(name)"], in: .hidden)), "\(name)")
    }
    // Another program that is named `git`.
    #expect(!suspects.include(process(executable: "/usr/bin/python3.11")))
    #expect(!suspects.include(process("git", ["/usr/bin/python3", "git"], in: .hidden)))
  }

  @Test func readOnlyGitHoldsNoLock() {
    #expect(!suspects.include(process("git", ["git", "cat-file", "--batch"])))
    #expect(!suspects.include(process("git", ["git", "-C", "log", "-c", "a.b=c", "-p", "log"])))
    #expect(suspects.include(process("git", ["git", "-C", "log", "commit"])))
    #expect(!suspects.include(process("git-upload-pack", ["git-upload-pack", "/store"])))
  }

  @Test func hiddenGitOfAnotherUserHoldsOnlyLocksThatItCanCreate() {
    // Another user cannot access the work tree, but root can.
    #expect(!suspects.include(process(user: 33, in: .hidden)))
    #expect(suspects.include(process(user: 0, in: .hidden)))
    #expect(!suspects.include(process(user: 0, in: .hidden, started: 10_100)))
    #expect(suspects.include(process(user: 0, in: .hidden, started: 10_030)))
    #expect(suspects.include(process(user: 0, in: .hidden, started: nil)))
    // A store with access for a group.
    var shared = suspects
    shared.workTree = .init(user: 1000, group: 33, mode: 0o770)
    shared.gitDirectory = .init(user: 1000, group: 33, mode: 0o2775)
    #expect(shared.include(process(user: 33, in: .hidden)))
    #expect(!shared.include(process(user: 34, in: .hidden)))
  }
}
