import BelfryCore
import BelfryDocuments
import BelfryStore
import BelfryTerminal

extension CascadeText {
  /// The document of the cascade.
  var document: CascadeDocument {
    let plan = alarm.cascade?.plan ?? Cascade.Plan()
    return CascadeDocument(
      alarm: alarm.id.text, title: alarm.title, on: plan.isOn, every: plan.interval,
      primary: plan.primary?.text, zone: zoneName, targets: plan.targets.map(document))
  }

  private func document(_ target: CascadeTarget) -> CascadeDocument.Target {
    let sublabel = sublabel(target)
    let kind: String
    var (person, address, number, message): (String?, String?, String?, String?)
    switch target {
    case .device: kind = "device"
    case .person(let contact):
      kind = "person"
      (person, address) = (contact.name, contact.address)
    case .phone(let phone, let text):
      kind = "phone"
      (number, message) = (phone.e164, text)
    case .phoneTasks: kind = "phone-tasks"
    }
    return CascadeDocument.Target(
      kind: kind, label: target.label(names), sublabel: sublabel.isEmpty ? nil : sublabel,
      device: target.device?.text, person: person, address: address, number: number,
      message: message)
  }

  /// Returns the steps that ring if nobody responds to an occurrence.
  ///
  /// - Parameter zone: the zone of the alarm.
  func previewDocuments(
    of next: Timeline.Occurrence, in zone: TimeZoneRules
  ) -> [CascadePreviewDocument] {
    let plan = alarm.cascade?.plan ?? Cascade.Plan()
    // A document does not depend on the locale.
    let times = TimeText(now: times.now, zones: times.zones)
    return plan.preview(due: next.at).map { target, at in
      CascadePreviewDocument(
        at: times.zones.text(at), time: clock(at, zone, times), zone: zoneName,
        action: target.action(names), target: document(target))
    }
  }
}

extension CascadeReadiness {
  /// Returns the document of the prediction.
  func document(_ zones: ZoneLibrary) -> CascadeReadinessDocument {
    CascadeReadinessDocument(
      alarm: alarm.id.text, title: alarm.title, zone: zoneName,
      occurrence: next.civil.description, at: zones.text(next.at), live: live,
      members: members.map { member in
        CascadeReadinessDocument.Member(
          label: member.label, at: zones.text(member.at), first: member.target == nil,
          wouldRing: member.wouldRing, reason: member.reason, every: member.every)
      })
  }
}
