import CLibgit2

/// A remote as git's configuration names it, `insteadOf` included.
public struct Remote: Hashable, Sendable {
  public let name: String
  public let url: String
  /// Where it is pushed to, when that is another place.
  public let pushURL: String?

  public init(name: String, url: String, pushURL: String? = nil) {
    self.name = name
    self.url = url
    self.pushURL = pushURL
  }
}

extension Repository {
  public func remotes() throws(GitError) -> [Remote] {
    try with { repository throws(GitError) in
      var names = git_strarray()
      try GitError.check(git_remote_list(&names, repository), "list the remotes")
      defer { git_strarray_dispose(&names) }
      var remotes: [Remote] = []
      for index in 0..<names.count {
        guard let name = names.strings[index] else { continue }
        var remote: OpaquePointer?
        try GitError.check(git_remote_lookup(&remote, repository, name), "read a remote")
        defer { git_remote_free(remote) }
        let url = git_remote_url(remote).map { String(cString: $0) } ?? ""
        let push = git_remote_pushurl(remote).map { String(cString: $0) }
        remotes.append(Remote(name: String(cString: name), url: url, pushURL: push))
      }
      return remotes
    }
  }

  /// Adds a remote; the first becomes the one that a plain `git pull` goes to.
  public func addRemote(_ remote: Remote) throws(GitError) {
    try with { repository throws(GitError) in
      var handle: OpaquePointer?
      try GitError.check(
        git_remote_create(&handle, repository, remote.name, remote.url),
        "add the remote \(remote.name)")
      git_remote_free(handle)
    }
    guard try configuration("branch.\(Repository.branch).remote") == nil else { return }
    try setConfiguration("branch.\(Repository.branch).remote", to: remote.name)
    try setConfiguration(
      "branch.\(Repository.branch).merge", to: "refs/heads/\(Repository.branch)")
  }

  public func removeRemote(_ name: String) throws(GitError) {
    try with { repository throws(GitError) in
      try GitError.check(git_remote_delete(repository, name), "remove the remote \(name)")
    }
  }

  /// The references whose names begin with a prefix, with what they name.
  public func references(under prefix: String) throws(GitError) -> [String: ObjectID] {
    try with { repository throws(GitError) in
      var iterator: OpaquePointer?
      try GitError.check(
        git_reference_iterator_glob_new(&iterator, repository, prefix + "*"), "list references")
      defer { git_reference_iterator_free(iterator) }
      var result: [String: ObjectID] = [:]
      var name: UnsafePointer<CChar>?
      while git_reference_next_name(&name, iterator) == 0, let current = name {
        var oid = git_oid()
        // One that names nothing is none.
        guard git_reference_name_to_id(&oid, repository, current) == 0 else { continue }
        result[String(cString: current)] = ObjectID(oid)
      }
      return result
    }
  }

  /// Removes a reference if it still names a commit; whoever moved it meanwhile keeps it.
  public func removeReference(_ name: String, at commit: ObjectID) throws(GitError) {
    try with { repository throws(GitError) in
      var reference: OpaquePointer?
      let code = git_reference_lookup(&reference, repository, name)
      if code == GIT_ENOTFOUND.rawValue { return }
      try GitError.check(code, "read \(name)")
      defer { git_reference_free(reference) }
      guard let target = git_reference_target(reference), ObjectID(target.pointee) == commit else {
        return
      }
      let result = git_reference_delete(reference)
      if result == GIT_EMODIFIED.rawValue || result == GIT_ENOTFOUND.rawValue { return }
      try GitError.check(result, "remove \(name)")
    }
  }
}
