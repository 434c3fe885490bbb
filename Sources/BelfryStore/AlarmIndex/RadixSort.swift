/// A stable sort of numbers by their digits, from the lowest to the highest.
///
/// - Complexity: O(*n*) for each group of eleven bits that differs between the numbers.
enum RadixSort {
  private static let bits: UInt64 = 11

  /// Returns the indices of some numbers in ascending order of the numbers.
  static func order(of numbers: [UInt64]) -> [Int] {
    var order = Array(numbers.indices)
    guard let first = numbers.first else { return order }
    let differing = numbers.reduce(0) { $0 | ($1 ^ first) }
    var target = order
    var shift: UInt64 = 0
    while shift < 64 {
      defer { shift += bits }
      let mask: UInt64 = 1 << bits - 1
      guard differing >> shift & mask != 0 else { continue }
      var starts = [Int](repeating: 0, count: Int(mask) + 2)
      for number in numbers { starts[Int(number >> shift & mask) + 1] += 1 }
      for digit in 1..<starts.count { starts[digit] += starts[digit - 1] }
      for index in order {
        let digit = Int(numbers[index] >> shift & mask)
        target[starts[digit]] = index
        starts[digit] += 1
      }
      swap(&order, &target)
    }
    return order
  }
}
