import Files
import Glibc

/// The program that gives the folder to the phone, as far as Belfry has to know it.
public enum TaskServer: Hashable, Sendable {
  /// Radicale, whose storage has a lock file.
  case radicale(lock: String)
  /// Xandikos, which serves what is in the index of a git repository.
  case xandikos
  /// Any other program that reads the files: vdirsyncer, or another server.
  case files

  /// The name of the folder in which Radicale keeps all collections.
  private static let radicaleRoot = "collection-root"
  /// The file with the properties of a collection of Radicale.
  static let radicaleProperties = ".Radicale.props"

  /// Detects the server of a folder.
  public init(of folder: String) {
    var status = stat()
    if lstat(folder + "/.git", &status) == 0 {
      self = .xandikos
      return
    }
    var parent = folder
    while parent != "/", parent != "." {
      if parent.split(separator: "/").last.map(String.init) == TaskServer.radicaleRoot {
        self = .radicale(lock: DurableFile.parent(of: parent) + "/.Radicale.lock")
        return
      }
      parent = DurableFile.parent(of: parent)
    }
    self = .files
  }

  /// The name, such as `radicale`.
  public var name: String {
    switch self {
    case .radicale: "radicale"
    case .xandikos: "xandikos"
    case .files: "files"
    }
  }
}
