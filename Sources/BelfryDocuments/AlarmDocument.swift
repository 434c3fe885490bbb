import BelfryCore
import BelfryScheduler
import BelfryStore

/// An alarm: the document of `add`, `edit` and `show`, and an element of `list`, `pause`, `resume` and `undo`.
package struct AlarmDocument: JSONDocument, Decodable {
  /// The id.
  let id: String
  /// The title.
  let title: String
  /// The note.
  let note: String?
  /// The tags, sorted; absent for none.
  let tags: [String]?
  /// False if the alarm is disabled or deleted.
  let enabled: Bool
  /// The delivery options.
  let delivery: Delivery
  /// The actions of the alarm that cannot run on this device, if there are any.
  let actionProblems: [ActionProblem]?
  /// The pause, if one is set.
  let pause: Pause?
  /// The cascade, if the alarm has one.
  let cascade: CascadePlan?
  /// The time zone that all devices of an active cascade use: an IANA name.
  let cascadeZone: String?
  /// The origin of an alarm that a partner has set.
  let partner: Partner?
  /// The state: `active`, `ringing`, `snoozed`, `pending`, `missed`, `disabled`, `finished` or `paused`.
  let state: String
  /// The battery warning for the next occurrence, if the battery may not last until then.
  let batteryWarning: BatteryWarningDocument?
  /// True if a daemon, a timer or cron makes alarms ring on this device; in `add`, `edit`, `list` and `show`.
  let schedulerRunning: Bool?
  /// The schedule.
  let schedule: ScheduleDocument
  /// The zone of the schedule: `floating` or an IANA name.
  let zone: String
  /// The time of the next occurrence.
  let next: String?
  /// The next occurrence.
  let nextOccurrence: String?
  /// The time until the next occurrence, in seconds.
  let countdownSeconds: Int64?
  /// The ringing occurrence, if the state is `ringing`.
  let ringing: Ringing?
  /// The latest pending occurrence.
  let pending: Pending?
  /// All pending occurrences, oldest first, if there are several.
  let allPending: [Pending]?
  /// The snooze, if the state is `snoozed`.
  let snooze: Snooze?
  /// The missed occurrences that were not dismissed, oldest first.
  let missed: [String]?
  /// The skipped occurrences that are still ahead, oldest first.
  let skipped: [String]?
  /// The moved occurrences that are ahead or need a response, oldest first.
  let moved: [Moved]?
}

extension AlarmDocument {
  /// The delivery options of an alarm.
  package struct Delivery: Codable {
    /// True if the alarm rings until somebody responds.
    let persistent: Bool
    /// True if follow-ups ring.
    let strict: Bool
    /// The name of the alarm's own sound.
    let sound: String?
    /// The times of follow-ups after a stop, in seconds, ascending.
    let followUps: [Int64]?
    /// The times of advance warnings before an occurrence, in seconds, descending.
    let warnings: [Int64]?
    /// The ids of the devices that ring, if not all do.
    let devices: [String]?
    /// The name of the action that runs when the alarm fires.
    let run: String?
    /// The name of the action that runs when an occurrence is marked as done.
    let runDone: String?
  }

  /// An action that cannot run on this device.
  package struct ActionProblem: Codable {
    /// The name of the action.
    let name: String
    /// The path of its file.
    let path: String
    /// The reason: `missing`, `notAFile`, `notExecutable`, `foreign`, `writableByOthers` or `unreadable`.
    let reason: String
  }

  /// A period in which occurrences are skipped.
  package struct Pause: Codable {
    /// The civil time of the beginning.
    let from: String
    /// The civil time of the end.
    let until: String
  }

  /// The definition of a cascade.
  package struct CascadePlan: Codable {
    /// True if the cascade is on.
    let on: Bool
    /// The time between two steps, in seconds.
    let every: Int64
    /// The id of the device that rings first.
    let primary: String?
    /// The targets in the order of the steps.
    let targets: [Target]
  }

  /// A target of a cascade. A device has `device`, a person `person`, a phone number `phone`, the task on a phone
  /// `phoneTasks`.
  package struct Target: Codable {
    /// The id of the device, or of the person's device.
    let device: String?
    /// The name of the person.
    let person: String?
    /// The address that messages to the person are sent to.
    let address: String?
    /// The display name of the person's device.
    let gadget: String?
    /// The phone number in E.164 format: `+15551234567`.
    let phone: String?
    /// The text that a call adds.
    let message: String?
    /// True for the task on a phone.
    let phoneTasks: Bool?
  }

  /// The origin of a partner's alarm.
  package struct Partner: Codable {
    /// The name of the partner.
    let name: String
    /// The id of the partner.
    let partnership: String
    /// The id of the request.
    let request: String
    /// The quiet hours, such as `23:00-06:00`.
    let quiet: String?
  }

  /// A ringing occurrence.
  package struct Ringing: Codable {
    /// The occurrence.
    let occurrence: String
    /// False if it is due on this device, and no channel has delivered it.
    let delivered: Bool
  }

  /// A pending occurrence.
  package struct Pending: Codable {
    /// The occurrence.
    let occurrence: String
    /// The time when it was stopped.
    let since: String
    /// The number of the latest follow-up that was sent; 0 before the first.
    let followUpsSent: Int
    /// The time of the next follow-up.
    let nextFollowUp: String?
  }

  /// A moved occurrence.
  package struct Moved: Codable {
    /// The occurrence.
    let occurrence: String
    /// The date and time at which it rings.
    let time: String
  }

  /// A snooze.
  package struct Snooze: Codable {
    /// The snoozed occurrence.
    let occurrence: String
    /// The time when it rings again.
    let until: String
    /// The number of snoozes; 0 while the occurrence waits for the end of quiet hours.
    let count: Int
  }
}

// MARK: Conversion

extension AlarmDocument {
  package init(
    _ alarm: Alarm, _ status: AlarmStatus, batteryWarning: BatteryWarning?,
    actionProblems: [ActionFolder.Problem] = [], scheduler: SchedulerState? = nil, now: Instant,
    zones: ZoneLibrary
  ) {
    id = alarm.id.text
    title = alarm.title
    note = alarm.note
    tags = alarm.tags.isEmpty ? nil : alarm.tags.sorted().map(\.text)
    enabled = alarm.enabled
    delivery = Delivery(alarm.delivery)
    self.actionProblems =
      actionProblems.isEmpty ? nil : actionProblems.map(ActionProblem.init)
    pause = alarm.pause.map { Pause(from: $0.from.description, until: $0.until.description) }
    cascade = alarm.cascade.map { CascadePlan($0.plan) }
    cascadeZone = alarm.cascade?.plan.isActive == true ? alarm.cascadeZone : nil
    partner = alarm.partner.map(Partner.init)
    state = status.state.rawValue
    self.batteryWarning = batteryWarning.map(BatteryWarningDocument.init)
    schedulerRunning = scheduler?.isRunning
    schedule = ScheduleDocument(alarm.schedule)
    zone = alarm.zone.text
    next = status.next.map { zones.text($0.at) }
    nextOccurrence = status.next.map { $0.civil.description }
    countdownSeconds = status.next.map { $0.at.seconds(since: now) }
    ringing =
      status.state == .ringing
      ? status.current.map {
        Ringing(occurrence: $0.description, delivered: !status.isUndelivered)
      } : nil
    pending = status.pending.last.map { Pending($0, zones) }
    allPending =
      status.pending.count > 1 ? status.pending.map { Pending($0, zones) } : nil
    snooze = status.snooze.map {
      Snooze(
        occurrence: $0.occurrence.description, until: zones.text($0.until), count: $0.count)
    }
    missed = status.missed.isEmpty ? nil : status.missed.map(\.description)
    skipped = status.skipped.isEmpty ? nil : status.skipped.map(\.description)
    moved =
      status.moved.isEmpty
      ? nil
      : status.moved.sorted { $0.key < $1.key }.map {
        Moved(occurrence: $0.key.description, time: $0.value.description)
      }
  }
}

extension AlarmDocument.Delivery {
  package init(_ delivery: Alarm.Delivery) {
    persistent = delivery.persistent
    strict = delivery.strict
    sound = delivery.sound
    followUps = delivery.followUps?.seconds
    warnings = delivery.warnings?.seconds
    devices = delivery.devices.isEmpty ? nil : delivery.devices.sorted().map(\.text)
    run = delivery.run?.text
    runDone = delivery.runDone?.text
  }
}

extension AlarmDocument.ActionProblem {
  package init(_ problem: ActionFolder.Problem) {
    name = problem.name.text
    path = problem.path
    reason =
      switch problem.fault {
      case .missing: "missing"
      case .notAFile: "notAFile"
      case .notExecutable: "notExecutable"
      case .foreign: "foreign"
      case .writableByOthers: "writableByOthers"
      case .unreadable: "unreadable"
      }
  }
}

extension AlarmDocument.CascadePlan {
  package init(_ plan: Cascade.Plan) {
    on = plan.isOn
    every = plan.interval
    primary = plan.primary?.text
    targets = plan.targets.map(AlarmDocument.Target.init)
  }
}

extension AlarmDocument.Target {
  package init(_ target: CascadeTarget) {
    switch target {
    case .device(let id):
      self.init(
        device: id.text, person: nil, address: nil, gadget: nil, phone: nil, message: nil,
        phoneTasks: nil)
    case .person(let person):
      self.init(
        device: person.device?.text, person: person.name, address: person.address,
        gadget: person.gadget, phone: nil, message: nil, phoneTasks: nil)
    case .phone(let number, let message):
      self.init(
        device: nil, person: nil, address: nil, gadget: nil, phone: number.e164, message: message,
        phoneTasks: nil)
    case .phoneTasks:
      self.init(
        device: nil, person: nil, address: nil, gadget: nil, phone: nil, message: nil,
        phoneTasks: true)
    }
  }
}

extension AlarmDocument.Partner {
  package init(_ origin: PartnerOrigin) {
    name = origin.name
    partnership = origin.partnership.text
    request = origin.request.text
    quiet = origin.quiet?.description
  }
}

extension AlarmDocument.Pending {
  package init(_ pending: AlarmStatus.Pending, _ zones: ZoneLibrary) {
    occurrence = pending.occurrence.description
    since = zones.text(pending.since)
    followUpsSent = pending.followUpsSent
    nextFollowUp = pending.nextFollowUp.map { zones.text($0) }
  }
}
