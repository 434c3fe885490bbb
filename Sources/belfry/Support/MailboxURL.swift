import BelfryCore
import BelfryPartners
import BelfryStore
import Git
import Glibc

/// Checks that keep stores and mailboxes apart: the remote of a store holds everything, and a partner reads the
/// mailbox.
enum MailboxURL {
  /// Returns true when a URL is that of a store, or of a remote of this one.
  static func isStores(_ url: String, _ store: Store) throws -> Bool {
    let place = canonical(url)
    if try store.remotes().contains(where: { canonical($0.url) == place }) { return true }
    return place.hasPrefix("/") && access("\(place)/.git/belfry", F_OK) == 0
  }

  /// Returns true when a URL is that of a partner's mailbox.
  static func isMailbox(_ url: String, _ store: Store) -> Bool {
    let place = canonical(url)
    return PartnerStore(store).partners.contains {
      $0.phase != .ended && canonical($0.mailbox) == place
    }
  }

  /// Throws when a place is a store, or where this one syncs.
  ///
  /// - Parameter hint: what to do instead.
  static func checkIsNoStore(_ url: String, _ store: Store, hint: String) throws {
    guard try isStores(url, store) else { return }
    throw CommandError(
      .usage,
      "\(RemoteURLInput.shown(url)) is a store, or where yours syncs: a partner could read all of it.",
      hint: hint)
  }

  /// Throws when a place can't be reached, or holds anything but mail: somebody's store, or other work.
  static func checkHoldsMailOnly(_ url: String, _ book: PartnerStore, hint: String) async throws {
    guard let other = try await book.otherReference(in: url) else { return }
    throw CommandError(
      .usage,
      "\(RemoteURLInput.shown(url)) is not a mailbox: it holds \(Printable.text(other)), as a store does; whoever shares it could read all of that.",
      hint: hint)
  }

  /// One text for each place, however its URL is written: without the user, the usual port, and `.git`.
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
    // A relative path begins at the user's home.
    let user = path.hasPrefix("/") ? "" : "\(remote.user ?? "")@"
    let isUsual = remote.port.map { ["22", "80", "443", "9418"].contains($0) } ?? true
    return "\(user)\(host.lowercased()):\(isUsual ? "" : remote.port ?? "")\(path)"
  }

  /// A path without links and dots; anything else as it is.
  private static func realPath(_ url: String) -> String {
    let path = url.hasPrefix("file://") ? String(url.dropFirst(7)) : url
    guard path.hasPrefix("/") else { return path }
    // git finds a repository with and without the ending.
    for candidate in [path, "\(path).git"] {
      guard let resolved = realpath(candidate, nil) else { continue }
      defer { free(resolved) }
      return String(cString: resolved)
    }
    return path
  }
}
