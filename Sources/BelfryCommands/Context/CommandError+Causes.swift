import BelfryCore
import BelfryExchange
import BelfryInput
import BelfryPhone
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Files
import Git
import Glibc

/// The errors of the other modules, each with its kind, message and hint.
extension CommandError {
  /// Creates the error for any error. An unknown error is described by its own text, without a hint.
  init(_ error: any Error) {
    self =
      CommandError(explaining: error)
      ?? CommandError(.failed, "\(Printable.text("\(error)")).", source: error)
  }

  /// Creates the error for an error of Belfry's modules; nil for any other error, such as those of the argument parser.
  init?(explaining error: any Error) {
    switch error {
    case let error as CommandError: self = error
    case let error as StoreError: self.init(error)
    case let error as FileError: self.init(error)
    case let error as GitError: self.init(error)
    case let error as IndexFile.Failure: self.init(error)
    case let error as ScheduleError: self.init(error)
    case let error as InputError: self = InputErrorText(error, "", .schedule, nil).commandError
    case let error as ExchangeError: self.init(error)
    case let error as PhoneError: self.init(error)
    case let error as PhoneSetup.Failure: self.init(error)
    case is CalendarFailure: self.init(refreshing: error)
    case let error as AlarmTextError: self.init(error)
    case let error as TagEditError: self = TagOptions.error(error, of: nil)
    default: return nil
    }
  }

  /// Returns the message of any error, in one line.
  static func text(of error: any Error) -> String { CommandError(error).message }

  private init(_ error: FileError) {
    self.init(
      .failed, "\(Printable.text("\(error)")).",
      hint: error.isLock && [ENOLCK, ENOSYS, ENOTSUP].contains(error.number)
        ? CommandError.withoutLocks : CommandError.hint(forSystemError: error.number),
      source: error)
  }

  private init(_ error: GitError) {
    let hint =
      switch error.cause {
      case _ where error.code == .libraryMissing: "Install it: apt-get install \(LibGit2.package)"
      case .system(let number): CommandError.hint(forSystemError: number)
      case .damage: "Repair it with 'belfry doctor --repair'."
      case .unsupportedExtension(let name): CommandError.hint(forExtension: name)
      case .unknown: "Find the cause with 'belfry doctor'."
      }
    self.init(.failed, "\(Printable.text("\(error)")).", hint: hint, source: error)
  }

  private init(_ error: IndexFile.Failure) {
    self.init(
      .failed, "git's index has a format that Belfry cannot write (\(error)).",
      hint: "Finish the git operation, or run: belfry git -- update-index --index-version 2",
      source: error)
  }

  private init(_ error: ScheduleError) {
    self.init(
      .usage, "the schedule is not valid: \(error.reason).", hint: "See 'belfry help add'.",
      source: error)
  }

  private init(_ error: ExchangeError) {
    let hint =
      switch error.kind {
      case .notValid: "Nothing was changed."
      case .newerFormat: "Update Belfry on this device. Nothing was changed."
      case .libraryMissing: "Install it: apt-get install libical3"
      }
    self.init(
      .failed, "the document cannot be used: \(Printable.text(error.reason)).", hint: hint,
      source: error)
  }

  private init(_ error: AlarmTextError) {
    self.init(.usage, "\(error.reason).", hint: "Nothing was changed.", source: error)
  }

  /// Returns the hint for a repository with an extension of git that Belfry cannot handle.
  static func hint(forExtension name: String) -> String {
    switch name {
    case "objectformat":
      "A store needs a repository with SHA-1. Copy the alarms to a new one: belfry export > all.json; belfry import all.json --store NEW"
    case "refstorage": "Convert the repository: belfry git -- refs migrate --ref-format=files"
    default:
      "Belfry cannot handle this extension of git. If nothing else needs it: belfry git -- config --unset extensions.\(Printable.text(name))"
    }
  }

  /// The hint for a file system without locks.
  static let withoutLocks =
    "Keep the store on a file system with locks, such as a local disk (--store). On NFS, enable locks in the mount options."

  private static func hint(forSystemError number: Int32) -> String {
    switch number {
    case ENOSPC, EDQUOT: "The disk is full: free some space and try again. Nothing was changed."
    case EROFS: "The disk is read-only: mount it read-write and try again. Nothing was changed."
    case ENOTDIR: "A file has replaced a folder. Repair it: belfry doctor --repair"
    case ELOOP, EISDIR: "It is not a regular file. If it is in the store: belfry doctor --repair"
    case EACCES, EPERM: "Grant yourself permission, or use another store with --store."
    case EMFILE, ENFILE: "Too many files are open: raise the limit ('ulimit -n') and try again."
    default: "Check the file, and try again."
    }
  }
}
