import CLinux
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
    // A number that none of the following actions replaces.
    let inherited = fcntl(lock, F_DUPFD_CLOEXEC, lockDescriptor + 1)
    guard inherited >= 0 else { throw FileError("start git in", folder) }
    defer { close(inherited) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
    posix_spawn_file_actions_adddup2(&actions, inherited, lockDescriptor)
    // Locks and pipes of the caller end with this process.
    posix_spawn_file_actions_addclosefrom_np(&actions, lockDescriptor + 1)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes,
      belfry_spawn_setsid | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

    var words = (["git", "-C", folder] + arguments).map { strdup($0) } + [nil]
    var variables = detachedVariables().map { strdup($0) } + [nil]
    defer { for text in words + variables { free(text) } }
    var process: pid_t = 0
    let code = posix_spawnp(&process, "git", &actions, &attributes, &words, &variables)
    if code == ENOENT { throw NotFound() }
    if code != 0 { throw FileError("start git in", folder, number: code) }
  }

  /// The descriptor of the locked file in git, after the standard ones.
  private static let lockDescriptor = STDERR_FILENO + 1

  /// Returns this process's environment without the variables that name another repository.
  private static func detachedVariables() -> [String] {
    var variables: [String] = []
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if !repositoryVariables.contains(where: { text.hasPrefix("\($0)=") }) {
        variables.append(text)
      }
      next += 1
    }
    return variables
  }
}
