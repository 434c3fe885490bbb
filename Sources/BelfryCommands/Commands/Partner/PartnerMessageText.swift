import BelfryCore
import BelfryPartners

/// The checks of text that people type for partners.
enum PartnerMessageText {
  /// Throws if a text has more Unicode scalars per character than any writing system needs.
  ///
  /// - Parameter maxLength: the maximum number of characters of the text.
  static func checkScalars(of text: String, maxLength: Int) throws {
    guard text.unicodeScalars.count > maxLength * PartnerRequest.scalarsPerCharacter else { return }
    throw CommandError(
      .usage, "the characters of this text consist of too many parts, such as stacked accents.",
      hint: "Nothing was sent.")
  }
}
