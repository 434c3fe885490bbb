import BelfryCore
import BelfryPartners
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Synchronization

/// The warnings of a command, on standard error.
///
/// A command may find the same problem several times. Each warning is printed once.
final class CommandWarnings: Sendable {
  private struct Printed {
    var warnings: Set<[String]> = []
  }
  private let printed = Mutex(Printed())
  /// True during an unfinished merge of git, whose conflicts make records invalid.
  private let isMerging = Mutex(false)

  /// Prints a warning that was not printed yet.
  ///
  /// - Parameters:
  ///   - message: the warning, as a sentence.
  ///   - remedy: the advice to the user; nil for none.
  func warn(_ message: String, remedy: String? = nil) {
    let hints = [remedy].compactMap { $0 }
    guard isNew([message] + hints) else { return }
    CommandDiagnostic.warn(message, hints: hints)
  }

  /// Returns true if the lines were not printed yet, and remembers them.
  func isNew(_ lines: [String]) -> Bool { printed.withLock { $0.warnings.insert(lines).inserted } }

  // MARK: The store

  /// Warns about a store that is read-only, and about missing time zone data.
  func warn(about store: Store) {
    if store.branch.isRebasing {
      warn(
        "an unfinished git rebase makes the store read-only.",
        remedy:
          "Alarms ring as recorded on the branch before. Finish it: belfry git -- rebase --continue, or --abort."
      )
    } else if let commit = store.branch.detachedHead {
      let branch = store.branch.nameToCheckOut
      let source = branch.map { "on the branch \(Printable.text($0))" } ?? "by Belfry last"
      warn(
        "the store is read-only: an earlier commit is checked out (\(Printable.text(String(commit.prefix(8))))).",
        remedy: "Alarms ring as recorded \(source). Return to it: \(CommandError.checkout(branch))")
    }
    if !store.context.zones.works {
      warn(
        "this system has no time zone data, so named zones count as local.",
        remedy: "Install it: apt-get install tzdata")
    }
  }

  /// Warns about a merge of git that the next change of the store finishes.
  func warnAboutMerge() {
    isMerging.withLock { $0 = true }
    warn(
      "git has not finished a merge; the last valid version of each alarm is shown, and rings.",
      remedy: "The scheduler and the next change merge both sides: belfry tick")
  }

  /// Warns if no alarm rings on this device.
  func warn(about scheduler: SchedulerState) {
    // The full screen shows it all the time.
    guard !ChildOfScreen.isThisProcess, let problem = CommandWarnings.problem(of: scheduler) else {
      return
    }
    warn(problem.message, remedy: problem.remedy)
  }

  /// Returns the reason why no alarm rings on this device; nil if alarms ring.
  static func problem(of scheduler: SchedulerState) -> (message: String, remedy: String?)? {
    switch scheduler {
    case .daemon, .ticks: nil
    case .unresponsive(let process):
      (
        "the daemon does not respond, so no alarm rings: \(Printable.text(process)).",
        DaemonRemedy.restart
      )
    case .absent:
      ("the scheduler does not run, so no alarm rings on this device: belfry service install", nil)
    }
  }

  /// Warns about pairings with partners that have expired, and about requests that could not be sent in time.
  func warn(aboutPartnersOf store: Store) {
    let partnerStore = PartnerStore(store)
    if partnerStore.isEmpty { return }
    let now = store.context.now
    for partner in partnerStore.partners where partner.phase == .active {
      let name = Printable.text(partner.name)
      if !partner.isValid(at: now) {
        warn(PartnerText.expiry(of: name), remedy: PartnerText.expiryRemedy)
      }
      let unsent = partner.sent.count {
        $0.isUnsent(at: now)
          && now.seconds(since: $0.request.latestUse) < CommandWarnings.maxUnsentAge
      }
      if unsent > 0 { warn(PartnerText.unsent(unsent, to: name), remedy: "belfry partner log") }
    }
  }

  /// The time in seconds for which a request that could not be sent in time causes a warning.
  private static let maxUnsentAge: Int64 = 86_400

  /// The maximum number of problems to print. `belfry doctor` prints all.
  private static let maxProblems = 20

  /// Warns about records that are not valid.
  func warn(about problems: [RecordProblem]) {
    var problems = problems
    if isMerging.withLock({ $0 }) {
      problems.removeAll { problem in
        if case .invalid(_, lastGood: true) = problem.kind { true } else { false }
      }
    }
    for problem in problems.prefix(CommandWarnings.maxProblems) {
      let path = Printable.text(problem.path)
      switch problem.kind {
      case .invalid(let error, let lastGood):
        let remedy =
          switch error.kind {
          case .newerFormat: "Update Belfry on this device."
          case .invalid where lastGood:
            "Its last valid version stays armed. Correct it, or restore that version: belfry doctor --repair"
          case .invalid: "Correct it, or quarantine it: belfry doctor --repair"
          }
        warn("\(path) is not valid: \(Printable.text(error.text)).", remedy: remedy)
      case .removed:
        warn(
          "\(path) is missing; the alarm stays.",
          remedy: "To delete an alarm, use 'belfry delete'.")
      case .unknownZone(let name):
        warn(
          "the time zone \(Printable.text(name)) of \(path) is unknown on this device, so it counts as local.",
          remedy: "Update the package tzdata, or set another zone: belfry edit --zone")
      }
    }
    let more = problems.count - CommandWarnings.maxProblems
    if more > 0 { warn("and \(more) more: see 'belfry doctor'.") }
  }

  // MARK: Notices

  /// Prints a notice about an automatic repair of the store.
  ///
  /// Each repair is reported, because the daemon may make the same one again on another day.
  static func report(_ notice: StoreNotice) {
    func list(_ paths: [String]) -> String {
      let more = paths.count > 3 ? " and \(paths.count - 3) more" : ""
      return paths.prefix(3).map { Printable.text($0) }.joined(separator: ", ") + more
    }
    switch notice {
    case .restored(let paths):
      CommandDiagnostic.warn("restored \(list(paths)), which another program had removed.")
    case .healed(let paths):
      CommandDiagnostic.warn(
        "restored \(list(paths)), which git had dropped from the branch.",
        hints: ["To delete an alarm, use 'belfry delete'. To undo a change, use 'belfry undo'."])
    case .joined(let paths, let rest):
      let hint: String =
        switch rest {
        case .nothing: "To let git merge them with Belfry's merge driver: belfry hooks install"
        case .operation(.rebase): "Continue: belfry git -- rebase --continue"
        case .operation: "See how to continue: belfry git -- status"
        }
      CommandDiagnostic.warn(
        "git could not merge \(list(paths)); Belfry merged both sides.", hints: [hint])
    case .setAside(let path, let destination):
      CommandDiagnostic.warn(
        "replaced \(Printable.text(path)), which was not valid after a power failure or a conflict.",
        hints: ["If you had edited it, your edit is in \(Printable.text(destination))."])
    case .unlocked(let path):
      CommandDiagnostic.warn("removed a stale git lock: \(Printable.text(path)).")
    }
  }
}
