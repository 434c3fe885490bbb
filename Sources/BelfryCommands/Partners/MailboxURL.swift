import BelfryCore
import BelfryPartners
import BelfryStore
import BelfryTerminal
import Git
import Glibc

/// Checks that keep stores and mailboxes apart. A partner can read the whole mailbox, so it must not be a store.
enum MailboxURL {
  /// Returns true if a URL is that of a store, or of a remote of this store.
  static func isStores(_ url: String, _ store: Store) throws -> Bool {
    let location = canonical(url)
    if try store.sync.remotes().contains(where: { canonical($0.url) == location }) { return true }
    return location.hasPrefix("/") && access("\(location)/.git/belfry", F_OK) == 0
  }

  /// Returns true if a URL is that of a mailbox.
  static func isMailbox(_ url: String, _ store: Store) -> Bool {
    let location = canonical(url)
    return PartnerStore(store).partners.contains {
      $0.phase != .ended && canonical($0.mailbox) == location
    }
  }

  /// Throws `CommandError` if a URL is that of a store, or of a remote of this store.
  ///
  /// - Parameter hint: the hint of the error.
  static func checkIsNoStore(_ url: String, _ store: Store, hint: String) throws {
    guard try isStores(url, store) else { return }
    throw CommandError(
      .usage,
      "\(RemoteURLInput.shown(url)) is a store or a remote of yours: a partner could read all of it.",
      hint: hint)
  }

  /// Throws if a remote cannot be reached, or has references other than mail, such as those of a store.
  static func checkHoldsMailOnly(
    _ url: String, _ partnerStore: PartnerStore, hint: String
  ) async throws {
    guard let other = try await partnerStore.otherReference(in: url) else { return }
    throw CommandError(
      .usage,
      "\(RemoteURLInput.shown(url)) is not a mailbox: it contains \(Printable.text(other)), as a store does. A partner could read all of it.",
      hint: hint)
  }

  /// Returns a canonical form of a URL: without the user, a default port and `.git`.
  private static func canonical(_ url: String) -> String {
    guard let remote = try? RemoteURL(url), remote.transport != .path, let host = remote.host else {
      return realPath(url)
    }
    var path: Substring
    if let scheme = url.firstRange(of: "://") {
      path = url[scheme.upperBound...].drop { $0 != "/" }
    } else {
      path = url.drop { $0 != ":" }.dropFirst()
    }
    while path.hasSuffix("/") { path.removeLast() }
    if path.hasSuffix(".git") { path.removeLast(4) }
    // A relative path starts at the user's home folder, so the user matters.
    let user = path.hasPrefix("/") ? "" : "\(remote.user ?? "")@"
    let isDefaultPort = remote.port.map { ["22", "80", "443", "9418"].contains($0) } ?? true
    return "\(user)\(host.lowercased()):\(isDefaultPort ? "" : remote.port ?? "")\(path)"
  }

  /// Returns the path of a local repository with links resolved. Returns other text unchanged.
  private static func realPath(_ url: String) -> String {
    let path = url.hasPrefix("file://") ? String(url.dropFirst(7)) : url
    guard path.hasPrefix("/") else { return path }
    // git finds a repository with and without the extension.
    for candidate in [path, "\(path).git"] {
      guard let resolved = realpath(candidate, nil) else { continue }
      defer { free(resolved) }
      return String(cString: resolved)
    }
    return path
  }
}
