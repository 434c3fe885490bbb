import BelfryCore
import BelfryPartners
import BelfryTerminal

/// The rule that no two partners have the same name, or names that look the same.
enum PartnerNames {
  /// Returns the other partners with this name, ignoring case.
  static func namesakes(_ name: String, besides id: Identifier, _ session: PartnerSession)
    -> [Partnership]
  {
    session.partners.filter {
      $0.id != id && $0.phase != .ended && $0.name.lowercased() == name.lowercased()
    }
  }

  /// Returns another partner with a different name that looks the same.
  static func lookAlike(_ name: String, besides id: Identifier, _ session: PartnerSession)
    -> Partnership?
  {
    session.partners.first {
      $0.id != id && $0.phase != .ended && LookAlikes.areConfusable($0.name, name)
    }
  }

  /// Throws if a name looks like another partner's name.
  static func checkLooks(
    _ name: String, besides id: Identifier, _ session: PartnerSession, hint: String
  )
    throws
  {
    guard let other = lookAlike(name, besides: id, session) else { return }
    throw CommandError(
      .usage,
      "the name \(Printable.text(name)) looks like that of your partner \(Printable.text(other.name)), but is a different one: someone may be impersonating them.",
      hint: hint)
  }

  /// Throws if another partner has the name, or one that looks the same.
  static func check(_ name: String, besides id: Identifier, _ session: PartnerSession) throws {
    try checkLooks(name, besides: id, session, hint: "Choose another name.")
    guard namesakes(name, besides: id, session).isEmpty else {
      throw CommandError(
        .usage, "there is already a partner \(Printable.text(name)).", hint: "Choose another name.")
    }
  }
}
