/// The assignment of positions to targets, which lets two devices add and move targets concurrently.
///
/// A target keeps its position as long as the order allows it. An added or moved target gets a position between its
/// neighbors.
enum TargetOrder {
  /// The distance between two positions where there is room.
  private static let gap: Int64 = 1_000_000
  /// The maximum absolute value of a position. Hand edits beyond it are ignored.
  static let maxPosition: Int64 = 1_000_000_000_000_000

  /// Returns a position for each key, ascending in the order of `keys`.
  ///
  /// - Parameters:
  ///   - keys: the keys in the wanted order, without duplicates.
  ///   - old: the current positions. Positions of other keys are ignored.
  static func positions(of keys: [String], keeping old: [String: Int64]) -> [String: Int64] {
    let result = assigned(keys, old)
    assert(
      Set(keys).count < keys.count
        || zip(keys, keys.dropFirst()).allSatisfy { a, b in
          (result[a] ?? 0, a) < (result[b] ?? 0, b)
        }, "the positions have the order of the keys")
    return result
  }

  private static func assigned(_ keys: [String], _ old: [String: Int64]) -> [String: Int64] {
    var result: [String: Int64] = [:]
    var waiting: [String] = []
    var low: Int64?
    let fixed = Set(longestAscent(keys, old))
    /// Assigns positions below `high` to the waiting keys. Returns false if there is no room.
    func fill(upTo high: Int64?) -> Bool {
      let count = Int64(waiting.count)
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
      if waiting.isEmpty { return true }
      guard step > 0, abs(start) <= maxPosition - gap * (count + 1) else { return false }
      for (index, key) in waiting.enumerated() { result[key] = start + step * Int64(index + 1) }
      waiting = []
      return true
    }
    for key in keys {
      guard fixed.contains(key), let position = old[key] else {
        waiting.append(key)
        continue
      }
      guard fill(upTo: position) else { return evenlySpaced(keys) }
      result[key] = position
      low = position
    }
    return fill(upTo: nil) ? result : evenlySpaced(keys)
  }

  private static func evenlySpaced(_ keys: [String]) -> [String: Int64] {
    Dictionary(
      uniqueKeysWithValues: keys.enumerated().map { ($1, gap * Int64($0 + 1)) })
  }

  /// Returns the longest subsequence of keys that is already in order.
  private static func longestAscent(_ keys: [String], _ old: [String: Int64]) -> [String] {
    let known = keys.compactMap { key in
      old[key].flatMap {
        (-maxPosition...maxPosition).contains($0) ? (position: $0, key: key) : nil
      }
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
