import BelfryExchange

/// A line of an iCalendar document (RFC 5545, 3.1), unfolded. What Belfry does not understand stays as it was written.
struct ContentLine: Hashable, Sendable {
  /// The name and the parameters as they were written: `DUE;TZID=Europe/Berlin`.
  var label: String
  /// The value as it was written, with escapes.
  var value: String

  init(_ label: String, _ value: String) {
    self.label = label
    self.value = value
  }

  /// Parses a line. A line without a colon has an empty value.
  init(line: Substring) {
    var isQuoted = false
    let bytes = line.utf8
    let colon = bytes.firstIndex { byte in
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      return byte == UInt8(ascii: ":") && !isQuoted
    }
    guard let colon else {
      self.init(String(line), "")
      return
    }
    self.init(String(line[..<colon]), String(line[bytes.index(after: colon)...]))
  }

  /// The name in capitals.
  var name: String {
    let end = label.utf8.firstIndex(of: UInt8(ascii: ";")) ?? label.endIndex
    return label[..<end].uppercased()
  }

  /// Returns the value of a parameter without quotes; nil if the line does not have it.
  func parameter(_ name: String) -> String? {
    for part in label.split(separator: ";").dropFirst() {
      guard let equals = part.firstIndex(of: "="), part[..<equals].uppercased() == name else {
        continue
      }
      let value = part[part.index(after: equals)...]
      return value.hasPrefix("\"") ? String(value.filter { $0 != "\"" }) : String(value)
    }
    return nil
  }

  /// The value without escapes (RFC 5545, 3.3.11).
  var text: String { CalendarText.unescaped(value) }

  /// Returns a text with the escapes of a value.
  static func escaped(_ text: String) -> String {
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count + 8)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\n"): result += Array("\\n".utf8)
      case UInt8(ascii: "\\"), UInt8(ascii: ";"), UInt8(ascii: ","):
        result.append(UInt8(ascii: "\\"))
        result.append(byte)
      case UInt8(ascii: "\r"): break
      default: result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The maximum length of a folded line in bytes, without its end (RFC 5545, 3.1).
  private static let width = 75

  /// Appends the line, folded between characters.
  func append(to bytes: inout [UInt8]) {
    var column = 0
    let end = Array("\r\n".utf8)
    for byte in Array(label.utf8) + [UInt8(ascii: ":")] + Array(value.utf8) {
      let startsCharacter = byte & 0xC0 != 0x80
      if column >= ContentLine.width - 3, startsCharacter {
        bytes += end
        bytes.append(UInt8(ascii: " "))
        column = 1
      }
      bytes.append(byte)
      column += 1
    }
    bytes += end
  }
}
