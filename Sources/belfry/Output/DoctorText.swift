import BelfryCore
import BelfryStore
import Git

/// A finding as a person reads it: one line, with what to do.
struct Diagnosis: Sendable {
  enum Level: String, Sendable {
    /// It is as it should be.
    case fine
    /// Worth knowing; nothing is at risk.
    case note
    case problem
    /// A repair has put it right.
    case mended
  }

  /// What was looked at: `records`.
  let area: String
  let level: Level
  let message: String
  /// What to do about it; nil where there is nothing to do.
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

  /// Reads what `json` made; nil for anything else.
  init?(line: some Sequence<UInt8>) {
    guard let json = try? JSON(parsing: Array(line)), let area = json["area"]?.string,
      let level = json["level"]?.string.flatMap(Level.init), let message = json["message"]?.string
    else { return nil }
    self.init(area, level, message, remedy: json["remedy"]?.string)
  }

  // MARK: Text

  /// The area, a sign and the words; wrapped below the words where the terminal ends.
  func text(_ style: Style) -> String {
    let (sign, colour): (String, Style.Colour) =
      switch level {
      case .fine: ("ok", .green)
      case .note: ("note", .yellow)
      case .problem: ("PROBLEM", .red)
      case .mended: ("mended", .green)
      }
    let indent = 24
    let head =
      "\(Printable.text(area))".padded(to: 15) + style.paint(sign, colour)
      + String(repeating: " ", count: indent - 15 - sign.count)
    let words = Printable.text(message) + (remedy.map { " \(Printable.text($0))" } ?? "")
    guard let width = style.width, width > indent + 20 else { return head + words + "\n" }
    let lines = TextWidth.wrapped(words, to: width - indent)
    return head + lines.joined(separator: "\n" + String(repeating: " ", count: indent)) + "\n"
  }
}

extension String {
  fileprivate func padded(to columns: Int) -> String {
    self + String(repeating: " ", count: max(1, columns - count))
  }
}

/// The words for what an examination found.
enum DoctorText {
  private static let repair = "Mend it: belfry doctor --repair"

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
        "\(count(commits, "commit")), \(size(bytes)), about \(loose) loose objects; everything is whole."
      )
    case .headBroken: return problem("store", "The file .git/HEAD names no branch.", repair)
    case .branchBroken(let name, let reason):
      return problem("store", "The branch \(name) is broken: \(reason).", repair)
    case .lock(let path, let user?) where user.host != nil:
      return problem(
        "store", "\(user.shown) has locked the store: \(path).",
        "If no git runs there: belfry doctor --repair")
    case .lock(let path, let user?):
      return note("store", "\(user.shown) is at work in the store: \(path).")
    case .lock(let path, nil):
      return problem("store", "A git that died has left a lock: \(path).", repair)
    case .reflogBroken(let path):
      return problem("store", "\(path) has entries of commits that are not there.", repair)
    case .indexMissing: return problem("store", "git's index is missing.", repair)
    case .indexDamaged(let reason):
      return problem("store", "git's index is damaged: \(reason).", repair)
    case .damagedObject(let object):
      return problem("store", "The object \(object.path) is damaged: \(object.reason).", repair)
    case .missingObject(let kind, let id):
      return problem(
        "store", "The \(kind) \(id.short) of the history is missing.",
        "\(repair). If that does not find it, the records are whole all the same; a new history: belfry export > all.json; belfry import all.json --store NEW"
      )
    case .complaint(let line): return problem("store", "git fsck says: \(line).", repair)
    case .manyLooseObjects(let count):
      return note(
        "store", "There are about \(count) loose objects, which makes git slow.",
        "Pack them: belfry git -- gc")
    case .operation(let operation):
      return problem(
        "store", "git has begun a \(operation) and not finished it: nothing can be written.",
        "Finish it, or give it up: belfry git -- status")
    case .past(let commit, let branch):
      return problem(
        "store",
        "A commit of the past is checked out, \(commit.prefix(8)): nothing can be written.",
        "Come back: \(CommandError.checkout(branch))")
    case .otherBranch(let name, let hasMain):
      let branch = name.hasPrefix("refs/heads/") ? String(name.dropFirst(11)) : name
      return note(
        "store",
        "The branch \(branch) is checked out: it is what 'belfry sync' exchanges with the branch \(Repository.branch) of the remotes.",
        hasMain
          ? "To return to \(Repository.branch), which takes over what was done: belfry git -- checkout \(Repository.branch)"
          : "To give it the usual name: belfry git -- branch -m \(Repository.branch)")
    case .interruptedWrite:
      return note("store", "A write was interrupted; the next one finishes it.")
    case .foreign(let path, let user):
      return problem(
        "store", "\(path) belongs to another user (number \(user)).",
        "Take it over: sudo chown -R \"$(id -un)\" \(context.storePath)")
    case .unreadable(let path, let reason):
      return problem(
        "store", "\(path) cannot be used: \(reason).",
        reason.contains("denied") ? "Give yourself the rights to it." : repair)
    case .littleSpace(let bytes):
      return problem("store", "The disk has \(size(bytes)) left.", "Make room on it.")
    case .noLocks(let reason):
      return problem(
        "store", "The store cannot be locked: \(reason). Alarms ring, but nothing can be written.",
        CommandError.withoutLocks)
    case .localFolderReplaced(let path):
      return problem(
        "store", "\(path) is not a folder: alarms ring, but nothing can be written.", repair)
    case .packedReferencesDamaged(let path, let lines):
      return problem(
        "store",
        "\(path) is damaged: \(count(lines, "line")) of it name\(lines == 1 ? "s" : "") no reference.",
        repair)
    case .readOnly: return problem("store", "The disk is read-only.", "Mount it for writing.")

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
        "records", "\(list(paths)) in the store, but none of Belfry's files.",
        "An alarm's file is named by its identifier. Others may stay outside of alarms, devices and log."
      )

    case .log(let entries):
      return Diagnosis("log", .fine, "\(entries) entr\(entries == 1 ? "y" : "ies").")
    case .entry(let path, let error):
      return problem("log", "\(path) is not valid: \(error.words).", repair)
    case .entryOfUnknownAlarm(let path, let alarm):
      return note("log", "\(path) tells of the alarm \(alarm.short), which is not there.")
    case .entryOfUnknownDevice(let path, let device):
      return note("log", "\(path) tells of the device \(device.short), which is not there.")
    case .answerLost(let title, let civil, let outcome):
      return problem(
        "log",
        "\(title), \(civil.spoken), is \(outcome.rawValue) by the log, and open by its record.",
        repair)

    case .clock(let now):
      return Diagnosis(
        "clock", .fine, "It is \(context.storeContext.zones.text(Instant(seconds: now.seconds))).")
    case .clockBehind(let latest, let path):
      return problem(
        "clock",
        "\(path) was written at \(context.storeContext.zones.text(latest)), and it is \(context.storeContext.zones.text(context.storeContext.now)) here.",
        "Set the clock of the device that is wrong, then re-arm what it has settled: belfry doctor --repair"
      )
    case .writtenAhead(let latest, let path):
      return note(
        "clock",
        "\(path) was written at \(context.storeContext.zones.text(latest)), by a clock that was ahead then."
      )
    case .settledAhead(let title):
      return problem(
        "clock",
        "\(title): occurrences that have not come are recorded as settled, by a clock that was ahead.",
        "Re-arm it: belfry doctor --repair")
    case .futureStamp(let title, let stamp):
      return problem(
        "clock",
        "\(title) was edited at \(context.storeContext.zones.text(stamp.time)), by the clock of the device \(stamp.device.short).",
        "Set that clock.")
    case .zones(let local):
      return Diagnosis("time zones", .fine, "Here it is \(local); named ones are known.")
    case .noZoneData:
      return problem(
        "time zones", "The system has no time zone data: named zones count as local.",
        "apt-get install tzdata")
    }
  }

  private static func diagnosis(_ problem: RecordProblem) -> Diagnosis {
    switch problem.kind {
    case .invalid(let error, let lastGood):
      let correct =
        "Correct it; or 'belfry doctor --repair' puts it aside, and the last good one back."
      let remedy: String
      if case .newerFormat = error.kind {
        remedy = "Bring Belfry up to date on this device."
      } else {
        remedy = lastGood ? "Its last good version stays armed. \(correct)" : correct
      }
      return Diagnosis(
        "records", .problem, "\(problem.path) is not valid: \(error.words).", remedy: remedy)
    case .removed:
      return Diagnosis(
        "records", .problem, "\(problem.path) is gone; the alarm stays.", remedy: repair)
    case .unknownZone(let name):
      return Diagnosis(
        "records", .problem, "The time zone \(name) of \(problem.path) is not known here.",
        remedy: "Bring the package tzdata up to date, or: belfry edit --zone")
    }
  }

  static func diagnosis(_ mended: Mended) -> Diagnosis {
    let message: String
    switch mended {
    case .lock(let path): message = "Took the lock away: \(path)."
    case .head(let branch): message = "HEAD names \(branch) again."
    case .branch(let name, let commit): message = "\(name) names the commit \(commit.short)."
    case .object(let id, let source):
      let place =
        switch source {
        case .workTree: "the work tree"
        case .index: "git's index"
        case .remote(let name): "the remote \(name)"
        }
      message = "Took the object \(id.short) back from \(place)."
    case .index: message = "Made git's index anew."
    case .quarantined(let path, let place): message = "Moved \(path) to \(place)."
    case .restored(let paths): message = "\(list(paths)) put back."
    case .committed(let paths): message = "\(list(paths)) committed."
    case .answers(let title, let civils):
      message = "\(title): \(civils.map(\.spoken).joined(separator: "; ")) done, as the log says."
    case .rearmed(let title):
      message = "\(title) is armed again: a clock that was ahead had settled what has not come."
    case .packed: message = "Packed the loose objects."
    }
    return Diagnosis("repair", .mended, message)
  }

  /// `a`, `a, b and 3 more`, with the verb that follows.
  private static func list(_ paths: [String]) -> String {
    let shown = paths.prefix(3).joined(separator: ", ")
    let more = paths.count > 3 ? " and \(paths.count - 3) more" : ""
    return "\(shown)\(more) \(paths.count == 1 ? "is" : "are")"
  }

  private static func count(_ number: Int, _ what: String) -> String {
    "\(number) \(what)\(number == 1 ? "" : "s")"
  }

  private static func size(_ bytes: Int64) -> String {
    bytes < 1 << 20
      ? "\(bytes >> 10) KB" : "\(bytes >> 20).\((bytes & ((1 << 20) - 1)) * 10 >> 20) MB"
  }
}
