import Git
import Testing

@testable import BelfryStore

/// The failures that git's output stands for.
@Suite struct RemoteFailureTests {
  private static func failure(_ error: String, refusal: String? = nil) throws -> RemoteFailure {
    RemoteFailure(
      explaining: GitCommand.Outcome(status: 1, output: "", error: error), refusal: refusal,
      url: try RemoteURL("/srv/alarms.git"))
  }

  /// git prints the same for a full disk and for a folder that belongs to another user.
  @Test(arguments: [nil, "unpacker error"])
  func aRemoteThatCannotCreateFilesIsNotDamaged(_ refusal: String?) throws {
    let failure = try RemoteFailureTests.failure(
      """
      error: remote unpack failed: unable to create temporary object directory
      To /srv/alarms.git
       ! [remote rejected] main -> main (unpacker error)
      error: failed to push some refs to '/srv/alarms.git'
      """, refusal: refusal)
    #expect(failure.kind == .unwritable)
    #expect(failure.reason.contains("its disk is full, or you may not write to it"))
  }

  @Test func referenceThatMayNotBeWrittenIsNoRace() throws {
    let output = GitCommand.Outcome(
      status: 1, output: "",
      error: """
        remote: error: cannot lock ref 'refs/heads/main': Unable to create \
        '/srv/alarms.git/./refs/heads/main.lock': Permission denied
         ! [remote rejected] main -> main (failed to update ref)
        """)
    #expect(RemoteFailure.isWriteDenied(output))
    let failure = try RemoteFailureTests.failure(output.error, refusal: "failed to update ref")
    #expect(failure.kind == .unwritable)
    // Another push was faster, or holds the lock.
    for reason in ["is at 12ab but expected 34cd", "Unable to create 'main.lock': File exists"] {
      let error = "remote: error: cannot lock ref 'refs/heads/main': \(reason)"
      #expect(
        !RemoteFailure.isWriteDenied(GitCommand.Outcome(status: 1, output: "", error: error)))
    }
  }

  @Test("A lock of the branch, a hook of this machine, and another hash are named as such")
  func namedCauses() throws {
    let lock = try RemoteFailureTests.failure(
      """
      remote: error: cannot lock ref 'refs/heads/main': Unable to create '/r/refs/heads/main.lock': File exists.
      remote:
      remote: Another git process seems to be running in this repository, e.g.
      error: failed to push some refs to '/srv/alarms.git'
      """, refusal: "failed to update ref")
    #expect(lock.kind == .locked)
    #expect(
      lock.reason
        == "cannot lock ref 'refs/heads/main': Unable to create '/r/refs/heads/main.lock': File exists"
    )
    let hook = RemoteFailure(
      hook: "/hooks/pre-push",
      GitCommand.Outcome(
        status: 1, output: "to standard output\n",
        error: "the certificate was not found\nerror: failed to push some refs to '/r.git'\n"),
      url: try RemoteURL("/srv/alarms.git"))
    #expect(hook.kind == .hook(path: "/hooks/pre-push"))
    #expect(
      hook.reason
        == "git's hook pre-push refuses the push: the certificate was not found: to standard output"
    )
    for words in [
      "fatal: the receiving end does not support this repository's hash algorithm",
      "fatal: mismatched algorithms: client sha1; server sha256",
    ] {
      #expect(try RemoteFailureTests.failure(words).kind == .objectFormat)
    }
  }

  @Test func repositoryOfAnotherUserIsNamed() throws {
    let failure = try RemoteFailureTests.failure(
      "fatal: detected dubious ownership in repository at '/srv/alarms.git'\n")
    #expect(failure.kind == .foreign(path: "/srv/alarms.git"))
  }

  @Test func progressOutputOfTheRemoteIsNotAReason() throws {
    func reason(_ error: String) throws -> String { try RemoteFailureTests.failure(error).reason }
    #expect(
      try reason(
        """
        remote: Enumerating objects: 5, done.
        remote: Counting objects: 100% (5/5), done.
        error: cannot lock ref 'refs/remotes/origin/main': Unable to create the lock: No space left on device
        """)
        == "cannot lock ref 'refs/remotes/origin/main': Unable to create the lock: No space left on device"
    )
    #expect(
      try reason("remote: Enumerating objects: 5, done.\nerror: the index is broken\n")
        == "the index is broken")
  }

  @Test func aRemoteWithMissingObjectsIsDamaged() throws {
    let failure = try RemoteFailureTests.failure(
      "error: remote unpack failed: unpack-objects abnormal exit\nfatal: bad object 12ab\n")
    #expect(failure.kind == .damaged)
  }

  @Test func theReasonOfARejectionPrecedesTheMessagesOfTheHook() throws {
    let failure = try RemoteFailureTests.failure(
      "remote: only on Mondays\nerror: failed to push some refs\n",
      refusal: "pre-receive hook declined")
    #expect(failure.kind == .rejected)
    #expect(failure.reason == "pre-receive hook declined: only on Mondays")
  }
}
