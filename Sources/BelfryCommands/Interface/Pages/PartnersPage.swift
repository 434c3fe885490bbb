import BelfryPartners
import BelfryStore
import BelfryTerminal
import BelfryUI

/// The partners. A partner opens the requests and receipts in both directions.
struct PartnersPage {
  private let source: PageSource

  init(_ source: PageSource) { self.source = source }

  func lines() throws -> [PageLine] {
    let session = PartnerSession(source.context, source.store, source.settings)
    let (all, unreadable) = session.partnerStore.read()
    let partners = all.filter { $0.phase != .ended }
    let text = PartnerText(source.context)
    var lines = unreadable.flatMap {
      source.wrapped(
        "\($0) is not valid and is ignored. Restore it from a backup, or remove it and re-pair.",
        indent: 0, .yellow)
    }
    for partner in partners {
      if !lines.isEmpty { lines.append(PageLine("")) }
      let content = text.lines(partner)
      lines.append(
        PageLine(
          source.style.paint(content[0], .bold), command: ["partner", "log", partner.id.text]))
      lines += content.dropFirst().flatMap { source.wrapped($0.trimmed) }
    }
    // Files that are not valid would cause warnings, which disturb the screen.
    let former = unreadable.isEmpty ? try FormerPartnerAlarms(session).hints() : []
    if !former.isEmpty {
      lines +=
        (lines.isEmpty ? [] : [PageLine("")])
        + former.flatMap { source.wrapped($0, indent: 0) }
    }
    if lines.isEmpty {
      lines = source.wrapped(
        "You have no partners. A partner can set alarms on your devices, and you on theirs.",
        indent: 0)
      lines +=
        [PageLine("")]
        + source.wrapped("Invite one: belfry partner invite --remote URL", indent: 0, .faint)
        + source.wrapped("More: belfry help partner", indent: 0, .faint)
    }
    return lines
  }
}

extension String {
  /// The text without spaces before it.
  fileprivate var trimmed: String { String(drop { $0 == " " }) }
}
