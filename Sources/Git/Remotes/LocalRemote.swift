import Glibc

/// The state of the path of a remote on this machine's file systems.
public enum LocalRemote: Hashable, Sendable {
  /// A repository.
  case repository
  /// Nothing; the folder that would contain it exists.
  case missing
  /// Nothing; the folder that would contain it is missing, too. Its disk may not be mounted.
  case missingParent(String)
  /// An empty folder.
  case emptyFolder
  /// A folder with files that is no repository.
  case otherFolder
  /// A file, such as a bundle.
  case file
  /// It cannot be read.
  case unreadable

  /// Looks at the path of a remote. Returns nil for a remote with a host.
  public init?(_ url: RemoteURL) {
    guard url.transport == .path, let path = url.repositoryPath else { return nil }
    self.init(path: path)
  }

  private init(path: String) {
    if RepositoryFolder(path) != nil {
      self = .repository
      return
    }
    var status = stat()
    guard stat(path, &status) == 0 else {
      guard errno == ENOENT else {
        self = .unreadable
        return
      }
      let parent = LocalRemote.parent(of: path)
      self = access(parent, F_OK) == 0 ? .missing : .missingParent(parent)
      return
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      self = .file
      return
    }
    guard let folder = opendir(path) else {
      self = .unreadable
      return
    }
    defer { closedir(folder) }
    var names = 0
    while readdir(folder) != nil, names < 3 { names += 1 }
    // The folder itself, and the one above it.
    self = names > 2 ? .otherFolder : .emptyFolder
  }

  private static func parent(of path: String) -> String {
    var path = path[...]
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// Creates a bare repository whose branch has the name of a store's.
  ///
  /// - Throws: `GitError` if the folder cannot be written.
  public static func create(_ url: RemoteURL) throws(GitError) {
    guard let path = url.repositoryPath else { return }
    _ = try Repository.create(path, isBare: true)
  }
}
