import BelfryPhone
import BelfryStore
import BelfryTerminal
import Glibc

/// The part of `belfry doctor` that checks the folder of the phone's tasks.
struct PhoneCheck {
  private let store: Store

  init(_ store: Store) { self.store = store }

  func diagnoses() -> [Diagnosis] {
    guard let configuration = PhoneConfiguration.read(of: store) else { return [] }
    let status = PhoneStatus(configuration, of: store)
    let folder = Printable.text(configuration.folder)
    if let failure = status.failure {
      let error = CommandError(failure)
      return [Diagnosis("phone", .problem, error.message.sentence, remedy: error.hint)]
    }
    if access(configuration.folder, R_OK | W_OK | X_OK) != 0 {
      return [
        Diagnosis(
          "phone", .problem, "This user cannot write \(folder).",
          remedy:
            "Run the CalDAV server as this user, or give both a group that can write the folder.")
      ]
    }
    var found: [Diagnosis] = []
    if let publisher = store.devices.phonePublisher, !publisher.isOwn {
      let name = store.deviceNames()[publisher.elected] ?? publisher.elected.short
      found.append(
        Diagnosis("phone", .fine, "\(Printable.text(name)) publishes the tasks at present."))
    } else {
      found.append(
        Diagnosis(
          "phone", .fine,
          "\(status.tasks) \(status.tasks == 1 ? "task is" : "tasks are") in \(folder) (\(status.server.name))."
        )
      )
    }
    if !status.held.isEmpty {
      found.append(
        Diagnosis(
          "phone", .problem,
          "\(status.held.count) tasks were deleted on the phone at once; nothing was skipped yet.",
          remedy:
            "To skip: belfry phone sync --skip-deleted. To have them back: belfry phone sync --restore-deleted"
        ))
    }
    for problem in status.problems.prefix(PhoneCheck.maxProblems) {
      found.append(
        Diagnosis(
          "phone", .note,
          "\(problem.name.map { Printable.text($0) } ?? "A file") is ignored: \(problem.reason)."))
    }
    return found
  }

  private static let maxProblems = 10
}

extension String {
  /// The text with its first letter in upper case.
  fileprivate var sentence: String { prefix(1).uppercased() + dropFirst() }
}
