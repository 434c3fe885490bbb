import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Files
import Glibc

/// The text of actions: their problems and their failures.
enum ActionText {
  /// Returns the reason why an action cannot run, as a clause about its path.
  static func text(_ problem: ActionFolder.Problem) -> String {
    let path = Printable.text(problem.path)
    return switch problem.fault {
    case .missing: "\(path) does not exist"
    case .notAFile: "\(path) is not a file"
    case .notExecutable: "\(path) is not executable"
    case .foreign: "\(path) belongs to another user"
    case .writableByOthers: "\(path) can be written by every user"
    case .unreadable(let number): "\(path) cannot be read (\(String(cString: strerror(number))))"
    }
  }

  /// Returns advice on a problem.
  static func remedy(_ problem: ActionFolder.Problem) -> String {
    let path = ShellWord.quoted(problem.path)
    return switch problem.fault {
    case .missing: "Create this executable if the alarm has to run it on this device."
    case .notExecutable: "chmod +x \(path)"
    case .writableByOthers: "chmod o-w \(path)"
    case .foreign: "chown \"$USER\" \(path)"
    case .notAFile, .unreadable: "Replace it with an executable file."
    }
  }

  /// Returns the reason of a failed run, as a clause.
  static func text(_ failure: ActionFolder.Failure) -> String {
    switch failure {
    case .fault(let problem): text(problem)
    case .exited(let path, let status, let message):
      "\(Printable.text(path)): \(message.map { Printable.text($0) } ?? "exited with status \(status)")"
    case .timedOut(let path, let seconds): "\(Printable.text(path)): timed out after \(seconds) s"
    case .notRun(let path, let reason): "\(Printable.text(path)): \(Printable.text(reason))"
    }
  }
}
