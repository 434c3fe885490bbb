import BelfryCore

extension CalendarRule {
  /// The parts of an RRULE by name, such as `FREQ` and `BYDAY`.
  ///
  /// A part that is not valid is an error and never ignored, because the rule would then mean other dates.
  ///
  /// libical, which is optional, is loaded for calendars only. Its parser would cost 2 ms and require the library for a
  /// rule in `belfry add` and `belfry edit`, and it rejects a rule without the reason.
  struct Parts {
    private let values: [String: String]

    /// The parts with numbers, and their ranges without the sign (RFC 5545, 3.3.10).
    private static let ranges: [String: ClosedRange<Int>] = [
      "INTERVAL": 1...Recurrence.longest, "COUNT": 1...Int(Int32.max), "BYSECOND": 0...60,
      "BYMINUTE": 0...59, "BYHOUR": 0...23, "BYMONTHDAY": 1...31, "BYYEARDAY": 1...366,
      "BYWEEKNO": 1...53, "BYMONTH": 1...12, "BYSETPOS": 1...366,
    ]
    /// The parts whose negative numbers count from the end.
    private static let signed: Set<String> = ["BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYSETPOS"]
    private static let others: Set<String> = ["FREQ", "UNTIL", "BYDAY", "WKST", "RSCALE", "SKIP"]

    /// Reads the parts of a rule.
    ///
    /// - Parameter allowsBothEnds: True to accept a rule with both COUNT and UNTIL.
    /// - Throws: `Unsupported` if the rule is not valid.
    init(_ text: String, allowsBothEnds: Bool = false) throws(Unsupported) {
      var values: [String: String] = [:]
      for part in text.uppercased().split(separator: ";", omittingEmptySubsequences: false) {
        if part.isEmpty, text.hasSuffix(";") || text.isEmpty { continue }
        let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
          .map(String.init)
        guard pair.count == 2, !pair[1].isEmpty else {
          throw Unsupported("its recurrence rule is not valid: \(part)")
        }
        guard Parts.ranges[pair[0]] != nil || Parts.others.contains(pair[0]) else {
          throw Unsupported("its recurrence rule has an unknown part: \(part)")
        }
        guard values.updateValue(pair[1], forKey: pair[0]) == nil else {
          throw Unsupported("its recurrence rule has several parts \(pair[0])")
        }
      }
      self.values = values
      try validate(allowsBothEnds)
    }

    subscript(_ key: String) -> String? { values[key] }

    /// The distance between two periods of the rule.
    var interval: Int { values["INTERVAL"].flatMap { Int($0) } ?? 1 }

    /// Returns the numbers of a part; nil if the rule does not have the part.
    func numbers(_ key: String) throws(Unsupported) -> [Int]? {
      guard let text = values[key] else { return nil }
      let elements = text.split(separator: ",", omittingEmptySubsequences: false)
      let numbers = elements.compactMap { Int($0) }
      guard numbers.count == elements.count, !numbers.isEmpty else { throw invalid(key) }
      return numbers
    }

    private func invalid(_ key: String) -> Unsupported {
      Unsupported("its recurrence rule is not valid: \(key)=\(values[key] ?? "")")
    }

    private func validate(_ allowsBothEnds: Bool) throws(Unsupported) {
      for key in values.keys.sorted() {
        guard let range = Parts.ranges[key] else { continue }
        for number in try numbers(key) ?? [] {
          let size = Parts.signed.contains(key) ? abs(number) : number
          guard range.contains(size) else {
            throw Unsupported(
              "its recurrence rule is not valid: \(key)=\(number) is not from \(range.lowerBound) to \(range.upperBound)"
            )
          }
        }
      }
      for key in ["INTERVAL", "COUNT"] where try numbers(key)?.count ?? 1 > 1 {
        throw invalid(key)
      }
      if let until = values["UNTIL"], CalendarTime.read(until) == nil { throw invalid("UNTIL") }
      if let start = values["WKST"], !CalendarRule.names.contains(start) { throw invalid("WKST") }
      if !allowsBothEnds, values["UNTIL"] != nil, values["COUNT"] != nil {
        throw Unsupported("its recurrence rule has both COUNT and UNTIL")
      }
    }

    /// Checks that the rule has no part that Belfry cannot represent.
    func checkSupport() throws(Unsupported) {
      for key in ["BYSECOND", "BYYEARDAY", "BYWEEKNO", "RSCALE", "SKIP"] where values[key] != nil {
        if key == "BYSECOND", values[key] == "0" { continue }
        throw Unsupported("Belfry does not support \(key)")
      }
    }
  }
}
