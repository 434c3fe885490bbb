import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The result of an evaluation: the document of `tick`.
package struct TickDocument: JSONDocument {
  /// The delivered firings.
  let fired: [Delivery]
  /// The delivered follow-ups.
  let followUps: [Delivery]
  /// The delivered advance warnings.
  let warnings: [Delivery]
  /// The calls and messages of cascades that are due, and that a process of their own places.
  let calls: [Call]
  /// The responses that came through the deliveries.
  let answered: [Response]
  /// The occurrences that were missed.
  let missed: [Occurrence]
  /// The occurrences that were completed automatically.
  let autoCompleted: [Occurrence]
  /// The delivered battery warning.
  let batteryWarning: Battery?
  /// The time of the next due tick.
  let nextWake: String?
}

extension TickDocument {
  /// A delivered notification.
  package struct Delivery: Encodable {
    /// The id of the alarm.
    let alarm: String
    /// The title of the alarm.
    let title: String
    /// The headline, for a follow-up.
    let headline: String?
    /// The occurrence.
    let occurrence: String
    /// The zone of the occurrence: an IANA name; absent if it is that of this device.
    let zone: String?
    /// The time at which the occurrence was due.
    let due: String
    /// The responses that the notification offers: `stop`, `done`, `snooze`, `skip`, `remind`.
    let actions: [String]
    /// The name of the partner who has set the alarm.
    let partner: String?
    /// The cascade step, if this device rings as a later one.
    let cascade: CascadeStep?
    /// True if the firing is more than a minute late, for a firing.
    let late: Bool?
    /// The number of the follow-up, starting at 1.
    let number: Int?
    /// The number of follow-ups of the occurrence.
    let count: Int?
    /// True for the last follow-up.
    let last: Bool?
    /// False if no channel showed the notification; absent otherwise.
    let delivered: Bool?
  }

  /// A cascade step that rings on this device.
  package struct CascadeStep: Encodable {
    /// The number of the step; the first is 1.
    let step: Int
    /// The name of the device that rang first.
    let primary: String
    /// The reason why it is unknown whether the occurrence was stopped; absent if it is known.
    let uncertainBecause: String?
  }

  /// A call or message of a cascade.
  package struct Call: Encodable {
    /// The id of the alarm.
    let alarm: String
    /// The occurrence; absent for a test of the cascade.
    let occurrence: String?
    /// The phone number in E.164 format.
    let phone: String?
    /// The name of the person who gets a message.
    let person: String?
  }

  /// A response to a notification.
  package struct Response: Encodable {
    /// The id of the alarm.
    let alarm: String
    /// The title of the alarm.
    let title: String
    /// The occurrence.
    let occurrence: String?
    /// The action as in the log: `stopped`, `done`, `snoozed`, `skipped`.
    let action: String
  }

  /// An occurrence that has ended.
  package struct Occurrence: Encodable {
    /// The id of the alarm.
    let alarm: String
    /// The title of the alarm.
    let title: String
    /// The occurrence.
    let occurrence: String
    /// The time at which it was due.
    let due: String
  }

  /// A delivered battery warning.
  package struct Battery: Encodable {
    /// The id of the first alarm at risk.
    let alarm: String
    /// The title of that alarm.
    let title: String
    /// The occurrence at risk.
    let occurrence: String
    /// The time of that occurrence.
    let due: String
    /// The risk: `warning` or `critical`.
    let risk: String
    /// The predicted level at that time, in whole percent.
    let predicted: Int
    /// The number of later alarms that are at risk, too.
    let more: Int
  }
}

// MARK: Conversion

extension TickDocument {
  /// - Parameter callouts: the calls and messages that were started.
  package init(
    _ report: TickReport, callouts: [Callout] = [], batteryWarning: Notification?,
    zones: ZoneLibrary
  ) {
    let text = NotificationText(TimeText(now: .distantFuture, zones: zones))
    func deliveries(_ isIncluded: (Notification) -> Bool) -> [Delivery] {
      report.delivered.filter { isIncluded($0.notification) }
        .compactMap { Delivery($0.notification, $0.outcome, text) }
    }
    fired = deliveries { if case .firing = $0 { true } else { false } }
    followUps = deliveries { if case .followUp = $0 { true } else { false } }
    warnings = deliveries { if case .advanceWarning = $0 { true } else { false } }
    calls = callouts.map(Call.init)
    answered = report.answered.map { alarm, event in
      Response(
        alarm: alarm.id.text, title: alarm.title, occurrence: event.occurrence?.description,
        action: event.action.rawValue)
    }
    missed = report.missed.map { Occurrence($0, zones) }
    autoCompleted = report.autoCompleted.map { Occurrence($0, zones) }
    self.batteryWarning = batteryWarning.flatMap { Battery($0, zones) }
    nextWake = report.nextWake.map { zones.text($0) }
  }
}

extension TickDocument.Call {
  fileprivate init(_ callout: Callout) {
    alarm = callout.alarm.text
    occurrence = callout.occurrence?.description
    let target = AlarmDocument.Target(callout.target)
    phone = target.phone
    person = target.person
  }
}

extension TickDocument.Delivery {
  /// Returns nil for a notification without an alarm.
  fileprivate init?(
    _ notification: Notification, _ outcome: DeliveryOutcome, _ text: NotificationText
  ) {
    guard let content = notification.content else { return nil }
    alarm = content.id.alarm.text
    title = content.title
    occurrence = content.id.occurrence.description
    zone = content.zoneName
    due = text.zones.text(content.at)
    actions = notification.actions.map(\.rawValue)
    partner = content.partner
    if case .firing(_, let firing) = notification {
      late = firing.isLate
      cascade = firing.step.map { step in
        TickDocument.CascadeStep(
          step: step.number, primary: text.firstDevice(step),
          uncertainBecause: step.uncertainty.map(text.text))
      }
    } else {
      (late, cascade) = (nil, nil)
    }
    if case .followUp(_, let followUp) = notification {
      headline = text.headline(notification)
      number = followUp.number
      count = followUp.count
      last = followUp.isLast
    } else {
      (headline, number, count, last) = (nil, nil, nil, nil)
    }
    if case .undelivered = outcome { delivered = false } else { delivered = nil }
  }
}

extension TickDocument.Occurrence {
  fileprivate init(_ item: TickReport.Item, _ zones: ZoneLibrary) {
    alarm = item.alarm.text
    title = item.title
    occurrence = item.occurrence.description
    due = zones.text(item.due)
  }
}

extension TickDocument.Battery {
  /// Returns nil for a notification of another kind.
  fileprivate init?(_ notification: Notification, _ zones: ZoneLibrary) {
    guard case .batteryWarning(let content, let warning, let others) = notification else {
      return nil
    }
    alarm = content.id.alarm.text
    title = content.title
    occurrence = content.id.occurrence.description
    due = zones.text(content.at)
    risk = warning.risk.rawValue
    predicted = warning.predicted
    more = others
  }
}
