/// Positions that put targets in order, so that two devices can add and move targets without knowing of each other.
///
/// A target keeps its position for as long as the order allows it: only those that were added or moved get another,
/// between those of their neighbors.
enum TargetOrder {
  /// Between one and the next where there is room.
  private static let gap: Int64 = 1_000_000
  /// A larger one, or one below its negative, is no position: hand edits are bounded by it.
  static let largest: Int64 = 1_000_000_000_000_000

  /// Returns a position for each key, ascending in the order of `keys`.
  ///
  /// - Parameters:
  ///   - keys: each once, in the wanted order.
  ///   - old: the positions so far; those of other keys count for nothing.
  static func positions(of keys: [String], keeping old: [String: Int64]) -> [String: Int64] {
    var result: [String: Int64] = [:]
    var free: [String] = []
    var low: Int64?
    let fixed = Set(longestAscent(keys, old))
    /// Puts those that wait between two positions; false where they do not fit.
    func fill(upTo high: Int64?) -> Bool {
      let count = Int64(free.count)
      let step: Int64
      let start: Int64
      switch (low, high) {
      case (let low?, let high?):
        (start, step) = (low, (high - low) / (count + 1))
      case (nil, let high?):
        (start, step) = (high - gap * (count + 1), gap)
      case (let low, nil):
        (start, step) = (low ?? 0, gap)
      }
      if free.isEmpty { return true }
      guard step > 0, abs(start) <= largest - gap * (count + 1) else { return false }
      for (index, key) in free.enumerated() { result[key] = start + step * Int64(index + 1) }
      free = []
      return true
    }
    for key in keys {
      guard fixed.contains(key), let position = old[key] else {
        free.append(key)
        continue
      }
      guard fill(upTo: position) else { return fresh(keys) }
      result[key] = position
      low = position
    }
    return fill(upTo: nil) ? result : fresh(keys)
  }

  private static func fresh(_ keys: [String]) -> [String: Int64] {
    Dictionary(
      uniqueKeysWithValues: keys.enumerated().map { ($1, gap * Int64($0 + 1)) })
  }

  /// The most keys that are in order already: the longest ascending subsequence.
  private static func longestAscent(_ keys: [String], _ old: [String: Int64]) -> [String] {
    let known = keys.compactMap { key in
      old[key].flatMap { (-largest...largest).contains($0) ? (position: $0, key: key) : nil }
    }
    var best: [[String]] = []
    for (index, item) in known.enumerated() {
      let before = (0..<index).filter { (known[$0].position, known[$0].key) < item }
        .map { best[$0] }.max { $0.count < $1.count }
      best.append((before ?? []) + [item.key])
    }
    return best.max { $0.count < $1.count } ?? []
  }
}
