import Files
import Glibc

extension GitCommand {
  /// Starts git in a session of its own, which outlives this process. Does not wait for git, and discards its output.
  ///
  /// - Parameters:
  ///   - arguments: The arguments after `git -C FOLDER`.
  ///   - folder: The folder of the repository.
  ///   - lock: The descriptor of a locked file. git inherits it, so that the lock is held until git ends.
  /// - Throws: `NotFound` if there is no git, `FileError` if it cannot be started.
  public static func start(
    _ arguments: [String], in folder: String, holding lock: Int32
  ) throws {
    do throws(FileError) {
      try DetachedProcess.start(
        "git", ["-C", folder] + arguments, without: repositoryVariables, holding: lock)
    } catch {
      if error.number == ENOENT { throw NotFound() }
      throw FileError("start git in", folder, number: error.number)
    }
  }
}
