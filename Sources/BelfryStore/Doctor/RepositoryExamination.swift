import BelfryCore
import Files
import Git
import Glibc

/// An examination of the repository: its files, references, index and objects.
///
/// A damaged repository can block libgit2 forever, so run this in a process that can be killed.
public struct RepositoryExamination: Sendable {
  private let store: Store

  /// Creates an examination of a store.
  public init(_ store: Store) {
    self.store = store
  }

  /// The free disk space below which it is reported, in bytes.
  private static let minFreeSpace: Int64 = 10 << 20
  /// The number of loose objects above which it is reported. Packing leaves fewer.
  private static let maxLooseObjects = 20_000

  /// Examines the repository. The result is a single `.repository` if it is intact.
  public func findings() async throws -> [Finding] {
    var findings = files()
    if store.local.isReplaced {
      // The rest is examined after the folder is restored.
      return findings + [.localFolderReplaced(path: store.local.folder)]
    }
    if let failure = FileLock.failure(at: "\(store.local.folder)/new-lock-\(getpid())") {
      findings.append(.noLocks(reason: String(cString: strerror(failure.number))))
    }
    if let head = Reference.brokenHead(store) { return findings + [head] }
    let repository: Repository
    do {
      repository = try store.repository()
    } catch {
      return findings + [.unreadable(path: store.path + "/.git", .git(error))]
    }
    let head = try repository.headBranch()
    let present = head == nil ? store.branch.nameToCheckOut(in: repository) : nil
    let branch = head ?? "refs/heads/\(present ?? Repository.defaultBranch)"
    findings += try checkout(repository, head: head, present: present)
    findings += locks(repository, of: branch)
    if let reason = store.local.journalProblem {
      findings.append(.journalUnusable(path: store.local.journal, reason: reason))
    } else if try !store.local.interruptedWrites().isEmpty {
      findings.append(.interruptedWrite)
    }
    findings += repository.damagedLooseObjects().map { .damagedObject($0) }
    let reference = Reference.broken(branch, of: repository)
    if let reference { findings.append(reference) }
    findings += index(repository)
    findings += repository.brokenReflogs().map { .reflogBroken(path: $0.path) }
    // Problems that follow from another finding are not reported again.
    let isExplained = findings.contains { finding in
      if case .otherBranch = finding { false } else { true }
    }
    if reference == nil { findings += try await objects(isExplained: isExplained) }
    let loose = Repository.looseObjectEstimate(in: store.local.objects)
    if loose > RepositoryExamination.maxLooseObjects { findings.append(.manyLooseObjects(loose)) }
    if findings.isEmpty { findings.append(try await summary(repository, loose: loose)) }
    return findings
  }

  // MARK: Files

  private func files() -> [Finding] {
    var findings: [Finding] = []
    let git = store.local.gitDirectory
    let folders = [store.path, git, git + "/objects", git + "/refs/heads", store.local.folder]
    let below = folders.dropFirst().flatMap { folder in
      DurableFile.names(in: folder).map { "\(folder)/\($0)" }
    }
    for path in folders + ["\(store.path)/alarms", "\(store.path)/log"] + below {
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      if status.st_uid != store.context.user {
        findings.append(.foreign(path: path, user: status.st_uid))
      } else if status.st_mode & S_IFMT == S_IFDIR, access(path, R_OK | W_OK | X_OK) != 0 {
        if errno == EROFS { continue }
        findings.append(.unreadable(path: path, .system(errno)))
      }
      if findings.count == 5 { break }
    }
    var disk = statvfs()
    if statvfs(store.path, &disk) == 0 {
      let free = Int64(disk.f_bavail) * Int64(disk.f_frsize)
      if disk.f_flag & UInt(ST_RDONLY) != 0 {
        findings.append(.readOnly)
      } else if free < RepositoryExamination.minFreeSpace
        || (disk.f_files > 0 && disk.f_favail < 100)
      {
        findings.append(.littleSpace(free))
      }
    }
    return findings
  }

  /// Returns the total size of all files in a folder, in bytes.
  private static func size(of folder: String) -> Int64 {
    DurableFile.names(in: folder).reduce(0) { sum, name in
      var status = stat()
      guard lstat("\(folder)/\(name)", &status) == 0 else { return sum }
      return sum
        + (status.st_mode & S_IFMT == S_IFDIR
          ? size(of: "\(folder)/\(name)") : Int64(status.st_size))
    }
  }

  // MARK: Git

  /// Returns findings about the checked-out branch, unfinished git operations and packed references.
  ///
  /// - Parameters:
  ///   - head: The branch of HEAD; nil if HEAD contains a commit.
  ///   - present: The branch that `store.branch.nameToCheckOut` returns if `head` is nil.
  private func checkout(
    _ repository: Repository, head: String?, present: String?
  ) throws -> [Finding] {
    var findings: [Finding] = []
    let main = "refs/heads/\(Repository.defaultBranch)"
    if let head, head != main {
      let hasMain = ((try? repository.commit(of: main)) ?? nil) != nil
      findings.append(.otherBranch(head, hasMain: hasMain))
    }
    let operation = try repository.operation()
    if operation != .none {
      findings.append(.operation(operation))
    } else if let commit = store.branch.detachedHead {
      findings.append(.detachedHead(commit, branch: present))
    }
    if let packed = repository.packedReferences, packed.isDamaged {
      findings.append(.packedReferencesDamaged(path: packed.path, lines: packed.damagedLines))
    }
    return findings
  }

  /// Returns a finding for each lock that can block a write to a branch.
  private func locks(_ repository: Repository, of branch: String) -> [Finding] {
    var findings = repository.locks(of: branch).map { lock in
      Finding.lock(path: lock, by: repository.user(of: lock))
    }
    if let user = repository.collector {
      findings.append(.lock(path: repository.commonDirectory + "gc.pid", by: user))
    }
    return findings
  }

  /// Returns the size of an intact repository.
  private func summary(_ repository: Repository, loose: Int) async throws -> Finding {
    let commits = try await GitCommand.run(["rev-list", "--count", "HEAD"], in: store.path).output
    return .repository(
      commits: Int(commits.prefix { $0 != "\n" }) ?? 0, loose: loose,
      bytes: RepositoryExamination.size(of: String(repository.commonDirectory.dropLast())))
  }

  private func index(_ repository: Repository) -> [Finding] {
    guard access(repository.gitDirectory + "index", F_OK) == 0 else { return [.indexMissing] }
    return repository.indexDamage().map { [.indexDamaged(reason: $0)] } ?? []
  }

  /// Returns the missing objects, or else the first problem that `git fsck` reports.
  ///
  /// - Parameter isExplained: True if another finding explains what git reports.
  private func objects(isExplained: Bool) async throws -> [Finding] {
    let outcome = try await GitCommand.run(
      ["fsck", "--full", "--no-dangling", "--no-progress"], in: store.path)
    let missing = MissingObject.all(in: outcome)
    if !missing.isEmpty { return missing.map { .missingObject(kind: $0.kind, $0.id) } }
    if outcome.status == 0 || isExplained { return [] }
    let complaints = MissingObject.otherLines(of: outcome)
    // A failure without other lines is about the empty tree.
    return complaints.isEmpty ? [] : [.complaint(GitCommand.reason(complaints, outcome.status))]
  }
}

/// A missing object that `git fsck` reports.
struct MissingObject: Hashable {
  /// The object's type, such as `blob`.
  let kind: String
  let id: ObjectID

  /// Returns the missing objects in an output of `git fsck`.
  ///
  /// The empty tree doesn't count. git reads it without an object, and `git rebase --root` uses it in a commit, but
  /// `git fsck` still reports it as missing.
  static func all(in outcome: GitCommand.Outcome) -> [MissingObject] {
    var found: Set<MissingObject> = []
    for line in (outcome.output + outcome.error).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count >= 3, words[0] == "missing", let id = ObjectID(hexadecimal: words[2]),
        id != ObjectID.emptyTree
      {
        found.insert(MissingObject(kind: String(words[1]), id: id))
      }
    }
    return found.sorted { $0.id < $1.id }
  }

  /// Returns the lines of an output of `git fsck` that are not about the empty tree.
  static func otherLines(of outcome: GitCommand.Outcome) -> [String] {
    let empty = ObjectID.emptyTree.description
    var lines: [String] = []
    for line in (outcome.error + outcome.output).split(separator: "\n").map(String.init) {
      guard line.contains(empty) else {
        lines.append(line)
        continue
      }
      // The preceding line names the object that links to it.
      if line.hasPrefix(" "), lines.last?.hasPrefix("broken link from ") == true {
        lines.removeLast()
      }
    }
    return lines
  }
}

/// Checks of HEAD and of branches.
enum Reference {
  /// Returns a finding unless HEAD contains a branch or a commit.
  static func brokenHead(_ store: Store) -> Finding? {
    guard let text = DurableFile.firstLine(of: store.local.gitDirectory + "/HEAD") else {
      return .headBroken
    }
    return text.hasPrefix("ref: refs/") || ObjectID(hexadecimal: text) != nil ? nil : .headBroken
  }

  /// Returns a finding unless a branch points to a complete commit.
  static func broken(_ branch: String, of repository: Repository) -> Finding? {
    if let file = repository.referenceFile(branch), ObjectID(hexadecimal: file.text) == nil,
      !file.text.hasPrefix("ref: ")
    {
      return .branchBroken(
        name: branch, reason: file.text.isEmpty ? "it is empty" : "it contains no commit id")
    }
    do {
      guard let commit = try repository.commit(of: branch) else {
        return .branchBroken(name: branch, reason: "it doesn't exist")
      }
      if repository.isWhole(commit) { return nil }
      return .branchBroken(name: branch, reason: "its commit \(commit.short) is incomplete")
    } catch {
      return .branchBroken(name: branch, reason: error.message)
    }
  }
}

extension GitCommand {
  /// Returns the first error message of a failed git.
  static func reason(_ outcome: Outcome) -> String {
    reason(
      (outcome.error + outcome.output).split(separator: "\n").map(String.init), outcome.status)
  }

  /// Returns the first error message in lines that git printed, or else the first line or the status.
  static func reason(_ lines: [String], _ status: Int32) -> String {
    lines.first { $0.hasPrefix("fatal:") || $0.hasPrefix("error:") } ?? lines.first
      ?? "git exited with status \(status)"
  }
}
