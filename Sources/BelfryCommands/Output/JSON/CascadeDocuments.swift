import BelfryCore
import BelfryStore

/// The cascade of an alarm: the document of `cascade list`, `add`, `remove`, `move`, `on` and `off`.
struct CascadeDocument: JSONDocument {
  /// The id of the alarm.
  let alarm: String
  /// The title of the alarm.
  let title: String
  /// True if the cascade is on.
  let on: Bool
  /// The time between two steps, in seconds.
  let every: Int64
  /// The id of the device that rings first.
  let primary: String?
  /// The time zone that all devices of the cascade use: an IANA name; absent while it is unknown.
  let zone: String?
  /// The targets in the order of the steps.
  let targets: [Target]

  /// A target of a cascade.
  struct Target: Encodable {
    /// The kind: `device`, `person` or `phone`.
    let kind: String
    /// The display name.
    let label: String
    /// The kind of the device, or the effect of the step, as text.
    let sublabel: String?
    /// The id of the device, or of the person's device.
    let device: String?
    /// The name of the person.
    let person: String?
    /// The address that messages to the person are sent to.
    let address: String?
    /// The phone number in E.164 format: `+15551234567`.
    let number: String?
    /// The text that a call adds.
    let message: String?
  }
}

/// A step of a cascade that rings if nobody responds: an element of `cascade preview`.
struct CascadePreviewDocument: JSONDocument {
  /// The time of the step.
  let at: String
  /// The time of day in the zone of the cascade, such as `5:02`, with seconds if the interval is not whole minutes.
  let time: String
  /// The time zone that all devices of the cascade use: an IANA name; absent while it is unknown.
  let zone: String?
  /// The effect of the step, as text, such as `Alarm on Watch`.
  let action: String
  /// The target of the step, whose keys are those of the document.
  let target: CascadeDocument.Target

  private enum CodingKeys: String, CodingKey { case at, time, zone, action }

  func encode(to encoder: any Encoder) throws {
    try target.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(at, forKey: .at)
    try container.encode(time, forKey: .time)
    try container.encodeIfPresent(zone, forKey: .zone)
    try container.encode(action, forKey: .action)
  }
}

/// An element of `cascade status`: a cascade in progress, or the next occurrence of an alarm with a cascade.
enum CascadeStatusDocument: JSONDocument {
  case progress(CascadeProgressDocument)
  case readiness(CascadeReadinessDocument)

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .progress(let document): try document.encode(to: encoder)
    case .readiness(let document): try document.encode(to: encoder)
    }
  }
}

/// The cascade of an occurrence that rings or is snoozed.
struct CascadeProgressDocument: Encodable {
  /// The id of the alarm.
  let alarm: String
  /// The title of the alarm.
  let title: String
  /// The occurrence.
  let occurrence: String
  /// The state of the cascade: `ringing`, `snoozed` or `exhausted`.
  let standing: String
  /// The first device and the steps, in order.
  let turns: [Turn]

  /// The first device or a step.
  struct Turn: Encodable {
    /// The time at which it rings.
    let at: String
    /// The effect, as text.
    let label: String
    /// True if that time has come.
    let started: Bool
    /// False if the device is offline and has not reported that it rings.
    let online: Bool
    /// The latest log entry about the step; absent if there is none.
    let report: Report?
  }

  /// What the log says about a step.
  struct Report: Encodable {
    /// The time of the entry.
    let at: String
    /// The number of the call or message; absent for a device.
    let attempt: Int?
    /// `rang`, `undelivered` if every channel failed, `answered`, or the reason why a call or message failed, as text.
    let outcome: String
  }
}

/// The prediction of the steps that would ring for the next occurrence.
struct CascadeReadinessDocument: Encodable {
  /// The id of the alarm.
  let alarm: String
  /// The title of the alarm.
  let title: String
  /// The time zone that all devices of the cascade use: an IANA name; absent while it is unknown.
  let zone: String?
  /// The next occurrence.
  let occurrence: String
  /// The time of the next occurrence.
  let at: String
  /// The number of steps that would ring, without the first device.
  let live: Int
  /// The first device and the steps, in order.
  let members: [Member]

  /// The first device or a step.
  struct Member: Encodable {
    /// The display name.
    let label: String
    /// The time at which it would ring.
    let at: String
    /// True for the first device.
    let first: Bool
    /// True if it would ring, as far as is known.
    let wouldRing: Bool
    /// The reason for `wouldRing`, as text.
    let reason: String
    /// The announced time between two heartbeats of the device, in seconds.
    let every: Int64?
  }

  init(_ readiness: CascadeReadiness, zones: ZoneLibrary) {
    alarm = readiness.alarm.id.text
    title = readiness.alarm.title
    zone = readiness.zoneName
    occurrence = readiness.next.civil.description
    at = zones.text(readiness.next.at)
    live = readiness.live
    members = readiness.members.map { member in
      Member(
        label: member.label, at: zones.text(member.at), first: member.target == nil,
        wouldRing: member.wouldRing, reason: member.reason, every: member.every)
    }
  }
}

/// The reports of a rehearsal: the document of `cascade test`.
struct CascadeTestDocument: JSONDocument {
  /// The id of the alarm.
  let alarm: String
  /// The time of the start.
  let asked: String
  /// The reports, in the order of their arrival.
  let reports: [Report]
  /// The display names of the first device and the steps without a report.
  let silent: [String]

  /// The report of a device.
  struct Report: Encodable {
    /// The id of the device.
    let device: String
    /// The time of the report.
    let at: String
    /// The facts of the report, with the keys of `log`.
    let payload: LogPayloadDocument?
  }
}

/// Everything that can be added to a cascade: the document of `cascade add ALARM` without a kind.
struct CascadeChoicesDocument: JSONDocument {
  /// The devices of the same owner.
  let devices: [DeviceDocument]
  /// The devices of other people.
  let people: [DeviceDocument]
  /// True, as phone numbers can be added.
  var phone = true
}

// MARK: Conversion

extension CascadeDocument {
  /// - Parameter text: the cascade with the names of its devices.
  init(_ text: CascadeText) {
    let plan = text.alarm.cascade?.plan ?? Cascade.Plan()
    alarm = text.alarm.id.text
    title = text.alarm.title
    on = plan.isOn
    every = plan.interval
    primary = plan.primary?.text
    zone = text.zoneName
    targets = plan.targets.map { Target($0, text) }
  }
}

extension CascadeDocument.Target {
  fileprivate init(_ target: CascadeTarget, _ text: CascadeText) {
    let sublabel = text.sublabel(target)
    label = target.label(text.names)
    self.sublabel = sublabel.isEmpty ? nil : sublabel
    device = target.device?.text
    switch target {
    case .device:
      kind = "device"
      (person, address, number, message) = (nil, nil, nil, nil)
    case .person(let person):
      kind = "person"
      (self.person, address, number, message) = (person.name, person.address, nil, nil)
    case .phone(let number, let message):
      kind = "phone"
      (person, address, self.number, self.message) = (nil, nil, number.e164, message)
    }
  }
}

extension CascadePreviewDocument {
  /// Returns the steps that ring if nobody responds to an occurrence.
  ///
  /// - Parameter zone: the zone of the alarm.
  static func all(
    _ text: CascadeText, of next: Timeline.Occurrence, in zone: TimeZoneRules
  ) -> [CascadePreviewDocument] {
    let plan = text.alarm.cascade?.plan ?? Cascade.Plan()
    // A document does not depend on the locale.
    let times = TimeText(now: text.times.now, zones: text.times.zones)
    return plan.preview(due: next.at).map { target, at in
      CascadePreviewDocument(
        at: times.zones.text(at), time: text.clock(at, zone, times), zone: text.zoneName,
        action: target.action(text.names), target: CascadeDocument.Target(target, text))
    }
  }
}
