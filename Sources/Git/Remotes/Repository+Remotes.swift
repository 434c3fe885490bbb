import CLibgit2

/// A remote from git's configuration, after `insteadOf`.
public struct Remote: Hashable, Sendable {
  /// The remote's name.
  public let name: String
  /// The URL to fetch from.
  public let url: String
  /// The URLs to push to; empty if it is only `url`. git pushes to each of them.
  public let pushURLs: [String]

  /// Creates a remote from its parts.
  public init(name: String, url: String, pushURLs: [String] = []) {
    self.name = name
    self.url = url
    self.pushURLs = pushURLs
  }
}

extension Repository {
  /// Returns the remotes of git's configuration, sorted by name.
  ///
  /// Reads the configuration's entries, because libgit2's list of remotes leaks memory at every call.
  public func remotes() throws(GitError) -> [Remote] {
    var urls: [String: [String]] = [:]
    var pushURLs: [String: [String]] = [:]
    var rewrites: [(from: String, to: String, isForPushing: Bool)] = []
    for (key, value) in try configuration(under: ["remote.", "url."]) {
      guard let value, let end = key.lastIndex(of: "."), let start = key.firstIndex(of: "."),
        start < end
      else { continue }
      let name = String(key[key.index(after: start)..<end])
      switch (key[..<start], key[end...].dropFirst()) {
      case ("remote", "url"): urls[name, default: []].append(value)
      case ("remote", "pushurl"): pushURLs[name, default: []].append(value)
      case ("url", "insteadof"): rewrites.append((value, name, false))
      case ("url", "pushinsteadof"): rewrites.append((value, name, true))
      default: break
      }
    }
    /// Returns a URL after git's rewriting, which applies the rule with the longest matching prefix.
    func rewritten(_ url: String, forPushing: Bool) -> String? {
      let rule = rewrites.filter { $0.isForPushing == forPushing && url.hasPrefix($0.from) }
        .max { $0.from.utf8.count < $1.from.utf8.count }
      return rule.map { $0.to + url.dropFirst($0.from.count) }
    }
    return urls.sorted { $0.key < $1.key }.compactMap { name, urls in
      guard let first = urls.first else { return nil }
      let url = rewritten(first, forPushing: false) ?? first
      // git fetches from the first URL, and pushes to all of them, unless there are special ones for pushing.
      let pushes =
        pushURLs[name]?.map { rewritten($0, forPushing: false) ?? $0 }
        ?? urls.map { rewritten($0, forPushing: true) ?? rewritten($0, forPushing: false) ?? $0 }
      return Remote(name: name, url: url, pushURLs: pushes == [url] ? [] : pushes)
    }
  }

  /// Adds a remote. The first one becomes the upstream of the branch.
  ///
  /// - Throws: `GitError` if the name is not valid or the configuration is locked.
  public func addRemote(_ remote: Remote) throws(GitError) {
    let operation = "add the remote \(remote.name)"
    var isValid: Int32 = 0
    try GitError.check(git_remote_name_is_valid(&isValid, remote.name), operation)
    guard isValid != 0 else { throw GitError(.generic, operation, "the name is not valid") }
    var values = [
      (key: "remote.\(remote.name).url", value: Optional(remote.url)),
      ("remote.\(remote.name).fetch", "+refs/heads/*:refs/remotes/\(remote.name)/*"),
    ]
    if try configuration("branch.\(Repository.defaultBranch).remote") == nil {
      values += [
        ("branch.\(Repository.defaultBranch).remote", remote.name),
        ("branch.\(Repository.defaultBranch).merge", "refs/heads/\(Repository.defaultBranch)"),
      ]
    }
    try setConfiguration(values)
  }

  /// Removes a remote, its remote-tracking branches, and the settings of branches that use it.
  public func removeRemote(_ name: String) throws(GitError) {
    try removeReferences(under: "refs/remotes/\(name)/")
    let entries = try localConfiguration(under: ["remote.\(name).", "branch."])
    let branches = entries.filter {
      $0.key.hasPrefix("branch.") && $0.key.hasSuffix(".remote") && $0.value == name
    }.map { $0.key.dropLast("remote".count) }
    let keys =
      entries.map(\.key).filter { $0.hasPrefix("remote.") }
      + branches.flatMap { [$0 + "remote", $0 + "merge"] }
    try setConfiguration(Set(keys).sorted().map { ($0, nil) })
  }

  /// Removes all references with a prefix, including symbolic ones.
  private func removeReferences(under prefix: String) throws(GitError) {
    try with { repository throws(GitError) in
      for name in try Repository.referenceNames(under: prefix, in: repository) {
        try GitError.check(git_reference_remove(repository, name), "remove \(name)")
      }
    }
  }

  /// Returns the names of all references with a prefix.
  private static func referenceNames(
    under prefix: String, in repository: OpaquePointer
  ) throws(GitError) -> [String] {
    var iterator: OpaquePointer?
    try GitError.check(
      git_reference_iterator_glob_new(&iterator, repository, prefix + "*"), "list references")
    defer { git_reference_iterator_free(iterator) }
    var names: [String] = []
    var name: UnsafePointer<CChar>?
    while git_reference_next_name(&name, iterator) == 0, let current = name {
      names.append(String(cString: current))
    }
    return names
  }

  /// Returns the references whose names start with a prefix, with their targets.
  public func references(under prefix: String) throws(GitError) -> [String: ObjectID] {
    try with { repository throws(GitError) in
      var result: [String: ObjectID] = [:]
      for name in try Repository.referenceNames(under: prefix, in: repository) {
        var oid = git_oid()
        // A reference without a target is ignored.
        guard git_reference_name_to_id(&oid, repository, name) == 0 else { continue }
        result[name] = ObjectID(oid)
      }
      return result
    }
  }

  /// Removes a reference if it still points to a commit. A reference that has moved stays.
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
