import BelfryActions
import BelfryCore
import BelfryPartners
import BelfryStore
import BelfryTerminal

/// The alarms that partners have set, and the decision about those of former partners.
struct FormerPartnerAlarms {
  /// The alarms of one partner.
  struct Set {
    /// The name of the partner.
    let name: String
    /// True if the partnership has ended.
    let isFormer: Bool
    /// The alarms with a further occurrence, or one to answer.
    let alarms: [Alarm]
  }

  /// What happens to the alarms of a former partner.
  enum Decision {
    /// They become the user's own.
    case keep
    case delete
  }

  private let session: PartnerSession
  private var store: Store { session.store }

  init(_ session: PartnerSession) { self.session = session }

  /// Returns the alarms of partners, those of former partners first.
  ///
  /// - Parameter name: the partner; nil for all.
  /// - Throws: `CommandError` if no partner has the name; `StoreError`.
  func sets(of name: String? = nil) throws -> [Set] {
    let partnerships = session.partners
    let active = Swift.Set(partnerships.filter { $0.phase != .ended }.map(\.id))
    let successors = partnerships.reduce(into: [Identifier: Identifier]()) { result, partner in
      if let successor = partner.successor { result[partner.id] = successor }
    }
    func isActive(_ partnership: Identifier) -> Bool {
      active.contains(partnership) || successors[partnership].map(active.contains) == true
    }
    let known = Swift.Set(partnerships.map(\.id))
    var alarms: [String: (isFormer: Bool, alarms: [Alarm])] = [:]
    let reader = store.alarmReader()
    for summary in try store.overview().summaries
    where summary.partner != nil && !summary.status.isFinished {
      // A device without the keys of a partner does not know whether the partnership has ended.
      guard let alarm = try reader.alarm(summary.id), let origin = alarm.partner,
        known.contains(origin.partnership)
      else { continue }
      alarms[origin.name, default: (!isActive(origin.partnership), [])].alarms.append(alarm)
    }
    var sets = alarms.map {
      Set(name: $0.key, isFormer: $0.value.isFormer, alarms: $0.value.alarms)
    }
    .sorted { $0.isFormer == $1.isFormer ? $0.name < $1.name : $0.isFormer }
    guard let name else { return sets }
    let wanted = name.lowercased()
    sets.removeAll { $0.name.lowercased() != wanted }
    if sets.isEmpty {
      let partner = try session.find(name, where: { _ in true })
      return [Set(name: partner.name, isFormer: partner.phase == .ended, alarms: [])]
    }
    return sets
  }

  /// Returns a line for each former partner whose alarms still ring.
  func hints() throws -> [String] {
    try sets().filter(\.isFormer).map {
      PartnerText.remaining($0.alarms.count, of: Printable.text($0.name))
    }
  }

  /// Returns a line for each alarm: the title, the message and the next occurrence.
  func lines(_ set: Set) -> [String] {
    set.alarms.map { alarm in
      let output = AlarmOutput(store: store, style: session.context.style)
      let next = (try? store.status(alarm)).map { output.next(alarm, $0) }
      let note = alarm.note.map { ", \"\(Printable.text($0.replacing("\n", with: " ")))\"" }
      return Printable.text(alarm.title) + (note ?? "") + (next.map { "; \($0)" } ?? "")
    }
  }

  /// Asks on a terminal what to do with the alarms of each former partner.
  ///
  /// - Parameter name: the partner; nil for all.
  func ask(of name: String? = nil) throws {
    guard Style.canAsk else { return }
    for set in try sets(of: name) where set.isFormer && !set.alarms.isEmpty {
      let name = Printable.text(set.name)
      let them = set.alarms.count == 1 ? "alarm" : "\(set.alarms.count) alarms"
      let answer = Console.answer(
        to: "Keep the \(them) of \(name) as your own, delete, or decide later? [k/d/L]")
      switch answer?.lowercased() {
      case "k", "keep":
        try decide(.keep, set)
        Console.line(FormerPartnerAlarms.summary(.keep, [set]))
      case "d", "delete":
        try decide(.delete, set)
        Console.line(FormerPartnerAlarms.summary(.delete, [set]))
      default: Console.line(PartnerText.remaining(set.alarms.count, of: name))
      }
    }
  }

  /// Carries out a decision with one commit.
  ///
  /// - Throws: `StoreError`.
  func decide(_ decision: Decision, _ set: Set) throws {
    let ids = set.alarms.map(\.id)
    switch decision {
    case .delete:
      _ = try DeleteAlarms(ofPartner: ids, reason: .partnershipEnded(partner: set.name))
        .perform(in: store)
    case .keep: _ = try EditAlarms.keeping(ids).perform(in: store)
    }
  }

  /// Returns a sentence about a decision that was carried out.
  static func summary(_ decision: Decision, _ sets: [Set]) -> String {
    let count = sets.reduce(0) { $0 + $1.alarms.count }
    let name = Printable.text(sets.first?.name ?? "")
    let verb = decision == .keep ? "Kept" : "Deleted"
    let alarms = count == 1 ? "the alarm" : "\(count) alarms"
    return "\(verb) \(alarms) of \(name). To revert: belfry undo"
  }
}
