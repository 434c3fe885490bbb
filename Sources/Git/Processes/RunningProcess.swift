import Files
import Glibc

/// A running process, as far as this user can see it in `/proc`.
struct RunningProcess: Sendable {
  /// The visibility of a process's working folder.
  enum Folder: Hashable, Sendable {
    case path(String)
    /// The process belongs to another user.
    case hidden
    /// The process is ending.
    case none
  }
  /// The kernel's name for the process, at most 15 bytes.
  var name: String
  /// The path of its executable; nil if this user may not see it.
  var executable: String?
  var arguments: [String]
  /// The user id for file access.
  var user: UInt32
  /// The group ids for file access.
  var groups: Set<UInt32>
  var workingDirectory: Folder
  /// The working folder and the folders around it.
  var workingFolders: Set<FileIdentity> = []
  /// The start time in seconds since the epoch, computed from this machine's present clock; nil if it is unknown.
  var started: Int64?

  // MARK: Git

  /// True for git and its helpers, such as `git-remote-https`; false for `gitea`, `gitk` and similar programs.
  var isGit: Bool {
    guard RunningProcess.isGit(name) else { return false }
    // A process chooses its own name, but not that of its executable.
    let program = executable ?? arguments.first
    return program.map { RunningProcess.isGit(RunningProcess.lastComponent($0)) } ?? true
  }

  /// Returns true for the names of git's programs. Some distributions wrap them under names that start with a dot.
  static func isGit(_ name: String) -> Bool {
    let plain = name.hasPrefix(".") ? name.dropFirst() : name[...]
    return plain == "git" || plain == "git (deleted)" || plain.hasPrefix("git-")
  }

  /// The git command, such as `commit`; nil if the arguments don't contain it.
  var gitCommand: String? {
    guard let first = arguments.first else { return nil }
    let program = RunningProcess.lastComponent(first)
    if program.hasPrefix("git-") { return String(program.dropFirst(4)) }
    var rest = arguments.dropFirst()
    while let word = rest.popFirst() {
      if RunningProcess.optionsWithValue.contains(word) {
        _ = rest.popFirst()
      } else if !word.hasPrefix("-") {
        return word
      }
    }
    return nil
  }

  private static let optionsWithValue: Set = [
    "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix",
    "--attr-source",
  ]

  private static func lastComponent(_ path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }
}

extension RunningProcess {
  /// Reads a process's entry in `/proc`. Returns nil if the process isn't named like git, or has ended.
  init?(git number: Int32) {
    let entry = "/proc/\(number)"
    let name = RunningProcess.name(of: number)
    guard RunningProcess.isGit(name) else { return nil }
    self.name = name
    let executable = RunningProcess.target("\(entry)/exe")
    self.executable = executable
    arguments = ((try? DurableFile.readStream("\(entry)/cmdline")) ?? [])
      .split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    errno = 0
    if let folder = RunningProcess.target("\(entry)/cwd") {
      workingDirectory = .path(folder)
      workingFolders = RunningProcess.foldersAround("\(entry)/cwd")
    } else {
      workingDirectory = errno == EACCES || errno == EPERM ? .hidden : .none
    }
    guard let status = try? DurableFile.readStream("\(entry)/status") else { return nil }
    let (users, groups, more) = (
      RunningProcess.numbers("Uid:", in: status), RunningProcess.numbers("Gid:", in: status),
      RunningProcess.numbers("Groups:", in: status)
    )
    // The ids are real, effective, saved and file system.
    guard let user = users.last, let group = groups.last else { return nil }
    (self.user, self.groups) = (user, Set(more + [group]))
    started = ProcessIdentity.startTicks(of: number).map(RunningProcess.seconds)
  }

  /// Returns the kernel's name for a process, or an empty text if there is no such process.
  static func name(of number: Int32) -> String {
    let name = (try? DurableFile.readStream("/proc/\(number)/comm"))?
      .prefix { $0 != UInt8(ascii: "\n") }
    return String(decoding: name ?? [], as: UTF8.self)
  }

  /// Returns true if a process has a file open, as far as this user can see.
  ///
  /// - Parameters:
  ///   - path: The path of the file. The process may know its folder by another path.
  ///   - number: The process number.
  static func hasOpen(_ path: String, _ number: Int32) -> Bool {
    guard let file = FileIdentity(path) else { return false }
    let name = lastComponent(path)
    return DurableFile.names(in: "/proc/\(number)/fd").contains {
      let link = "/proc/\(number)/fd/\($0)"
      // Other files are not examined, as they can be on a disk that does not respond.
      return target(link).map(lastComponent) == name && FileIdentity(link) == file
    }
  }

  /// Returns a folder and the folders around it, as the system resolves `..` from there.
  private static func foldersAround(_ folder: String) -> Set<FileIdentity> {
    var found: Set<FileIdentity> = []
    var path = folder
    // The root is its own parent.
    while let identity = FileIdentity(path), found.insert(identity).inserted { path += "/.." }
    return found
  }

  private static func numbers(_ label: String, in status: [UInt8]) -> [UInt32] {
    let line = status.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: label.utf8) }
    return (line ?? []).dropFirst(label.utf8.count)
      .split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
      .compactMap { UInt32(String(decoding: $0, as: UTF8.self)) }
  }

  /// Returns the seconds since the epoch for a number of clock ticks since the boot.
  private static func seconds(_ ticks: UInt64) -> Int64 {
    var (now, up) = (timespec(), timespec())
    clock_gettime(CLOCK_REALTIME, &now)
    clock_gettime(CLOCK_BOOTTIME, &up)
    let perSecond = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    return Int64(now.tv_sec) - Int64(up.tv_sec) + Int64(ticks / perSecond)
  }

  private static func target(_ link: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = readlink(link, &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }
}
