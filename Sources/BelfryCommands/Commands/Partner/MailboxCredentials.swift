import BelfryTerminal
import Git

extension MailboxURL {
  /// Throws if a mailbox's URL contains credentials, which an invitation would reveal to its readers.
  static func refuseCredentials(in url: String) throws {
    guard URLMask.holdsCredentials(url) else { return }
    throw CommandError(
      .usage,
      "\(RemoteURLInput.shown(url)) contains a password or a token, which the invitation would reveal.",
      hint:
        "Give it to a credential helper (git help credentials), and use the URL without it: --remote \(Printable.text(URLMask.stripped(url: url)))"
    )
  }
}
