import BelfryStore
import Git
import Glibc

/// Belfry's hooks and merge driver in a store's git: put there, looked at, and taken away again.
///
/// A hook that was there before is moved aside, called first, and comes back at the end.
struct GitHooks {
  static let names = ["pre-commit", "post-merge", "post-commit", "post-checkout", "post-rewrite"]

  private let store: Store
  private let repository: Repository
  /// Where git looks for hooks.
  let folder: String
  /// The folder of the shipped ones.
  private let shipped: String?
  /// The binary that git is to call.
  private let command: String

  /// Throws when the user's git keeps the hooks of several repositories in one place.
  init(_ store: Store, command: String, shipped: [String]) throws {
    self.store = store
    repository = try Repository.open(store.path)
    self.command = command
    self.shipped = shipped.first { access("\($0)/pre-commit", R_OK) == 0 }
    let own = repository.commonDirectory + "hooks"
    guard let path = try repository.configuration("core.hooksPath"), !path.isEmpty else {
      folder = own
      return
    }
    let place = path.hasPrefix("/") ? path : "\(repository.workTree)/\(path)"
    guard place.hasPrefix(repository.workTree + "/") else {
      throw CommandError(
        .notPossible,
        "git keeps its hooks in \(Printable.text(path)), which other repositories share.",
        hint: "Give the store its own: belfry git -- config core.hooksPath .git/hooks")
    }
    folder = place
  }

  // MARK: What is there

  enum State: String {
    case missing, installed, changed, other
  }

  /// The state of a hook.
  ///
  /// Its file is written before the identifier in git's configuration. So the file counts as installed, too, when it
  /// equals the shipped one: an installation was interrupted between the two.
  func state(of name: String) throws -> State {
    guard let file = try DurableFile.read("\(folder)/\(name)", limit: 1 << 20) else {
      return .missing
    }
    let known = try repository.configuration(key(name))
    if Repository.blobID(file.bytes).description == known { return .installed }
    if let shipped, let content = try? GitHooks.content(of: name, in: shipped),
      content == file.bytes
    {
      return .installed
    }
    return known == nil ? .other : .changed
  }

  /// Reads a shipped hook.
  private static func content(of name: String, in shipped: String) throws -> [UInt8] {
    // Some of the shipped ones are links to one file.
    var path = "\(shipped)/\(name)"
    if let resolved = realpath(path, nil) {
      path = String(cString: resolved)
      free(resolved)
    }
    guard let file = try DurableFile.read(path, limit: 1 << 20) else {
      throw FileError("read", path, number: ENOENT)
    }
    return file.bytes
  }

  /// Whether a hook that was there before is called.
  func isChained(_ name: String) -> Bool { access(aside(name), F_OK) == 0 }

  /// Whether git calls Belfry to merge records.
  func hasDriver() throws -> Bool {
    try repository.configuration("merge.belfry.driver")?.hasSuffix(GitHooks.driverArguments)
      ?? false
  }

  private static let driverArguments = " merge-driver %O %A %B %P"

  private func aside(_ name: String) -> String { "\(folder)/\(name).before-belfry" }
  private func key(_ name: String) -> String { "belfry.hook-\(name)" }

  // MARK: Putting there

  /// Puts all of them there; returns what was done with each.
  func install() throws -> [(name: String, words: String)] {
    guard let shipped else {
      throw CommandError(
        .failed, "the shipped hooks are not where the binary looks for them.",
        hint: "Copy the folder 'hooks' to PREFIX/libexec/belfry, as the README says.")
    }
    try DurableFile.makeFolder(folder)
    var values: [(key: String, value: String?)] = [
      ("belfry.command", command), ("merge.belfry.name", "Belfry's join of two records"),
      ("merge.belfry.driver", ServiceUnits.shellQuoted(command) + GitHooks.driverArguments),
    ]
    var outcomes: [(name: String, words: String)] = []
    for name in GitHooks.names {
      let content = try GitHooks.content(of: name, in: shipped)
      guard try install(name, content) else {
        outcomes.append((name, "left as it is: there is another, and one before it"))
        continue
      }
      values.append((key(name), Repository.blobID(content).description))
      outcomes.append(
        (name, isChained(name) ? "installed, after the one that was there" : "installed"))
    }
    try store.setGitConfiguration(values)
    return outcomes
  }

  /// Writes a hook's file; returns false where it may not replace the one that is there.
  private func install(_ name: String, _ content: [UInt8]) throws -> Bool {
    let state = try state(of: name)
    if state == .other || state == .changed {
      guard !isChained(name) else { return false }
      guard rename("\(folder)/\(name)", aside(name)) == 0 else {
        throw FileError("move", "\(folder)/\(name)")
      }
    }
    try DurableFile.write(
      content, to: "\(folder)/\(name)", temporary: "\(folder)/\(name).new", mode: 0o755)
    return true
  }

  // MARK: Taking away

  /// Takes Belfry's own away, and brings back what was there before; returns what was done with each.
  func uninstall() throws -> [(name: String, words: String)] {
    let outcomes = try GitHooks.names.map { ($0, try uninstall($0)) }
    let keys = ["merge.belfry.driver", "merge.belfry.name", "belfry.command"]
    // Also the identifiers that a removal which was interrupted has left.
    try store.setGitConfiguration((keys + GitHooks.names.map(key)).map { ($0, nil) })
    return outcomes
  }

  private func uninstall(_ name: String) throws -> String {
    let state = try state(of: name)
    let file = "\(folder)/\(name)"
    // An installation that was interrupted may have moved the hook of before aside and put nothing in its place.
    if state == .installed || state == .missing, isChained(name) {
      guard rename(aside(name), file) == 0 else { throw FileError("move", aside(name)) }
    } else if state == .installed, unlink(file) != 0 {
      throw FileError("remove", file)
    }
    return switch state {
    case .installed: "removed"
    case .missing: "not there"
    case .other: "left as it is: not Belfry's"
    case .changed: "left as it is: somebody has changed it"
    }
  }
}
