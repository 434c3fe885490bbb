import Git
import Glibc

extension RemoteFailure {
  /// Creates a failure from the output of git and ssh.
  ///
  /// - Parameters:
  ///   - outcome: The result of the process.
  ///   - refusal: The remote's reason to reject a reference; nil if it didn't get that far.
  ///   - url: The URL, whose credentials are masked.
  public init(explaining outcome: GitCommand.Outcome, refusal: String?, url: RemoteURL) {
    let messages = GitMessages(outcome.error, url: url)
    if messages.contain("unable to create temporary object directory", "unable to migrate objects")
    {
      // The remote gives the push no reason but "unpacker error".
      self.init(
        .unwritable, "it cannot store objects: its disk is full, or you may not write to it")
    } else if RemoteFailure.isWriteDenied(outcome) {
      self.init(.unwritable, "you may not write to all of its folders")
    } else if messages.contain("dubious ownership"), let path = url.repositoryPath {
      self.init(.foreign(path: path), "it belongs to another user")
    } else if refusal != nil, let reason = messages.reason(".lock': File exists") {
      self.init(.locked, reason)
    } else if let refusal {
      // The messages of the remote's hooks precede the reason.
      let reasons = [url.masked(refusal)] + messages.fromHooks.prefix(3)
      self.init(.rejected, reasons.joined(separator: ": "))
    } else if let failure = RemoteFailure.known(messages, status: outcome.status, url: url) {
      self = failure
    } else {
      self.init(.other, messages.likelyReason ?? "git exited with status \(outcome.status)")
    }
  }

  /// Creates the failure of a push that a local hook has refused.
  ///
  /// - Parameters:
  ///   - hook: The path of the hook.
  ///   - outcome: The result of the push.
  ///   - url: The URL, whose credentials are masked.
  init(hook: String, _ outcome: GitCommand.Outcome, url: RemoteURL) {
    // A hook can print to both streams.
    let words = GitMessages(outcome.error + "\n" + outcome.output, url: url).fromLocalHook
    let reasons = ["git's hook pre-push refuses the push"] + words.prefix(3)
    self.init(.hook(path: hook), reasons.joined(separator: ": "))
  }

  /// The failure of a remote whose repository uses SHA-256.
  static let otherObjectFormat = RemoteFailure(
    .objectFormat, "its repository uses SHA-256, and a store SHA-1")

  /// Returns true if the remote could not change a reference for lack of permission. git gives the push the same reason
  /// as for a reference that another push has locked.
  static func isWriteDenied(_ outcome: GitCommand.Outcome) -> Bool {
    outcome.error.split(separator: "\n").contains { line in
      line.hasPrefix("remote: ") && line.contains("Unable to create '")
        && (line.contains("': Permission denied") || line.contains("': Read-only file system"))
    }
  }

  /// Returns the failure that git's messages stand for; nil if no message is known.
  private static func known(
    _ messages: GitMessages, status: Int32, url: RemoteURL
  ) -> RemoteFailure? {
    if status == 128 + SIGXFSZ || messages.contain("File size limit exceeded", "file too large") {
      return RemoteFailure(.other, "it sends more data than a store can contain")
    }
    if let reason = messages.reason("No space left on device") {
      return RemoteFailure(.other, reason)
    }
    if messages.contain(
      "does not support this repository's hash algorithm", "mismatched algorithms")
    {
      return otherObjectFormat
    }
    if messages.contain("REMOTE HOST IDENTIFICATION HAS CHANGED") {
      return RemoteFailure(.hostKey(.changed, url), "its host key has changed")
    }
    if messages.contain("Host key verification failed") {
      return RemoteFailure(.hostKey(.unknown, url), "its host key is unknown")
    }
    if let reason = messages.reason(
      "Permission denied (", "Authentication failed", "could not read Username",
      "could not read Password", "returned error: 401", "Too many authentication failures")
    {
      return RemoteFailure(.authentication(url.transport), reason)
    }
    if let reason = messages.reason(
      "returned error: 403", "access denied or repository not exported")
    {
      return RemoteFailure(.rejected, reason)
    }
    if let reason = messages.reason("cannot run ", "unable to fork") {
      return RemoteFailure(.other, reason)
    }
    if let reason = messages.reason("certificate", "SSL", "TLS") {
      return RemoteFailure(.certificate, reason)
    }
    if messages.contain(
      "returned error: 301", "returned error: 302", "returned error: 303", "returned error: 307",
      "returned error: 308", "unable to update url base from redirection")
    {
      return RemoteFailure(.redirected, "it redirects to another URL, which Belfry doesn't follow")
    }
    if let reason = messages.reason(
      "does not appear to be a git repository", "not found", "does not exist",
      "No such file or directory", "returned error: 404"),
      !messages.contain("Could not resolve", "Name or service not known")
    {
      return RemoteFailure(.missing, url.transport == .path ? "there is no repository" : reason)
    }
    if messages.contain("unpacker error", "bad object", "did not send all necessary", "corrupt") {
      return RemoteFailure(.damaged, "its repository is damaged")
    }
    return nil
  }
}

/// The messages of a failed git, without progress and with masked credentials.
private struct GitMessages {
  private let lines: [String]

  /// The prefixes of git's progress lines, which may follow `remote: `.
  private static let progress = [
    "Enumerating objects", "Counting objects", "Delta compression", "Compressing objects",
    "Writing objects", "Receiving objects", "Resolving deltas", "Unpacking objects", "Total ",
    "From ", "To ",
  ]

  init(_ text: String, url: RemoteURL) {
    lines = text.split(separator: "\n").map { url.masked(String($0)) }
      .filter { line in
        let bare = line.hasPrefix("remote: ") ? line.dropFirst("remote: ".count) : line[...]
        return !GitMessages.progress.contains { bare.hasPrefix($0) }
      }
  }

  /// Returns true if a message contains one of the texts, ignoring case.
  func contain(_ texts: String...) -> Bool { line(texts) != nil }

  /// Returns the first message that contains one of the texts, ignoring case, without git's prefixes.
  func reason(_ texts: String...) -> String? { line(texts).map(GitMessages.plain) }

  private func line(_ texts: [String]) -> String? {
    lines.first { line in texts.contains { line.containsInAnyCase($0) } }
  }

  /// The messages of the remote's hooks.
  var fromHooks: [String] {
    lines.filter { $0.hasPrefix("remote: ") && !$0.contains("% (") }.map(GitMessages.plain)
      .filter { !$0.isEmpty && !$0.hasPrefix("hook declined") && !$0.hasSuffix("done") }
  }

  /// The messages of a local hook, which precede git's own.
  var fromLocalHook: [String] {
    lines.filter { !$0.isEmpty && !$0.contains("failed to push some refs to") && $0 != "Done" }
      .map(GitMessages.plain)
  }

  /// The message that most likely names the reason of the failure; nil if there are no messages.
  var likelyReason: String? {
    let reason =
      lines.first { $0.hasPrefix("ssh: ") }
      ?? lines.first { $0.hasPrefix("fatal: ") && !$0.contains("Could not read from remote") }
      ?? lines.first { $0.hasPrefix("error: ") } ?? lines.first { $0.hasPrefix("remote: ") }
      ?? lines.first
    // For git:// the reason is on another line.
    let more = lines.first { $0.contains("errno=") }?.split(separator: "errno=").last
      .map { ": \(GitMessages.plain(String($0)))" }
    return reason.map { GitMessages.plain($0) + (more ?? "") }
  }

  /// Returns a line without git's prefixes.
  private static func plain(_ line: String) -> String {
    var text = line
    for prefix in ["remote: ", "fatal: ", "error: ", "ssh: "] where text.hasPrefix(prefix) {
      text.removeFirst(prefix.count)
    }
    // git pads the remote's lines with spaces, and ssh ends its lines with a carriage return.
    while text.last?.isWhitespace == true || text.last == "." || text.last == ":" {
      text.removeLast()
    }
    return text
  }
}

extension String {
  /// Returns true if the string contains a text, ignoring case.
  fileprivate func containsInAnyCase(_ text: String) -> Bool {
    lowercased().contains(text.lowercased())
  }
}
