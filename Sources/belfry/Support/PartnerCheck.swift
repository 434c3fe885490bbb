import BelfryCore
import BelfryPartners
import BelfryStore
import Git

/// What a doctor looks at of the partners: whether the mailboxes can be reached, how long the pairings hold, and what was
/// refused.
struct PartnerCheck {
  private let store: Store
  private let text: PartnerText

  /// What was refused counts for so long, in seconds.
  private static let recent: Int64 = 7 * 86_400

  init(_ store: Store, _ context: CommandContext) {
    self.store = store
    text = PartnerText(context)
  }

  func diagnoses() async throws -> [Diagnosis] {
    let book = PartnerStore(store)
    let (all, unreadable) = book.read()
    let partners = all.filter { $0.phase != .ended }
    var result = unreadable.map {
      Diagnosis(
        "partners", .problem, "\(Printable.text($0)) is not valid, and counts for nothing.",
        remedy: "Put it back from a backup; else remove it, and pair anew.")
    }
    if partners.isEmpty { return result }
    for url in Set(partners.map(\.mailbox)).sorted() {
      result.append(await reach(url, book))
      if URLMask.holdsCredentials(url) {
        result.append(
          Diagnosis(
            "partners", .note,
            "The URL of the mailbox \(RemoteURLInput.shown(url)) holds a password or a token.",
            remedy:
              "Re-pair with the URL without it, and a credential helper: belfry partner invite --remote \(Printable.text(URLMask.stripped(url: url)))"
          ))
      }
    }
    let hasPartners = try store.settings().settings.tier.hasPartners
    if !hasPartners {
      result.append(
        Diagnosis(
          "partners", .note, "The tier has no partners: what they send is refused.",
          remedy: "belfry tier premium"))
    }
    for partner in partners { result += diagnoses(partner) }
    return result
  }

  private func reach(_ url: String, _ book: PartnerStore) async -> Diagnosis {
    let place = RemoteURLInput.shown(url)
    do {
      try await book.probe(url)
      return Diagnosis("partners", .fine, "The mailbox is reached: \(place).")
    } catch {
      let failure = CommandError(partnerMailbox: error)
      return Diagnosis(
        "partners", .problem, "The mailbox \(place) is not reached: \(failure.message)",
        remedy: failure.hint)
    }
  }

  private func diagnoses(_ partner: Partnership) -> [Diagnosis] {
    let now = store.context.now
    let name = Printable.text(partner.name)
    var result: [Diagnosis] = []
    if partner.phase == .active, let until = partner.validUntil {
      let date = store.context.zones.local.civil(at: until).date.spoken
      let left = until.seconds(since: now)
      if left <= 0 {
        result.append(
          Diagnosis(
            "partners", .problem, "The pairing with \(name) is past its year since \(date).",
            remedy: "Re-pair with \(name): belfry partner invite"))
      } else if left < Partnership.endingSoon {
        result.append(
          Diagnosis(
            "partners", .note, "The pairing with \(name) holds until \(date).",
            remedy: "Re-pair with \(name) before then: belfry partner invite"))
      } else {
        result.append(Diagnosis("partners", .fine, "Paired with \(name) until \(date)."))
      }
    }
    for fault in MailFault.allCases {
      guard let faults = partner.faults[fault],
        now.seconds(since: faults.last) < PartnerCheck.recent
      else { continue }
      let whose = name.isEmpty ? "an invitation" : name
      result.append(
        Diagnosis(
          "partners", .note,
          "Refused at \(whose)'s address: \(text.words(fault, faults)).",
          remedy: "Nothing was set by it. If it goes on, somebody has the mailbox: take another."))
    }
    return result
  }
}
