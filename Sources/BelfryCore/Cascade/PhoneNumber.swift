/// A phone number as defined by ITU-T E.164: a country code and up to 15 digits in total.
public struct PhoneNumber: Hashable, Comparable, Sendable {
  /// The number in E.164 form: `+15551234567`.
  public let e164: String

  /// The reason why a text is not a callable phone number.
  public enum Failure: Error, Hashable, Sendable {
    /// The text contains a character that is not part of a number.
    case character(Character)
    /// The number has too few digits.
    case tooShort
    /// The number has too many digits.
    case tooLong
    /// The number has no country code and is not a North American number.
    case countryMissing
    /// The country code is not assigned.
    case unknownCountry
    /// The North American area code begins with 0 or 1.
    case badArea
    /// A trunk prefix 0, which is dialed only within the country, follows the country code.
    case trunkPrefix
    /// The number is an emergency number, which Belfry never calls.
    case emergency
  }

  /// Parses a number with optional spaces, hyphens, dots, slashes and parentheses.
  ///
  /// A country code follows `+` or `00`. Ten digits without a country code are a North American number.
  ///
  /// - Throws: `Failure` if the text is not a callable number.
  /// of a country, and ten digits without one are a number of North America.
  public init(_ text: String) throws(Failure) {
    var digits = ""
    var isInternational = false
    // `+44 (0)20 …`: the 0 is dialed only within the country.
    for character in text.replacing("(0)", with: " ") {
      switch character {
      case "+" where digits.isEmpty && !isInternational: isInternational = true
      case "0"..."9" where character.isASCII: digits.append(character)
      case " ", "-", ".", "(", ")", "/", "\u{A0}", "\u{2011}", "\u{2013}": continue
      default: throw .character(character)
      }
    }
    if !isInternational, PhoneNumber.emergencies.contains(digits) { throw .emergency }
    if !isInternational, digits.hasPrefix("00") {
      isInternational = true
      digits.removeFirst(2)
    }
    if !isInternational {
      if digits.count == 11, digits.hasPrefix("1") { digits.removeFirst() }
      if digits.count < 7 { throw .tooShort }
      if digits.count != 10 || digits.hasPrefix("0") { throw .countryMissing }
      digits = "1" + digits
    }
    if digits.count > 15 { throw .tooLong }
    guard let code = PhoneNumber.countryCode(of: digits) else {
      throw digits.count < 8 ? .tooShort : .unknownCountry
    }
    let national = digits.dropFirst(code.count)
    if national.count < 5 { throw .tooShort }
    if national.hasPrefix("0"), !PhoneNumber.leadingZero.contains(code) { throw .trunkPrefix }
    if code == "1" {
      if national.count < 10 { throw .tooShort }
      if national.count > 10 { throw .tooLong }
      guard let first = national.first, first >= "2" else { throw .badArea }
    }
    e164 = "+" + digits
  }

  /// The number for display: `(555) 123-4567` for North America, otherwise the country code and groups.
  public var shown: String {
    let digits = e164.dropFirst()
    let code = PhoneNumber.countryCode(of: String(digits)) ?? ""
    let national = digits.dropFirst(code.count)
    if code == "1" {
      return "(\(national.prefix(3))) \(national.dropFirst(3).prefix(3))-\(national.suffix(4))"
    }
    return "+\(code) " + PhoneNumber.groups(national).joined(separator: " ")
  }

  /// Returns the digits in groups of three; the last one or two groups have two to four.
  private static func groups(_ digits: Substring) -> [String] {
    var rest = digits
    var groups: [String] = []
    while rest.count > 4 {
      let size = rest.count == 5 ? 2 : 3
      groups.append(String(rest.prefix(size)))
      rest = rest.dropFirst(size)
    }
    return groups + [String(rest)]
  }

  /// Returns true if one number sorts before another in E.164 form.
  public static func < (a: PhoneNumber, b: PhoneNumber) -> Bool { a.e164 < b.e164 }

  private static let emergencies: Set<String> = ["110", "111", "112", "119", "911", "999", "000"]

  /// Returns the country code at the start of a number; nil if that code is not assigned.
  private static func countryCode(of digits: String) -> String? {
    guard let first = digits.first, first != "0" else { return nil }
    if first == "1" || first == "7" { return String(first) }
    guard digits.count >= 2 else { return nil }
    let two = String(digits.prefix(2))
    if twoDigitCodes.contains(two) { return two }
    guard digits.count >= 3 else { return nil }
    let three = String(digits.prefix(3))
    return unassigned.contains(three) || unassignedTens.contains(two) ? nil : three
  }

  /// The country codes whose national numbers may begin with 0.
  private static let leadingZero: Set<String> = ["39", "225", "241", "242", "378", "379"]

  /// The two-digit country codes. All other codes of the zones 2 to 9 have three digits.
  private static let twoDigitCodes: Set<String> = [
    "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47",
    "48", "49", "51", "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63", "64", "65",
    "66", "81", "82", "84", "86", "90", "91", "92", "93", "94", "95", "98",
  ]
  /// The first two digits of unassigned blocks of ten three-digit codes.
  private static let unassignedTens: Set<String> = ["28", "83", "89"]
  /// The other unassigned three-digit codes.
  private static let unassigned: Set<String> = [
    "210", "214", "215", "217", "219", "259", "292", "293", "294", "295", "296", "384", "422",
    "424", "425", "426", "427", "428", "429", "671", "684", "693", "694", "695", "696", "697",
    "698", "699", "851", "854", "857", "858", "859", "871", "872", "873", "874", "875", "876",
    "877", "879", "884", "885", "887", "889", "969", "978", "990", "991", "997", "999",
  ]
}

extension PhoneNumber: CustomStringConvertible {
  /// The number in E.164 form, as records store it.
  public var description: String { e164 }
}
