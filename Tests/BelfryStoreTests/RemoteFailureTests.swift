import Git
import Testing

@testable import BelfryStore

/// The reported reason for a failure of git to reach or update a remote.
@Suite struct RemoteFailureTests {
  private func reason(_ error: String) throws -> String {
    let url = try RemoteURL("/srv/alarms.git")
    return RemoteFailure(
      explaining: GitCommand.Outcome(status: 1, output: "", error: error), refusal: nil, url: url
    ).reason
  }

  @Test func progressOutputOfTheRemoteIsNotAReason() throws {
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
}
