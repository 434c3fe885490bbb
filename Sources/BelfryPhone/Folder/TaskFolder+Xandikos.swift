import BelfryStore
import Files
import Git
import Glibc

/// The repository of a collection of Xandikos, which serves what is in git's index.
extension TaskFolder {
  /// The number of attempts while Xandikos holds the lock of the index.
  private static let maxAttempts = 60
  /// The time between two of them, in milliseconds.
  private static let pause = 50

  /// Commits files that were changed or removed, and no others.
  ///
  /// - Throws: `PhoneError.notAdded` if git fails.
  func commit(_ names: Set<String>) async throws {
    let (present, missing) = names.sorted().reduce(into: ([String](), [String]())) { lists, name in
      if access("\(path)/\(name)", F_OK) == 0 { lists.0.append(name) } else { lists.1.append(name) }
    }
    if !present.isEmpty { try await git(["add", "--force"], present) }
    if !missing.isEmpty {
      try await git(["rm", "--cached", "--quiet", "--ignore-unmatch"], missing)
    }
    try await git(["commit", "--quiet", "--message", "Belfry: \(names.count) tasks"], nil)
  }

  private func git(_ arguments: [String], _ names: [String]?) async throws {
    // The user's configuration must change neither the files nor the commit.
    let options = [
      "core.autocrlf=false", "core.hooksPath=/dev/null", "commit.gpgsign=false",
      "user.name=Belfry", "user.email=belfry@localhost", "safe.directory=\(path)",
    ].flatMap { ["-c", $0] }
    let list = "\(path)/.belfry-names.tmp"
    defer { _ = unlink(list) }
    if let names {
      try DurableFile.write(
        Array(names.joined(separator: "\0").utf8), to: list, temporary: list + "~", syncing: false)
    }
    let source = names == nil ? [] : ["--pathspec-from-file=-", "--pathspec-file-nul"]
    for attempt in 1...TaskFolder.maxAttempts {
      let outcome = try await GitCommand.run(
        options + ["--literal-pathspecs"] + arguments + source, in: path,
        input: names == nil ? nil : list)
      // A commit without changes has status 1.
      if outcome.status == 0 || names == nil && outcome.status == 1 { return }
      guard outcome.error.contains("index.lock"), attempt < TaskFolder.maxAttempts else {
        throw PhoneError.notAdded(path: path, reason: outcome.error)
      }
      try await Task.sleep(for: .milliseconds(TaskFolder.pause))
    }
  }
}
