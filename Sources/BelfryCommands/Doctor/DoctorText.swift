import BelfryCore
import BelfryStore
import BelfryTerminal
import Git
import Glibc

/// A finding of `belfry doctor` as text: a message and a remedy.
struct Diagnosis: Sendable {
  enum Level: String, Sendable {
    /// The check passed.
    case fine
    /// Worth knowing, but no alarm or data is at risk.
    case note
    case problem
    /// A problem that was repaired.
    case mended
  }

  /// The part of the store or system that was checked, such as `records`.
  let area: String
  let level: Level
  let message: String
  /// The advice to the user; nil if there is nothing to do.
  let remedy: String?

  init(_ area: String, _ level: Level, _ message: String, remedy: String? = nil) {
    self.area = area
    self.level = level
    self.message = message
    self.remedy = remedy
  }

  // MARK: JSON

  /// `{area, level, message, remedy?}`
  var json: JSON {
    .object(omittingNil: [
      "area": .string(area), "level": .string(level.rawValue), "message": .string(message),
      "remedy": remedy.map { .string($0) },
    ])
  }

  /// Decodes a line of `json`. Returns nil for anything else.
  init?(line: some Sequence<UInt8>) {
    guard let json = try? JSON(parsing: Array(line)), let area = json["area"]?.string,
      let level = json["level"]?.string.flatMap(Level.init), let message = json["message"]?.string
    else { return nil }
    self.init(area, level, message, remedy: json["remedy"]?.string)
  }

  // MARK: Text

  /// Returns the area, the level and the message with its remedy, wrapped to the width of the terminal.
  func text(_ style: Style) -> String {
    let (sign, color): (String, Style.Color) =
      switch level {
      case .fine: ("ok", .green)
      case .note: ("note", .yellow)
      case .problem: ("PROBLEM", .red)
      case .mended: ("repaired", .green)
      }
    let indent = 24
    let head =
      "\(Printable.text(area))".padded(to: 15) + style.paint(sign, color)
      + String(repeating: " ", count: indent - 15 - sign.count)
    let content = Printable.text(message) + (remedy.map { " \(Printable.text($0))" } ?? "")
    guard let width = style.width, width > indent + 20 else { return head + content + "\n" }
    let lines = TextWidth.wrapped(content, to: width - indent)
    return head + lines.joined(separator: "\n" + String(repeating: " ", count: indent)) + "\n"
  }
}

extension String {
  fileprivate func padded(to columns: Int) -> String {
    self + String(repeating: " ", count: max(1, columns - count))
  }
}

/// The messages for the findings and repairs of a store examination.
enum DoctorText {
  private static let repair = "Repair it: belfry doctor --repair"

  /// Returns the hint of a failure; nil if there is none, or if it is to run the doctor.
  static func remedy(_ failure: CommandError) -> String? {
    if let source = failure.source as? GitError, source.cause == .unknown,
      source.code != .libraryMissing
    {
      return nil
    }
    return failure.hint
  }

  static func diagnosis(_ finding: Finding, _ context: CommandContext) -> Diagnosis {
    func problem(_ area: String, _ message: String, _ remedy: String?) -> Diagnosis {
      Diagnosis(area, .problem, message, remedy: remedy)
    }
    func note(_ area: String, _ message: String, _ remedy: String? = nil) -> Diagnosis {
      Diagnosis(area, .note, message, remedy: remedy)
    }
    switch finding {
    case .repository(let commits, let loose, let bytes):
      return Diagnosis(
        "store", .fine,
        "\(count(commits, "commit")), \(size(bytes)), about \(loose) loose objects; no damage."
      )
    case .headBroken: return problem("store", "The file .git/HEAD names no branch.", repair)
    case .branchBroken(let name, let reason):
      return problem("store", "The branch \(name) is broken: \(reason).", repair)
    case .lock(let path, let user?) where user.host != nil:
      return problem(
        "store", "\(user.shown) has locked the store: \(path).",
        "If no git runs there: belfry doctor --repair")
    case .lock(let path, let user?):
      return note("store", "\(user.shown) is using the store: \(path).")
    case .lock(let path, nil):
      return problem("store", "A git process that is gone has left a lock: \(path).", repair)
    case .reflogBroken(let path):
      return problem("store", "\(path) has entries for missing commits.", repair)
    case .indexMissing: return problem("store", "git's index is missing.", repair)
    case .indexDamaged(let reason):
      return problem("store", "git's index is damaged: \(reason).", repair)
    case .damagedObject(let object):
      return problem("store", "The object \(object.path) is damaged: \(object.reason).", repair)
    case .missingObject(let kind, let id):
      return problem(
        "store", "The \(kind) \(id.short) of the history is missing.",
        "\(repair). If the repair does not find it, your records are still complete. To start a new history: belfry export > all.json; belfry import all.json --store NEW"
      )
    case .complaint(let line): return problem("store", "git fsck says: \(line).", repair)
    case .manyLooseObjects(let count):
      return note(
        "store", "There are about \(count) loose objects, which slow git down.",
        "Pack them: belfry git -- gc")
    case .operation(let operation):
      return problem(
        "store",
        "An unfinished git \(operation == .other ? "operation" : "\(operation)") blocks all writes.",
        "Finish or abort it: belfry git -- status")
    case .detachedHead(let commit, let branch):
      return problem(
        "store",
        "An earlier commit is checked out (\(commit.prefix(8))), so nothing can be written.",
        "Return to the branch: \(CommandError.checkout(branch))")
    case .otherBranch(let name, let hasMain):
      let branch = name.hasPrefix("refs/heads/") ? String(name.dropFirst(11)) : name
      return note(
        "store",
        "The branch \(branch) is checked out. 'belfry sync' exchanges it with the branch \(Repository.defaultBranch) of the remotes.",
        hasMain
          ? "To return to \(Repository.defaultBranch) with these changes: belfry git -- checkout \(Repository.defaultBranch)"
          : "To rename it: belfry git -- branch -m \(Repository.defaultBranch)")
    case .interruptedWrite:
      return note("store", "A write was interrupted. The next write completes it.")
    case .journalUnusable(let path, let reason):
      return problem(
        "store", "\(path) cannot be used: \(reason). Alarms ring, but nothing can be written.",
        repair)
    case .foreign(let path, let user):
      return problem(
        "store", "\(path) belongs to another user (uid \(user)).",
        "Take ownership: sudo chown -R \"$(id -un)\" \(context.storePath)")
    case .unreadable(let path, let reason):
      return problem(
        "store", "\(path) cannot be used: \(text(reason)).",
        remedy(reason))
    case .littleSpace(let bytes):
      return problem("store", "The disk has \(size(bytes)) left.", "Free some space on it.")
    case .noLocks(let reason):
      return problem(
        "store", "The store cannot be locked: \(reason). Alarms ring, but nothing can be written.",
        CommandError.withoutLocks)
    case .localFolderReplaced(let path):
      return problem(
        "store", "\(path) is not a folder. Alarms ring, but nothing can be written.", repair)
    case .packedReferencesDamaged(let path, let lines):
      return problem(
        "store",
        "\(path) is damaged: \(count(lines, "line")) of it \(lines == 1 ? "is" : "are") not valid.",
        repair)
    case .readOnly: return problem("store", "The disk is read-only.", "Mount it read-write.")

    case .records(let alarms, let deleted, let devices):
      return Diagnosis(
        "records", .fine,
        "\(count(alarms, "alarm")), \(deleted) deleted, \(count(devices, "device")).")
    case .record(let problem): return diagnosis(problem)
    case .uncommitted(let paths):
      return problem("records", "\(list(paths)) not committed.", repair)
    case .removed(let paths):
      return problem("records", "\(list(paths)) gone from the work tree.", repair)
    case .dropped(let paths):
      return problem("records", "\(list(paths)) dropped from the branch.", repair)
    case .strays(let paths):
      return note(
        "records", "\(list(paths)) in the store, but not part of Belfry's data.",
        "The file of an alarm is named by its identifier. Keep other files outside of alarms, devices and log."
      )

    case .log(let entries):
      return Diagnosis("log", .fine, "\(entries) entr\(entries == 1 ? "y" : "ies").")
    case .entry(let path, let error):
      return problem("log", "\(path) is not valid: \(error.text).", repair)
    case .entryOfUnknownAlarm(let path, let alarm):
      return note("log", "\(path) names the alarm \(alarm.short), which does not exist.")
    case .entryOfUnknownDevice(let path, let device):
      return note("log", "\(path) names the device \(device.short), which does not exist.")
    case .answerLost(let title, let civil, let outcome):
      return problem(
        "log",
        "\(title), \(context.times.full(civil)), is \(outcome.rawValue) in the log, but open in its record.",
        repair)

    case .clock(let now):
      return Diagnosis(
        "clock", .fine, "It is \(context.times.full(now)).")
    case .clockBehind(let latest, let path):
      return problem(
        "clock",
        "\(path) was written on \(context.times.full(latest)), but it is \(context.times.full(context.storeContext.now)) here.",
        "Correct the clock of the wrong device, then re-arm its alarms: belfry doctor --repair"
      )
    case .writtenAhead(let latest, let path):
      return note(
        "clock",
        "\(path) was written on \(context.times.full(latest)), by a clock that was ahead."
      )
    case .settledAhead(let title):
      return problem(
        "clock",
        "\(title): a clock that was ahead armed it too late, or recorded future occurrences as ended.",
        "Re-arm it: belfry doctor --repair")
    case .futureStamp(let title, let stamp):
      return problem(
        "clock",
        "\(title) was edited on \(context.times.full(stamp.time)), by the clock of the device \(stamp.device.short).",
        "Correct that clock.")
    case .zones(let local):
      return Diagnosis(
        "time zones", .fine, "The local time zone is \(local). Named zones are available.")
    case .noZoneData:
      return problem(
        "time zones", "The system has no time zone data, so named zones count as local.",
        "Install it: apt-get install tzdata")
    }
  }

  private static func diagnosis(_ problem: RecordProblem) -> Diagnosis {
    switch problem.kind {
    case .invalid(let error, let lastGood):
      let correct =
        "Correct it, or replace it with its last valid version: belfry doctor --repair"
      let remedy: String
      if case .newerFormat = error.kind {
        remedy = "Update Belfry on this device."
      } else {
        remedy = lastGood ? "Its last valid version stays armed. \(correct)" : correct
      }
      return Diagnosis(
        "records", .problem, "\(problem.path) is not valid: \(error.text).", remedy: remedy)
    case .removed:
      return Diagnosis(
        "records", .problem, "\(problem.path) is missing; the alarm stays.", remedy: repair)
    case .unknownZone(let name):
      return Diagnosis(
        "records", .problem, "The time zone \(name) of \(problem.path) is unknown on this device.",
        remedy: "Update the package tzdata, or set another zone: belfry edit --zone")
    }
  }

  static func diagnosis(_ mended: RepairedItem, _ times: TimeText) -> Diagnosis {
    let message: String
    switch mended {
    case .lock(let path): message = "Removed the lock \(path)."
    case .head(let branch): message = "Set HEAD to the branch \(branch)."
    case .branch(let name, let commit):
      message = "Set the branch \(name) to the commit \(commit.short)."
    case .object(let id, let source):
      let origin =
        switch source {
        case .workTree: "the work tree"
        case .index: "git's index"
        case .journal: "the journal"
        case .remote(let name): "the remote \(name)"
        }
      message = "Restored the object \(id.short) from \(origin)."
    case .index: message = "Rebuilt git's index."
    case .journal(let path): message = "Made \(path) usable again."
    case .quarantined(let path, let place): message = "Moved \(path) to \(place)."
    case .restored(let paths): message = "\(list(paths)) restored."
    case .committed(let paths): message = "\(list(paths)) committed."
    case .answers(let title, let civils):
      message =
        "\(title): \(civils.map { times.full($0) }.joined(separator: "; ")) done, as recorded in the log."
    case .rearmed(let title):
      message = "Re-armed \(title): a clock that was ahead had ended future occurrences."
    case .packed: message = "Packed the loose objects."
    }
    return Diagnosis("repair", .mended, message)
  }

  /// Returns `a is` or `a, b, c and 3 more are`.
  private static func list(_ paths: [String]) -> String {
    let shown = paths.prefix(3).joined(separator: ", ")
    let more = paths.count > 3 ? " and \(paths.count - 3) more" : ""
    return "\(shown)\(more) \(paths.count == 1 ? "is" : "are")"
  }

  private static func remedy(_ reason: Finding.UnreadableReason) -> String {
    if case .git(let error) = reason, case .unsupportedExtension(let name) = error.cause {
      return CommandError.hint(forExtension: name)
    }
    return reason.isDenied ? "Grant yourself permission to use it." : repair
  }

  private static func text(_ reason: Finding.UnreadableReason) -> String {
    switch reason {
    case .system(let number): String(cString: strerror(number))
    case .git(let error): error.message
    }
  }

  private static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }

  private static func size(_ bytes: Int64) -> String {
    bytes < 1 << 20
      ? "\(bytes >> 10) KB" : "\(bytes >> 20).\((bytes & ((1 << 20) - 1)) * 10 >> 20) MB"
  }
}
