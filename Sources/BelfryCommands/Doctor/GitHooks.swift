import BelfryStore
import BelfryTerminal
import Files
import Git
import Glibc

/// The installation of Belfry's git hooks and merge driver in a store.
///
/// A hook that exists already is renamed and runs first. Uninstalling restores it.
struct GitHooks {
  static let names = ["pre-commit", "post-merge", "post-commit", "post-checkout", "post-rewrite"]

  private let store: Store
  private let repository: Repository
  /// The folder in which git looks for hooks.
  let folder: String
  /// The folder of the shipped hooks; nil if they are not found.
  private let shipped: String?
  /// The path of the binary that git runs.
  private let command: String

  /// - Throws: `CommandError` if `core.hooksPath` names a folder that other repositories share.
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
    let configured = path.hasPrefix("/") ? path : "\(repository.workTree)/\(path)"
    guard configured.hasPrefix(repository.workTree + "/") else {
      throw CommandError(
        .notPossible,
        "git keeps its hooks in \(Printable.text(path)), which other repositories share.",
        hint: "Use the store's own folder: belfry git -- config core.hooksPath .git/hooks")
    }
    folder = configured
  }

  // MARK: State

  /// The state of a hook: not there, as installed, edited since, or not Belfry's.
  enum State: String {
    case missing, installed, changed, other
  }

  /// Returns the state of a hook.
  ///
  /// An installation writes the file first, and then its object ID to git's configuration. A file that equals the shipped
  /// one counts as installed, as the installation may have been interrupted between the two.
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

  /// Returns the content of a shipped hook.
  private static func content(of name: String, in shipped: String) throws -> [UInt8] {
    // Some shipped hooks are links to the same file.
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

  /// Returns true if a previous hook runs before Belfry's.
  func isChained(_ name: String) -> Bool { access(previous(name), F_OK) == 0 }

  /// Returns true if git uses Belfry's merge driver for records.
  func hasDriver() throws -> Bool {
    try repository.configuration("merge.belfry.driver")?.hasSuffix(GitHooks.driverArguments)
      ?? false
  }

  private static let driverArguments = " merge-driver %O %A %B %P"

  /// Returns the path of a hook that existed before the installation.
  private func previous(_ name: String) -> String { "\(folder)/\(name).before-belfry" }

  /// Returns the configuration key with the object ID of an installed hook.
  private func key(_ name: String) -> String { "belfry.hook-\(name)" }

  // MARK: Installing

  /// Installs the hooks and the merge driver. Returns the outcome for each hook.
  func install() throws -> [(hook: String, result: String)] {
    guard let shipped else {
      throw CommandError(
        .failed, "the shipped hooks were not found.",
        hint: "Copy the folder 'hooks' to PREFIX/libexec/belfry, as the README describes.")
    }
    try DurableFile.makeFolder(folder)
    var values: [(key: String, value: String?)] = [
      ("belfry.command", command), ("merge.belfry.name", "Belfry's merge of two records"),
      ("merge.belfry.driver", ShellWord.quoted(command) + GitHooks.driverArguments),
    ]
    var results: [(hook: String, result: String)] = []
    for name in GitHooks.names {
      let content = try GitHooks.content(of: name, in: shipped)
      guard try install(name, content) else {
        results.append((name, "skipped: another hook exists, and one before it"))
        continue
      }
      values.append((key(name), Repository.blobID(content).description))
      results.append(
        (name, isChained(name) ? "installed, runs after your own hook" : "installed"))
    }
    try store.setGitConfiguration(values)
    return results
  }

  /// Writes a hook's file. Returns false if it must not replace the existing one.
  private func install(_ name: String, _ content: [UInt8]) throws -> Bool {
    let state = try state(of: name)
    if state == .other || state == .changed {
      guard !isChained(name) else { return false }
      guard rename("\(folder)/\(name)", previous(name)) == 0 else {
        throw FileError("move", "\(folder)/\(name)")
      }
    }
    try DurableFile.write(
      content, to: "\(folder)/\(name)", temporary: "\(folder)/\(name).new", mode: 0o755)
    return true
  }

  // MARK: Uninstalling

  /// Removes Belfry's hooks and restores the previous ones. Returns the outcome for each hook.
  func uninstall() throws -> [(hook: String, result: String)] {
    let results = try GitHooks.names.map { ($0, try uninstall($0)) }
    let keys = ["merge.belfry.driver", "merge.belfry.name", "belfry.command"]
    // An interrupted removal may have left keys.
    try store.setGitConfiguration((keys + GitHooks.names.map(key)).map { ($0, nil) })
    return results
  }

  private func uninstall(_ name: String) throws -> String {
    let state = try state(of: name)
    let file = "\(folder)/\(name)"
    // An interrupted installation may have renamed the previous hook without installing a new one.
    if state == .installed || state == .missing, isChained(name) {
      guard rename(previous(name), file) == 0 else {
        throw FileError("move", previous(name))
      }
    } else if state == .installed, unlink(file) != 0 {
      throw FileError("remove", file)
    }
    return switch state {
    case .installed: "removed"
    case .missing: "not installed"
    case .other: "kept: not Belfry's"
    case .changed: "kept: it was edited"
    }
  }
}
