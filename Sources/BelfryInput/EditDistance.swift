/// The similarity of words, for suggestions.
public enum EditDistance {
  /// Returns the number of single-letter insertions, removals and replacements between two words.
  ///
  /// - Complexity: O(*m* · *n*), with *m* and *n* the lengths of the words.
  public static func between(_ a: some StringProtocol, _ b: some StringProtocol) -> Int {
    var row = Array(0...b.count)
    for (i, x) in a.enumerated() {
      var previous = row[0]
      row[0] = i + 1
      for (j, y) in b.enumerated() {
        let replaced = previous + (x == y ? 0 : 1)
        previous = row[j + 1]
        row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[b.count]
  }

  /// Returns the number of typing errors between two words: as `between(_:_:)`, but two swapped neighbors are one.
  ///
  /// - Complexity: O(*m* · *n*), with *m* and *n* the lengths of the words.
  public static func typingErrors(_ a: some StringProtocol, _ b: some StringProtocol) -> Int {
    let (a, b) = (Array(a), Array(b))
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var earlier: [Int] = []
    var row = Array(0...b.count)
    for i in 1...a.count {
      var next = [i] + Array(repeating: 0, count: b.count)
      for j in 1...b.count {
        let isSame = a[i - 1] == b[j - 1]
        next[j] = min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (isSame ? 0 : 1))
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
          next[j] = min(next[j], earlier[j - 2] + 1)
        }
      }
      (earlier, row) = (row, next)
    }
    return row[b.count]
  }

  /// Returns the candidate that is most similar to a word, if it differs in at most two letters and in at most a third
  /// of them.
  public static func nearest(
    to word: String, in candidates: some Sequence<String>
  ) -> String? {
    let limit = min(2, word.count / 3)
    guard limit > 0 else { return nil }
    return candidates.map { ($0, between($0, word)) }.filter { $0.1 <= limit }
      .min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
  }
}
