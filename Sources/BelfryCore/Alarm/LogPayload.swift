/// The facts of a log entry beyond its action, such as the end of a snooze. They are data: the command line renders the
/// text.
public enum LogPayload: Hashable, Sendable {
  /// The schedule of a created alarm.
  case schedule(Schedule)
  /// The partner who requested a created alarm; nil if the name is unknown.
  case partnerRequest(partner: String?)
  /// The edited fields of the alarm.
  case fields([Alarm.Field])
  /// The part of the cascade whose discarded value was restored.
  case restoredPart(Cascade.Part)
  /// An edit of the cascade.
  case cascade(CascadeEdit)
  /// The device that the entry's device has replaced.
  case replacedDevice(Identifier)
  /// The reason of a deletion that follows from an action of a partner or on a partner.
  case deletion(DeletionReason)
  /// The end of a snooze.
  case snooze(until: Instant)
  /// The civil times at which a moved occurrence would have rung, and at which it rings now.
  case move(from: CivilDateTime, to: CivilDateTime)
  /// The beginning of a pause, if it is later than the entry, and its end.
  case pause(from: CivilDateTime? = nil, until: CivilDateTime)
  /// A follow-up: its number, starting at 1, the number of all follow-ups, and true if it rang unanswered.
  case followUp(number: Int, count: Int, isUnanswered: Bool)
  /// A skip because of a pause, with the earlier occurrences that the same entry settles; nil for none.
  case skippedByPause(EarlierOccurrences?)
  /// Earlier occurrences that the same entry settles.
  case earlier(EarlierOccurrences)
  /// A miss after all steps of the cascade.
  case exhaustedCascade
  /// A firing that no channel of the device could deliver at the first attempt.
  case undelivered
  /// The number of steps of an exhausted cascade.
  case unansweredSteps(Int)
  /// The action that was undone.
  case undone(LogEntry.Action)
  /// A call or message to a target of the cascade.
  case call(Call)
  /// The request for a rehearsal of the cascade.
  case rehearsalRequest
  /// The rehearsal on the entry's device, with true if a notification was delivered.
  case rehearsal(isDelivered: Bool)
  /// The payload of a newer version, as canonical JSON.
  case unknown(String)

  /// An edit of a cascade.
  public enum CascadeEdit: Hashable, Sendable {
    /// The cascade was turned on or off.
    case on, off
    /// A target was added or removed.
    case added(CascadeTarget)
    case removed(CascadeTarget)
    /// A step was moved. The first step is 1.
    case moved(from: Int, to: Int)
  }

  /// The reason of a deletion.
  public enum DeletionReason: Hashable, Sendable {
    /// The partner has recalled the request.
    case recalled(partner: String)
    /// The partner has ended the partnership.
    case partnershipEnded(partner: String)
    /// The user has removed the partner.
    case partnerRemoved(partner: String)
  }

  /// Occurrences before the one of the entry that the same entry settles.
  public struct EarlierOccurrences: Hashable, Sendable {
    /// The number of earlier occurrences.
    public let count: Int
    /// The earliest of them.
    public let first: CivilDateTime

    /// Creates the description of earlier occurrences.
    public init(count: Int, first: CivilDateTime) {
      self.count = count
      self.first = first
    }
  }

  /// One attempt to call or message a target.
  public struct Call: Hashable, Sendable {
    /// The target.
    public let target: CascadeTarget
    /// The number of the attempt, starting at 1.
    public let attempt: Int
    /// The outcome.
    public let outcome: CallOutcome
    /// True for a rehearsal.
    public let isTest: Bool

    /// Creates the description of an attempt, as the log keeps it.
    public init(target: CascadeTarget, attempt: Int, outcome: CallOutcome, isTest: Bool) {
      self.target = target.loggable
      self.attempt = attempt
      self.outcome = outcome.loggable
      self.isTest = isTest
    }
  }
}

/// The outcome of one call or message.
public enum CallOutcome: Hashable, Sendable {
  /// The call was answered, or the message was sent.
  case answered
  /// The line was busy.
  case busy
  /// Nobody answered.
  case noAnswer
  /// No hook of that name exists in the folders.
  case hookMissing(name: String, folders: [String])
  /// Every hook failed before it could place the call, each for its own reason.
  case failed([HookFailure])

  /// The reason that a hook could not place a call.
  public enum HookFailure: Hashable, Sendable {
    /// The hook's own last line on standard error, without its period.
    case message(String)
    /// The hook exited with a status and printed no reason.
    case exited(status: Int32)
    /// The hook ran into its timeout, in seconds.
    case timedOut(seconds: Int)
    /// The hook could not be run, with the system's reason.
    case notRun(String)
  }
}

extension CascadeTarget {
  /// The target without its message and address, which the log does not need.
  public var loggable: CascadeTarget {
    switch self {
    case .device, .phoneTasks: self
    case .person(let person):
      .person(CascadePerson(name: person.name, device: person.device, gadget: person.gadget))
    case .phone(let number, _): .phone(number, message: nil)
    }
  }
}

extension CallOutcome {
  /// The maximum length of a text of a hook in the log, in characters.
  private static let maxLength = 500

  /// The outcome without control characters, which records do not allow.
  fileprivate var loggable: CallOutcome {
    func plain(_ text: String) -> String {
      let scalars = text.unicodeScalars.filter { !AlarmText.isControl($0) }
      return String(String(String.UnicodeScalarView(scalars)).prefix(CallOutcome.maxLength))
    }
    switch self {
    case .answered, .busy, .noAnswer: return self
    case .hookMissing(let name, let folders):
      return .hookMissing(name: plain(name), folders: folders.map(plain))
    case .failed(let failures):
      return .failed(
        failures.map { failure in
          switch failure {
          case .message(let text): .message(plain(text))
          case .notRun(let reason): .notRun(plain(reason))
          case .exited, .timedOut: failure
          }
        })
    }
  }
}

extension LogPayload {
  /// A text that is equal for two payloads exactly if they are equal. It breaks ties in `LogEntry.join`.
  var canonicalText: String {
    switch self {
    case .schedule(let schedule): "schedule \(schedule.canonicalText)"
    case .partnerRequest(let partner): "partnerRequest" + (partner.map { " \($0)" } ?? "")
    case .fields(let fields): "fields " + fields.map(\.rawValue).joined(separator: " ")
    case .restoredPart(let part): "restoredPart \(part.name)"
    case .cascade(.on): "cascade on"
    case .cascade(.off): "cascade off"
    case .cascade(.added(let target)): "cascade added \(target.canonicalText)"
    case .cascade(.removed(let target)): "cascade removed \(target.canonicalText)"
    case .cascade(.moved(let from, let to)): "cascade moved \(from) \(to)"
    case .replacedDevice(let device): "replacedDevice \(device)"
    case .deletion(.recalled(let partner)): "deletion recalled \(partner)"
    case .deletion(.partnershipEnded(let partner)): "deletion partnershipEnded \(partner)"
    case .deletion(.partnerRemoved(let partner)): "deletion partnerRemoved \(partner)"
    case .snooze(let until): "snooze \(until.rfc3339Milliseconds)"
    case .move(let from, let to): "move \(from) \(to)"
    case .pause(nil, let until): "pause \(until)"
    case .pause(let from?, let until): "pause \(from) \(until)"
    case .followUp(let number, let count, let isUnanswered):
      "followUp \(number) \(count) \(isUnanswered)"
    case .skippedByPause(let earlier):
      "skippedByPause" + (earlier.map { " \($0.count) \($0.first)" } ?? "")
    case .earlier(let earlier): "earlier \(earlier.count) \(earlier.first)"
    case .exhaustedCascade: "exhaustedCascade"
    case .undelivered: "undelivered"
    case .unansweredSteps(let count): "unansweredSteps \(count)"
    case .undone(let action): "undone \(action.rawValue)"
    case .call(let call):
      "call \(call.attempt) \(call.isTest) \(call.target.canonicalText): \(call.outcome.canonicalText)"
    case .rehearsalRequest: "rehearsalRequest"
    case .rehearsal(let isDelivered): "rehearsal \(isDelivered)"
    case .unknown(let json): json
    }
  }
}

extension CallOutcome {
  fileprivate var canonicalText: String {
    switch self {
    case .answered: return "answered"
    case .busy: return "busy"
    case .noAnswer: return "noAnswer"
    case .hookMissing(let name, let folders):
      return (["hookMissing", name] + folders).joined(separator: "\n")
    case .failed(let failures):
      let texts = failures.map { failure in
        switch failure {
        case .message(let text): "message \(text)"
        case .exited(let status): "exited \(status)"
        case .timedOut(let seconds): "timedOut \(seconds)"
        case .notRun(let reason): "notRun \(reason)"
        }
      }
      return (["failed"] + texts).joined(separator: "\n")
    }
  }
}
