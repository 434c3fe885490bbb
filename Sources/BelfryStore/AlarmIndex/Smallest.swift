/// A collection of the smallest of many elements, which is faster than sorting all of them.
struct Smallest<Element: Comparable> {
  private let limit: Int
  /// The candidates: all elements so far that can be among the smallest, and some more.
  private var candidates: [Element] = []
  /// The greatest of the smallest elements at the last reduction; nil before the first one.
  private var bound: Element?

  /// Creates an empty collection.
  ///
  /// - Parameter limit: The maximum number of elements, at least 1.
  init(_ limit: Int) { self.limit = limit }

  /// Inserts an element, unless enough smaller ones were inserted.
  mutating func insert(_ element: Element) {
    if let bound, element >= bound { return }
    candidates.append(element)
    if candidates.count >= 2 * limit { reduce() }
  }

  /// Returns the smallest elements, in ascending order.
  mutating func elements() -> [Element] {
    reduce()
    return candidates
  }

  private mutating func reduce() {
    candidates.sort()
    guard candidates.count >= limit else { return }
    candidates.removeLast(candidates.count - limit)
    bound = candidates.last
  }
}
