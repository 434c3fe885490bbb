import Git

/// The records that git's index holds and HEAD does not: what a commit would bring.
public enum StagedRecords {
  /// What is wrong with them.
  ///
  /// - Parameter path: the work tree.
  public static func problems(
    in path: String
  ) async throws -> [(path: String, error: RecordError)] {
    let repository = try Repository.open(path)
    let outcome = try await GitCommand.run(
      [
        "diff-index", "--cached", "--raw", "--no-abbrev", "--no-renames", "-z",
        "--diff-filter=ACMT", try repository.commit(of: "HEAD") == nil ? emptyTree : "HEAD",
      ], in: path, inheritsIndex: true)
    guard outcome.status == 0 else {
      throw GitError(.generic, "look at what is staged", GitCommand.reason(outcome))
    }
    // `:100644 100644 <old> <new> M`, then the path.
    let parts = outcome.output.split(separator: "\0").map(String.init)
    return stride(from: 0, to: parts.count - 1, by: 2).compactMap { index in
      let words = parts[index].split(separator: " ")
      guard words.count == 5, let kind = RecordPath(parts[index + 1]),
        let blob = ObjectID(hexadecimal: words[3])
      else { return nil }
      guard words[1] == "100644" else {
        return (parts[index + 1], RecordError("it is not a regular file"))
      }
      do throws(GitError) {
        return kind.error(in: try repository.blob(blob, limit: kind.largest))
          .map { (parts[index + 1], $0) }
      } catch {
        return (parts[index + 1], RecordError(error.message))
      }
    }
  }

  /// The tree of nothing, which every repository knows.
  private static let emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}
