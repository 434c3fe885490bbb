import BelfryCore
import BelfryExchange
import BelfryStore
import Git
import Glibc

/// A failure of a command: the message, a hint on what to do next, and the exit code.
struct CommandError: Error {
  enum Code: Int32 {
    case failed = 1
    case usage = 2
    case noSuchAlarm = 3
    case notPossible = 4
    case tierLimit = 5
    case network = 6
    case locked = 7
  }
  let code: Code
  let message: String
  let hint: String?

  init(_ code: Code, _ message: String, hint: String? = nil) {
    self.code = code
    self.message = URLMask.masked(message)
    self.hint = hint.map { URLMask.masked($0) }
  }

  /// Returns the error with the credentials masked in URLs that it quotes from the command's arguments.
  func masked(_ arguments: [String]) -> CommandError {
    let urls = arguments.filter { $0.contains("://") }
      .flatMap { url -> [(quoted: String, shown: String)] in
        let shown = Printable.text(URLMask.masked(url: url))
        return [(url, shown), (Printable.text(url), shown)]
      }
      .sorted { $0.quoted.count > $1.quoted.count }
    func replaced(_ text: String) -> String {
      urls.reduce(text) { $0.replacing($1.quoted, with: $1.shown) }
    }
    return CommandError(code, replaced(message), hint: hint.map(replaced))
  }

  /// Returns the message of any error, in one line.
  static func words(_ error: any Error) -> String {
    CommandError(explaining: error)?.message ?? "\(Printable.text("\(error)"))."
  }

  /// Returns nil for errors of the argument parser.
  init?(explaining error: any Error) {
    switch error {
    case let error as CommandError: self = error
    case let error as StoreError: self.init(error)
    case let error as FileError:
      self.init(.failed, "\(Printable.text("\(error)")).", hint: CommandError.hint(error))
    case let error as GitError:
      self.init(
        .failed, "\(Printable.text("\(error)")).",
        hint: CommandError.diskHint(error)
          ?? (error.code == .damaged || error.message.contains("corrupted")
            ? "Repair it with 'belfry doctor --repair'." : "Find the cause with 'belfry doctor'."))
    case let error as IndexFile.Failure:
      self.init(
        .failed, "git's index has a format that Belfry cannot write (\(error)).",
        hint:
          "Finish the git operation, or run: belfry git -- update-index --index-version 2")
    case let error as ScheduleError:
      self.init(
        .usage, "the schedule is not valid: \(error.reason).", hint: "See 'belfry help add'.")
    case let error as ExchangeError:
      let hint =
        switch error.kind {
        case .notValid: "Nothing was changed."
        case .newerFormat: "Update Belfry on this device. Nothing was changed."
        case .libraryMissing: "Install it: apt-get install libical3"
        }
      self.init(
        .failed, "the document cannot be used: \(Printable.text(error.reason)).", hint: hint)
    case let error as AlarmTextError:
      self.init(.usage, "\(error.reason).", hint: "Nothing was changed.")
    default: return nil
    }
  }

  /// Returns the hint for a system error, or nil if the error is none.
  ///
  /// libgit2 reports system errors only in the text of its messages.
  private static func diskHint(_ error: GitError) -> String? {
    [ENOSPC, EDQUOT, EROFS, EACCES, EMFILE]
      .first { error.message.contains(String(cString: strerror($0))) }
      .map { hint(FileError("write", "", number: $0)) }
  }

  /// The hint for a file system without locks.
  static let withoutLocks =
    "Keep the store on a file system with locks, such as a local disk (--store). On NFS, enable locks in the mount options."

  /// Returns the command that checks out a branch, or the previous checkout if `branch` is nil.
  static func checkout(_ branch: String?) -> String {
    "belfry git -- checkout \(branch.map { Printable.text($0) } ?? "-")"
  }

  private static func hint(_ error: FileError) -> String {
    switch error.number {
    case _ where error.operation == "lock" && [ENOLCK, ENOSYS, ENOTSUP].contains(error.number):
      withoutLocks
    case ENOSPC, EDQUOT: "The disk is full: free some space and try again. Nothing was changed."
    case EROFS: "The disk is read-only: mount it read-write and try again. Nothing was changed."
    case ENOTDIR: "A file has replaced a folder. Repair it: belfry doctor --repair"
    case EACCES, EPERM: "Grant yourself permission, or use another store with --store."
    case EMFILE, ENFILE: "Too many files are open: raise the limit ('ulimit -n') and try again."
    default: "Check the file, and try again."
    }
  }

  private init(_ error: StoreError) {
    switch error {
    case .noStore(let path):
      self.init(
        .failed, "there is no store at \(Printable.text(path)).",
        hint: "If it is on another disk, mount it. To create a new store: belfry list")
    case .notAStore(let path):
      self.init(
        .failed, "\(Printable.text(path)) is not a Belfry store.",
        hint: "With --store, name a store, or an empty folder for a new one.")
    case .localFolderReplaced(let path):
      self.init(
        .failed, "\(Printable.text(path)) is not a folder, so nothing can be written.",
        hint: "Move it away and recreate the folder: belfry doctor --repair")
    case .foreignOwner(let path, let user):
      self.init(
        .failed, "\(Printable.text(path)) belongs to another user (uid \(user)).",
        hint: "Use a store of your own with --store, or take ownership of this one with chown.")
    case .locked(let holder):
      self.init(
        .locked, "the store is locked by \(Printable.text(holder)).",
        hint: "Try again when it has finished.")
    case .daemonRuns(let process):
      self.init(
        .locked, "this store already has a daemon: \(Printable.text(process)).",
        hint: "If 'belfry service install' started it: belfry service status")
    case .gitBusy(let path, let user):
      let holder = user.map { Printable.text($0.shown) } ?? "another git process"
      self.init(
        .locked, "\(holder) is using the store: \(Printable.text(path)).",
        hint:
          "Try again when it has finished. If no git process runs, remove the lock: belfry doctor --repair"
      )
    case .operationInProgress(let operation):
      let name =
        switch operation {
        case .merge: "merge"
        case .rebase: "rebase"
        case .none, .other: "operation"
        }
      self.init(
        .failed,
        "an unfinished git \(name) blocks all writes to the store.",
        hint: name == "operation"
          ? "Finish or abort it: see 'belfry git -- status'."
          : "Finish it with 'belfry git -- \(name) --continue', or abort it with --abort.")
    case .detachedHead(let branch):
      let name = branch.map { "its branch \(Printable.text($0))" } ?? "a branch"
      self.init(
        .failed, "the store is not on \(name), so it is read-only.",
        hint: "Return to it: \(CommandError.checkout(branch))")
    case .badRecord(let path, let reason):
      self.init(
        .failed, "\(Printable.text(path)) is not valid: \(Printable.text(reason.words)).",
        hint: "Correct it, or restore its last valid version: belfry doctor --repair")
    case .noRecord(let path):
      self.init(
        .usage, "no record has the path \(Printable.text(path)).",
        hint: "git runs this command itself after 'belfry hooks install'.")
    case .noSuchAlarm(let name):
      self.init(
        .noSuchAlarm, "there is no alarm '\(Printable.text(name))'.",
        hint: "See 'belfry list'.")
    case .ambiguousAlarm(let name, let matches):
      // Notes distinguish alarms of the same title.
      let isOneTitle = Set(matches.map(\.title)).count == 1
      let shown = matches.prefix(4).map { match in
        let note = isOneTitle ? match.note?.split(separator: "\n").first.map { ": \($0)" } : nil
        return "\(Printable.text(match.title + (note ?? ""))) (\(match.id.short))"
      }
      let more = matches.count > 4 ? ", …" : ""
      self.init(
        .noSuchAlarm, "'\(Printable.text(name))' could be any of \(matches.count) alarms.",
        hint: "Use more of the title, or the identifier: \(shown.joined(separator: ", "))\(more).")
    case .noRemote(let name):
      self.init(
        .failed,
        name.map { "there is no remote '\(Printable.text($0))'." } ?? "this store has no remote.",
        hint: "Add one with 'belfry remote add origin URL'.")
    case .remoteExists(let name):
      self.init(
        .failed, "there is already a remote '\(Printable.text(name))'.",
        hint: "See 'belfry remote list', or remove it with 'belfry remote remove'.")
    case .remoteFailed(let url, let failure):
      self.init(
        .network, "\(Printable.text(url)): \(Printable.text(failure.reason)).",
        hint: failure.hint)
    case .unsupportedRemote(let url, let reason):
      self.init(
        .usage, "'\(Printable.text(url))' is not a valid remote: \(Printable.text(reason)).",
        hint:
          "Use an absolute path, a file, ssh, https, http or git URL, or host:path.")
    case .shallow:
      self.init(
        .failed, "this clone is shallow, so it cannot be merged.",
        hint: "Fetch the full history: belfry git -- fetch --unshallow")
    case .remoteIsNoStore(let url):
      self.init(
        .failed, "\(Printable.text(url)) is not a Belfry store.",
        hint: "Correct the remote: belfry remote remove, then belfry remote add")
    case .unreadableObject(let reason):
      self.init(
        .failed, "nothing was merged: \(Printable.text(reason)).",
        hint: "Fetch the object again with 'belfry doctor --repair', then sync.")
    case .tooLarge:
      self.init(
        .failed, "the remote holds more data than any store, so it was not merged.",
        hint: "Check its content before you sync with it again.")
    case .pushRaceLost(let attempts):
      self.init(
        .network, "other devices pushed first in \(attempts) attempts.",
        hint: "No data is lost. Sync again: belfry sync")
    case .notRestorable(let subject):
      self.init(
        .notPossible, "\(Printable.text(subject)): the other value is no longer available.",
        hint: "Set it yourself: belfry edit, or belfry settings set")
    case .nothingToUndo:
      self.init(
        .notPossible, "there is nothing to undo: no change made on this device is left.",
        hint: "See the changes of other devices: belfry log")
    case .cannotBeUndone(let subject):
      self.init(
        .notPossible,
        "\(Printable.text(subject)): removing a partner cannot be undone, as the keys are deleted.",
        hint: "To undo the change before it: belfry undo --skip 1")
    case .notUndone(let subject, let title, let reason):
      self.init(
        .notPossible, "\(Printable.text(subject)): it was not undone, as \(reason.text(title)).",
        hint: "To undo the change before it: belfry undo --skip 1")
    case .settingChangedSince(let subject, let setting):
      self.init(
        .notPossible,
        "\(Printable.text(subject)): it was not undone, as \(setting.name) was changed since.",
        hint: "To undo the change before it: belfry undo --skip 1")
    case .alarmLimit(let tier, let limit):
      self.init(.tierLimit, Paywall.limit(tier, limit), hint: Paywall.offer)
    case .gitNotFound:
      self.init(.failed, "git is not installed.", hint: "Install it: apt-get install git")
    }
  }
}

extension RemoteFailure {
  /// The hint to the user.
  fileprivate var hint: String {
    switch kind {
    case .hostKey(.unknown, let url):
      "Nothing was sent. If you trust the host, add its key to ssh: \(RemoteFailure.ssh(url))."
    case .hostKey(.changed, let url):
      "Nothing was sent. If you know why it changed, remove the old key: ssh-keygen -R '\(RemoteFailure.known(url))'."
    case .authentication(.ssh):
      "Configure a key that the host accepts, in ~/.ssh/config or in the agent (ssh-add)."
    case .authentication: "Configure a credential helper for git (git help credentials)."
    case .certificate:
      "Nothing was sent. Set the certificate authority: belfry git -- config http.sslCAInfo FILE."
    case .redirected: "Nothing was sent. If you trust that address, add it as the remote."
    case .stalled: "No local data is lost. Sync again later."
    case .rejected: "No local data is lost. Resolve the problem on the remote."
    case .missing: "Create it there with 'git init --bare -b main', or correct the remote."
    case .damaged: "No local data is lost. Repair it there with 'git fsck', or create a new one."
    case .other: "No local data is lost. Sync again when the remote can be reached."
    }
  }
}

extension RemoteFailure {
  /// Returns the command that connects to the host of a remote.
  private static func ssh(_ url: RemoteURL) -> String {
    let user = url.user.map { "\($0)@" } ?? ""
    return Printable.text("ssh \(url.port.map { "-p \($0) " } ?? "")\(user)\(url.host ?? "")")
  }

  /// Returns the name of a remote's host in `known_hosts`.
  private static func known(_ url: RemoteURL) -> String {
    let host = url.host ?? ""
    return Printable.text(url.port.map { "[\(host)]:\($0)" } ?? host)
  }
}

extension RecordError {
  /// The reason, with the number of the line if it is known.
  var words: String { line.map { "line \($0): \(reason)" } ?? reason }
}

extension UndoError {
  /// Returns the reason as a clause that follows "as".
  fileprivate func text(_ title: String) -> String {
    let title = Printable.text(title)
    return switch self {
    case .deletedSince: "\(title) was deleted since"
    case .tooLongAgo(let civil): "\(title) of \(civil.spoken) was too long ago"
    case .changedSince(.progress): "\(title) has had an occurrence since"
    case .changedSince(.field(let field)): "the \(field.rawValue) of \(title) was changed since"
    case .changedSince(.occurrence(let civil, let state)):
      "\(title) of \(civil.spoken) is now \(state == .open ? "open" : state.rawValue)"
    }
  }
}

extension GitUser {
  /// `git (process 4711)`, `git gc (process 4711 on oldhost)`
  var shown: String { "\(name) (process \(process)\(host.map { " on \($0)" } ?? ""))" }
}
