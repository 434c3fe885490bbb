import BelfryCore
import BelfryExchange
import BelfryStore
import Git
import Glibc

/// A failure as a person sees it: what went wrong, what to do next, and the exit code.
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

  /// Returns the error without the credentials of URLs among the command's arguments, which it may quote.
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

  /// What went wrong, in one line.
  static func words(_ error: any Error) -> String {
    CommandError(explaining: error)?.message ?? "\(Printable.text("\(error)"))."
  }

  /// Nil for errors that are the argument parser's own.
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
            ? "Mend it with 'belfry doctor --repair'." : "See what is wrong with 'belfry doctor'."))
    case let error as IndexFile.Failure:
      self.init(
        .failed, "git's index has a form that Belfry cannot write (\(error)).",
        hint: "Finish what git has begun, or 'belfry git -- update-index --index-version 2'.")
    case let error as ScheduleError:
      self.init(.usage, "this is no schedule: \(error.reason).", hint: "See 'belfry help add'.")
    case let error as ExchangeError:
      let hint =
        switch error.kind {
        case .notValid: "Nothing was changed."
        case .newerFormat: "Bring Belfry up to date on this device. Nothing was changed."
        case .libraryMissing: "Install it: apt-get install libical3"
        }
      self.init(
        .failed, "the document cannot be used: \(Printable.text(error.reason)).", hint: hint)
    case let error as AlarmTextError:
      self.init(.usage, "\(error.reason).", hint: "Nothing was changed.")
    default: return nil
    }
  }

  /// libgit2 tells of a disk's trouble in words alone.
  private static func diskHint(_ error: GitError) -> String? {
    [ENOSPC, EDQUOT, EROFS, EACCES, EMFILE]
      .first { error.message.contains(String(cString: strerror($0))) }
      .map { hint(FileError("write", "", number: $0)) }
  }

  /// The advice about a file system without locks.
  static let withoutLocks =
    "Keep the store on a disk that has locks, such as a local one (--store); on NFS mount it with them."

  /// Returns the command that leaves a commit of the past for a branch; nil stands for what was checked out before.
  static func checkout(_ branch: String?) -> String {
    "belfry git -- checkout \(branch.map { Printable.text($0) } ?? "-")"
  }

  private static func hint(_ error: FileError) -> String {
    switch error.number {
    case _ where error.operation == "lock" && [ENOLCK, ENOSYS, ENOTSUP].contains(error.number):
      withoutLocks
    case ENOSPC, EDQUOT: "The disk is full: make room and try again. Nothing was changed."
    case EROFS: "The disk is read-only: mount it for writing and try again. Nothing was changed."
    case ENOTDIR: "Something else lies in the place of a folder: belfry doctor --repair"
    case EACCES, EPERM: "Give yourself the rights to it, or name another store with --store."
    case EMFILE, ENFILE: "Too many files are open: raise the limit ('ulimit -n') and try again."
    default: "Look at it, and try again."
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
        hint: "Name a store, or an empty folder for a new one, with --store.")
    case .localFolderReplaced(let path):
      self.init(
        .failed, "\(Printable.text(path)) is not a folder, so nothing can be written.",
        hint: "Put it aside and make the folder anew: belfry doctor --repair")
    case .foreignOwner(let path, let user):
      self.init(
        .failed, "\(Printable.text(path)) belongs to another user (number \(user)).",
        hint: "Use a store of your own with --store, or take this one over with chown.")
    case .locked(let holder):
      self.init(
        .locked, "the store is locked by \(Printable.text(holder)).",
        hint: "Try again when it has finished.")
    case .daemonRuns(let process):
      self.init(
        .locked, "this store has a daemon already: \(Printable.text(process)).",
        hint: "One is enough. If it came from 'belfry service install': belfry service status")
    case .gitBusy(let path, let user):
      let who = user.map { Printable.text($0.shown) } ?? "another git"
      self.init(
        .locked, "\(who) is at work in the store: \(Printable.text(path)).",
        hint: "Try again when it has finished; if no git runs, 'belfry doctor --repair' frees it.")
    case .operationInProgress(let operation):
      let name =
        switch operation {
        case .merge: "merge"
        case .rebase: "rebase"
        case .none, .other: "operation"
        }
      self.init(
        .failed,
        "git has begun \(name == "operation" ? "an" : "a") \(name) in the store and not finished it.",
        hint: name == "operation"
          ? "Finish it or give it up: see 'belfry git -- status'."
          : "Finish it with 'belfry git -- \(name) --continue', or give it up with --abort.")
    case .detachedHead(let branch):
      let name = branch.map { "its branch \(Printable.text($0))" } ?? "a branch"
      self.init(
        .failed, "the store is not on \(name), so it is read-only.",
        hint: "Come back to it with '\(CommandError.checkout(branch))'.")
    case .badRecord(let path, let reason):
      self.init(
        .failed, "\(Printable.text(path)) is not valid: \(Printable.text(reason.words)).",
        hint:
          "Correct it, or take the last good one back: belfry doctor --repair"
      )
    case .noRecord(let path):
      self.init(
        .usage, "no record has the path \(Printable.text(path)).",
        hint: "git calls this by itself, once 'belfry hooks install' has been said.")
    case .noSuchAlarm(let name):
      self.init(
        .noSuchAlarm, "there is no alarm '\(Printable.text(name))'.",
        hint: "See 'belfry list'.")
    case .ambiguousAlarm(let name, let matches):
      // Of one title they are told apart by their notes.
      let isOneTitle = Set(matches.map(\.title)).count == 1
      let shown = matches.prefix(4).map { match in
        let note = isOneTitle ? match.note?.split(separator: "\n").first.map { ": \($0)" } : nil
        return "\(Printable.text(match.title + (note ?? ""))) (\(match.id.short))"
      }
      let more = matches.count > 4 ? ", …" : ""
      self.init(
        .noSuchAlarm, "'\(Printable.text(name))' could be any of \(matches.count) alarms.",
        hint: "Say more of the title, or the identifier: \(shown.joined(separator: ", "))\(more).")
    case .noRemote(let name):
      self.init(
        .failed,
        name.map { "there is no remote '\(Printable.text($0))'." } ?? "this store has no remote.",
        hint: "Add one with 'belfry remote add origin URL'.")
    case .remoteExists(let name):
      self.init(
        .failed, "there is a remote '\(Printable.text(name))' already.",
        hint: "See 'belfry remote list'; take it away with 'belfry remote remove'.")
    case .remoteFailed(let url, let failure):
      self.init(
        .network, "\(Printable.text(url)): \(Printable.text(failure.reason)).",
        hint: failure.hint)
    case .unsupportedRemote(let url, let reason):
      self.init(
        .usage, "'\(Printable.text(url))' is no remote: \(Printable.text(reason)).",
        hint:
          "A remote is an absolute path, or a URL of file, ssh, https, http or git; or host:path.")
    case .shallow:
      self.init(
        .failed, "this clone has only the end of its history, so nothing can be joined.",
        hint: "Fetch the rest: belfry git -- fetch --unshallow")
    case .remoteIsNoStore(let url):
      self.init(
        .failed, "what \(Printable.text(url)) has is not a Belfry store.",
        hint: "Correct the remote: belfry remote remove, belfry remote add.")
    case .unreadableObject(let reason):
      self.init(
        .failed, "nothing was merged: \(Printable.text(reason)).",
        hint: "Fetch what is missing or damaged again with 'belfry doctor --repair', then sync.")
    case .tooLarge:
      self.init(
        .failed, "the remote holds more than any store, so it was left alone.",
        hint: "Look at what is there, before you sync with it again.")
    case .pushRaceLost(let attempts):
      self.init(
        .network, "another device was faster \(attempts) times.",
        hint: "Nothing is lost; sync again.")
    case .notRestorable(let subject):
      self.init(
        .notPossible, "\(Printable.text(subject)): the other value cannot be had any more.",
        hint: "Set it yourself: belfry edit, or belfry settings set.")
    case .nothingToUndo:
      self.init(
        .notPossible, "there is nothing to undo: nothing that was done on this device is left.",
        hint: "See what happened elsewhere with 'belfry log'.")
    case .cannotBeUndone(let subject):
      self.init(
        .notPossible,
        "\(Printable.text(subject)): parting from a partner cannot be undone, as the keys are gone.",
        hint: "To take back what you did before it instead: belfry undo --skip 1")
    case .notUndone(let subject, let title, let reason):
      self.init(
        .notPossible, "\(Printable.text(subject)): it was not undone, as \(reason.words(title)).",
        hint: "To take back what you did before it instead: belfry undo --skip 1")
    case .settingChangedSince(let subject, let setting):
      self.init(
        .notPossible,
        "\(Printable.text(subject)): it was not undone, as \(setting.name) was changed since.",
        hint: "To take back what you did before it instead: belfry undo --skip 1")
    case .alarmLimit(let tier, let limit):
      self.init(.tierLimit, Paywall.limit(tier, limit), hint: Paywall.offer)
    case .gitNotFound:
      self.init(.failed, "git is not installed.", hint: "Install it: apt-get install git")
    }
  }
}

extension RemoteFailure {
  /// The advice to the user.
  fileprivate var hint: String {
    switch kind {
    case .hostKey(.unknown, let url):
      "Nothing was sent. If you trust the host, let ssh learn its key: \(RemoteFailure.ssh(url))."
    case .hostKey(.changed, let url):
      "Nothing was sent. If you know why it changed: ssh-keygen -R '\(RemoteFailure.known(url))'."
    case .authentication(.ssh):
      "Give ssh a key that it accepts, in ~/.ssh/config or in the agent (ssh-add)."
    case .authentication: "Give git a credential helper that knows it (git help credentials)."
    case .certificate:
      "Nothing was sent. Name the authority: belfry git -- config http.sslCAInfo FILE."
    case .redirected: "Nothing was sent. If you trust it, add that address as the remote."
    case .stalled: "Nothing here is lost; sync again later."
    case .rejected: "Nothing here is lost; what it asks for must be done there."
    case .missing: "Make one there, 'git init --bare -b main', or correct the remote."
    case .damaged: "Nothing here is lost. Mend it there with 'git fsck', or make a new one."
    case .other: "Nothing here is lost; sync again when the remote can be reached."
    }
  }
}

extension RemoteFailure {
  /// The command that connects to where a remote is.
  private static func ssh(_ url: RemoteURL) -> String {
    let user = url.user.map { "\($0)@" } ?? ""
    return Printable.text("ssh \(url.port.map { "-p \($0) " } ?? "")\(user)\(url.host ?? "")")
  }

  /// A host as `known_hosts` names it.
  private static func known(_ url: RemoteURL) -> String {
    let host = url.host ?? ""
    return Printable.text(url.port.map { "[\(host)]:\($0)" } ?? host)
  }
}

extension RecordError {
  /// The reason, with the line where there is one.
  var words: String { line.map { "line \($0): \(reason)" } ?? reason }
}

extension UndoError {
  /// Why, in words that follow "as".
  fileprivate func words(_ title: String) -> String {
    let title = Printable.text(title)
    return switch self {
    case .deletedSince: "\(title) was deleted since"
    case .tooLongAgo(let civil): "\(title) of \(civil.spoken) was too long ago"
    case .changedSince(.progress): "\(title) has come since"
    case .changedSince(.field(let field)): "the \(field.rawValue) of \(title) was changed since"
    case .changedSince(.occurrence(let civil, let state)):
      "\(title) of \(civil.spoken) is \(state == .open ? "open" : state.rawValue) by now"
    }
  }
}

extension GitUser {
  /// `git (process 4711)`, `git gc (process 4711 on oldhost)`
  var shown: String { "\(name) (process \(process)\(host.map { " on \($0)" } ?? ""))" }
}
