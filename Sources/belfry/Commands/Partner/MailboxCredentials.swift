import Git

extension MailboxURL {
  /// Throws if a mailbox's URL holds credentials: an invitation would give them to everybody who sees it.
  static func refuseCredentials(in url: String) throws {
    guard URLMask.holdsCredentials(url) else { return }
    throw CommandError(
      .usage,
      "\(RemoteURLInput.shown(url)) holds a password or a token, which the invitation would give away.",
      hint:
        "Give it to a credential helper (git help credentials), and name the mailbox without it: --remote \(Printable.text(URLMask.stripped(url: url)))"
    )
  }
}
