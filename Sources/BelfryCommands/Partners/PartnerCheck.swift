import BelfryCore
import BelfryPartners
import BelfryStore
import BelfryTerminal
import Git

/// The part of `belfry doctor` that checks the mailboxes, the expiry of the pairings, and refused messages.
struct PartnerCheck {
  private let store: Store
  private let text: PartnerText

  /// The age up to which refused messages are reported, in seconds.
  private static let maxFaultAge: Int64 = 7 * 86_400

  init(_ store: Store, _ context: CommandContext) {
    self.store = store
    text = PartnerText(context)
  }

  func diagnoses() async throws -> [Diagnosis] {
    let partnerStore = PartnerStore(store)
    let (all, unreadable) = partnerStore.read()
    let partners = all.filter { $0.phase != .ended }
    var result = unreadable.map {
      Diagnosis(
        "partners", .problem, "\(Printable.text($0)) is not valid and is ignored.",
        remedy: "Restore it from a backup, or remove it and re-pair.")
    }
    if partners.isEmpty { return result }
    for url in Set(partners.map(\.mailbox)).sorted() {
      result.append(await reach(url, partnerStore))
      if URLMask.holdsCredentials(url) {
        result.append(
          Diagnosis(
            "partners", .note,
            "The URL of the mailbox \(RemoteURLInput.shown(url)) contains a password or a token.",
            remedy:
              "Re-pair with the URL without it and a credential helper: belfry partner invite --remote \(Printable.text(URLMask.stripped(url: url)))"
          ))
      }
    }
    let hasPartners = try store.settings().settings.tier.hasPartners
    if !hasPartners {
      result.append(
        Diagnosis(
          "partners", .note, "The tier has no partners: their requests are refused.",
          remedy: "belfry tier premium"))
    }
    for partner in partners { result += diagnoses(partner) }
    return result
  }

  private func reach(_ url: String, _ partnerStore: PartnerStore) async -> Diagnosis {
    let shown = RemoteURLInput.shown(url)
    do {
      try await partnerStore.probe(url)
      return Diagnosis("partners", .fine, "The mailbox \(shown) can be reached.")
    } catch {
      let failure = CommandError(partnerMailbox: error)
      return Diagnosis(
        "partners", .problem, "The mailbox \(shown) cannot be reached: \(failure.message)",
        remedy: failure.hint)
    }
  }

  private func diagnoses(_ partner: Partnership) -> [Diagnosis] {
    let now = store.context.now
    let name = Printable.text(partner.name)
    var result: [Diagnosis] = []
    if partner.phase == .active, let until = partner.validUntil {
      let date = text.date(until)
      let left = until.seconds(since: now)
      if left <= 0 {
        result.append(
          Diagnosis(
            "partners", .problem, "The pairing with \(name) expired on \(date).",
            remedy: "Re-pair with \(name): belfry partner invite"))
      } else if left < Partnership.endingSoon {
        result.append(
          Diagnosis(
            "partners", .note, "The pairing with \(name) expires on \(date).",
            remedy: "Re-pair with \(name) before then: belfry partner invite"))
      } else {
        result.append(Diagnosis("partners", .fine, "Paired with \(name) until \(date)."))
      }
    }
    for fault in MailFault.allCases {
      guard let faults = partner.mail.faults[fault],
        now.seconds(since: faults.last) < PartnerCheck.maxFaultAge
      else { continue }
      let owner = name.isEmpty ? "an invitation" : name
      result.append(
        Diagnosis(
          "partners", .note,
          "Refused messages in the inbox for \(owner): \(text.summary(fault, faults)).",
          remedy:
            "They set no alarm. If this continues, someone else has access to the mailbox: re-pair with another one."
        ))
    }
    return result
  }
}
