import BelfryCore
import BelfryStore

/// The cascade of an alarm: the document of `cascade list`, `add`, `remove`, `move`, `on` and `off`.
package struct CascadeDocument: JSONDocument {
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

  package init(
    alarm: String, title: String, on: Bool, every: Int64, primary: String?, zone: String?,
    targets: [Target]
  ) {
    self.alarm = alarm
    self.title = title
    self.on = on
    self.every = every
    self.primary = primary
    self.zone = zone
    self.targets = targets
  }

  /// A target of a cascade.
  package struct Target: Encodable {
    /// The kind: `device`, `person`, `phone` or `phone-tasks`.
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

    package init(
      kind: String, label: String, sublabel: String?, device: String?, person: String?,
      address: String?, number: String?, message: String?
    ) {
      self.kind = kind
      self.label = label
      self.sublabel = sublabel
      self.device = device
      self.person = person
      self.address = address
      self.number = number
      self.message = message
    }
  }
}

/// A step of a cascade that rings if nobody responds: an element of `cascade preview`.
package struct CascadePreviewDocument: JSONDocument {
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

  package init(
    at: String, time: String, zone: String?, action: String, target: CascadeDocument.Target
  ) {
    self.at = at
    self.time = time
    self.zone = zone
    self.action = action
    self.target = target
  }

  private enum CodingKeys: String, CodingKey { case at, time, zone, action }

  package func encode(to encoder: any Encoder) throws {
    try target.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(at, forKey: .at)
    try container.encode(time, forKey: .time)
    try container.encodeIfPresent(zone, forKey: .zone)
    try container.encode(action, forKey: .action)
  }
}

/// An element of `cascade status`: a cascade in progress, or the next occurrence of an alarm with a cascade.
package enum CascadeStatusDocument: JSONDocument {
  case progress(CascadeProgressDocument)
  case readiness(CascadeReadinessDocument)

  package func encode(to encoder: any Encoder) throws {
    switch self {
    case .progress(let document): try document.encode(to: encoder)
    case .readiness(let document): try document.encode(to: encoder)
    }
  }
}

/// The cascade of an occurrence that rings or is snoozed.
package struct CascadeProgressDocument: Encodable {
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

  package init(alarm: String, title: String, occurrence: String, standing: String, turns: [Turn]) {
    self.alarm = alarm
    self.title = title
    self.occurrence = occurrence
    self.standing = standing
    self.turns = turns
  }

  /// The first device or a step.
  package struct Turn: Encodable {
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

    package init(at: String, label: String, started: Bool, online: Bool, report: Report?) {
      self.at = at
      self.label = label
      self.started = started
      self.online = online
      self.report = report
    }
  }

  /// What the log says about a step.
  package struct Report: Encodable {
    /// The time of the entry.
    let at: String
    /// The number of the call or message; absent for a device.
    let attempt: Int?
    /// `rang`, `undelivered` if every channel failed, `answered`, or the reason why a call or message failed, as text.
    let outcome: String

    package init(at: String, attempt: Int?, outcome: String) {
      self.at = at
      self.attempt = attempt
      self.outcome = outcome
    }
  }
}

/// The prediction of the steps that would ring for the next occurrence.
package struct CascadeReadinessDocument: Encodable {
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

  package init(
    alarm: String, title: String, zone: String?, occurrence: String, at: String, live: Int,
    members: [Member]
  ) {
    self.alarm = alarm
    self.title = title
    self.zone = zone
    self.occurrence = occurrence
    self.at = at
    self.live = live
    self.members = members
  }

  /// The first device or a step.
  package struct Member: Encodable {
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

    package init(
      label: String, at: String, first: Bool, wouldRing: Bool, reason: String, every: Int64?
    ) {
      self.label = label
      self.at = at
      self.first = first
      self.wouldRing = wouldRing
      self.reason = reason
      self.every = every
    }
  }
}

/// The reports of a rehearsal: the document of `cascade test`.
package struct CascadeTestDocument: JSONDocument {
  /// The id of the alarm.
  let alarm: String
  /// The time of the start.
  let asked: String
  /// The reports, in the order of their arrival.
  let reports: [Report]
  /// The display names of the first device and the steps without a report.
  let silent: [String]

  package init(alarm: String, asked: String, reports: [Report], silent: [String]) {
    self.alarm = alarm
    self.asked = asked
    self.reports = reports
    self.silent = silent
  }

  /// The report of a device.
  package struct Report: Encodable {
    /// The id of the device.
    let device: String
    /// The time of the report.
    let at: String
    /// The facts of the report, with the keys of `log`.
    let payload: LogPayloadDocument?

    package init(device: String, at: String, payload: LogPayloadDocument?) {
      self.device = device
      self.at = at
      self.payload = payload
    }
  }
}

/// Everything that can be added to a cascade: the document of `cascade add ALARM` without a kind.
package struct CascadeChoicesDocument: JSONDocument {
  /// The devices of the same owner.
  let devices: [DeviceDocument]
  /// The devices of other people.
  let people: [DeviceDocument]
  /// True, as phone numbers can be added.
  var phone = true
  /// True if a device publishes tasks for a phone, and no step uses them.
  let phoneTasks: Bool

  package init(devices: [DeviceDocument], people: [DeviceDocument], phoneTasks: Bool) {
    self.devices = devices
    self.people = people
    self.phoneTasks = phoneTasks
  }
}
