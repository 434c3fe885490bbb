// Integer arithmetic, digits and searching, for dates on both sides of the epoch.

extension BinaryInteger {
  /// The quotient rounded towards negative infinity.
  func floorDivided(by divisor: Self) -> Self {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder != 0 && (remainder < 0) != (divisor < 0) ? quotient - 1 : quotient
  }

  /// The remainder of `floorDivided(by:)`: from 0 up to the divisor.
  func floorRemainder(by divisor: Self) -> Self {
    self - floorDivided(by: divisor) * divisor
  }
}

extension Array {
  /// Returns the number of leading elements that fulfill a condition, by binary search. None after them may fulfill it.
  func prefixLength(_ isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// Decimal digits of a number that is not negative, with zeros in front up to `width`.
func padded(_ number: Int, _ width: Int) -> String {
  let digits = String(number)
  return digits.utf8.count >= width
    ? digits : String(repeating: "0", count: width - digits.utf8.count) + digits
}

func isDigit(_ byte: UInt8) -> Bool {
  (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
}

/// Reads ASCII digits; nil for anything else, for no digit at all, and for more than nine.
func decimal(_ bytes: some Collection<UInt8>) -> Int? {
  guard (1...9).contains(bytes.count) else { return nil }
  var value = 0
  for byte in bytes {
    guard isDigit(byte) else { return nil }
    value = value * 10 + Int(byte - UInt8(ascii: "0"))
  }
  return value
}
