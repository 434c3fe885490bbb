import CLinux
import Glibc

/// Starts processes in sessions of their own, which can outlive this process.
public enum DetachedProcess {
  /// Starts a program in a session of its own. Does not wait for it, and discards its output.
  ///
  /// - Parameters:
  ///   - program: The name of the program, which is found in `PATH`.
  ///   - arguments: The arguments after the program's name.
  ///   - removed: The environment variables that the program does not inherit.
  ///   - lock: The descriptor of a locked file. The program inherits it, so that the lock is held until it ends.
  /// - Throws: `FileError` if the program cannot be started: `ENOENT` if there is none.
  public static func start(
    _ program: String, _ arguments: [String], without removed: [String], holding lock: Int32
  ) throws(FileError) {
    // A number that none of the following actions replaces.
    let inherited = fcntl(lock, F_DUPFD_CLOEXEC, lockDescriptor + 1)
    guard inherited >= 0 else { throw FileError("start", program) }
    defer { close(inherited) }
    _ = try spawn(program, arguments, without: removed, inheriting: inherited)
  }

  /// Runs a program and waits for its end, for callers that hold a lock and cannot suspend. Discards its output.
  ///
  /// - Parameters:
  ///   - program: The name of the program, which is found in `PATH`.
  ///   - arguments: The arguments after the program's name.
  ///   - removed: The environment variables that the program does not inherit.
  /// - Returns: True if the program ended with the status 0.
  /// - Throws: `FileError` if the program cannot be started: `ENOENT` if there is none.
  public static func run(
    _ program: String, _ arguments: [String], without removed: [String]
  ) throws(FileError) -> Bool {
    let process = try spawn(program, arguments, without: removed, inheriting: nil)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { throw FileError("wait for", program) }
    }
    return status == 0
  }

  /// Starts a program, which inherits a descriptor as `lockDescriptor`, and no other one above the standard ones.
  private static func spawn(
    _ program: String, _ arguments: [String], without removed: [String],
    inheriting inherited: Int32?
  ) throws(FileError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
    if let inherited { posix_spawn_file_actions_adddup2(&actions, inherited, lockDescriptor) }
    // Locks and pipes of the caller end with this process.
    posix_spawn_file_actions_addclosefrom_np(
      &actions, inherited == nil ? lockDescriptor : lockDescriptor + 1)

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

    var words = ([program] + arguments).map { strdup($0) } + [nil]
    var variables = environment(without: removed).map { strdup($0) } + [nil]
    defer { for text in words + variables { free(text) } }
    var process: pid_t = 0
    let code = posix_spawnp(&process, program, &actions, &attributes, &words, &variables)
    if code != 0 { throw FileError("start", program, number: code) }
    return process
  }

  /// The descriptor of the locked file in the program, after the standard ones.
  private static let lockDescriptor = STDERR_FILENO + 1

  /// Returns this process's environment without some variables.
  private static func environment(without removed: [String]) -> [String] {
    var variables: [String] = []
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if !removed.contains(where: { text.hasPrefix("\($0)=") }) {
        variables.append(text)
      }
      next += 1
    }
    return variables
  }
}
