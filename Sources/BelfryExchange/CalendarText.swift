/// The text of an iCalendar document in the form that libical reads.
package enum CalendarText {
  /// Returns the document in UTF-8, with one line for each property.
  ///
  /// 1. UTF-16 with a byte order mark is converted. A line that is not UTF-8 is read as Latin-1 (Windows-1252).
  /// 2. Folded lines are joined, because a fold may divide a character.
  /// 3. A date that has a time, such as `DTSTART;VALUE=DATE:20271227T000000Z`, loses the time.
  /// 4. A misspelled duration of a reminder, such as `-P1H`, is corrected. libical would drop the whole property.
  package static func normalized(_ bytes: [UInt8]) -> [UInt8] {
    let text = unfolded(decoded(bytes))
    let isUnicode = String(validating: text, as: UTF8.self) != nil
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
      if !isUnicode, String(validating: line, as: UTF8.self) == nil {
        result += String(String.UnicodeScalarView(line.map(scalar))).utf8
      } else {
        result += corrected(line)
      }
      result += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
    }
    return result
  }

  /// Returns true if a document begins with a component, in capitals or not.
  static func begins(_ bytes: [UInt8], with name: String) -> Bool {
    let start = decoded(Array(bytes.prefix(1024))).drop { $0 <= 0x20 }.prefix(64)
    return String(decoding: start, as: UTF8.self).uppercased().hasPrefix("BEGIN:\(name)")
  }

  /// Returns a document that begins with an event or a to-do inside of a calendar.
  static func wrapped(_ bytes: [UInt8]) -> [UInt8] {
    guard begins(bytes, with: "VEVENT") || begins(bytes, with: "VTODO") else { return bytes }
    return Array("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Belfry//import//EN\r\n".utf8) + bytes
      + Array("END:VCALENDAR\r\n".utf8)
  }

  /// Returns the document without a byte order mark. UTF-16 becomes UTF-8.
  static func decoded(_ bytes: [UInt8]) -> [UInt8] {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
    let isLittleEndian = bytes.starts(with: [0xFF, 0xFE])
    guard isLittleEndian || bytes.starts(with: [0xFE, 0xFF]) else { return bytes }
    let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
      isLittleEndian
        ? UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8
        : UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }

  /// Joins folded lines (RFC 5545, 3.1). All lines end with a newline only.
  private static func unfolded(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "\r"), index < bytes.count, bytes[index] == UInt8(ascii: "\n") {
        continue
      }
      if byte == UInt8(ascii: "\n"), index < bytes.count,
        bytes[index] == UInt8(ascii: " ") || bytes[index] == UInt8(ascii: "\t")
      {
        index += 1
        continue
      }
      result.append(byte)
    }
    return result
  }

  /// Returns the character of a byte in Windows-1252, of which Latin-1 has no printable characters from 0x80 to 0x9F.
  private static func scalar(_ byte: UInt8) -> Unicode.Scalar {
    guard (0x80...0x9F).contains(byte) else { return Unicode.Scalar(byte) }
    let code = windows[Int(byte) - 0x80]
    return code == 0 ? " " : Unicode.Scalar(code) ?? " "
  }

  private static let windows: [UInt16] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152, 0, 0x017D, 0, 0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122,
    0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
  ]

  // MARK: Values

  /// Returns a text value without escapes (RFC 5545, 3.3.11). libical's own function turns a newline into an `n`.
  package static func unescaped(_ value: some StringProtocol) -> String {
    guard value.utf8.contains(UInt8(ascii: "\\")) else { return String(value) }
    var result = String.UnicodeScalarView()
    var isEscaped = false
    for scalar in value.unicodeScalars {
      if isEscaped {
        result.append(scalar == "n" || scalar == "N" ? "\n" : scalar)
        isEscaped = false
      } else if scalar == "\\" {
        isEscaped = true
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }

  /// Returns the elements of a list of texts, separated by commas, without escapes.
  package static func list(_ value: String) -> [String] {
    var elements = [""]
    var isEscaped = false
    for character in value {
      if character == ",", !isEscaped {
        elements.append("")
        continue
      }
      elements[elements.count - 1].append(character)
      isEscaped = character == "\\" && !isEscaped
    }
    return elements.map { unescaped($0) }.filter { !$0.isEmpty }
  }

  // MARK: Corrections

  /// Returns a line with its date or duration in valid form.
  private static func corrected(_ line: ArraySlice<UInt8>) -> [UInt8] {
    if let date = correctedDate(line) { return date }
    let names = ["TRIGGER", "DURATION"]
    guard line.count < 200,
      names.contains(where: { name in
        line.prefix(name.utf8.count).elementsEqual(name.utf8) { $0 & 0xDF == $1 }
      }), let colon = line.lastIndex(of: UInt8(ascii: ":")),
      let duration = CalendarDuration(
        correcting: String(decoding: line[(colon + 1)...], as: UTF8.self))
    else { return Array(line) }
    return Array(line[...colon]) + Array(duration.text.utf8)
  }

  private static func correctedDate(_ line: ArraySlice<UInt8>) -> [UInt8]? {
    guard line.first.map({ "DERder".utf8.contains($0) }) ?? false,
      let colon = line.lastIndex(of: UInt8(ascii: ":")),
      String(decoding: line[..<colon], as: UTF8.self).uppercased().hasSuffix(";VALUE=DATE")
    else { return nil }
    let dates = line[(colon + 1)...].split(separator: UInt8(ascii: ","))
    guard dates.allSatisfy({ $0.count > 8 && $0[$0.startIndex + 8] == UInt8(ascii: "T") }) else {
      return nil
    }
    return Array(line[...colon])
      + Array(dates.map { $0.prefix(8) }.joined(separator: [UInt8(ascii: ",")]))
  }
}

/// A duration (RFC 5545, 3.3.6): days of the calendar, and an exact time.
package struct CalendarDuration: Hashable {
  /// The number of days. A day over a clock change has 23 or 25 hours.
  var days = 0
  /// The exact time in seconds after the days.
  var seconds = 0

  init(days: Int = 0, seconds: Int = 0) {
    (self.days, self.seconds) = (days, seconds)
  }

  /// The duration in seconds without clock changes.
  package var total: Int { days * 86_400 + seconds }

  /// The duration in minutes without clock changes, rounded down.
  var minutes: Int {
    days * 1440 + (seconds < 0 ? -((59 - seconds) / 60) : seconds / 60)
  }

  /// Parses a duration such as `-PT15M`, `P1D`, `PT1H30M` or `-P1W`, and misspelled ones such as `-P1H`, `PT-15M` and
  /// `-PT1D`; nil for any other text.
  ///
  /// A duration has no months, so that the unit `M` is always a minute.
  package init?(correcting text: String) {
    var rest = text.uppercased().filter { !$0.isWhitespace }
    let isNegative = rest.contains("-")
    rest.removeAll { $0 == "-" || $0 == "+" }
    guard rest.hasPrefix("P") else { return nil }
    rest.removeFirst()
    rest.removeAll { $0 == "T" }
    var number = ""
    for character in rest {
      if character.isASCII, character.isNumber {
        number.append(character)
        continue
      }
      guard let value = Int(number), value < 1_000_000 else { return nil }
      switch character {
      case "W": days += 7 * value
      case "D": days += value
      case "H": seconds += 3600 * value
      case "M": seconds += 60 * value
      case "S": seconds += value
      default: return nil
      }
      number = ""
    }
    guard number.isEmpty else { return nil }
    if isNegative { (days, seconds) = (-days, -seconds) }
  }

  /// The duration as valid text.
  var text: String {
    let sign = days < 0 || seconds < 0 ? "-" : ""
    if days != 0, seconds == 0 { return "\(sign)P\(abs(days))D" }
    return "\(sign)P\(days == 0 ? "" : "\(abs(days))D")T\(abs(seconds))S"
  }
}
