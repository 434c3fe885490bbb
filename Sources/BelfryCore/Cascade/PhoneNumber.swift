/// A telephone number as ITU-T E.164 has it: a country's code and up to 15 digits in all.
public struct PhoneNumber: Hashable, Comparable, Sendable {
  /// `+15551234567`.
  public let e164: String

  /// Why a text is no telephone number that can be called.
  public enum Failure: Error, Hashable, Sendable {
    /// Holds something that no number holds.
    case character(Character)
    case tooShort
    case tooLong
    /// Too long for a number of North America, and without the code of another country.
    case countryMissing
    /// No country has this code.
    case unknownCountry
    /// An area of North America begins with 2 to 9.
    case badArea
    /// A 0 stands between the country's code and the number, which is dialled only within the country.
    case trunkPrefix
    /// Those who answer there are not to be called by a machine.
    case emergency
  }

  /// Reads a number as people write it: with blanks, hyphens, dots, slashes and parentheses; `+` or `00` begin the code
  /// of a country, and ten digits without one are a number of North America.
  public init(_ text: String) throws(Failure) {
    var digits = ""
    var isInternational = false
    // `+44 (0)20 …`: the 0 is for who calls from within.
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

  /// `(555) 123-4567` for North America; else the country's code and groups: `+44 207 946 0958`.
  public var shown: String {
    let digits = e164.dropFirst()
    let code = PhoneNumber.countryCode(of: String(digits)) ?? ""
    let national = digits.dropFirst(code.count)
    if code == "1" {
      return "(\(national.prefix(3))) \(national.dropFirst(3).prefix(3))-\(national.suffix(4))"
    }
    return "+\(code) " + PhoneNumber.groups(national).joined(separator: " ")
  }

  /// Groups of three digits, the last ones of two to four.
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

  public static func < (a: PhoneNumber, b: PhoneNumber) -> Bool { a.e164 < b.e164 }

  private static let emergencies: Set<String> = ["110", "111", "112", "119", "911", "999", "000"]

  /// The code that a number begins with, by the zones of ITU-T E.164; nil when it is none that is assigned.
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

  /// The countries whose numbers may begin with 0.
  private static let leadingZero: Set<String> = ["39", "225", "241", "242", "378", "379"]

  /// The codes of two digits; every other one of the zones 2 to 9 has three.
  private static let twoDigitCodes: Set<String> = [
    "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47",
    "48", "49", "51", "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63", "64", "65",
    "66", "81", "82", "84", "86", "90", "91", "92", "93", "94", "95", "98",
  ]
  /// Codes of three digits that nobody has: whole tens, and single ones.
  private static let unassignedTens: Set<String> = ["28", "83", "89"]
  private static let unassigned: Set<String> = [
    "210", "214", "215", "217", "219", "259", "292", "293", "294", "295", "296", "384", "422",
    "424", "425", "426", "427", "428", "429", "671", "684", "693", "694", "695", "696", "697",
    "698", "699", "851", "854", "857", "858", "859", "871", "872", "873", "874", "875", "876",
    "877", "879", "884", "885", "887", "889", "969", "978", "990", "991", "997", "999",
  ]
}

extension PhoneNumber: CustomStringConvertible {
  /// As records hold it.
  public var description: String { e164 }
}
