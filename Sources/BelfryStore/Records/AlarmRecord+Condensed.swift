extension AlarmRecord {
  /// Returns a shorter record of the same alarm, for a process that keeps thousands of them in memory: without white space,
  /// and without the stamps of the fields, which only merges need. A deleted alarm keeps them.
  ///
  /// - Parameter bytes: A valid record. The result for other content is not defined.
  public static func condensed(_ bytes: [UInt8]) -> [UInt8] {
    var scanner = Scanner(capacity: bytes.count)
    for byte in bytes { scanner.append(byte) }
    return scanner.result
  }

  /// A copy of a JSON object without white space that knows where its members begin and end.
  private struct Scanner {
    private var copy: [UInt8] = []
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// The offset of the present member in the copy.
    private var memberStart = 0
    private var stampsStart: Int?
    private var stamps: Range<Int>?
    private var keepsStamps = false

    init(capacity: Int) {
      copy.reserveCapacity(capacity)
    }

    mutating func append(_ byte: UInt8) {
      if isInString {
        isInString = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        copy.append(byte)
        return
      }
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): return
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 1 { endMember() }
        depth -= 1
      case UInt8(ascii: ",") where depth == 1: endMember()
      case UInt8(ascii: ":") where depth == 1:
        let key = copy[memberStart...]
        if key.elementsEqual("\"stamps\"".utf8) { stampsStart = memberStart }
        // An escape can stand for any letter.
        if key.elementsEqual("\"deleted\"".utf8) || key.contains(UInt8(ascii: "\\")) {
          keepsStamps = true
        }
      default: break
      }
      copy.append(byte)
      if depth == 1, byte == UInt8(ascii: "{") || byte == UInt8(ascii: ",") {
        memberStart = copy.count
      }
    }

    private mutating func endMember() {
      if let start = stampsStart { stamps = start..<copy.count }
      stampsStart = nil
    }

    /// The copy, without the member `stamps` and one of the commas beside it.
    var result: [UInt8] {
      guard let stamps, !keepsStamps else { return Array(copy) }
      var end = stamps.upperBound
      var start = stamps.lowerBound
      if copy[end] == UInt8(ascii: ",") {
        end += 1
      } else if copy[start - 1] == UInt8(ascii: ",") {
        start -= 1
      }
      return Array(copy[..<start] + copy[end...])
    }
  }
}
