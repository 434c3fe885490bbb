import CLibgit2

/// A remote as git's configuration names it.
public struct Remote: Hashable, Sendable {
  public let name: String
  public let url: String

  public init(name: String, url: String) {
    self.name = name
    self.url = url
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
        remotes.append(Remote(name: String(cString: name), url: url))
      }
      return remotes
    }
  }

  public func addRemote(_ remote: Remote) throws(GitError) {
    try with { repository throws(GitError) in
      var handle: OpaquePointer?
      try GitError.check(
        git_remote_create(&handle, repository, remote.name, remote.url),
        "add the remote \(remote.name)")
      git_remote_free(handle)
    }
  }

  public func removeRemote(_ name: String) throws(GitError) {
    try with { repository throws(GitError) in
      try GitError.check(git_remote_delete(repository, name), "remove the remote \(name)")
    }
  }

  /// Fetches a remote's branch into its tracking reference, and nothing else: no tags, no pruning.
  ///
  /// Returns the commit at which the remote's branch stands; nil when it has no such branch.
  public func fetch(_ remote: String, branch: String) throws(GitError) -> ObjectID? {
    let wanted = "refs/heads/\(branch)"
    return try with { repository throws(GitError) in
      var handle: OpaquePointer?
      try GitError.check(
        git_remote_lookup(&handle, repository, remote), "find the remote \(remote)")
      defer { git_remote_free(handle) }
      var options = git_fetch_options()
      git_fetch_options_init(&options, UInt32(GIT_FETCH_OPTIONS_VERSION))
      options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE
      options.prune = GIT_FETCH_NO_PRUNE
      options.update_fetchhead = 0
      let code = "+\(wanted):refs/remotes/\(remote)/\(branch)".withCString { spec -> Int32 in
        var strings: [UnsafeMutablePointer<CChar>?] = [UnsafeMutablePointer(mutating: spec)]
        return strings.withUnsafeMutableBufferPointer { buffer in
          var specs = git_strarray(strings: buffer.baseAddress, count: 1)
          return git_remote_fetch(handle, &specs, &options, "belfry sync")
        }
      }
      try GitError.check(code, "fetch from \(remote)")
      // What the remote advertised stays readable after the fetch.
      var heads: UnsafeMutablePointer<UnsafePointer<git_remote_head>?>?
      var count = 0
      try GitError.check(git_remote_ls(&heads, &count, handle), "list the branches of \(remote)")
      for index in 0..<count {
        guard let head = heads?[index]?.pointee, let name = head.name else { continue }
        if String(cString: name) == wanted { return ObjectID(head.oid) }
      }
      return nil
    }
  }
}
