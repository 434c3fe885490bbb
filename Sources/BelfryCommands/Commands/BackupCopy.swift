import BelfryStore
import BelfryTerminal
import Files
import Git

/// A copy of the store in a folder, such as one on a USB disk: a remote whose repository is created at the first time.
struct BackupCopy {
  private let store: Store
  private let context: CommandContext
  /// The path, as the user typed it.
  private let place: String

  init(at place: String, of store: Store, _ context: CommandContext) {
    (self.place, self.store, self.context) = (place, store, context)
  }

  /// Brings the copy up to date. Creates it if there is none, as a remote that each sync keeps up to date.
  ///
  /// - Returns: The remote, and whether it is new.
  /// - Throws: `CommandError` if something else is at the path, and the errors of a sync.
  func make() async throws -> (remote: Remote, isNew: Bool) {
    let path = RemoteURLInput.absolute(place)
    let known = try store.sync.remotes()
    let existing = known.first { $0.url == path || $0.url == BackupCopy.repository(in: path) }
    let remote = try existing ?? created(at: path, besides: known)
    if existing == nil { try store.sync.addRemote(remote) }
    let result = try await Watchdog.limit { try await store.sync.run([remote.name]) }
    if let failure = result.exchanges.lazy.compactMap(\.failure).first { throw failure }
    return (remote, existing == nil)
  }

  private static func repository(in folder: String) -> String { "\(folder)/belfry.git" }

  /// Creates the repository of a new copy: the folder itself if it is new or empty, else one in it.
  private func created(at path: String, besides known: [Remote]) throws -> Remote {
    let name = BackupCopy.name(for: path, besides: known.map(\.name))
    var remote = Remote(name: name, url: path)
    guard let url = try? RemoteURL(path), var state = LocalRemote(url) else {
      throw CommandError(
        .usage, "a copy needs a folder on this machine, and \(RemoteURLInput.shown(path)) is none.",
        hint: "For another machine: belfry remote add origin \(ShellWord.quoted(place))")
    }
    if case .otherFolder = state {
      remote = Remote(name: name, url: BackupCopy.repository(in: path))
      state = (try? RemoteURL(remote.url)).flatMap { LocalRemote($0) } ?? .unreadable
    }
    if case .repository = state {
      throw CommandError(
        .usage, "there is a repository at \(RemoteURLInput.shown(remote.url)) already.",
        hint:
          "To sync with it: belfry remote add \(name) \(ShellWord.quoted(remote.url)), then belfry sync. For a copy of its own, name a new folder."
      )
    }
    _ = try RemoteRepository(remote)?.create(isWanted: true, canAsk: false)
    return remote
  }

  /// Returns the name of a new remote: that of the folder, with a number if there is such a remote already.
  private static func name(for path: String, besides names: [String]) -> String {
    let folder = path.split(separator: "/").last.map(String.init) ?? ""
    let plain = (folder.hasSuffix(".git") ? String(folder.dropLast(4)) : folder)
      .filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
      .drop { $0 == "-" || $0 == "_" }.prefix(40)
    let base = plain.isEmpty ? "backup" : String(plain)
    let numbered = (2...).lazy.map { "\(base)-\($0)" }
    return names.contains(base) ? numbered.first { !names.contains($0) } ?? base : base
  }
}
