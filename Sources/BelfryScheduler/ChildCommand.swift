import BelfryActions
import BelfryCore

/// A `belfry` command that the daemon, a tick or a delivery helper runs in a process of its own, so that it never waits
/// for git, a remote or a call.
///
/// All of them are encoded here. The command line decodes their arguments with the functions of this type.
public enum ChildCommand: Hashable, Sendable {
  /// `belfry tick --settle`: commits the recorded firings and what the clock decides, and delivers nothing.
  case settle
  /// `belfry sync --no-mail`: syncs with the remotes.
  ///
  /// - heartbeatInterval: the announced time between two heartbeats, in seconds; nil to announce none.
  /// - networkTimeout: the timeout of the network, in seconds; nil for the default.
  case sync(heartbeatInterval: Int64?, networkTimeout: Int?)
  /// `belfry partner sync --notify`: exchanges messages with the mailboxes of partners, and delivers the news.
  case syncMailboxes
  /// `belfry phone sync --background`: reads the phone's answers and writes its tasks.
  case syncPhone
  /// `belfry cascade contact`: makes the call of a callout.
  case contact(Callout)
  /// `belfry record-answer`: records the answer to occurrences, in one commit.
  ///
  /// - at: the time of the answer; nil if it is unknown.
  case recordAnswer(Answer, [OccurrenceID], at: Instant?)
  /// `belfry calendar refresh --due`: imports the calendars that this device follows.
  case refreshCalendars
  /// `belfry attend`: runs deliveries until they end.
  case attend(hookRegistry: String)

  /// The exit code of a command that fails.
  public enum ExitCode: Int32, Sendable {
    case failed = 1
    case usage = 2
    case noSuchAlarm = 3
    /// The state of the alarm does not permit the action, such as after another answer.
    case notPossible = 4
    case tierLimit = 5
    case network = 6
    case locked = 7
  }

  // MARK: Encoding

  /// Returns the arguments of `belfry`.
  ///
  /// - Parameter store: the path of the store's folder.
  public func arguments(store: String) -> [String] {
    let registry =
      if case .attend(let path) = self { ["--hook-registry", path] } else { [String]() }
    return words + ["--store", store] + registry
  }

  /// The command and its options, without the paths of folders.
  private var words: [String] {
    switch self {
    case .settle: ["tick", "--settle"]
    case .sync(let interval, _):
      ["sync", "--no-mail"] + (interval.map { ["--heartbeat-interval", "\($0)"] } ?? [])
    case .syncMailboxes: ["partner", "sync", "--notify"]
    case .syncPhone: ["phone", "sync", "--background"]
    case .contact(let callout):
      switch callout.id.subject {
      case .occurrence(let id, let resumed):
        ["cascade", "contact", callout.alarm.text, "--occurrence", id.occurrence.description]
          + ["--due", callout.due.rfc3339Milliseconds]
          + (resumed.map { ["--resumed", $0.rfc3339Milliseconds] } ?? [])
      case .rehearsal(_, let requested):
        ["cascade", "contact", callout.alarm.text, "--rehearsal", requested.rfc3339Milliseconds]
      }
    case .recordAnswer(let answer, _, _):
      switch answer {
      case .snooze(let seconds):
        [ChildCommand.recordAnswerName, answer.verb.rawValue, "--seconds", "\(seconds)"]
      case .stop, .done, .skip, .unskip, .dismiss:
        [ChildCommand.recordAnswerName, answer.verb.rawValue]
      }
    case .refreshCalendars: ["calendar", "refresh", "--due"]
    case .attend: [ChildCommand.attendName]
    }
  }

  /// The content of standard input.
  public var input: [UInt8] {
    guard case .recordAnswer(_, let occurrences, _) = self else { return [] }
    return occurrences.flatMap { Array("\($0.alarm.text) \($0.occurrence)\n".utf8) }
  }

  /// The additional environment variables.
  public var variables: [String: String] {
    switch self {
    case .sync(_, let timeout?): ["BELFRY_NETWORK_TIMEOUT": "\(timeout)"]
    case .contact(let callout): [ChildCommand.targetVariable: callout.target.key]
    case .recordAnswer(_, _, let time?): [ChildCommand.timeVariable: "\(time.milliseconds)"]
    case .settle, .sync, .syncMailboxes, .syncPhone, .recordAnswer, .refreshCalendars, .attend: [:]
    }
  }

  // MARK: Decoding

  /// The name of the command that records answers.
  public static let recordAnswerName = "record-answer"
  /// The name of the command that runs deliveries.
  public static let attendName = "attend"
  /// The environment variable with the target of a call. The target is not an argument, because every user of the
  /// machine can list the arguments of processes.
  public static let targetVariable = "BELFRY_CASCADE_TARGET"
  /// The environment variable with the time of an answer, in milliseconds since 1970.
  private static let timeVariable = "BELFRY_ANSWERED_AT"

  /// Returns the time of an answer that environment variables have; nil if they have none.
  public static func answerTime(_ variables: [String: String]) -> Instant? {
    variables[timeVariable].flatMap { Int64($0) }.map { Instant(milliseconds: $0) }
  }

  /// Returns the answer that arguments of `record-answer` name.
  ///
  /// - Parameter seconds: the length of a snooze.
  public static func answer(_ verb: AnswerVerb, seconds: Int64) -> Answer {
    switch verb {
    case .stop: .stop
    case .done: .done()
    case .snooze: .snooze(seconds: seconds)
    case .skip: .skip()
    case .unskip: .unskip()
    case .dismiss: .dismiss
    }
  }

  /// Returns the occurrence in a line of the standard input of `record-answer`; nil for another text.
  public static func occurrence(_ line: Substring) -> OccurrenceID? {
    let words = line.split(separator: " ")
    guard words.count == 2, let alarm = Identifier(words[0]),
      let occurrence = CivilDateTime(String(words[1]))
    else { return nil }
    return OccurrenceID(alarm: alarm, occurrence: occurrence)
  }

  /// Returns the subject of a call, and the time since which it is due; nil if the options of `cascade contact` are not
  /// valid.
  public static func contact(
    _ alarm: Identifier, occurrence: String?, due: String?, resumed: String?, rehearsal: String?
  ) -> (subject: Callout.Subject, due: Instant)? {
    if let rehearsal {
      return Instant(rfc3339: rehearsal).map {
        (.rehearsal(alarm: alarm, requested: $0), $0)
      }
    }
    guard let occurrence = occurrence.flatMap({ CivilDateTime($0) }),
      let due = due.flatMap(Instant.init(rfc3339:))
    else { return nil }
    let id = OccurrenceID(alarm: alarm, occurrence: occurrence)
    return (.occurrence(id, resumed: resumed.flatMap(Instant.init(rfc3339:))), due)
  }
}

extension Answer {
  /// The verb of the answer.
  fileprivate var verb: AnswerVerb {
    switch self {
    case .stop: .stop
    case .done: .done
    case .snooze: .snooze
    case .skip: .skip
    case .unskip: .unskip
    case .dismiss: .dismiss
    }
  }
}
