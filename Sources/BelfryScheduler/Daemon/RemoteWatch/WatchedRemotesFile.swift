import BelfryStore

/// The remotes whose changes the daemon learns of at once, `watched-remotes` in the store's local state: the daemon's process
/// in the first line, and the name of a remote in each further one.
///
/// The daemon writes it for `belfry status`. Without it, no remote counts as watched.
public struct WatchedRemotesFile: Sendable {
  private let store: Store

  /// Creates the file of a store. It does not access the file.
  public init(_ store: Store) {
    self.store = store
  }

  private var file: LocalFile<[String]> {
    LocalFile(
      path: store.localFolder + "/watched-remotes", format: .names, exclusion: .none,
      isDurable: false)
  }

  /// Returns the names of the watched remotes; nil if no daemon runs.
  public func read() -> Set<String>? {
    guard let process = DaemonHandle(store).process else { return nil }
    let lines = file.read()
    return lines.first == process ? Set(lines.dropFirst()) : []
  }

  /// Replaces the names. An error is ignored.
  func write(_ names: Set<String>) {
    try? file.replace(with: [store.context.process] + names.sorted())
  }
}

extension LocalFile.Format where Value == [String] {
  /// Lines of text.
  fileprivate static var names: Self {
    Self(
      empty: [], maxSize: 1 << 20,
      decode: { String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init) },
      encode: { Array($0.map { $0 + "\n" }.joined().utf8) })
  }
}
