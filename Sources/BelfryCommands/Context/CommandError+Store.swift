import BelfryCore
import BelfryStore
import BelfryTerminal
import Files
import Git

extension CommandError {
  /// Returns the command that checks out a branch, or the previous checkout if `branch` is nil.
  static func checkout(_ branch: String?) -> String {
    "belfry git -- checkout \(branch.map { Printable.text($0) } ?? "-")"
  }

  /// Creates the error for an error of the store.
  init(_ error: StoreError) { self.init(error, formatter: nil) }

  /// Creates the error for an error of the store, with its times in the form of a formatter.
  init(_ error: StoreError, _ times: TimeText) { self.init(error, formatter: times) }

  private init(_ error: StoreError, formatter times: TimeText?) {
    let (kind, message, hint) = CommandError.parts(of: error, times)
    self.init(kind, message, hint: hint, source: error)
  }

  private static func parts(
    of error: StoreError, _ times: TimeText?
  ) -> (kind: Kind, message: String, hint: String?) {
    switch error {
    case .noStore(let path):
      return (
        .failed, "there is no store at \(Printable.text(path)).",
        "Make one with your first alarm: belfry add Rent every friday 9am. Or copy the store of another device: belfry clone URL. If it is on another disk, mount that."
      )
    case .notAStore(let path):
      return (
        .failed, "\(Printable.text(path)) is not a Belfry store.",
        "With --store, name a store, or an empty folder for a new one."
      )
    case .localFolderReplaced(let path):
      return (
        .failed, "\(Printable.text(path)) is not a folder, so nothing can be written.",
        "Move it away and recreate the folder: belfry doctor --repair"
      )
    case .foreignOwner(let path, let user):
      return (
        .failed, "\(Printable.text(path)) belongs to another user (uid \(user)).",
        "Use a store of your own with --store, or take ownership of this one with chown."
      )
    case .locked(let holder):
      return (
        .locked, "the store is locked by \(Printable.text(holder)).",
        "Try again when it has finished."
      )
    case .daemonRuns(let process):
      return (
        .locked, "this store already has a daemon: \(Printable.text(process)).",
        "If 'belfry service install' started it: belfry service status"
      )
    case .gitBusy(let path, let user):
      let holder = user.map { Printable.text($0.shown) } ?? "another git process"
      return (
        .locked, "\(holder) is using the store: \(Printable.text(path)).",
        "Try again when it has finished. If no git process runs, remove the lock: belfry doctor --repair"
      )
    case .operationInProgress(let operation):
      let name =
        switch operation {
        case .merge: "merge"
        case .rebase: "rebase"
        case .none, .other: "operation"
        }
      return (
        .failed,
        "an unfinished git \(name) blocks all writes to the store.",
        name == "operation"
          ? "Finish or abort it: see 'belfry git -- status'."
          : "Finish it with 'belfry git -- \(name) --continue', or abort it with --abort."
      )
    case .detachedHead(let branch):
      let name = branch.map { "its branch \(Printable.text($0))" } ?? "a branch"
      return (
        .failed, "the store is not on \(name), so it is read-only.",
        "Return to it: \(CommandError.checkout(branch))"
      )
    case .badRecord(let path, let reason):
      return (
        .failed, "\(Printable.text(path)) is not valid: \(Printable.text(reason.text)).",
        "Correct it, or restore its last valid version: belfry doctor --repair"
      )
    case .noRecord(let path):
      return (
        .usage, "no record has the path \(Printable.text(path)).",
        "git runs this command itself after 'belfry hooks install'."
      )
    case .noSuchAlarm(let name):
      return (
        .noSuchAlarm, "there is no alarm '\(Printable.text(name))'.",
        "See 'belfry list'."
      )
    case .noRemote(let name):
      return (
        name == nil ? .failed : .usage,
        name.map { "there is no remote '\(Printable.text($0))'." } ?? "this store has no remote.",
        name == nil
          ? "Add one with 'belfry remote add origin URL'."
          : "See 'belfry remote list'. To add one: belfry remote add NAME URL"
      )
    case .remoteExists(let name):
      return (
        .failed, "there is already a remote '\(Printable.text(name))'.",
        "See 'belfry remote list', or remove it with 'belfry remote remove'."
      )
    case .remoteFailed(let url, let failure):
      return (
        .network, "\(Printable.text(url)): \(Printable.text(failure.reason)).",
        failure.hint
      )
    case .unsupportedRemote(let url, let reason):
      return (
        .usage, "'\(Printable.text(url))' is not a valid remote: \(Printable.text(reason)).",
        "Use an absolute path, a file, ssh, https, http or git URL, or host:path."
      )
    case .shallow:
      return (
        .failed, "this clone is shallow, so it cannot be merged.",
        "Fetch the full history: belfry git -- fetch --unshallow"
      )
    case .remoteIsNoStore(let url):
      return (
        .failed, "\(Printable.text(url)) is not a Belfry store.",
        "A store needs an empty repository, or that of another device. On a host, create one without a README. Then: belfry remote remove NAME; belfry remote add NAME URL"
      )
    case .unreadableObject(let reason):
      return (
        .failed, "nothing was merged: \(Printable.text(reason)).",
        "Fetch the object again with 'belfry doctor --repair', then sync."
      )
    case .tooLarge:
      return (
        .failed, "the remote contains more data than any store, so it was not merged.",
        "Check its content before you sync with it again."
      )
    case .pushRaceLost(let attempts):
      return (
        .network, "other devices pushed first in \(attempts) attempts.",
        "No data is lost. Sync again: belfry sync"
      )
    case .notRestorable(let subject):
      return (
        .notPossible, "\(Printable.text(subject)): the other value is no longer available.",
        "Set it yourself: belfry edit, or belfry settings set"
      )
    case .nothingToUndo:
      return (
        .notPossible, "there is nothing to undo: no change made on this device is left.",
        "See the changes of other devices: belfry log"
      )
    case .nothingToRedo:
      return (
        .notPossible, "there is nothing to redo: you have undone nothing since your last action.",
        "See your actions: belfry undo --list"
      )
    case .cannotBeUndone(let subject, let isMerge):
      return (
        .notPossible,
        isMerge
          ? "\(Printable.text(subject)): the import of an export cannot be undone, because it merges records as a sync does."
          : "\(Printable.text(subject)): removing a partner cannot be undone, as the keys are deleted.",
        "To undo the change before it: belfry undo --skip 1"
      )
    case .notUndone(let subject, let title, let reason):
      return (
        .notPossible,
        "\(Printable.text(subject)): it was not undone, as \(reason.text(title, times)).",
        "To undo the change before it: belfry undo --skip 1"
      )
    case .settingChangedSince(let subject, let setting):
      return (
        .notPossible,
        "\(Printable.text(subject)): it was not undone, as \(setting.name) was changed since.",
        "To undo the change before it: belfry undo --skip 1"
      )
    case .calendarChangedSince(let subject, let name):
      return (
        .notPossible,
        "\(Printable.text(subject)): it was not undone, as the holidays \(name) were changed since.",
        "To undo the change before it: belfry undo --skip 1"
      )
    case .alarmLimit(let tier, let limit):
      return (.tierLimit, Paywall.limit(tier, limit), Paywall.offer)
    case .gitNotFound:
      return (.failed, "git is not installed.", "Install it: apt-get install git")
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
    case .unwritable:
      "No local data is lost. Free space there, or get write access to all of its folders. For several accounts, create it with 'git init --bare --shared=group'."
    case .locked:
      "No local data is lost. If no push is running there, remove that file on the remote."
    case .hook(let path):
      "No local data is lost. Resolve what the hook reports, or correct it: \(Printable.text(path))"
    case .objectFormat:
      "Create the repository with 'git init --bare -b main --object-format=sha1', or correct the remote."
    case .foreign(let path):
      "If you trust it: git config --global --add safe.directory \(Printable.text(ShellWord.quoted(path)))"
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
  var text: String { line.map { "line \($0): \(reason)" } ?? reason }
}

extension UndoError {
  /// Returns the reason as a clause that follows "as".
  fileprivate func text(_ title: String, _ times: TimeText?) -> String {
    let title = Printable.text(title)
    func name(_ civil: CivilDateTime) -> String { times?.full(civil) ?? "\(civil)" }
    return switch self {
    case .deletedSince: "\(title) was deleted since"
    case .tooLongAgo(let civil): "\(title) of \(name(civil)) was too long ago"
    case .changedSince(.progress): "\(title) has had an occurrence since"
    case .changedSince(.field(let field)): "the \(field.rawValue) of \(title) was changed since"
    case .changedSince(.occurrence(let civil, let state)):
      "\(title) of \(name(civil)) is now \(state == .open ? "open" : state.rawValue)"
    }
  }
}

extension GitUser {
  /// `git (process 4711)`, `git gc (process 4711 on oldhost)`
  var shown: String { "\(name) (process \(process)\(host.map { " on \($0)" } ?? ""))" }
}
