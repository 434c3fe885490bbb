import Git

/// The records that are staged: those that git's index contains and HEAD doesn't.
public enum StagedRecords {
  /// Returns the staged records that are not valid.
  ///
  /// - Parameter path: The path of the work tree.
  /// - Returns: The path and the error of each record.
  /// - Throws: `GitError` if git or the repository fails.
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
      throw GitError(.generic, "list the staged changes", GitCommand.reason(outcome))
    }
    // Each record is `:100644 100644 <old> <new> M`, followed by the path.
    let parts = outcome.output.split(separator: "\0").map(String.init)
    return stride(from: 0, to: parts.count - 1, by: 2).compactMap { index in
      let fields = parts[index].split(separator: " ")
      guard fields.count == 5, let kind = RecordPath(parts[index + 1]),
        let blob = ObjectID(hexadecimal: fields[3])
      else { return nil }
      guard fields[1] == "100644" else {
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

  /// The id of the empty tree, which every repository contains.
  private static let emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}
