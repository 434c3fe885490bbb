/// The reason why the bytes that were fetched are not the calendar that they should be.
///
/// libical accepts a document without its end, from which events would seem to have vanished.
public enum CalendarDamage: Hashable, Sendable {
  /// There are no bytes.
  case empty
  /// The document is a web page, such as a login form.
  case webPage
  /// The document is not a calendar.
  case otherKind
  /// The document ends before its end.
  case incomplete
  /// The document has more than `CalendarFeed.maxItems` events and to-dos.
  case tooManyItems(Int)

  /// Returns the damage of a document; nil if there is none.
  public init?(of bytes: [UInt8]) {
    let bytes = CalendarText.decoded(bytes)
    let start = String(decoding: bytes.prefix(1024).drop { $0 <= 0x20 }, as: UTF8.self).uppercased()
    if start.isEmpty, !bytes.contains(where: { $0 > 0x20 }) {
      self = .empty
      return
    }
    guard CalendarDocument.matches(bytes) else {
      let isPage = ["<!DOCTYPE", "<HTML", "<HEAD", "<?XML", "<!--"].contains {
        start.hasPrefix($0)
      }
      self = isPage ? .webPage : .otherKind
      return
    }
    var open: [String: Int] = [:]
    var items = 0
    var last = ""
    for line in bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    ) {
      guard let step = CalendarDamage.step(line) else {
        if line.contains(where: { $0 > 0x20 }) { last = "" }
        continue
      }
      last = step.text
      open[step.name, default: 0] += step.isBegin ? 1 : -1
      if step.isBegin, ["VEVENT", "VTODO"].contains(step.name) { items += 1 }
    }
    let names = ["VCALENDAR", "VEVENT", "VTODO", "VALARM"]
    let isWhole = names.allSatisfy { (open[$0] ?? 0) == 0 }
    if !isWhole || !last.hasPrefix("END:") {
      self = .incomplete
    } else if items > CalendarFeed.maxItems {
      self = .tooManyItems(items)
    } else {
      return nil
    }
  }

  /// Returns the begin or the end of a component that a line is; nil for any other line.
  private static func step(
    _ line: ArraySlice<UInt8>
  ) -> (name: String, isBegin: Bool, text: String)? {
    guard let first = line.first, first & 0xDF == 0x42 || first & 0xDF == 0x45, line.count < 64
    else { return nil }
    let text = String(decoding: line, as: UTF8.self).uppercased().filter { !$0.isWhitespace }
    if text.hasPrefix("BEGIN:") { return (String(text.dropFirst(6)), true, text) }
    if text.hasPrefix("END:") { return (String(text.dropFirst(4)), false, text) }
    return nil
  }

  /// Returns several complete documents as one.
  public static func joined(_ documents: [[UInt8]]) -> [UInt8] {
    documents.reduce(into: []) { joined, document in
      joined += CalendarText.wrapped(CalendarText.decoded(document))
      joined.append(UInt8(ascii: "\n"))
    }
  }
}
