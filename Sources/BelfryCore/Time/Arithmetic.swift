// Helpers for dates on both sides of the epoch: floor division, decimal digits and binary search.

extension BinaryInteger {
  /// Returns the quotient rounded toward negative infinity.
  func floorDivided(by divisor: Self) -> Self {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder != 0 && (remainder < 0) != (divisor < 0) ? quotient - 1 : quotient
  }

  /// Returns the remainder of `floorDivided(by:)`. For a positive divisor it is in `0..<divisor`.
  func floorRemainder(by divisor: Self) -> Self {
    self - floorDivided(by: divisor) * divisor
  }
}

extension Array {
  /// Returns the number of leading elements that satisfy a predicate, by binary search.
  ///
  /// - Parameter isBefore: the predicate. All elements that satisfy it must precede all that do not.
  /// - Complexity: O(log *n*) calls of the predicate.
  func prefixLength(_ isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// Returns the decimal digits of a number that is not negative, with leading zeros up to `width`.
func padded(_ number: Int, _ width: Int) -> String {
  let digits = String(number)
  return digits.utf8.count >= width
    ? digits : String(repeating: "0", count: width - digits.utf8.count) + digits
}

/// Returns true for an ASCII digit.
func isDigit(_ byte: UInt8) -> Bool {
  (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
}

/// Returns the number that one to nine ASCII digits denote; nil for anything else.
func decimal(_ bytes: some Collection<UInt8>) -> Int? {
  guard (1...9).contains(bytes.count) else { return nil }
  var value = 0
  for byte in bytes {
    guard isDigit(byte) else { return nil }
    value = value * 10 + Int(byte - UInt8(ascii: "0"))
  }
  return value
}
